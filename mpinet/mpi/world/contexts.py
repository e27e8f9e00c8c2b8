"""Contexts: separate the messages of different communicators.

Every communicator has a context id, here a name that is equal on all ranks. Each rank maps the name
to a number. A context has parts for point-to-point messages, collectives, creation of communicators
and more. A message of one part never matches a receive of another part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, REAL, UNDEFINED, as_int
from mpinet.mpi.world.message import Envelope
from mpinet.mpi.world.ranks import RankTable, WorldRanks, rank_table

WORLD, SELF = "world", "self"
"""Context names of the whole world, and of each processor alone. The world of spawned processors is
a tuple that begins with `WORLD`.
"""


def constant_of(name: Hashable) -> Any:
    """Return the constant that names a predefined communicator's context."""
    return WORLD if type(name) is tuple and name[0] == WORLD else name


PAIRS, COLLECTIVES, NEIGHBORS, AGREEMENTS, GROUPS, LEADERS, ONE_SIDED, RECOVERY = range(8)
"""Parts of a context: point-to-point messages, collectives, neighborhood collectives, creation of
communicators (three parts), window accesses, and failure notices.

The three parts are for creation by all members, by a group, and by the leaders of two groups.
Messages of the last two parts act on arrival.
"""

PARTS = 8

ALL = -1
"""Holder of communicators that all processors have until the end."""

TAG_LIMIT: int = 2**31 - 1
"""Highest tag of scripts' messages; all bits of a tag are set."""

SHORT = 1 << 30
"""Tags below this limit are valid everywhere, and Python compares them fastest."""


@dataclass(slots=True, eq=False)
class Scope:
    """Members that exchange messages in a part of a context."""

    context: int
    """The part's number on this rank."""
    group: RankTable
    """Senders by rank."""
    others: RankTable
    """Processors addressed by ranks in calls: the group itself, or the remote group of an
    intercommunicator.
    """
    tags: int = -1
    """Mask of allowed tag bits: `TAG_LIMIT`, or -1 (all bits) for the emulator's own messages."""

    def part(self, part: int) -> Scope:
        """Return the scope of the same members in another part, for the emulator's own messages."""
        return Scope(self.context + part, self.group, self.others)

    def envelope(self, source: int, tag: int) -> Envelope:
        """Return the envelope of messages from a rank, with a tag; both may be wildcards.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_TAG``: the rank or tag is not allowed.
        """
        if source != ANY_SOURCE and (
            type(source) is not int or not 0 <= source < self.others.plain
        ):
            # Enumerations and NumPy integers are also valid ranks. Envelopes contain plain
            # integers, because these compare and hash fastest.
            source = as_int(source)
            self.others.processor(source)
        if tag != ANY_TAG and (type(tag) is not int or not 0 <= tag < SHORT):
            tag = self.allowed(tag)
        return self.context, source, tag

    def allowed(self, tag: int) -> int:
        """Return a tag as an integer; enumerations are allowed.

        Raises
        ------
        Exception
            ``ERR_TAG``: the tag has bits outside the mask.
        """
        tag = as_int(tag)
        # A single test for both limits: a negative tag has the sign bit, which the mask lacks.
        if tag & self.tags != tag:
            raise REAL.Exception(REAL.ERR_TAG)
        return tag


class Nowhere(Scope):
    """The scope of a null communicator, window or file, without messages.

    Parameters
    ----------
    error : int
        Error class raised by every access.
    """

    __slots__ = ("_error",)

    def __init__(self, error: int) -> None:
        self._error = error

    @property
    def context(self) -> Any:  # type: ignore[override]
        """Raise the error of the null object."""
        raise REAL.Exception(self._error)

    group = others = context


NOWHERE = Nowhere(REAL.ERR_COMM)


@dataclass(slots=True, eq=False)
class SharedState:
    """State of a communicator shared by this rank's processors."""

    groups: tuple[RankTable, ...]
    """Group of the communicator, or both groups of an intercommunicator."""
    topology: Any = None
    """Grid or graph of the members, if all members know the whole topology; otherwise None."""
    holders: set[int] = field(default_factory=set)
    """Processors of this rank that have the communicator."""

    def group_of(self, processor: int) -> RankTable:
        """Return the group that contains a processor."""
        first, last = self.groups[0], self.groups[-1]
        return first if first is last or first.rank_of(processor) != UNDEFINED else last

    def others_of(self, processor: int) -> RankTable:
        """Return the group that receives a processor's messages."""
        first, last = self.groups[0], self.groups[-1]
        return last if first is last or first.rank_of(processor) != UNDEFINED else first


class Contexts:
    """The contexts known on this rank, with their numbers, groups and holders.

    A context's name is equal on all ranks. On each rank its parts have consecutive numbers.

    Parameters
    ----------
    size : int
        Number of processors.
    places : sequence of int, optional
        The processor of each rank of the world (default: the processor with the same number).
    spare : int
        Number of processors, the last ones, left free and without a rank in the world.
    """

    def __init__(self, size: int, places: Sequence[int] | None = None, spare: int = 0) -> None:
        # A range instead of a list: a communicator of all processors takes no memory per processor.
        self.processors: WorldRanks = WorldRanks(range(size))
        """All processors, by number. Type: RankTable."""
        order = range(size) if places is None else places
        whole = places is None and not spare
        self.world: RankTable = self.processors if whole else rank_table(order[: size - spare])
        """The processors by their ranks in the world."""
        self.spare: tuple[int, ...] = tuple(order[size - spare :])
        """Free processors, in the order of allocation."""
        self._worlds: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._places: dict[int, SharedState] = {}
        # Opened first, so its number is 0 on every rank. `world_of` relies on this.
        self.open(WORLD, lambda: (self.world,), ALL)

    def number(self, name: tuple[Hashable, int]) -> int:
        """Return the number of a part of a named context."""
        whole, part = name
        found = self._numbers.get(whole)
        if found is None:
            # Numbers are never reused: a late message of a freed communicator must not match a new
            # communicator.
            found = self._numbers[whole] = len(self._names)
            self._names.append(whole)
        # The parts are consecutive. A part's number is a sum and needs no look-up on the path of a
        # message.
        return PARTS * found + part

    def name(self, number: int) -> tuple[Hashable, int]:
        """Return the name and the part of a context number."""
        return self._names[number // PARTS], number % PARTS

    def open(self, name: Hashable, groups: Callable[[], tuple[RankTable, ...]], holder: int) -> int:
        """Register a processor as holder of a communicator.

        Parameters
        ----------
        name : hashable
            Name of the context.
        groups : callable
            Returns the group, or both groups of an intercommunicator. Called only for the first
            holder on this rank.
        holder : int
            The processor; `ALL` if no processor ever frees the communicator.

        Returns
        -------
        int
            The number of the context.
        """
        number = self.number((name, PAIRS))
        place = self._places.get(number)
        if place is None:
            # Only the rank's first holder computes the groups. A communicator of a million members
            # is then created once, not a million times.
            place = self._places[number] = SharedState(groups())
        place.holders.add(holder)
        return number

    def settle(self, processor: int, name: Hashable, members: RankTable) -> None:
        """Give a spawned processor a world, in place of an earlier one."""
        self._worlds[processor] = self.open(name, lambda: (members,), processor)

    def world_of(self, processor: int) -> int:
        """Return the context number of a processor's world."""
        return self._worlds.get(processor, 0)

    def close(self, number: int, holder: int) -> None:
        """Remove a processor as holder of a communicator."""
        place = self._places[number]
        place.holders.remove(holder)
        # The name stays known and only the state is deleted, because messages in flight still need
        # the number.
        if not place.holders:
            del self._places[number]

    def held(self, number: int, processor: int) -> bool:
        """Return whether a processor has a communicator."""
        place = self._places.get(number)
        return place is not None and not place.holders.isdisjoint((processor, ALL))

    def shared(self, number: int) -> SharedState:
        """Return the state of a communicator shared by this rank's processors."""
        return self._places[number]

    def groups(self, number: int) -> tuple[RankTable, ...]:
        """Return the groups of a communicator; empty if no processor of this rank has it."""
        place = self._places.get(number)
        return () if place is None else place.groups

    def scope(self, number: int, processor: int) -> Scope:
        """Return the scope of a processor's messages in a communicator."""
        place = self._places[number]
        return Scope(number, place.group_of(processor), place.others_of(processor), TAG_LIMIT)

    def members(self, number: int, processor: int) -> Sequence[int]:
        """Return the processors addressed by a member's ranks; empty if unknown on this rank."""
        # MPI_COMM_SELF has a single context for all processors. Its only member is the caller.
        if self._names[number // PARTS] == SELF:
            return (processor,)
        place = self._places.get(number - number % PARTS)
        return () if place is None else place.others_of(processor).members
