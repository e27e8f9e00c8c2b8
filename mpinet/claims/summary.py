"""Counts of a ledger by paper: verdicts, errors by grade, and the number of our own rows.

The paper's statements and our additional rows are always counted separately. Every count of all
rows is accompanied by the count of the paper's own rows.
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
        Verdicts as JSON objects, grouped by paper.

    Returns
    -------
    dict
        `papers`, a list with the counts of each `paper`, and `all`, their sums. The counts are: all
        rows by verdict; `errors`, distinct causes of refuted rows (a row without a cause counts as
        a separate error); `grades`, these errors by grade; `formulas`, rows that hold without
        measuring a network; `corrections`, our corrected statements. `sentences` counts distinct
        sentences of the paper's rows, and `both` the sentences with rows that hold and rows that
        are refuted. `stated` has the counts by verdict and `formulas` for the paper's own rows.
    """
    papers = [
        {"paper": paper, **counts(list(group))}
        for paper, group in groupby(rows, key=lambda row: row["paper"])
    ]
    return {"papers": papers, "all": _added(counts([]), papers)}


def counts(rows: LedgerRows) -> dict[str, Any]:
    """Count the rows of one paper; the counts are described in `summary`."""
    errors = {error_of(row): row["grade"] for row in rows if row["verdict"] == REFUTED}
    return {
        **_verdicts(rows),
        "errors": len(errors),
        "grades": {grade: list(errors.values()).count(grade) for grade in GRADES},
        "corrections": sum(bool(row["corrects"]) for row in rows),
        **_sentences(rows),
        "stated": _verdicts([row for row in rows if not row["ours"]]),
    }


def _sentences(rows: LedgerRows) -> dict[str, int]:
    """Count distinct quotations, and quotations with rows of both verdicts."""
    found: dict[tuple[int, str], set[str]] = {}
    for row in rows:
        if said := row["quotation"]:
            found.setdefault((said["line"], said["text"]), set()).add(row["verdict"])
    both = sum({HOLDS, REFUTED} <= verdicts for verdicts in found.values())
    return {"sentences": len(found), "both": both}


def _verdicts(rows: LedgerRows) -> dict[str, int]:
    """Count rows by verdict, and rows that hold by comparison of formulas."""
    return {
        "claims": len(rows),
        **{verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS},
        "formulas": sum(row["verdict"] == HOLDS and not row["measures"] for row in rows),
    }


def _added(shape: Mapping[str, Any], counted: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the numbers of several dictionaries by name, including nested dictionaries."""
    return {
        name: _added(value, [one[name] for one in counted])
        if isinstance(value, Mapping)
        else sum(one[name] for one in counted)
        for name, value in shape.items()
    }


def ours(counted: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of our own rows: all rows minus the paper's own rows."""
    return {name: counted[name] - number for name, number in counted["stated"].items()}


def error_of(row: Mapping[str, Any]) -> str:
    """Return the name of a refuted claim's error: its cause, or else the claim's id."""
    return str(row["cause"] or row["id"])


SAID = {HOLDS: "hold", REFUTED: "refuted", BEATEN: "beaten", OPEN: "open", "error": "failed"}
"""Words for the verdicts in a count."""


def tally(rows: LedgerRows) -> str:
    """Format the counts of one paper's rows, or of all papers' rows, in one line."""
    found = summary(rows)["all"]
    stated, added = found["stated"], ours(found)
    parts = []
    if stated["claims"]:
        fewer = 0 < found["sentences"] < stated["claims"]
        said = f" on {_number(found['sentences'], 'sentence')}" if fewer else ""
        parts.append(f"{_number(stated['claims'], 'claim')}{said}: {_by_verdict(stated, found)}")
    if added["claims"]:
        details = _detail(found["corrections"], "{} corrected statement{s}")
        number = _number(added["claims"], "row")
        parts.append(f"{number} in addition{details}: {_by_verdict(added, found)}")
    return "; ".join(parts) or "0 claims"


def _by_verdict(counted: Mapping[str, int], found: Mapping[str, Any]) -> str:
    """Format the counts of some rows by verdict; `found` contains the errors of all rows."""
    fewer = found["errors"] < counted[REFUTED]
    graded = ", ".join(_number(n, grade) for grade, n in found["grades"].items() if n)
    named = f": {graded}" if graded else ""
    errors = _detail(found["errors"] * fewer, "{} distinct error{s}" + named)
    details = {
        HOLDS: _detail(counted["formulas"], "{} by comparing formulas"),
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
