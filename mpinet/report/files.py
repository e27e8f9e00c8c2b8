"""Result files: endings and formats."""

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
"""Endings of plot files."""

PLOT_WIDTH = 5.0
"""Default width of a plot, in inches."""


def require_file(path: Path, endings: Sequence[str], what: str) -> None:
    """Raise `UsageError` unless a file with one of these endings can be written at this path.

    Parameters
    ----------
    path : Path
        The file.
    endings : sequence of str
        Allowed endings of the file's name, in lower case.
    what : str
        Kind of file for the error message, such as ``a picture's file``.
    """
    if path.suffix.lower() not in endings:
        listed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"{path}: {what} ends in {listed}.")
    require_writable(path)


def as_json(document: dict[str, Any]) -> str:
    """Format a document as indented JSON with a final newline."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_lines(rows: Iterable[dict[str, Any]]) -> str:
    """Format rows as JSON, one row per line."""
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Format rows as CSV, with a heading of all columns of any row."""
    text = io.StringIO()
    # Rows of a sweep can have different columns. The heading keeps the order of first appearance.
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
