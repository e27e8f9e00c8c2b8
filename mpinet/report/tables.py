"""Plain text tables, equal in a terminal, in a pipe and in a log file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

GAP = "  "
"""Blanks between two columns."""


@dataclass(frozen=True)
class Table:
    """Cells of a table as text."""

    heading: list[str]
    """Names of the columns; empty if the columns have no names."""
    rows: list[list[str]]
    """The cells."""
    right: list[bool]
    """True for each column of numbers, which are aligned to the right."""


_kept: ContextVar[list[Table] | None] = ContextVar("tables", default=None)

TIME_UNIT = re.compile(" (s|ms|us|ns|ps|fs)$")
"""Pattern of the unit after the number of a time."""

MARK = re.compile("\x02([0-9]+)\x03")
"""Pattern of the placeholder of a table in a text."""


def laid_out(show: Callable[[], str]) -> list[str | Table]:
    """Return the parts of a composed text: strings, and tables that are not yet formatted.

    Parameters
    ----------
    show : callable
        Composes the text, with `table` and `fields`.
    """
    kept: list[Table] = []
    token = _kept.set(kept)
    try:
        parts = MARK.split(show())
    finally:
        _kept.reset(token)
    return [kept[int(part)] if place % 2 else part for place, part in enumerate(parts)]


def room() -> int:
    """Return the maximum number of characters of a line; a large number if output is a page."""
    return 1 << 30 if _kept.get() is not None else get_terminal_size((80, 24)).columns


def table(
    rows: Iterable[Sequence[Any]], heading: Sequence[str] = (), width: int | None = None
) -> str:
    """Return a table with aligned columns; columns of numbers are right-aligned.

    Parameters
    ----------
    rows : iterable of sequences
        The cells.
    heading : sequence of str, optional
        Names of the columns, underlined.
    width : int, optional
        Maximum number of characters of a line. The widest columns are wrapped between words to
        reach this width. Default: lines are not limited.
    """
    cells = [[cell_text(cell) for cell in row] for row in rows]
    every = [list(heading), *cells] if heading else cells
    if not every:
        return ""
    right = [bool(cells) and all(map(_is_number, column)) for column in zip(*cells, strict=True)]
    kept = _kept.get()
    # A notebook formats the table itself, so the text contains only a placeholder.
    if kept is not None:
        kept.append(Table([*heading], cells, right))
        return f"\x02{len(kept) - 1}\x03"
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    if width is not None:
        words = [max(map(_longest_word, column)) for column in zip(*every, strict=True)]
        widths = _narrowed(widths, words, width - len(GAP) * (len(widths) - 1))
    lines = [line for row in every for line in _lines(row, widths, right)]
    if heading:
        lines.insert(len(_lines(heading, widths, right)), GAP.join("-" * w for w in widths))
    return "\n".join(lines)


def fields(values: Mapping[str, Any], width: int | None = None) -> str:
    """Format one field per line: its name, then its value; `width` is as in `table`."""
    return table([(name.replace("_", " "), value) for name, value in values.items()], width=width)


def with_phases(
    heading: str, result: Mapping[str, Any], preparation: Mapping[str, int] | None = None
) -> str:
    """Return a heading, the fields of a result, the preparation, and a table of the phases."""
    others = {name: value for name, value in result.items() if name != "phases"}
    if preparation and any(preparation.values()):
        others["preparation"] = ", ".join(f"{cell_text(n)} {of}" for of, n in preparation.items())
    phases = [(phase["name"], phase["steps"]) for phase in result["phases"]]
    return f"{heading}\n{fields(others)}\n\n{table(phases, ('phase', 'steps'))}"


def cell_text(value: Any) -> str:
    """Format a value as readable text."""
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
    """Return whether a cell is a number, a time, or missing."""
    cell = TIME_UNIT.sub("", cell)
    return cell == "-" or cell.replace(",", "").replace(".", "", 1).removeprefix("-").isdigit()


def _narrowed(widths: Sequence[int], words: Sequence[int], room: int) -> list[int]:
    """Narrow the columns, widest first, until the line fits.

    No column becomes narrower than its longest word.
    """
    # The widest column is narrowed first, because a long sentence wraps well and a number does not.
    for cut in range(max(widths), 0, -1):
        widths = [max(min(width, cut), word) for width, word in zip(widths, words, strict=True)]
        if sum(widths) <= room:
            break
    return list(widths)


def _longest_word(cell: str) -> int:
    return max(map(len, cell.split()), default=0)


def _lines(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    """Return the lines of a row: several if a cell is wider than its column."""
    wrapped = [
        [cell] if len(cell) <= width else wrap(cell, width, break_on_hyphens=False)
        for cell, width in zip(cells, widths, strict=True)
    ]
    return [_line(parts, widths, right) for parts in zip_longest(*wrapped, fillvalue="")]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    aligned = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right or [False] * len(cells), strict=True)
    ]
    return GAP.join(aligned).rstrip()
