"""Causes of refutations: a sentence on each error of a paper, and a grade for its severity.

The grade is our judgement. The same four questions decide it for every error, so a slip of the pen
never counts as much as a false theorem.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from mpinet.base.fielddocs import described

WRONG_RESULT = "wrong result"
"""A statement, formula or algorithm that fails on networks within the paper's subject."""

BOUNDARY_CASE = "boundary case"
"""A result that holds in general and fails at the edge of its range: smallest sizes, equal words.
"""

OVERSTATEMENT = "overstatement"
"""A comparison or an "all" that goes further than the paper's own result."""

SLIP = "slip"
"""A misprint, a wrong number in an example, or a contradiction between two places."""

GRADES = (WRONG_RESULT, BOUNDARY_CASE, OVERSTATEMENT, SLIP)
"""The grades, in descending order of severity."""


@described
class Cause(NamedTuple):
    """An error of a paper."""

    grade: str
    """One of `GRADES`."""
    sentence: str
    """One sentence that describes the error."""


def read_causes(file: Path) -> dict[str, Cause]:
    """Read the errors of a paper, by the names used in its claims."""
    with file.open(encoding="utf-8", newline="") as rows:
        return {row["cause"]: Cause(row["grade"], row["sentence"]) for row in csv.DictReader(rows)}
