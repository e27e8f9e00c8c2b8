"""Accesses of processors to files, in an order that is the same for any number of ranks.

A processor that reads, writes or meets others at a file waits to the end of its round. Then the
ranks tell one another what is wanted, and every rank does its processors' part: first all reads,
then all writes by processor; where writes of several ranks overlap, one after another. No step of
the machine is made for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.mpi.real import PROC_NULL
from mpinet.mpi.world.events import Awaited, Event, Waiter
from mpinet.mpi.world.turns import Turns
from mpinet.process.telling import agreed, gathered

KEEP, SET, ADD = range(3)
"""Effects of a meeting on the shared pointer: nothing, set it to what rank 0 gives, add all."""


class Assembly(Event):
    """The same call on a file of all who have opened it."""

    __slots__ = ("context", "size", "there", "verb")
    context: int
    """Context of the file."""
    verb: str
    """Name of the call."""
    there: dict[int, Any]
    """Arguments of the ranks that have called, by rank."""
    size: int
    """Number of ranks that have opened the file."""

    def __init__(self, owner: Waiter, context: int, verb: str, there: dict[int, Any], size: int):
        super().__init__(owner)
        self.context, self.verb, self.there, self.size = context, verb, there, size

    @property
    def said(self) -> str:
        """Name of what is waited for."""
        return f"rank {self.peer} to call {self.verb}, too"

    @property
    def peer(self) -> int:
        """The lowest rank that has not called."""
        return next((rank for rank in range(self.size) if rank not in self.there), PROC_NULL)

    @property
    def place(self) -> int:
        """The file's context."""
        return self.context


class Met(NamedTuple):
    """Outcome of a meeting."""

    given: list[list[int]]
    """Numbers that each rank has given."""
    pointer: int
    """The shared pointer before it."""


@dataclass
class Wanted:
    """Something that a processor wants of a file."""

    row: list[Any]
    """Kind and numbers of the wish, for all ranks."""
    event: Event
    """Event at the end of the wish."""
    act: Callable[[], Any] | None = None
    """Does it, and gives its result."""
    result: Any = None
    """Result of the wish."""
    error: Exception | None = None
    """Error of the wish; None without one."""

    def do(self) -> None:
        """Do it."""
        assert self.act is not None
        try:
            self.result = self.act()
        except OSError as error:
            self.error = error


class Descriptor:
    """A file that this rank has opened, for all of its processors that have."""

    def __init__(self, path: str, flags: int):
        self.number: int = os.open(path, flags, 0o666)
        """File descriptor of the operating system."""
        self.holders: int = 1
        """Processors that have it open."""
        self.written: bool = False
        """True if the file was written to since it was last brought to the device."""


class Filing:
    """Wishes of this rank's processors at files.

    Parameters
    ----------
    machine : Machine
        The machine.
    turns : Turns
        Who runs.
    """

    def __init__(self, machine: Machine, turns: Turns):
        self.wanted: list[Wanted] = []
        """Wishes to carry out at the end of this round."""
        self.opened: dict[Hashable, Descriptor] = {}
        """Files that are open on this rank, by name."""
        self._machine = machine
        self._turns = turns
        self._order = count()
        self._pointers: dict[str, int] = {}
        self._meetings: dict[tuple[str, int], dict[int, Any]] = {}
        self._assembled: list[Wanted] = []

    # ---- what processors want

    def access(self, path: str, begin: int, end: int, writes: bool, act: Callable[[], Any]) -> Any:
        """Let something be done to bytes of a file at the end of the round.

        Parameters
        ----------
        path : str
            The file.
        begin, end : int
            Bytes that it touches, and maybe not all of them.
        writes : bool
            Whether it changes them.
        act : callable
            Does it; what it gives is returned.

        Raises
        ------
        OSError
            It cannot be done.
        """
        here = self._turns.current
        row = ["access", path, here.id, next(self._order), begin, end, writes]
        return self._done(Wanted(row, Awaited(here, "a file"), act))

    def advance(self, name: Hashable, elements: int) -> int:
        """Move a file's shared pointer on; where it was."""
        here = self._turns.current
        row = ["advance", repr(name), here.id, next(self._order), elements]
        pointer: int = self._done(Wanted(row, Awaited(here, "a file")))
        return pointer

    def meet(
        self,
        name: Hashable,
        number: int,
        place: tuple[int, int, int],
        verb: str,
        given: Sequence[int] = (),
        moves: int = KEEP,
    ) -> Met:
        """Wait for all who have opened a file to make the same call.

        Parameters
        ----------
        name : hashable
            The file's name, the same on all ranks.
        number : int
            How many such calls the processor has made on it before.
        place : tuple of int
            The file's context, how many have opened it, and the processor's rank among them.
        verb : str
            The call.
        given : sequence of int
            What the others get to know.
        moves : int
            What is done to the shared pointer: `KEEP`, `SET` or `ADD`.

        Raises
        ------
        UsageError
            Others make another call.
        """
        context, size, rank = place
        # Shared by all processors of the rank: a report of a deadlock can then name a rank that has
        # not come.
        there = self._meetings.setdefault((repr(name), number), {})
        event = Assembly(self._turns.current, context, verb, there, size)
        row = ["meet", repr(name), number, size, rank, verb, list(map(int, given)), moves]
        found: Met | str = self._done(Wanted(row, event))
        if isinstance(found, str):
            raise UsageError(found)
        return found

    def _done(self, wanted: Wanted) -> Any:
        """Wait for the end of something; its result."""
        self.wanted.append(wanted)
        self._turns.wait(wanted.event)
        if wanted.error is not None:
            raise wanted.error
        return wanted.result

    # ---- the end of a round

    def settle(self) -> None:
        """Do what is wanted (collective)."""
        wanted, self.wanted = self.wanted, []
        told = [one.row for one in wanted]
        transport = self._machine.transport
        # Every rank learns all wishes, because the order of writes spans ranks. Bodies of files
        # stay where they are.
        rows = agreed(transport, gathered(transport, told)) if transport.size > 1 else [told]
        # Pointers move before meetings end: a meeting reports the pointer, and all ranks have to
        # see the same value.
        self._move_pointers(wanted, rows)
        self._assembled += [one for one in wanted if one.row[0] == "meet"]
        self._meet(rows)
        self._access([one for one in wanted if one.row[0] == "access"], rows)

    def _move_pointers(self, wanted: list[Wanted], rows: list[list[list[Any]]]) -> None:
        """Move shared pointers, by processor."""
        own = {(one.row[2], one.row[3]): one for one in wanted if one.row[0] == "advance"}
        rank = self._machine.transport.rank
        moves = [
            (row[2], row[3], at, row[1], row[4])
            for at, part in enumerate(rows)
            for row in part
            if row[0] == "advance"
        ]
        # By processor and its own order. The real order of calls within a round depends on the
        # hosting.
        for processor, order, at, name, elements in sorted(moves):
            before = self._pointers.get(name, 0)
            self._pointers[name] = before + elements
            if at == rank:
                one = own[processor, order]
                one.result = before
                self._turns.happened(one.event)

    def _meet(self, rows: list[list[list[Any]]]) -> None:
        """Note who has come to which meeting, and end those to which all have."""
        met: dict[tuple[str, int], Met | str] = {}
        for kind, *row in (row for part in rows for row in part):
            if kind == "meet":
                name, number, size, rank, verb, given, moves = row
                there = self._meetings.setdefault((name, number), {})
                there[rank] = verb, given
                # The last arrival is known to every rank in the same round, since all rows were
                # shared. So all end the meeting together.
                if len(there) == size:
                    met[name, number] = self._ended(name, there, moves)
                    del self._meetings[name, number]
        left = []
        for one in self._assembled:
            found = met.get((one.row[1], one.row[2]))
            if found is None:
                left.append(one)
            else:
                one.result = found
                self._turns.happened(one.event)
        self._assembled = left

    def _ended(self, name: str, there: dict[int, Any], moves: int) -> Met | str:
        """Return what a meeting has come to, or why it has failed."""
        verbs = [there[rank][0] for rank in range(len(there))]
        for rank, verb in enumerate(verbs):
            if verb != verbs[0]:
                return f"Calls on a file do not match: rank 0 calls {verbs[0]}, rank {rank} {verb}."
        given = [there[rank][1] for rank in range(len(there))]
        before = self._pointers.get(name, 0)
        if moves != KEEP:
            added = sum(first for first, *_ in given)
            self._pointers[name] = given[0][0] if moves == SET else before + added
        return Met(given, before)

    def _access(self, wanted: list[Wanted], rows: list[list[list[Any]]]) -> None:
        """Read, then write; where writes of several ranks overlap, in the processors' order."""
        several = len(rows) > 1
        for one in wanted:
            # Reads first: in one round they are concurrent with the writes, and one consistent
            # answer is that of the round's beginning.
            if not one.row[6]:
                one.do()
        waves = _waves(rows)
        # A barrier between reads and writes, and between waves: file systems order accesses of two
        # processes only if one ended before the other began.
        if several and waves:
            self._machine.sum(0)
        rank = self._machine.transport.rank
        own = {(one.row[2], one.row[3]): one for one in wanted}
        for number, wave in enumerate(waves):
            if number and several:
                self._machine.sum(0)
            for at, key in wave:
                if at == rank:
                    own[key].do()
        for one in wanted:
            self._turns.happened(one.event)

    def close(self) -> None:
        """Close what is open yet."""
        for descriptor in self.opened.values():
            os.close(descriptor.number)
        self.opened.clear()


def _waves(rows: list[list[list[Any]]]) -> list[list[tuple[int, tuple[int, int]]]]:
    """Writes of all ranks in their order, so divided that those of two ranks never overlap.

    Returns
    -------
    list of lists
        Of each wave the ranks, and processor and number of what they write.
    """
    writes = [
        (row[2], row[3], rank, row[1], row[4], row[5])
        for rank, part in enumerate(rows)
        for row in part
        if row[0] == "access" and row[6]
    ]
    waves: list[list[tuple[int, tuple[int, int]]]] = []
    touched: dict[str, tuple[int, int, set[int]]] = {}
    for processor, order, rank, path, begin, end in sorted(writes):
        low, high, ranks = touched.get(path, (begin, begin, {rank}))
        # A new wave begins where another rank's bytes may overlap. Within a wave ranks write at the
        # same time.
        if not waves or not (end <= low or begin >= high or ranks == {rank}):
            waves.append([])
            touched.clear()
            low, high, ranks = begin, begin, {rank}
        touched[path] = min(low, begin), max(high, end), ranks | {rank}
        waves[-1].append((rank, (processor, order)))
    return waves
