"""Counts of a ledger, by paper: verdicts, errors by their grades, and which rows are ours.

What a paper states and what we have added beside it are never added up to one number without
saying so: every count of all rows has the count of the paper's own rows beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from mpinet.claims.cause import GRADES
from mpinet.claims.verdict import BEATEN, HOLDS, OPEN, REFUTED, VERDICTS

LedgerRows = Sequence[Mapping[str, Any]]
"""Verdicts as JSON objects."""


def summary(rows: LedgerRows) -> dict[str, Any]:
    """Count the rows by paper and verdict.

    Parameters
    ----------
    rows : sequence of mappings
        Verdicts as JSON knows them, those of a paper together.

    Returns
    -------
    dict
        `papers`, a list with the counts of each `paper`, and `all`: their sums. Counted are all
        rows by verdict; `errors`, the distinct causes of the refuted ones (one without a cause is
        an error of its own); `grades`, these errors by grade; `formulas`, rows that hold and
        measure no network; `corrections`, corrected statements of ours; and under `stated` the
        paper's own rows alone, by verdict and `formulas`.
    """
    papers = [
        {"paper": paper, **counts(list(group))}
        for paper, group in groupby(rows, key=lambda row: row["paper"])
    ]
    return {"papers": papers, "all": _added(counts([]), papers)}


def counts(rows: LedgerRows) -> dict[str, Any]:
    """Count one paper's rows; see `summary`."""
    errors = {error_of(row): row["grade"] for row in rows if row["verdict"] == REFUTED}
    return {
        **_verdicts(rows),
        "errors": len(errors),
        "grades": {grade: list(errors.values()).count(grade) for grade in GRADES},
        "corrections": sum(bool(row["corrects"]) for row in rows),
        "stated": _verdicts([row for row in rows if not row["ours"]]),
    }


def _verdicts(rows: LedgerRows) -> dict[str, int]:
    """Count rows by verdict, and those that hold by formula."""
    return {
        "claims": len(rows),
        **{verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS},
        "formulas": sum(row["verdict"] == HOLDS and not row["measures"] for row in rows),
    }


def _added(shape: Mapping[str, Any], counted: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up numbers by name, also those in objects."""
    return {
        name: _added(value, [one[name] for one in counted])
        if isinstance(value, Mapping)
        else sum(one[name] for one in counted)
        for name, value in shape.items()
    }


def ours(counted: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of rows of ours: of all rows less those of the paper's own."""
    return {name: counted[name] - number for name, number in counted["stated"].items()}


def error_of(row: Mapping[str, Any]) -> str:
    """Return the error that a refuted claim shows: its cause, or else the claim's id."""
    return str(row["cause"] or row["id"])


SAID = {HOLDS: "hold", REFUTED: "refuted", BEATEN: "beaten", OPEN: "open", "error": "failed"}
"""Verdicts as a count says them."""


def tally(rows: LedgerRows) -> str:
    """Format the counts of one paper's rows, or of all papers', in one line."""
    found = summary(rows)["all"]
    stated, added = found["stated"], ours(found)
    parts = []
    if stated["claims"]:
        parts.append(f"{_number(stated['claims'], 'claim')}: {_by_verdict(stated, found)}")
    if added["claims"]:
        details = _detail(found["corrections"], "{} corrected statement{s}")
        number = _number(added["claims"], "row")
        parts.append(f"{number} of ours{details}: {_by_verdict(added, found)}")
    return "; ".join(parts) or "0 claims"


def _by_verdict(counted: Mapping[str, int], found: Mapping[str, Any]) -> str:
    """Format the counts of some rows by verdict; `found` has the errors of all rows."""
    fewer = found["errors"] < counted[REFUTED]
    graded = ", ".join(_number(n, grade) for grade, n in found["grades"].items() if n)
    named = f": {graded}" if graded else ""
    errors = _detail(found["errors"] * fewer, "{} distinct error{s}" + named)
    details = {
        HOLDS: _detail(counted["formulas"], "{} of them formulas against formulas"),
        REFUTED: errors,
    }
    return ", ".join(
        f"{counted[verdict]} {word}{details.get(verdict, '')}"
        for verdict, word in SAID.items()
        if counted[verdict]
    )


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _detail(number: int, text: str) -> str:
    """Format a number in brackets; empty for 0."""
    return f" ({text.format(number, s='s' * (number != 1))})" if number else ""
