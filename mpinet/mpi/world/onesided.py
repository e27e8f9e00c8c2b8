"""The windows of a run on this rank: holders of locks, and conflicting accesses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mpinet.mpi.world.contexts import ONE_SIDED, Contexts

Holders = dict[int, tuple[bool, str]]
"""Holders of a lock by rank: whether exclusive, and the line that locked."""


class Conflict(NamedTuple):
    """Two accesses that conflict."""

    target: int
    """Number of the target processor."""
    first: int
    """Number of the account of the first access."""
    other: int
    """Number of the account of the second access."""
    begin: int
    """First byte touched by both accesses."""
    end: int
    """End of the bytes touched by both accesses."""
    said: str
    """Description of both accesses."""


class OneSided:
    """Locks and conflicts at targets of this rank."""

    def __init__(self) -> None:
        self.locks: dict[tuple[int, int], Holders] = {}
        """Holders of each lock, by the window's context (its part for accesses) and the target
        processor.
        """
        self._found: dict[tuple[int, int, str], tuple[Conflict, int]] = {}

    def note(self, conflict: Conflict) -> None:
        """Record a conflict; the first conflict of the same accounts is kept with a count."""
        key = conflict.first, conflict.other, conflict.said
        first, times = self._found.get(key, (conflict, 0))
        self._found[key] = first, times + 1

    @property
    def conflicts(self) -> list[list[Any]]:
        """Rows of all conflicts: the fields of a conflict and its count."""
        return [[*conflict, times] for conflict, times in self._found.values()]

    def held(self, contexts: Contexts) -> list[tuple[str, int, list[tuple[int, str]]]]:
        """Return the held locks: window's name, target processor, holders' ranks and lines."""
        return [
            (name_of(contexts, context), processor, [(rank, at) for rank, (_, at) in who.items()])
            for (context, processor), who in self.locks.items()
            if who
        ]


def name_of(contexts: Contexts, context: int) -> str:
    """Return a window's name, the same on all ranks."""
    return repr(contexts.name(context - ONE_SIDED)[0])


Locks = Mapping[tuple[str, int], list[tuple[int, str]]]
"""Holders of the locks of all ranks, by the window's name and the target processor."""
