"""Comparison of verdicts with a second, independent implementation of the claims.

The second implementation is a program without shared code, run with this Python. It prints one JSON
object with an entry for each of its claims, by id: ``{"verdict": "holds" | "refuted", "values":
{POINT: VALUE, ..}}``. A point has the format of the command verify (``topology=gmn:3,12``).
Verdicts are compared, and the values at all common points.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

from mpinet.claims.verdict import FAILS, HOLDS, REFUTED, Verdict
from mpinet.errors import UsageError

CLOSE = 1e-9
"""Largest relative difference between two equal results of floating-point calculations."""

Answers = dict[str, dict[str, Any]]
"""The program's verdict and values for each of its claims, by id."""


@dataclass(frozen=True)
class Beside:
    """Answer of the second program on a claim, compared with our verdict."""

    verdict: str
    """Verdict of the second program."""
    points: int
    """Number of points at which both have a value."""
    differing: list[dict[str, Any]] = field(default_factory=list)
    """Points with different values: point, measured, independent."""
    agrees: bool = True
    """True if the verdicts are equal and no value differs."""


def asked(program: Path) -> Answers:
    """Run the second program, and return its verdicts and values of claims.

    Raises
    ------
    UsageError
        The program cannot be run, fails, or prints no valid answers.
    """
    try:
        done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"--independent {program}: {error}.") from None
    if done.returncode:
        # Only the last line of a traceback names the error. The rest is useless to users who did
        # not write the program.
        last = (done.stderr.strip().splitlines() or ["it prints nothing"])[-1]
        raise UsageError(
            f"--independent {program}: the program ended with status {done.returncode}: {last}"
        )
    return answers_in(done.stdout, program)


def answers_in(text: str, program: Path) -> Answers:
    """Parse a program's output; raise `UsageError` if it has a wrong format."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"--independent {program}: the output must be one JSON object.") from None
    if not isinstance(found, dict) or not all(map(_is_answer, found.values())):
        raise UsageError(
            f'--independent {program}: it has to print {{"CLAIM": {{"verdict": "{HOLDS}" or '
            f'"{REFUTED}", "values": {{"POINT": VALUE, ..}}}}, ..}}.'
        )
    return found


def _is_answer(answer: Any) -> bool:
    return (
        isinstance(answer, dict)
        and answer.get("verdict") in (HOLDS, REFUTED)
        and isinstance(answer.get("values"), dict)
    )


def beside(verdict: Verdict, answer: Mapping[str, Any]) -> Beside:
    """Compare a verdict, which contains the values of all points, with a program's answer.

    Parameters
    ----------
    verdict : Verdict
        The verdict, of a claim with stored values.
    answer : mapping
        The program's verdict and values.
    """
    values = answer["values"]
    own = {value["point"]: value["measured"] for value in verdict.values or ()}
    both = [point for point in own if point in values]
    differing = [
        {"point": point, "measured": own[point], "independent": values[point]}
        for point in both
        if not same(own[point], values[point])
    ]
    # Other programs have no verdict "beaten". There, fewer steps than stated simply refute the
    # statement.
    said = REFUTED if verdict.verdict in FAILS else verdict.verdict
    agrees = said == answer["verdict"] and not differing
    return Beside(answer["verdict"], len(both), differing, agrees)


def same(first: Any, second: Any) -> bool:
    """Return whether two values are equal: floats nearly, all other values exactly."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return set(first) == set(second) and all(same(first[key], second[key]) for key in first)
    if _is_list(first) and _is_list(second):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, float) or isinstance(second, float):
        numbers = all(isinstance(value, int | float) for value in (first, second))
        return numbers and isclose(first, second, rel_tol=CLOSE, abs_tol=CLOSE)
    # True equals 1 in Python, but a program that prints 1 for "yes" has answered a different
    # question.
    return type(first) is type(second) and bool(first == second)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
