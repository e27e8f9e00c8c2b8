"""Merging of verdicts of ``mpinet verify --out FILE.json`` into the document shown on these pages.

``python docs/_extensions/verdicts.py FILE.json`` replaces the rows of docs/ledger/verdicts.json by
the file's rows with equal ids. A new or changed claim therefore needs no measurement of other
claims. Seconds, which differ from run to run, and rows of removed claims are left out. The texts of
a row are those of the current claim.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mpinet.base.version import __version__
from mpinet.claims.ledger import PAPERS, claims_of
from mpinet.claims.statement import Claim
from mpinet.claims.verdict import lasting
from mpinet.report.envelope import digest
from mpinet.report.ledger.reading import read_document

WORDS = ("place", "statement", "note", "reading", "ours", "corrects", "measures")

FILE = Path(__file__).parents[1] / "ledger/verdicts.json"


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all rows in the ledger's order without times; new rows replace old ones."""
    rows = {row["id"]: {**row, "seconds": None} for row in [*old, *new]}
    every = [claim for room in PAPERS for claim in claims_of(room)]
    return [graded(rows[claim.id], claim) for claim in every if claim.id in rows]


def words_of(claim: Claim) -> dict[str, Any]:
    """Return the texts of a claim's row, which no measurement changes."""
    said = {name: getattr(claim, name) for name in WORDS}
    return said | {"quotation": asdict(claim.quotation) if claim.quotation else None}


def graded(row: dict[str, Any], claim: Claim) -> dict[str, Any]:
    """Return a row with the current texts, and the current grade of its error."""
    return row | words_of(claim) | {"grade": claim.grade if row["cause"] else ""}


def document_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return rows as the document of a run of ``mpinet verify``."""
    return {
        "mpinet": __version__,
        "command": ["mpinet", "verify", "--budget", "full"],
        "seed": 0,
        "ranks": 1,
        "digest": digest([lasting(row) for row in rows]),
        "result": rows,
        "seconds": {},
    }


def text_of(document: dict[str, Any]) -> str:
    """Format the document with one row per line."""
    rows = ",\n".join(json.dumps(row, sort_keys=True) for row in document["result"])
    head = json.dumps({**document, "result": None}, indent=1)
    return head.replace('"result": null', f'"result": [\n{rows}\n]') + "\n"


def main() -> None:
    """Merge the file given as argument."""
    old = read_document(FILE)["result"] if FILE.exists() else []
    new = read_document(Path(sys.argv[1]))["result"]
    FILE.write_text(text_of(document_of(merged(old, new))))


if __name__ == "__main__":
    main()
