"""File accesses of processors, in an order that is the same for any number of ranks.

A processor that reads, writes or meets other processors at a file waits for the end of its round.
Then the ranks exchange the requests, and every rank carries out its processors' part. First come
all reads, then all writes by processor. Overlapping writes of several ranks are made one after
another. File accesses take no step of the machine.
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
"""Effects of a meeting on the shared pointer: none, set it to rank 0's value, or add all values."""


class Assembly(Event):
    """Event: all processors that opened a file have made the same call on it."""

    __slots__ = ("context", "size", "there", "verb")
    context: int
    """Context of the file."""
    verb: str
    """Name of the call."""
    there: dict[int, Any]
    """Arguments of the call, by rank that has called."""
    size: int
    """Number of ranks that have opened the file."""

    def __init__(self, owner: Waiter, context: int, verb: str, there: dict[int, Any], size: int):
        super().__init__(owner)
        self.context, self.verb, self.there, self.size = context, verb, there, size

    @property
    def said(self) -> str:
        """Description of the awaited call for deadlock reports."""
        return f"rank {self.peer} to call {self.verb}"

    @property
    def peer(self) -> int:
        """The lowest rank that has not called."""
        return next((rank for rank in range(self.size) if rank not in self.there), PROC_NULL)

    @property
    def place(self) -> int:
        """Context of the file."""
        return self.context


class Met(NamedTuple):
    """Outcome of a collective call (meeting) on a file."""

    given: list[list[int]]
    """Numbers given by each rank."""
    pointer: int
    """The shared pointer before the meeting."""


@dataclass
class Wanted:
    """A file operation requested by a processor."""

    row: list[Any]
    """Kind and numbers of the request, sent to all ranks."""
    event: Event
    """Event: the request is complete."""
    act: Callable[[], Any] | None = None
    """Carries out the request and returns its result; None if all ranks act on `row`."""
    result: Any = None
    """Result of the request."""
    error: Exception | None = None
    """Error of the request; None without one."""

    def do(self) -> None:
        """Carry out the request, and store its result or error."""
        assert self.act is not None
        try:
            self.result = self.act()
        except OSError as error:
            self.error = error


class Descriptor:
    """A file opened by this rank, shared by all of its processors that opened the file."""

    def __init__(self, path: str, flags: int):
        self.number: int = os.open(path, flags, 0o666)
        """File descriptor of the operating system."""
        self.holders: int = 1
        """Number of processors that have the file open."""
        self.written: bool = False
        """True if the file was written since the last sync to the device."""


class Filing:
    """File requests of this rank's processors.

    Parameters
    ----------
    machine : Machine
        The machine.
    turns : Turns
        Scheduler of this rank's processors.
    """

    def __init__(self, machine: Machine, turns: Turns):
        self.wanted: list[Wanted] = []
        """Requests to carry out at the end of this round."""
        self.opened: dict[Hashable, Descriptor] = {}
        """Files open on this rank, by name."""
        self._machine = machine
        self._turns = turns
        self._order = count()
        self._pointers: dict[str, int] = {}
        self._meetings: dict[tuple[str, int], dict[int, Any]] = {}
        self._assembled: list[Wanted] = []

    # ---- requests of processors

    def access(self, path: str, begin: int, end: int, writes: bool, act: Callable[[], Any]) -> Any:
        """Access bytes of a file at the end of the round, and return the result.

        Parameters
        ----------
        path : str
            The file.
        begin, end : int
            Range of bytes that contains all accessed bytes.
        writes : bool
            Whether the access changes the bytes.
        act : callable
            Makes the access and returns its result.

        Raises
        ------
        OSError
            The access fails.
        """
        here = self._turns.current
        row = ["access", path, here.id, next(self._order), begin, end, writes]
        return self._done(Wanted(row, Awaited(here, "a file"), act))

    def advance(self, name: Hashable, elements: int) -> int:
        """Advance a file's shared pointer by elements, and return its previous position."""
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
        """Wait until all processors that opened a file make the same call.

        Parameters
        ----------
        name : hashable
            The file's name, the same on all ranks.
        number : int
            Number of the processor's earlier meetings on this file.
        place : tuple of int
            The file's context, the number of ranks that opened the file, and the processor's rank.
        verb : str
            The call.
        given : sequence of int
            Numbers that all members receive.
        moves : int
            Effect on the shared pointer: `KEEP`, `SET` or `ADD`.

        Raises
        ------
        UsageError
            Another member makes a different call.
        """
        context, size, rank = place
        # Shared by all processors of the rank, so a deadlock report can name a rank that has not
        # called.
        there = self._meetings.setdefault((repr(name), number), {})
        event = Assembly(self._turns.current, context, verb, there, size)
        row = ["meet", repr(name), number, size, rank, verb, list(map(int, given)), moves]
        found: Met | str = self._done(Wanted(row, event))
        if isinstance(found, str):
            raise UsageError(found)
        return found

    def _done(self, wanted: Wanted) -> Any:
        """Queue a request, wait for its completion and return its result."""
        self.wanted.append(wanted)
        self._turns.wait(wanted.event)
        if wanted.error is not None:
            raise wanted.error
        return wanted.result

    # ---- the end of a round

    def settle(self) -> None:
        """Carry out all requests of the round (collective)."""
        wanted, self.wanted = self.wanted, []
        told = [one.row for one in wanted]
        transport = self._machine.transport
        # Every rank gets all requests, because the order of writes spans ranks. File contents are
        # not exchanged.
        rows = agreed(transport, gathered(transport, told)) if transport.size > 1 else [told]
        # Pointers move before meetings end: a meeting reports the pointer, and all ranks must see
        # the same value.
        self._move_pointers(wanted, rows)
        self._assembled += [one for one in wanted if one.row[0] == "meet"]
        self._meet(rows)
        self._access([one for one in wanted if one.row[0] == "access"], rows)

    def _move_pointers(self, wanted: list[Wanted], rows: list[list[list[Any]]]) -> None:
        """Move shared pointers, in order of processors."""
        own = {(one.row[2], one.row[3]): one for one in wanted if one.row[0] == "advance"}
        rank = self._machine.transport.rank
        moves = [
            (row[2], row[3], at, row[1], row[4])
            for at, part in enumerate(rows)
            for row in part
            if row[0] == "advance"
        ]
        # Ordered by processor and by the processor's own order. The real order of calls within a
        # round depends on the hosting.
        for processor, order, at, name, elements in sorted(moves):
            before = self._pointers.get(name, 0)
            self._pointers[name] = before + elements
            if at == rank:
                one = own[processor, order]
                one.result = before
                self._turns.happened(one.event)

    def _meet(self, rows: list[list[list[Any]]]) -> None:
        """Record arrivals at meetings, and end the complete meetings."""
        met: dict[tuple[str, int], Met | str] = {}
        for kind, *row in (row for part in rows for row in part):
            if kind == "meet":
                name, number, size, rank, verb, given, moves = row
                there = self._meetings.setdefault((name, number), {})
                there[rank] = verb, given
                # All rows were shared, so every rank sees the last arrival in the same round and
                # all end the meeting together.
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
        """Return the outcome of a complete meeting, or the reason for its failure."""
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
        """Make all reads, then all writes; overlapping writes are ordered by processor."""
        several = len(rows) > 1
        for one in wanted:
            # Reads first: in one round they are concurrent with the writes, and the state at the
            # round's beginning is a consistent answer.
            if not one.row[6]:
                one.do()
        waves = _waves(rows)
        # A barrier between reads and writes, and between waves. File systems order accesses of two
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
        """Close all files open on this rank."""
        for descriptor in self.opened.values():
            os.close(descriptor.number)
        self.opened.clear()


def _waves(rows: list[list[list[Any]]]) -> list[list[tuple[int, tuple[int, int]]]]:
    """Return the writes of all ranks in order, in waves without overlaps between ranks.

    Returns
    -------
    list of lists
        Each wave lists (rank, (processor, number)) of its writes.
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
        # A new wave begins if another rank's bytes may overlap. Within a wave ranks write at the
        # same time.
        if not waves or not (end <= low or begin >= high or ranks == {rank}):
            waves.append([])
            touched.clear()
            low, high, ranks = begin, begin, {rank}
        touched[path] = min(low, begin), max(high, end), ranks | {rank}
        waves[-1].append((rank, (processor, order)))
    return waves
