"""Quotations: the exact words of a paper on which its claims are based.

A paper's folder stores the quotations in ``quotations.csv``, by the line of the paper's text, with
the place in the paper for claims that state no place of their own. A quotation is a sentence, a
formula or the row of a table, with the claims based on it, by ids or patterns of ids. Formulas are
in plain text; letters and signs lost in scanning are restored.

A claim repeats the paper's words as a testable statement. These statements are in
``statements.csv``, by the claims' ids, with the cause of a refutation. The code has them only if
they contain computed values.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Quotation:
    """A sentence or a formula of a paper, or the row of a table."""

    text: str
    """Words of the quotation, exactly as printed."""
    page: str
    """Page of the paper; empty if the stored text has no page marks."""
    line: int
    """Line of the stored text, from 1 on; 0 without a stored text."""

    @property
    def place(self) -> str:
        """Page and line in printed form."""
        return place_text(self.page, self.line)


class Quoted(NamedTuple):
    """A quotation with the claims based on it, by ids or patterns of ids."""

    quotation: Quotation
    claims: tuple[str, ...]
    place: str = ""


def place_text(page: str, line: int) -> str:
    """Format page and line of a quotation."""
    return ", ".join([*([f"p. {page}"] if page else []), *([f"line {line}"] if line else [])])


def read_quotations(file: Path) -> list[Quoted]:
    """Read a paper's quotations; return an empty list if the file does not exist."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as rows:
        return [
            Quoted(
                Quotation(row["quotation"], row["page"], int(row["line"] or 0)),
                tuple(row["claims"].split()),
                row["place"],
            )
            for row in csv.DictReader(rows)
        ]


def quotation_of(claim: str, quoted: Sequence[Quoted]) -> Quoted | None:
    """Return the first quotation for a claim; None without a quotation."""
    return next((one for one in quoted if any(fnmatchcase(claim, id) for id in one.claims)), None)


def read_statements(file: Path) -> dict[str, dict[str, Any]]:
    """Read statements and causes of a paper's claims, by ids; empty if the file does not exist."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as rows:
        # An empty cell leaves what the code says.
        read = ({name: cell for name, cell in row.items() if cell} for row in csv.DictReader(rows))
        return {row.pop("claim"): row for row in read}
