"""Buffers of GPUs: what is in their places, who moves it, and whether nobody is in the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mpinet.errors import UsageError
from mpinet.programs.kinds import SUMS
from mpinet.programs.schedules.files.schedulefile import Contents, ReadingOptions
from mpinet.programs.schedules.files.timing import Tasks, timed
from mpinet.programs.schedules.timetable import Timetable

NAMES = {
    "allgather": "gossip", "allreduce": "allreduce", "reducescatter": "reducescatter",
    "reduce_scatter": "reducescatter", "alltoall": "exchange", "broadcast": "broadcast",
    "reduce": "reduce", "scatter": "scatter", "gather": "gather",
}  # fmt: skip
"""Names of collectives in the formats of GPUs, and ours."""

MOST_COUNT = 2**20
"""Most pieces that one operation moves."""

Purpose = tuple[str, int, int, int | None]
"""Collective, processors, chunks of a unit, and root."""

NO_RACE, NOT_SEARCHED = "none", "not searched"
"""In place of a race."""

MOST_CLOCKS = 2**27
"""Bytes that the search for races takes at most; it is left out beyond."""


def name_of(collective: str) -> str:
    """Return the formats' name of a collective."""
    return next(theirs for theirs, ours in NAMES.items() if ours == collective)


class Piece(NamedTuple):
    """Content of a place of a buffer: a chunk, and the set of those that are in its sum."""

    chunk: int
    givers: int


class Place(NamedTuple):
    """A place of a GPU's buffer; ``t`` holds what a step receives and passes on."""

    gpu: int
    buffer: str
    offset: int


@dataclass
class Act:
    """Act of a task on pieces."""

    kind: str
    source: Place | None
    target: Place | None
    adds: bool = False
    partner: int = -1


@dataclass
class Program:
    """An algorithm as tasks."""

    tasks: Tasks = field(default_factory=Tasks)
    acts: list[Act] = field(default_factory=list)
    """One for each task."""
    begun: dict[tuple[int, int, int], int] = field(default_factory=dict)
    """First task of each (gpu, thread block, step)."""
    last: dict[tuple[int, int, int], int] = field(default_factory=dict)
    """Last task of each (gpu, thread block, step)."""
    sent: dict[tuple[int, int, Any], list[int]] = field(default_factory=lambda: defaultdict(list))
    """Sending tasks of each (sender, receiver, channel or tag), in order."""
    got: dict[tuple[int, int, Any], list[int]] = field(default_factory=lambda: defaultdict(list))
    """Receiving tasks of each (sender, receiver, channel or tag), in order."""

    def add(self, where: str, act: Act, ends: tuple[int, int] = (-1, -1), earliest: int = 1) -> int:
        """Add a task."""
        self.acts.append(act)
        return self.tasks.add(where, *ends, earliest=earliest)

    def meet(self, by: str) -> None:
        """Let the k-th send of a channel meet its k-th receive; `by` says what a channel is."""
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


def followed(
    program: Program,
    reading: ReadingOptions,
    purpose: Purpose,
    in_place: bool,
    refusing: bool = True,
) -> Contents:
    """Time an algorithm's tasks, follow the pieces through the buffers, and look for races.

    Parameters
    ----------
    in_place : bool
        Whether a GPU has one buffer for input and output.
    refusing : bool
        Whether a race is an error; else the contents tell it.

    Raises
    ------
    UsageError
        Tasks wait for ever, race, or take what is not there.
    """
    steps, order = timed(program.tasks, reading)
    name, gpus, per, root = purpose
    rows = _follow(program, order, steps, purpose, in_place)
    races = race_in(program, order, lambda at: real_place(at, name, per, in_place))
    if refusing and races not in (NO_RACE, NOT_SEARCHED):
        raise UsageError(races)
    step, sender, receiver, chunk, add = np.array(rows, np.int64).reshape(-1, 5).T.copy()
    sums, ends = add.astype(bool) if name in SUMS else None, (sender, receiver)
    table = Timetable(name, gpus, step, *ends, chunk, per, root, add=sums)
    return Contents(table, races=races)


def _follow(
    program: Program, order: list[int], steps: list[int], purpose: Purpose, in_place: bool
) -> list[tuple[int, int, int, int, int]]:
    """Return rows of step, sender, receiver, chunk, add."""
    name, gpus, per, root = purpose
    buffers: dict[Place, Piece] = _inputs(name, gpus, per, root)
    held = {(place.gpu, piece.chunk): piece.givers for place, piece in buffers.items()}
    flying: dict[int, Piece] = {}
    rows = {}

    def home(place: Place) -> Place:
        return real_place(place, name, per, in_place)

    buffers = {home(place): piece for place, piece in buffers.items()}

    def piece_at(place: Place | None, task: int) -> Piece:
        assert place is not None
        found = buffers.get(home(place))
        if found is None:
            raise UsageError(
                f"{program.tasks.where[task]} takes {place.buffer}[{place.offset}], and nothing is "
                "there."
            )
        return found

    for task in order:
        act = program.acts[task]
        if act.kind == "wait":
            continue
        if act.kind == "send":
            assert act.source is not None
            piece = flying[task] = piece_at(act.source, task)
            if name in SUMS and held.get((act.source.gpu, piece.chunk)) != piece.givers:
                raise UsageError(
                    f"{program.tasks.where[task]} sends chunk {piece.chunk} in step {steps[task]} "
                    "as it was before more of it came, and a processor has one place for a chunk."
                )
            continue
        assert act.target is not None
        piece = flying[act.partner] if act.kind == "receive" else piece_at(act.source, task)
        came = piece
        if act.adds or act.kind == "reduce":
            own = piece_at(act.source if act.adds else act.target, task)
            if own.chunk != piece.chunk:
                raise UsageError(
                    f"{program.tasks.where[task]} adds chunk {piece.chunk} to chunk {own.chunk}."
                )
            piece = Piece(own.chunk, own.givers | piece.givers)
        buffers[home(act.target)] = piece
        if act.kind == "receive":
            gpu, send = act.target.gpu, act.partner
            mine = held.get((gpu, came.chunk), 0)
            adds = act.adds or (name in SUMS and mine != 0 and mine & came.givers == 0)
            held[gpu, came.chunk] = mine | came.givers if adds else came.givers
            rows[send] = (
                steps[send], program.tasks.sender[send], gpu, came.chunk, int(adds)
            )  # fmt: skip
    return [rows[task] for task in sorted(rows)]


def real_place(place: Place, name: str, per: int, in_place: bool) -> Place:
    """Return where a place really is: with one buffer for both, in terms of the output."""
    if not in_place or place.buffer not in "io" or name == "exchange":
        return place
    own = place.gpu * per
    if name in ("gossip", "gather") and place.buffer == "i":
        return Place(place.gpu, "o", own + place.offset)
    if name in ("reducescatter", "scatter") and place.buffer == "o":
        return Place(place.gpu, "i", own + place.offset)
    return Place(place.gpu, "i" if name in ("reducescatter", "scatter") else "o", place.offset)


def _inputs(name: str, gpus: int, per: int, root: int | None) -> dict[Place, Piece]:
    """Return what is in the buffers first."""
    found = {}
    for gpu in range(gpus):
        pieces: range
        if name in SUMS:
            pieces = range(per * gpus if name == "reducescatter" else per)
        elif name in ("broadcast", "scatter"):
            pieces = range((per if name == "broadcast" else per * gpus) if gpu == root else 0)
        elif name == "exchange":
            pieces = range(gpu * gpus * per, (gpu + 1) * gpus * per)
        else:
            pieces = range(gpu * per, (gpu + 1) * per)
        for offset, chunk in enumerate(pieces):
            found[Place(gpu, "i", offset)] = Piece(chunk, 1 << gpu)
    return found


def _accesses(act: Act) -> list[tuple[Place, bool]]:
    """Return the places that an act reads or writes (True)."""
    found = []
    if act.source is not None and act.kind != "wait":
        found.append((act.source, False))
    if act.target is not None:
        found.append((act.target, True))
    return [(place, writes) for place, writes in found if place.buffer != "t"]


def race_in(program: Program, order: list[int], home: Callable[[Place], Place]) -> str:
    """Find two tasks that use a place, of which one writes, while nothing orders them.

    Returns a sentence; `NO_RACE`; or `NOT_SEARCHED` where that would take too much memory.

    The tasks are dealt to chains, in which each one waits for the one before, such as those of a
    thread block. A clock counts, for each task, the tasks of every chain that are done before it
    begins.

    Parameters
    ----------
    order : list of int
        The tasks as they are done.
    home : callable
        The place that is meant by a place.
    """
    before = program.tasks.before
    chain, turn, lengths = _chains(before, order)
    if len(order) * len(lengths) * 4 > MOST_CLOCKS:
        return NOT_SEARCHED
    clocks = np.zeros((len(order), len(lengths)), np.int32)
    users: dict[Place, list[tuple[int, bool]]] = defaultdict(list)
    for task in order:
        for earlier in before[task]:
            np.maximum(clocks[task], clocks[earlier], out=clocks[task])
        clocks[task, chain[task]] = turn[task]
        for named, writes in _accesses(program.acts[task]):
            place = home(named)
            for other, wrote in users[place]:
                ordered = clocks[task, chain[other]] >= turn[other]
                if (writes or wrote) and not ordered:
                    return _race(program, task, other, place)
            users[place].append((task, writes))
    return NO_RACE


def _chains(before: list[list[int]], order: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Deal tasks to chains; return each one's chain and place in it, from 1 on, and the lengths."""
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


def _race(program: Program, task: int, other: int, place: Place) -> str:
    one, two = (program.tasks.where[each].partition(":")[0] for each in (other, task))
    return (
        f"{one} and {two} both use {place.buffer}[{place.offset}] of GPU {place.gpu}, one of them "
        "writes there, and no dependency, signal, packet or barrier says which goes first."
    )
