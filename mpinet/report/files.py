"""Files of results: their endings, and their formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mpinet.base.files import require_writable
from mpinet.errors import UsageError

ENDINGS = (".json", ".csv", ".jsonl")
"""Endings of result files."""

PLOTS = (".pdf", ".svg", ".png")
"""Endings of the files of plots."""

PLOT_WIDTH = 5.0
"""Width in inches of a plot for which none is given."""


def require_file(path: Path, endings: Sequence[str], what: str) -> None:
    """Raise `UsageError` unless such a file can be written at this place.

    Parameters
    ----------
    path : Path
        The file.
    endings : sequence of str
        What its name may end in, in lower case.
    what : str
        What ends so, as the sentence calls it: ``a picture's file``.
    """
    if path.suffix.lower() not in endings:
        listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"{path}: {what} ends in {listed}.")
    require_writable(path)


def as_json(document: dict[str, Any]) -> str:
    """Format a document as indented JSON with a newline."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_lines(rows: Iterable[dict[str, Any]]) -> str:
    """Format rows as JSON, one per line."""
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Format rows as CSV, with a heading of all columns that occur."""
    text = io.StringIO()
    # Rows of a sweep may have different columns; the heading keeps the order of first appearance.
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
