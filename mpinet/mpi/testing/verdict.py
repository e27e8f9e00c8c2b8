"""The outcome of a test, combined from its outcomes on all processors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

PHASES = ("setup", "call", "teardown")

XPASS = "[XPASS(strict)]"
"""Begin of pytest's text on a test that passes although it has to fail."""

GRAVITY = {"skipped": 0, "passed": 1, "failed": 2}
"""Ranking of outcomes if processors differ: a test skipped on some processors and passed on others
has passed.
"""


def verdict(
    item: pytest.Item, told: Sequence[Sequence[pytest.TestReport]], trouble: str
) -> list[pytest.TestReport]:
    """Return a report for each phase of a test completed by any processor.

    Parameters
    ----------
    item : Item
        The test.
    told : sequence of sequences of TestReport
        Reports of each processor's phases.
    trouble : str
        Reason why processors have not finished; empty if all have.
    """
    found = []
    for phase in PHASES:
        here = [
            (number, report)
            for number, reports in enumerate(told)
            for report in reports
            if report.when == phase
        ]
        expected = [one for one in here if is_expected(one[1])]
        missing = bool(trouble) and len({number for number, _ in here}) < len(told)
        failed = [one for one in here if one[1].outcome == "failed"]
        if expected:  # then no other processor has to fail, and some may wait
            failed = [one for one in failed if not str(one[1].longrepr).startswith(XPASS)]
        if expected and not failed:
            found.append(expected[0][1])
        elif missing and not failed:
            found.append(_stuck(item, phase, trouble))
        elif here:
            number, report = max(here, key=lambda one: (GRAVITY[one[1].outcome], -one[0]))
            if failed:
                _add(report, _others(number, told, phase, trouble))
            found.append(report)
        if missing:
            break
    if trouble and not any(report.failed or is_expected(report) for report in found):
        return [_stuck(item, "call", trouble) if one.when == "call" else one for one in found]
    return found


def is_expected(report: pytest.TestReport) -> bool:
    """Return whether a report is on a failure that a mark ``xfail`` expects."""
    return report.outcome == "skipped" and hasattr(report, "wasxfail")


def _stuck(item: pytest.Item, phase: str, trouble: str) -> pytest.TestReport:
    """Return a failure report for a phase that processors have not finished."""
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={name: 1 for name in item.keywords},
        outcome="failed",
        longrepr=trouble,
        when=phase,  # type: ignore[arg-type]
    )


def _others(
    number: int, told: Sequence[Sequence[pytest.TestReport]], phase: str, trouble: str
) -> str:
    """Return a text on the outcomes of all processors after a failure."""
    by_outcome: dict[str, list[int]] = {}
    for other, reports in enumerate(told):
        outcome = next((one.outcome for one in reports if one.when == phase), "did not end")
        if other != number:
            by_outcome.setdefault(outcome, []).append(other)
    rest = "; ".join(f"{ended}: {_numbers(them)}" for ended, them in by_outcome.items())
    said = f"It failed on processor {number} of {len(told)}" + (f" ({rest})." if rest else ".")
    return f"{said}\n{trouble}" if trouble else said


def _numbers(them: list[int]) -> str:
    """Return the first numbers of processors as text."""
    shown = ", ".join(map(str, them[:8]))
    return shown if len(them) <= 8 else f"{shown} and {len(them) - 8} more"


def _add(report: pytest.TestReport, text: str) -> None:
    """Append a text to the shown part of a test report."""
    shown: Any = report.longrepr
    if hasattr(shown, "addsection"):
        shown.addsection("on emulated processors", text)
    else:
        report.longrepr = f"{shown}\n{text}"
