"""The contexts that keep communicators' messages apart, under numbers of this rank's own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from mpinet.process.mpi.communicators.members import Everybody, Members
from mpinet.process.mpi.real import UNDEFINED

WORLD, SELF = "world", "self"
"""Names of the contexts of the whole world, and of every processor alone."""

PAIRS, COLLECTIVES, NEIGHBORS, AGREEMENTS, GROUPS, LEADERS = range(6)
"""Parts of a context: for messages between two processors, of collectives, of neighbor collectives,
and of calls that make communicators of it: of all members, of a group, and of two groups' leaders.
"""

PARTS = 6

ALL = -1
"""Holds the communicators that all processors have to the end."""


class Place:
    """What this rank's processors share of a communicator.

    Attributes
    ----------
    groups : tuple of Members
        Its group; of an intercommunicator both.
    topology : Any
        The grid or graph that its members are arranged in, where they all know the whole of it.
    holders : set of int
        Processors of this rank that have it.
    """

    __slots__ = ("groups", "holders", "topology")

    def __init__(self, groups: tuple[Members, ...]):
        self.groups = groups
        self.topology: Any = None
        self.holders: set[int] = set()

    def group_of(self, processor: int) -> Members:
        """The group that a processor is in."""
        first, last = self.groups[0], self.groups[-1]
        return first if first is last or first.rank_of(processor) != UNDEFINED else last

    def others_of(self, processor: int) -> Members:
        """The group that a processor's messages go to."""
        first, last = self.groups[0], self.groups[-1]
        return last if first is last or first.rank_of(processor) != UNDEFINED else first


class Contexts:
    """Numbers of contexts on this rank.

    A context's name is the same on all ranks. On a rank its parts have numbers in a row.

    Parameters
    ----------
    size : int
        Processors of the world.

    Attributes
    ----------
    world : Members
        All processors.
    """

    def __init__(self, size: int) -> None:
        self.world = Everybody(range(size))
        self._numbers: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._places: dict[int, Place] = {}
        self.open(WORLD, lambda: (self.world,), ALL)

    def number(self, name: tuple[Hashable, int]) -> int:
        """The number that stands for a name's part."""
        whole, part = name
        found = self._numbers.get(whole)
        if found is None:
            found = self._numbers[whole] = len(self._names)
            self._names.append(whole)
        return PARTS * found + part

    def name(self, number: int) -> tuple[Hashable, int]:
        """The name and the part that a number stands for."""
        return self._names[number // PARTS], number % PARTS

    def open(self, name: Hashable, groups: Callable[[], tuple[Members, ...]], holder: int) -> int:
        """Let a processor have a communicator.

        Parameters
        ----------
        name : hashable
            The name of its context.
        groups : callable
            Gives its group, of an intercommunicator both; called for the first of this rank's
            processors alone.
        holder : int
            The processor; `ALL` if none ever gives it away.

        Returns
        -------
        int
            The number of the context.
        """
        number = self.number((name, PAIRS))
        place = self._places.get(number)
        if place is None:
            place = self._places[number] = Place(groups())
        place.holders.add(holder)
        return number

    def close(self, number: int, holder: int) -> None:
        """Let a processor have a communicator no longer."""
        place = self._places[number]
        place.holders.remove(holder)
        if not place.holders:
            del self._places[number]

    def held(self, number: int, processor: int) -> bool:
        """Whether a processor has a communicator."""
        place = self._places.get(number)
        return place is not None and not place.holders.isdisjoint((processor, ALL))

    def place(self, number: int) -> Place:
        """What this rank's processors share of a communicator that one of them has."""
        return self._places[number]

    def members(self, number: int, processor: int) -> Sequence[int]:
        """The processors of the ranks that a member's messages go to; none if nobody knows."""
        if self._names[number // PARTS] == SELF:
            return (processor,)
        place = self._places.get(number - number % PARTS)
        return () if place is None else place.others_of(processor).members
