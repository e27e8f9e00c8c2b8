"""Plain text tables for people; the same in a terminal, in a pipe and in a log file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(rows: Iterable[Sequence[Any]], heading: Sequence[str] = ()) -> str:
    """Columns that line up; numbers to the right.

    Parameters
    ----------
    rows : iterable of sequences
        The cells.
    heading : sequence of str, optional
        The columns' names, underlined.
    """
    cells = [[cell_text(cell) for cell in row] for row in rows]
    every = [list(heading), *cells] if heading else cells
    if not every:
        return ""
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    right = [bool(cells) and all(map(_is_number, column)) for column in zip(*cells, strict=True)]
    lines = [_line(row, widths, right) for row in every]
    if heading:
        lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def fields(values: Mapping[str, Any]) -> str:
    """A line for every field: its name, then its value."""
    return table([(name.replace("_", " "), value) for name, value in values.items()])


def with_phases(
    heading: str, result: Mapping[str, Any], preparation: Mapping[str, int] | None = None
) -> str:
    """A heading, a result's fields, what was done before, and the phases as a table."""
    others = {name: value for name, value in result.items() if name != "phases"}
    if preparation and any(preparation.values()):
        others["preparation"] = ", ".join(f"{cell_text(n)} {of}" for of, n in preparation.items())
    phases = [(phase["name"], phase["steps"]) for phase in result["phases"]]
    return f"{heading}\n{fields(others)}\n\n{table(phases, ('phase', 'steps'))}"


def cell_text(value: Any) -> str:
    """A value as a person reads it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10000 else str(value)
    if isinstance(value, Mapping):
        return "  ".join(f"{key} {cell_text(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return " ".join(map(cell_text, value))
    return str(value)


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.replace(",", "").replace(".", "", 1).removeprefix("-").isdigit()


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    aligned = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right or [False] * len(cells), strict=True)
    ]
    return "  ".join(aligned).rstrip()
