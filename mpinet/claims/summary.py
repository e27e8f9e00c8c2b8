"""Counts of a ledger, by paper: verdicts, distinct errors, claims that measure no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

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
        `papers`, a list with the counts of each `paper`, and `all`: their sums. Counted are the
        claims by verdict; `errors`, the distinct causes of the refuted ones (one without a
        cause is an error of its own); `formulas`, those that hold and measure no network; and
        `corrections`, corrected statements of ours, which are no claims of the paper.
    """
    papers = [
        {"paper": paper, **counts(list(group))}
        for paper, group in groupby(rows, key=lambda row: row["paper"])
    ]
    names = counts([])
    return {"papers": papers, "all": {name: sum(p[name] for p in papers) for name in names}}


def counts(rows: LedgerRows) -> dict[str, int]:
    """Count one paper's rows; see `summary`."""
    by_verdict = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}
    return {
        "claims": len(rows),
        **by_verdict,
        "errors": len({error_of(row) for row in rows if row["verdict"] == REFUTED}),
        "formulas": sum(row["verdict"] == HOLDS and not row["measures"] for row in rows),
        "corrections": sum(bool(row["corrects"]) for row in rows),
    }


def error_of(row: Mapping[str, Any]) -> str:
    """Return the error that a refuted claim shows: its cause, or else the claim's id."""
    return str(row["cause"] or row["id"])


def tally(rows: LedgerRows) -> str:
    """Format the counts of one paper's rows, or of all papers', in one line."""
    papers = summary(rows)["papers"]
    found = {name: sum(paper[name] for paper in papers) for name in counts([])}
    words = {
        HOLDS: "hold",
        REFUTED: "refuted",
        BEATEN: "beaten",
        OPEN: "open",
        "error": "failed",
    }
    details = {
        HOLDS: _detail(found["formulas"], "{} of them formulas against formulas"),
        REFUTED: _detail(
            found["errors"] * (found["errors"] < found[REFUTED]), "{} distinct error{s}"
        ),
    }
    said = [
        f"{found[verdict]} {word}{details.get(verdict, '')}"
        for verdict, word in words.items()
        if found[verdict]
    ]
    number = found["claims"]
    more = _detail(found["corrections"], "{} corrected statement{s} of ours among them")
    return f"{number} claim{'s' * (number != 1)}: {', '.join(said)}{more}"


def _detail(number: int, text: str) -> str:
    """Format a number in brackets; empty for 0."""
    return f" ({text.format(number, s='s' * (number != 1))})" if number else ""
