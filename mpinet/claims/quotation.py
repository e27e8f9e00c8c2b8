"""Quotations: what a paper says, word for word, beside the claims that are made of it.

A paper's folder holds them in ``quotations.csv``, by the line of the paper's text: a sentence, a
formula or the row of a table, and the claims that it stands behind, by ids or patterns of ids.
Formulas are written in plain text, and letters and signs that a scan has lost are put back.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True)
class Quotation:
    """A sentence of a paper, a formula of it, or the row of a table."""

    text: str
    """Words of the quotation, exactly as printed."""
    page: str
    """Page of the paper; empty where its stored text marks none."""
    line: int
    """Line of that text, from 1 on; 0 where there is no stored text."""

    @property
    def place(self) -> str:
        """Page and line, as they are printed."""
        return place_text(self.page, self.line)


class Quoted(NamedTuple):
    """A quotation, and the claims that it stands behind, by ids or patterns of ids."""

    quotation: Quotation
    claims: tuple[str, ...]


def place_text(page: str, line: int) -> str:
    """Format page and line of a quotation."""
    return ", ".join([*([f"p. {page}"] if page else []), *([f"line {line}"] if line else [])])


def read_quotations(file: Path) -> list[Quoted]:
    """Read a paper's quotations; none where there is no such file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as rows:
        return [
            Quoted(
                Quotation(row["quotation"], row["page"], int(row["line"] or 0)),
                tuple(row["claims"].split()),
            )
            for row in csv.DictReader(rows)
        ]


def quotation_of(claim: str, quoted: Sequence[Quoted]) -> Quotation | None:
    """Return the first quotation that stands behind a claim; None without one."""
    return next(
        (one.quotation for one in quoted if any(fnmatchcase(claim, id) for id in one.claims)), None
    )
