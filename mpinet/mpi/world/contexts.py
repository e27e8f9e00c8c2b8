"""Contexts: what keeps the messages of different communicators apart.

Every communicator has a context id, here a name that is the same on all ranks. On a rank it stands
under a number, with parts for point-to-point messages, collectives and the making of communicators,
so that none of these is ever received by another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, REAL, UNDEFINED, as_int
from mpinet.mpi.world.message import Envelope
from mpinet.mpi.world.ranks import RankTable, WorldRanks, rank_table

WORLD, SELF = "world", "self"
"""Names of the contexts of the whole world, and of every processor alone; the world of those who
have been spawned is a tuple that begins so."""


def constant_of(name: Hashable) -> Any:
    """The name that a context of one of MPI's own communicators has for its processors."""
    return WORLD if type(name) is tuple and name[0] == WORLD else name


PAIRS, COLLECTIVES, NEIGHBORS, AGREEMENTS, GROUPS, LEADERS, ONE_SIDED, RECOVERY = range(8)
"""Parts of a context: for messages between two processors, of collectives, of neighbor collectives,
of calls that make communicators of it (of all members, of a group, and of two groups' leaders), for
accesses to memory, and for what is said of failures. Messages of the last two act where they come.
"""

PARTS = 8

ALL = -1
"""Holds the communicators that all processors have to the end."""

TAG_LIMIT: int = 2**31 - 1
"""Highest tag of scripts' own messages: all bits of a tag."""

SHORT = 1 << 30
"""Tags below this one are allowed everywhere, and Python compares them fastest."""


@dataclass(slots=True, eq=False)
class Scope:
    """Scope of messages: who exchanges them in a part of a context, and what tells them apart."""

    context: int
    """The part's number on this rank."""
    group: RankTable
    """Those who send, by rank."""
    others: RankTable
    """Those whom ranks in calls name: the group itself, of an intercommunicator the remote group.
    """
    tags: int = -1
    """The bits that tags may have: those of `TAG_LIMIT`, or -1, all, for the emulator's own."""

    def part(self, part: int) -> Scope:
        """The same members in another part of the context, for the emulator's own messages."""
        return Scope(self.context + part, self.group, self.others)

    def envelope(self, source: int, tag: int) -> Envelope:
        """Return the envelope of messages from a rank, with a tag; both may be wildcards.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_TAG``: none can be.
        """
        if source != ANY_SOURCE and (
            type(source) is not int or not 0 <= source < self.others.plain
        ):
            # Enumerations and NumPy integers are ranks, too. Envelopes hold plain integers, which
            # compare and hash fastest.
            source = as_int(source)
            self.others.processor(source)
        if tag != ANY_TAG and (type(tag) is not int or not 0 <= tag < SHORT):
            tag = self.allowed(tag)
        return self.context, source, tag

    def allowed(self, tag: int) -> int:
        """Return a tag as a number, also one that is an enumeration of the script's.

        Raises
        ------
        Exception
            ``ERR_TAG``: it has other bits than tags may have.
        """
        tag = as_int(tag)
        # One test for both: a negative tag of a script has the sign bit, which its mask lacks.
        if tag & self.tags != tag:
            raise REAL.Exception(REAL.ERR_TAG)
        return tag


class Nowhere(Scope):
    """The scope of a null communicator, window or file, in which no messages are exchanged.

    Parameters
    ----------
    error : int
        Class of the error that is raised for what it lacks.
    """

    __slots__ = ("_error",)

    def __init__(self, error: int) -> None:
        self._error = error

    @property
    def context(self) -> Any:  # type: ignore[override]
        """Raise the error."""
        raise REAL.Exception(self._error)

    group = others = context


NOWHERE = Nowhere(REAL.ERR_COMM)


@dataclass(slots=True, eq=False)
class SharedState:
    """State of a communicator that this rank's processors share."""

    groups: tuple[RankTable, ...]
    """Group of the communicator, or both groups of an intercommunicator."""
    topology: Any = None
    """The grid or graph that its members are arranged in, where they all know the whole of it."""
    holders: set[int] = field(default_factory=set)
    """Processors of this rank that have it."""

    def group_of(self, processor: int) -> RankTable:
        """The group that a processor is in."""
        first, last = self.groups[0], self.groups[-1]
        return first if first is last or first.rank_of(processor) != UNDEFINED else last

    def others_of(self, processor: int) -> RankTable:
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
    places : sequence of int, optional
        The processor of each rank of the world (default: that of its number).
    spare : int
        How many of these, the last ones, are left free: no ranks of the world.
    """

    def __init__(self, size: int, places: Sequence[int] | None = None, spare: int = 0) -> None:
        # A range and no list: a communicator of all processors takes no memory per processor.
        self.processors: WorldRanks = WorldRanks(range(size))
        """All processors, by number. Type: RankTable."""
        order = range(size) if places is None else places
        whole = places is None and not spare
        self.world: RankTable = self.processors if whole else rank_table(order[: size - spare])
        """The processors by their ranks in the world."""
        self.spare: tuple[int, ...] = tuple(order[size - spare :])
        """Processors left free, in the order in which they are taken."""
        self._worlds: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._places: dict[int, SharedState] = {}
        # First of all, so that its number is 0 on every rank. `world_of` relies on that.
        self.open(WORLD, lambda: (self.world,), ALL)

    def number(self, name: tuple[Hashable, int]) -> int:
        """The number that stands for a name's part."""
        whole, part = name
        found = self._numbers.get(whole)
        if found is None:
            # Numbers count up and are never given again: a late message of a freed communicator
            # must not meet a new one.
            found = self._numbers[whole] = len(self._names)
            self._names.append(whole)
        # The parts lie side by side, so that a part's number is a sum and needs no look-up on the
        # way of a message.
        return PARTS * found + part

    def name(self, number: int) -> tuple[Hashable, int]:
        """The name and the part that a number stands for."""
        return self._names[number // PARTS], number % PARTS

    def open(self, name: Hashable, groups: Callable[[], tuple[RankTable, ...]], holder: int) -> int:
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
            # Only the rank's first holder computes the groups. A communicator of a million members
            # is then made once, not a million times.
            place = self._places[number] = SharedState(groups())
        place.holders.add(holder)
        return number

    def settle(self, processor: int, name: Hashable, members: RankTable) -> None:
        """Let a processor that was left free have a world, in place of an earlier one."""
        self._worlds[processor] = self.open(name, lambda: (members,), processor)

    def world_of(self, processor: int) -> int:
        """The number of the context of a processor's world."""
        return self._worlds.get(processor, 0)

    def close(self, number: int, holder: int) -> None:
        """Let a processor have a communicator no longer."""
        place = self._places[number]
        place.holders.remove(holder)
        # The name stays known, only the state goes: messages on their way still need the number to
        # be translated.
        if not place.holders:
            del self._places[number]

    def held(self, number: int, processor: int) -> bool:
        """Tell if a processor has a communicator."""
        place = self._places.get(number)
        return place is not None and not place.holders.isdisjoint((processor, ALL))

    def shared(self, number: int) -> SharedState:
        """Return the state that this rank's processors share of a communicator of one of them."""
        return self._places[number]

    def groups(self, number: int) -> tuple[RankTable, ...]:
        """Return a communicator's group, of an intercommunicator both; none if nobody has it."""
        place = self._places.get(number)
        return () if place is None else place.groups

    def scope(self, number: int, processor: int) -> Scope:
        """Return the scope of a processor's messages with the others of a communicator."""
        place = self._places[number]
        return Scope(number, place.group_of(processor), place.others_of(processor), TAG_LIMIT)

    def members(self, number: int, processor: int) -> Sequence[int]:
        """The processors of the ranks that a member's messages go to; none if nobody knows."""
        # Each processor's own communicator has one context for all. Its only member is the caller.
        if self._names[number // PARTS] == SELF:
            return (processor,)
        place = self._places.get(number - number % PARTS)
        return () if place is None else place.others_of(processor).members
