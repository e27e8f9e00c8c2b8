"""Causes of refutations: a sentence on an error of a paper, and how much of the paper it takes.

The grade is a judgement of ours, made once per error by the same four questions, so that a slip of
the pen is never counted with a theorem that does not hold.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from mpinet.base.fielddocs import described

WRONG_RESULT = "wrong result"
"""A statement, formula or algorithm that fails on networks which the paper is about."""

BOUNDARY_CASE = "boundary case"
"""A result that holds in general and fails at the edge of its range: smallest sizes,
equal words."""

OVERSTATEMENT = "overstatement"
"""A comparison or an "all" that goes further than the paper's own result."""

SLIP = "slip"
"""A misprint, a wrong number in an example, two places that contradict each other."""

GRADES = (WRONG_RESULT, BOUNDARY_CASE, OVERSTATEMENT, SLIP)
"""The grades, the heaviest first."""


@described
class Cause(NamedTuple):
    """An error of a paper."""

    grade: str
    """One of `GRADES`."""
    sentence: str
    """Sentence on the error."""


def read_causes(file: Path) -> dict[str, Cause]:
    """Read the errors of a paper, by the names that its claims have for them."""
    with file.open(encoding="utf-8", newline="") as rows:
        return {row["cause"]: Cause(row["grade"], row["sentence"]) for row in csv.DictReader(rows)}
