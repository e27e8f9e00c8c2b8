"""The windows of a run on this rank: who holds locks, and which accesses conflict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mpinet.mpi.world.contexts import ONE_SIDED, Contexts

Holders = dict[int, tuple[bool, str]]
"""Holders of a lock, by rank: whether alone, and since which line."""


class Conflict(NamedTuple):
    """Two accesses that conflict."""

    target: int
    """Processor of the memory."""
    first: int
    """Number of the account of the access that came first."""
    other: int
    """Number of the account of the other access."""
    begin: int
    """First byte that both accesses touch."""
    end: int
    """End of the bytes that both accesses touch."""
    said: str
    """Description of both accesses."""


class OneSided:
    """Locks and conflicts of this rank's memories."""

    def __init__(self) -> None:
        self.locks: dict[tuple[int, int], Holders] = {}
        """Holders of each lock, by the window's context (its part for accesses) and the processor
        of the memory."""
        self._found: dict[tuple[int, int, str], tuple[Conflict, int]] = {}

    def note(self, conflict: Conflict) -> None:
        """Note a conflict; of those of the same accounts the first is kept, and how many."""
        key = conflict.first, conflict.other, conflict.said
        first, times = self._found.get(key, (conflict, 0))
        self._found[key] = first, times + 1

    @property
    def conflicts(self) -> list[list[Any]]:
        """All that conflict, as rows of a conflict's fields and how often it came."""
        return [[*conflict, times] for conflict, times in self._found.values()]

    def held(self, contexts: Contexts) -> list[tuple[str, int, list[tuple[int, str]]]]:
        """Locks that somebody holds: the window's name, the processor, ranks and their lines."""
        return [
            (name_of(contexts, context), processor, [(rank, at) for rank, (_, at) in who.items()])
            for (context, processor), who in self.locks.items()
            if who
        ]


def name_of(contexts: Contexts, context: int) -> str:
    """A window's name, the same on all ranks."""
    return repr(contexts.name(context - ONE_SIDED)[0])


Locks = Mapping[tuple[str, int], list[tuple[int, str]]]
"""Holders of the locks of all ranks, by the window's name and the processor."""
