"""Buffers of GPUs: contents of their places, final comparison, and data races."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.kinds import SUMS, Purpose
from mpinet.programs.schedules.chunks import needs, starts
from mpinet.programs.schedules.files.schedulefile import (
    NO_RACE,
    NOT_SEARCHED,
    RIGHT,
    Contents,
    ReadingOptions,
)
from mpinet.programs.schedules.files.timing import Tasks, timed
from mpinet.programs.schedules.timetable import Timetable

NAMES = {
    "allgather": "gossip", "allreduce": "allreduce", "reducescatter": "reducescatter",
    "reduce_scatter": "reducescatter", "alltoall": "exchange", "broadcast": "broadcast",
    "reduce": "reduce", "scatter": "scatter", "gather": "gather",
}  # fmt: skip
"""Names of collectives in GPU formats, with mpinet's names."""

MOST_COUNT = 2**20
"""Maximum number of pieces moved by one operation."""

BUFFERS = ("i", "o", "s")
"""Names of a GPU's buffers: input, output and scratch."""

MOST_CLOCKS = 2**27
"""Maximum number of bytes held by the search for races. A larger search is skipped."""

MOST_TICKS = 2**32
"""Maximum number of clock entries compared by the search for races. A larger search is skipped."""


def name_of(collective: str) -> str:
    """Return the formats' name of a collective."""
    return next(theirs for theirs, ours in NAMES.items() if ours == collective)


def collective_named(said: Any, reading: ReadingOptions) -> str:
    """Return the collective named in a file, or the one named by the options.

    Raises
    ------
    UsageError
        Neither names a collective.
    """
    name = NAMES.get(str(said)) or reading.collective
    if name is None:
        raise UsageError(
            f"header: the collective {quoted(str(said))} is not one of {', '.join(NAMES)}: give "
            "--collective."
        )
    return name


def sizes_of(table: Timetable) -> tuple[int, int]:
    """Return the number of chunks in a GPU's input and output."""
    total, hosts, per = table.purpose.total, table.processors, table.chunks
    inputs = {"gossip": per, "gather": per, "exchange": hosts * per}
    outputs = {"scatter": per, "reducescatter": per, "exchange": hosts * per}
    return inputs.get(table.collective, total), outputs.get(table.collective, total)


class PlaceContent(NamedTuple):
    """Content of a place of a buffer: a chunk, or a sum of contributions to it."""

    chunk: int
    givers: int
    """Bits of the processors with a contribution."""
    fault: str = ""
    """Error message about the addition that made the content wrong; empty without an error."""

    def plus(self, other: PlaceContent, where: str) -> PlaceContent:
        """Return the sum with another piece; `where` names the addition."""
        fault = self.fault or other.fault
        if not fault and self.chunk != other.chunk:
            fault = f"{where} adds chunk {other.chunk} to chunk {self.chunk}"
        elif not fault and self.givers & other.givers:
            fault = f"{where} adds a contribution to chunk {self.chunk} twice"
        return PlaceContent(self.chunk, self.givers | other.givers, fault)


class BufferPlace(NamedTuple):
    """A place of a GPU's buffer; buffer ``t`` holds chunks that a step receives and forwards."""

    gpu: int
    buffer: str
    offset: int


@dataclass
class Act:
    """Effect of a task on pieces in buffers: copy, send, receive, reduce or wait."""

    kind: str
    source: BufferPlace | None
    target: BufferPlace | None
    adds: bool = False
    partner: int = -1


@dataclass
class TaskProgram:
    """Tasks of a GPU algorithm, with the pieces that they read and write."""

    tasks: Tasks = field(default_factory=Tasks)
    acts: list[Act] = field(default_factory=list)
    """Effect of each task."""
    begun: dict[tuple[int, int, int], int] = field(default_factory=dict)
    """First task of each (gpu, thread block, step)."""
    last: dict[tuple[int, int, int], int] = field(default_factory=dict)
    """Last task of each (gpu, thread block, step)."""
    sent: dict[tuple[int, int, Any], list[int]] = field(default_factory=lambda: defaultdict(list))
    """Sending tasks of each (sender, receiver, channel or tag), in order."""
    got: dict[tuple[int, int, Any], list[int]] = field(default_factory=lambda: defaultdict(list))
    """Receiving tasks of each (sender, receiver, channel or tag), in order."""
    owners: dict[tuple[str, int, int, int], int] = field(default_factory=dict)
    """Thread block of each (send or receive, sender, receiver, channel)."""
    sizes: dict[tuple[int, str], int] = field(default_factory=dict)
    """Number of places of each (gpu, buffer), if stated by the file."""
    spans: list[tuple[str, BufferPlace, BufferPlace, int]] = field(default_factory=list)
    """First source, first target and length of each operation on several places."""

    def add(self, where: str, act: Act, ends: tuple[int, int] = (-1, -1), earliest: int = 1) -> int:
        """Add a task and return its number; raise `UsageError` if a place is outside its buffer."""
        for place in (act.source, act.target):
            if place is not None:
                self._require_inside(where, place)
        self.acts.append(act)
        return self.tasks.add(where, *ends, earliest=earliest)

    def _require_inside(self, where: str, place: BufferPlace) -> None:
        size = self.sizes.get((place.gpu, place.buffer))
        if size is not None and not 0 <= place.offset < size:
            raise UsageError(
                f"{where} uses {place.buffer}[{place.offset}], and buffer {place.buffer} of GPU "
                f"{place.gpu} has {size} chunks."
            )

    def overlap(self, home: Callable[[BufferPlace], BufferPlace]) -> str | None:
        """Return an error about an operation with overlapping source and target, or None."""
        for where, first, second, length in self.spans:
            source, target = home(first), home(second)
            if source[:2] == target[:2] and 0 < abs(source.offset - target.offset) < length:
                return (
                    f"{where} reads {length} chunks from {source.buffer}[{source.offset}] on, and "
                    f"writes them from {target.buffer}[{target.offset}] on, in no stated order."
                )
        return None

    def meet(self, by: str) -> None:
        """Match the k-th send of a channel with its k-th receive.

        Errors describe a channel by the text `by`.
        """
        for key in {**self.sent, **self.got}:
            (sender, receiver, channel), sent, got = key, self.sent[key], self.got[key]
            if len(sent) != len(got):
                raise UsageError(
                    f"header: {sender} sends {len(sent)} times to {receiver} {by} {channel}, which "
                    f"receives {len(got)} times."
                )
            for send, receive in zip(sent, got, strict=True):
                self.tasks.after(receive, send)
                self.acts[receive].partner = send
            self._require_alike(sent, got)

    def _require_alike(self, sent: list[int], got: list[int]) -> None:
        """Raise `UsageError` if a send matches a receive with another number of chunks."""
        where = self.tasks.where
        counted = ([(each, len([*of])) for each, of in groupby(map(where.__getitem__, tasks))]
                   for tasks in (sent, got))  # fmt: skip
        for (send, some), (receive, others) in zip(*counted, strict=False):
            if some != others:
                raise UsageError(
                    f"{send} sends a message of {some} chunks, and {receive} receives one of "
                    f"{others}."
                )


def followed(
    program: TaskProgram, reading: ReadingOptions, purpose: Purpose, modes: Sequence[bool]
) -> Contents:
    """Time an algorithm's tasks, follow pieces through the buffers, and check the outputs.

    Parameters
    ----------
    modes : sequence of bool
        Possible uses of the file: True if input and output are one buffer. The rows are those of
        the first use.

    Raises
    ------
    UsageError
        Tasks wait for each other forever, or read an empty place.
    """
    steps, order = timed(program.tasks, reading)
    found = [_contents(program, steps, order, purpose, in_place) for in_place in modes]
    output = next((each.output for each in found if each.output != RIGHT), RIGHT)
    races = next((each.races for each in found if each.races != NO_RACE), NO_RACE)
    return replace(found[0], output=output, races=races)


def _contents(
    program: TaskProgram, steps: list[int], order: list[int], purpose: Purpose, in_place: bool
) -> Contents:
    """Follow the pieces, with one buffer for input and output or with two; return the contents."""
    name, gpus, per, root = purpose

    def home(place: BufferPlace) -> BufferPlace:
        return real_place(place, name, per, in_place)

    rows, buffers = _follow(program, order, steps, purpose, home)
    step, sender, receiver, chunk, add = np.array(rows, np.int64).reshape(-1, 5).T.copy()
    sums, ends = add.astype(bool) if name in SUMS else None, (sender, receiver)
    table = Timetable(name, gpus, step, *ends, chunk, per, root, add=sums)
    output = _judged(table, lambda place: buffers.get(home(place)))
    races = program.overlap(home) or race_in(program, order, home)
    return Contents(table, races=races, output=output)


def _judged(table: Timetable, piece_at: Callable[[BufferPlace], PlaceContent | None]) -> str:
    """Compare final outputs with the collective's definition.

    Return `RIGHT`, or a description of the first wrong place.
    """
    everybody = (1 << table.processors) - 1
    for place, chunk in _seated("o", needs(table.purpose, np.arange(table.processors))):
        piece = piece_at(place)
        whole = piece is not None and (table.collective not in SUMS or piece.givers == everybody)
        if piece is None or piece.chunk != chunk or piece.fault or not whole:
            return (
                f"o[{place.offset}] of GPU {place.gpu} holds {_named(piece, table)}, not chunk "
                f"{chunk}"
            )
    return RIGHT


def _seated(buffer: str, pairs: tuple[Ints, Ints]) -> Iterator[tuple[BufferPlace, int]]:
    """Yield the places of a buffer, each with its chunk; the pairs are ordered by GPU."""
    each = zip(*(column.tolist() for column in pairs), strict=True)
    for gpu, chunks in groupby(each, itemgetter(0)):
        for offset, (_, chunk) in enumerate(chunks):
            yield BufferPlace(gpu, buffer, offset), chunk


def _named(piece: PlaceContent | None, table: Timetable) -> str:
    """Return a description of a wrong content of a place."""
    if piece is None:
        return "no data"
    if piece.fault:
        return f"a wrong sum ({piece.fault})"
    if table.collective in SUMS and piece.givers != (1 << table.processors) - 1:
        count = piece.givers.bit_count()
        return f"a sum of chunk {piece.chunk} with {count} of {table.processors} contributions"
    return f"chunk {piece.chunk}"


def _follow(
    program: TaskProgram,
    order: list[int],
    steps: list[int],
    purpose: Purpose,
    home: Callable[[BufferPlace], BufferPlace],
) -> tuple[list[tuple[int, int, int, int, int]], dict[BufferPlace, PlaceContent]]:
    """Return rows of step, sender, receiver, chunk, add; and the final contents of the places."""
    name, first = purpose.collective, starts(purpose, np.arange(purpose.processors))
    buffers = {at: PlaceContent(chunk, 1 << at.gpu) for at, chunk in _seated("i", first)}
    held = {(place.gpu, piece.chunk): piece.givers for place, piece in buffers.items()}
    flying: dict[int, PlaceContent] = {}
    rows, same = {}, True
    buffers = {home(place): piece for place, piece in buffers.items()}

    def piece_at(place: BufferPlace | None, task: int) -> PlaceContent:
        assert place is not None
        found = buffers.get(home(place))
        if found is None:
            raise UsageError(
                f"{program.tasks.where[task]} reads {place.buffer}[{place.offset}], but the place "
                "is empty."
            )
        return found

    for task in order:
        act = program.acts[task]
        if act.kind == "wait":
            continue
        if act.kind == "send":
            assert act.source is not None
            piece = flying[task] = piece_at(act.source, task)
            same &= held.get((act.source.gpu, piece.chunk)) == piece.givers
            continue
        assert act.target is not None
        piece = flying[act.partner] if act.kind == "receive" else piece_at(act.source, task)
        came = piece
        if act.adds or act.kind == "reduce":
            own = piece_at(act.source if act.adds else act.target, task)
            piece = own.plus(piece, program.tasks.where[task])
        buffers[home(act.target)] = piece
        if act.kind == "receive":
            gpu, send = act.target.gpu, act.partner
            mine = held.get((gpu, came.chunk), 0)
            adds = name in SUMS and mine & came.givers == 0
            same &= adds or mine | came.givers == came.givers
            held[gpu, came.chunk] = mine | came.givers if adds else came.givers
            rows[send] = (
                steps[send], program.tasks.sender[send], gpu, came.chunk, int(adds)
            )  # fmt: skip
    ordered = [rows[task] for task in sorted(rows)]
    # A processor of the machine has one place per chunk. If a GPU keeps several sums of a chunk,
    # the machine only moves the messages.
    return ordered if same else [(*row[:4], 0) for row in ordered], buffers


def real_place(place: BufferPlace, name: str, per: int, in_place: bool) -> BufferPlace:
    """Return the real place, with input and output in one buffer or in two."""
    if not in_place or place.buffer not in ("i", "o"):
        return place
    own = place.gpu * per
    if name in ("gossip", "gather") and place.buffer == "i":
        return BufferPlace(place.gpu, "o", own + place.offset)
    if name in ("reducescatter", "scatter") and place.buffer == "o":
        return BufferPlace(place.gpu, "i", own + place.offset)
    return BufferPlace(
        place.gpu, "i" if name in ("reducescatter", "scatter") else "o", place.offset
    )


def _accesses(act: Act) -> list[tuple[BufferPlace, bool]]:
    """Return the places that an act reads (False) or writes (True)."""
    found = []
    if act.source is not None and act.kind != "wait":
        found.append((act.source, False))
    if act.target is not None:
        found.append((act.target, True))
    return [(place, writes) for place, writes in found if place.buffer != "t"]


def race_in(
    program: TaskProgram, order: list[int], home: Callable[[BufferPlace], BufferPlace]
) -> str:
    """Search for two unordered tasks that use the same place, one of them writing.

    Return a description of the race; `NO_RACE`; or `NOT_SEARCHED` if the search would be too large.

    The tasks are divided into chains. Each task of a chain waits for the previous one, as in a
    thread block. A clock counts for each task the tasks of every chain that end before its start. A
    clock is dropped after the last task that waits for its task.

    Parameters
    ----------
    order : list of int
        Tasks in order of execution.
    home : callable
        Returns the real place of a named place.
    """
    before = program.tasks.before
    chain, turn, lengths = _chains(before, order)
    if sum(map(len, before)) * len(lengths) > MOST_TICKS:
        return NOT_SEARCHED
    clocks: dict[int, Ints] = {}
    left = [len(later) for later in program.tasks.then]
    users: dict[BufferPlace, list[tuple[int, bool]]] = defaultdict(list)
    for task in order:
        clock = clocks[task] = np.zeros(len(lengths), np.int32)
        if clock.nbytes * len(clocks) > MOST_CLOCKS:
            return NOT_SEARCHED
        for earlier in before[task]:
            np.maximum(clock, clocks[earlier], out=clock)
            left[earlier] -= 1
            if left[earlier] == 0:
                del clocks[earlier]
        clock[chain[task]] = turn[task]
        for named, writes in _accesses(program.acts[task]):
            place = home(named)
            for other, wrote in users[place]:
                if (writes or wrote) and clock[chain[other]] < turn[other]:
                    return _race(program, task, other, place)
            if writes:
                # Every earlier user is ordered before this write: the write stands for all of them.
                users[place].clear()
            users[place].append((task, writes))
        if left[task] == 0:
            del clocks[task]
    return NO_RACE


def _chains(before: list[list[int]], order: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Divide tasks into chains; return each task's chain and position (from 1), and the lengths."""
    chain, turn = [-1] * len(order), [0] * len(order)
    lengths: list[int] = []
    for task in order:
        free = (chain[one] for one in before[task] if turn[one] == lengths[chain[one]])
        mine = next(free, len(lengths))
        if mine == len(lengths):
            lengths.append(0)
        lengths[mine] += 1
        chain[task], turn[task] = mine, lengths[mine]
    return chain, turn, lengths


def _race(program: TaskProgram, task: int, other: int, place: BufferPlace) -> str:
    one, two = (program.tasks.where[each].partition(":")[0] for each in (other, task))
    return (
        f"{one} and {two} both use {place.buffer}[{place.offset}] of GPU {place.gpu}, one of them "
        "writes, and no dependency, signal, packet or barrier orders them."
    )
