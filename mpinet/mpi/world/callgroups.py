"""Groups of processors in the same call, on the same line, reached by the same functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mpinet.machine.transport import Local
from mpinet.mpi.world.events import Question
from mpinet.mpi.world.failure import frames_outside, module_of
from mpinet.mpi.world.processor import Processor, number_of
from mpinet.process.telling import agreed, gathered
from mpinet.process.where import shown

SHOWN = 12
"""Largest number of groups that a text lists, and of intervals in the text of a group."""

MOST_FUNCTIONS = 8
"""Largest number of functions of a chain, the innermost ones."""

RUNNERS = frozenset({"_pytest", "pluggy", "pytest"})
"""Packages whose functions are between a run of tests and the test."""

ENDED = "ended"
"""Call of a group of processors whose scripts have ended."""

Intervals = list[tuple[int, int]]
"""First and last number of each interval, ascending."""


class CallGroup(NamedTuple):
    """Processors that are in the same call, on the same line, in the same functions."""

    call: str
    """Name of the call; `ENDED`, ``"stopped"`` in the debugger, or empty outside of calls."""
    file: str
    """File of the line, independent of its folder; empty without a line."""
    line: int
    """The line; 0 without a line."""
    chain: tuple[str, ...]
    """Names of the functions on the stack, outermost first."""
    place: str
    """File and line for users; empty without a line."""
    intervals: Intervals
    """Numbers of the processors."""

    @property
    def processors(self) -> int:
        """Number of processors."""
        return sum(last - first + 1 for first, last in self.intervals)

    @property
    def row(self) -> dict[str, Any]:
        """The group as an object of a document."""
        return {
            "call": self.call,
            "file": self.file,
            "line": self.line,
            "chain": list(self.chain),
            "processors": self.processors,
            "intervals": [list(each) for each in self.intervals],
        }

    def __str__(self) -> str:
        said = self.call or "outside of calls"
        at = f" at {self.place}" if self.place else ""
        via = f" via {' > '.join(self.chain)}" if self.chain else ""
        return f"{numbers(self.intervals)}: {said}{at}{via}"


def call_groups(
    transport: Local, living: Iterable[Processor], ended: Iterable[int] = ()
) -> list[CallGroup]:
    """Return the groups of all ranks' processors, by their lowest numbers (collective).

    Parameters
    ----------
    transport : Local
        The ranks.
    living : iterable of Processor
        This rank's processors that have not ended.
    ended : iterable of int
        Numbers of this rank's processors that have ended, if they form a group.
    """
    own: dict[tuple[Any, ...], list[int]] = {}
    for processor in living:
        own.setdefault(_state(processor), []).append(number_of(processor))
    if numbers_ended := list(ended):
        own["", ENDED, "", 0, ()] = numbers_ended
    # Each rank sends intervals. A million processors in a single call are one row.
    rows = [[*state, intervals(members)] for state, members in own.items()]
    places: dict[tuple[Any, ...], str] = {}
    found: dict[tuple[Any, ...], list[int]] = {}
    for every in gathered(transport, rows):
        for place, *words, chain, parts in every:
            # The path of a file may differ between hosts, but its name in results does not.
            state = *words, tuple(chain)
            places.setdefault(state, place)
            for first, last in parts:
                found.setdefault(state, []).extend(range(first, last + 1))
    groups = [[*state, places[state], intervals(sorted(found[state]))] for state in found]
    whole = agreed(transport, sorted(groups, key=lambda group: group[-1]))
    return [
        CallGroup(call, file, line, tuple(chain), place, [(first, last) for first, last in parts])
        for call, file, line, chain, place, parts in whole
    ]


def groups_text(groups: Sequence[CallGroup]) -> str:
    """Return a line for each group."""
    rest = [f"  .. and {len(groups) - SHOWN} more lines"] if len(groups) > SHOWN else []
    return "\n".join([*(f"  {group}" for group in groups[:SHOWN]), *rest])


def intervals(members: Sequence[int]) -> Intervals:
    """Return ascending numbers as intervals."""
    found: Intervals = []
    for number in members:
        if found and found[-1][1] == number - 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found


def numbers(parts: Intervals) -> str:
    """Return intervals as text: ``0, 5-7``."""
    said = [f"{first}" if first == last else f"{first}-{last}" for first, last in parts[:SHOWN]]
    left = sum(last - first + 1 for first, last in parts[SHOWN:])
    return ", ".join(said) + (f" and {left} more" if left else "")


def _state(processor: Processor) -> tuple[Any, ...]:
    """Return place, call, file, line and functions of a blocked processor."""
    inside = frames_outside(processor.thread.gr_frame) if processor.thread else ()
    frames = [frame for frame in inside if module_of(frame) not in RUNNERS]
    chain = _chain(frame.f_code.co_qualname for frame in frames)
    account = processor.account
    if isinstance(processor.awaited, Question):
        kind = "stopped"
    elif account is not None:
        return account.place, account.kind, account.file, account.line, chain
    else:
        kind = ""
    if not frames:
        return "", kind, "", 0, chain
    file, line = shown(frames[0].f_code.co_filename), frames[0].f_lineno
    return f"{file}:{line}", kind, file, line, chain


def _chain(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of functions outermost first, without the module and repeated names."""
    found: list[str] = []
    for name in names:
        last = name.rpartition("<locals>.")[2]
        if last != "<module>" and last not in found[-1:]:
            found.append(last)
    return tuple(reversed(found[:MOST_FUNCTIONS]))
