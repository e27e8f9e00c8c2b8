"""Benchmark results as readable tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mpinet.report.tables import table

HEADING = "benchmark ranks mpinet unit against baseline ratio goal reached".split()


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of measurements and errors, the skipped rows, and the number of goals reached.

    The comparison with an earlier run follows, if there is one.
    """
    parts = []
    measured = [row for row in rows if row["figure"] is not None or row["error"] is not None]
    if measured:
        parts.append(table([line(row) for row in measured], HEADING))
    absent = [(row["name"], row["absent"]) for row in rows if row["absent"] is not None]
    if absent:
        parts.append("absent:\n" + table(absent))
    judged = [row for row in rows if row["reached"] is not None]
    if judged:
        reached = sum(row["reached"] for row in judged)
        parts.append(f"{reached} of {len(judged)} goals reached")
    if any("fell" in row for row in rows):
        parts += fallen(rows)
    return "\n\n".join(parts)


def fallen(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines on the rows that fell by more than their spread, and on their number."""
    fell = [row for row in rows if row["fell"]]
    number_judged = sum(row["fell"] is not None for row in rows)
    parts = []
    if fell:
        cells = [
            [row["name"], str(row["ranks"]), ratio(row), ratio(row["earlier"])] for row in fell
        ]
        parts.append("fell by more than their spread:\n" + table(cells, FALLEN_HEADING))
    return [*parts, f"{len(fell)} of {number_judged} compared rows fell by more than their spread"]


FALLEN_HEADING = "benchmark ranks ratio earlier".split()


def line(row: Mapping[str, Any]) -> list[str]:
    """Return the cells of a row: medians, and the smallest and largest ratio over the rounds.

    An error replaces the verdict.
    """
    return [
        row["name"],
        str(row["ranks"]),
        number(row["figure"]),
        row["unit"],
        row["against"],
        number(row["baseline"]),
        ratio(row),
        row["goal"] or "-",
        verdict(row),
    ]


def verdict(row: Mapping[str, Any]) -> str:
    """Return the error, or whether the goal is reached and which share of it."""
    if row["error"] is not None:
        return f"error: {row['error']}"
    if row["reached"] is None:
        return "-"
    return f"{'yes' if row['reached'] else 'NO'} ({number(row['attained'])} of it)"


def ratio(row: Mapping[str, Any]) -> str:
    """Return a ratio with its range."""
    if row["ratio"] is None:
        return "-"
    spread = row["spread"]
    # Rows of this run store the spread of each figure. Rows of an earlier run store only the range
    # of the ratio.
    low, high = spread["ratio"] if isinstance(spread, Mapping) else spread
    return f"{number(row['ratio'])} ({number(low)}..{number(high)})"


def number(value: float | None) -> str:
    """Format a number with three digits, without an exponent."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
