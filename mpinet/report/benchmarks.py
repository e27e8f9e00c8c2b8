"""The rows of benchmarks as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mpinet.report.tables import table

HEADING = "benchmark ranks mpinet unit against baseline ratio goal reached".split()


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Table of the measurements, the absent rows with reasons, and the number of goals reached."""
    parts = []
    measured = [row for row in rows if row["figure"] is not None]
    if measured:
        parts.append(table([line(row) for row in measured], HEADING))
    absent = [(row["name"], row["absent"]) for row in rows if row["absent"] is not None]
    if absent:
        parts.append("absent:\n" + table(absent))
    judged = [row for row in rows if row["reached"] is not None]
    if judged:
        reached = sum(row["reached"] for row in judged)
        parts.append(f"{reached} of {len(judged)} goals reached")
    return "\n\n".join(parts)


def line(row: Mapping[str, Any]) -> list[str]:
    """Cells of a row: medians, with the ratio's least and largest value over the rounds."""
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
    """Return whether the goal is reached, and how much of it."""
    if row["reached"] is None:
        return "-"
    return f"{'yes' if row['reached'] else 'NO'} ({number(row['attained'])} of it)"


def ratio(row: Mapping[str, Any]) -> str:
    """Ratio with its range."""
    if row["ratio"] is None:
        return "-"
    low, high = row["spread"]["ratio"]
    return f"{number(row['ratio'])} ({number(low)}..{number(high)})"


def number(value: float | None) -> str:
    """Format a number with three digits, without an exponent."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
