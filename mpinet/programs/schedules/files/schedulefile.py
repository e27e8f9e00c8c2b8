"""A schedule file, the options that complete it, and the checks of its header."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.networks.adjacency import parallel_links
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import KINDS, ROOTED, Purpose
from mpinet.programs.schedules.timetable import Timetable

MOST_ROWS = 2**23
"""Maximum number of rows of a schedule file."""

MOST_STEPS = 2**24
"""Largest step in a schedule file."""

MOST_PROCESSORS = 2**24
"""Maximum number of processors of a schedule file."""

NO_RACE, NOT_SEARCHED = "none", "not searched"
"""Values of `Contents.races` without a race."""

RIGHT = "right"
"""Value of `Contents.output` without a wrong place."""


@dataclass(frozen=True)
class ReadingOptions:
    """Command-line options for the reading of a schedule."""

    collective: str | None = None
    """Name of the collective, for files that do not state it."""
    chunks: int | None = None
    """Number of chunks per unit, for files that do not state it."""
    root: int | None = None
    """Root of the collective, for files that do not state it."""
    processors: int = 1
    """Number of processors of the network, for files that do not state it."""
    one_port: bool = True
    """True for the one-port model; files without steps are timed for it."""
    half_duplex: bool = False
    """True if a link carries one message in total per step; files without steps are timed for
    it.
    """
    bytes: int | None = None
    """Bytes per message of a GOAL file; default: the size of each send."""
    rounds: int = 1
    """Number of repetitions of a ForestColl file."""
    network: Topology | None = None
    """Network of the run, whose parallel links are shared by rows."""
    path: Path = Path()
    """Path of the file."""

    @cached_property
    def parallel(self) -> dict[tuple[int, int], int]:
        """Number of parallel links for each pair of nodes with several links."""
        return {} if self.network is None else parallel_links(self.network)


@dataclass(frozen=True)
class Contents:
    """Contents of a schedule file."""

    timetable: Timetable
    """Rows of the file."""
    lines: Ints | None = None
    """Line number of each row in the file."""
    races: str | None = None
    """``none``, ``not searched``, or the first race; None for formats without possible races."""
    output: str | None = None
    """``right``, or the first place of an output buffer with wrong data; None without buffers."""

    def judged(self, correct: bool | None) -> bool | None:
        """Return the verdict by output buffers and races; without buffers return `correct`."""
        if self.output is None:
            return correct
        return self.output == RIGHT and self.races in (NO_RACE, NOT_SEARCHED)


@dataclass(frozen=True)
class ScheduleFile(Contents):
    """A schedule file after reading."""

    name: str = ""
    """The file's name, without its folder."""
    format: str = "mpinet"
    """Name of the file format."""

    def where(self, row: int) -> str:
        """Return the start of an error message about a row; -1: about the whole file."""
        if self.lines is None or row < 0:
            return f"{self.name}, "
        return f"{self.name}, line {self.lines[row]}, "


def require_allgather(reading: ReadingOptions) -> None:
    """Raise `UsageError` if the options ask for another collective than the file's allgather."""
    if reading.collective not in (None, "gossip"):
        raise UsageError(f"header: the file is for an allgather, not for a {reading.collective}.")


def parse_json(data: bytes) -> Any:
    """Return the value of a JSON text; `UsageError` names the line of an error."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"line {getattr(error, 'lineno', 1)}: the text is not JSON.") from None


def rows_of(table: Timetable) -> list[tuple[int, int, int, int, bool]]:
    """Return step, sender, receiver and chunk of each row, and whether the row adds."""
    add = np.zeros(len(table), bool) if table.add is None else table.add
    columns = table.step, table.sender, table.receiver, table.chunk, add
    return list(zip(*(column.tolist() for column in columns), strict=True))


def require_purpose(collective: Any, processors: Any, chunks: Any, root: Any) -> Purpose:
    """Return the collective of a schedule, after checks of its header.

    Raises
    ------
    UsageError
        A value of the header is invalid. The error begins with the position.
    """
    if collective not in KINDS:
        raise UsageError(
            f"header: there is no collective {quoted(str(collective))}: give one of "
            f"{', '.join(KINDS)}."
        )
    _require_number("processors", processors, 1, MOST_PROCESSORS)
    _require_number("chunks", chunks, 1, MOST_ROWS)
    if collective in ROOTED:
        _require_number("root", 0 if root is None else root, 0, processors - 1)
        return Purpose(collective, processors, chunks, root or 0)
    return Purpose(collective, processors, chunks)


def _require_number(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise UsageError(
            f"header: {name} is a whole number {least}..{most}, not {quoted(str(value))}."
        )


def number_of(attributes: Mapping[str, str], name: str, default: int | None = None) -> int:
    """Return an attribute as an integer of at most 9 digits, possibly negative."""
    text = attributes.get(name)
    if text is None and default is not None:
        return default
    digits = (text or "").strip().removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        wrong = "is missing" if text is None else f"is no whole number: {quoted(text)}"
        raise UsageError(f"{name} {wrong}.")
    return int(text or "")
