"""MSCCL-XML: thread blocks of GPUs that send, receive, copy and reduce pieces of three buffers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.schedules.chunks import SUMS
from mpinet.programs.schedules.files.markup import Element
from mpinet.programs.schedules.files.schedulefile import ReadingOptions, number_of, require_purpose
from mpinet.programs.schedules.files.timing import Tasks, timed
from mpinet.programs.schedules.timetable import Timetable

KINDS = {
    "nop": (), "cpy": ("copy",), "re": ("reduce",), "s": ("send",), "r": ("receive",),
    "rcs": ("receive", "send"), "rrc": ("receive",), "rrs": ("receive", "send"),
    "rrcs": ("receive", "send"),
}  # fmt: skip
"""Actions of each type of step, in order."""

NAMES = {
    "allgather": "gossip", "allreduce": "allreduce", "reducescatter": "reducescatter",
    "reduce_scatter": "reducescatter", "alltoall": "exchange", "broadcast": "broadcast",
    "reduce": "reduce", "scatter": "scatter", "gather": "gather",
}  # fmt: skip
"""The format's names of collectives, and ours."""

MOST_COUNT = 2**20


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
    """An algorithm as tasks.

    Attributes
    ----------
    acts : list of Act
        One for each task.
    begun, last : dict
        The first and the last task of (gpu, thread block, step).
    sent, got : dict
        The tasks of each (sender, receiver, channel), in order.
    """

    tasks: Tasks = field(default_factory=Tasks)
    acts: list[Act] = field(default_factory=list)
    begun: dict[tuple[int, int, int], int] = field(default_factory=dict)
    last: dict[tuple[int, int, int], int] = field(default_factory=dict)
    sent: dict[tuple[int, int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    got: dict[tuple[int, int, int], list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, where: str, act: Act, ends: tuple[int, int] = (-1, -1), earliest: int = 1) -> int:
        """Add a task."""
        self.acts.append(act)
        return self.tasks.add(where, *ends, earliest=earliest)


def read_msccl(document: Element, reading: ReadingOptions) -> Timetable:
    """The timetable of an algorithm; sends are timed in the order of GPUs and thread blocks.

    Raises
    ------
    UsageError
        The file is no such one, or its steps wait for one another.
    """
    algorithm = document.attributes
    gpus, coll = number_of(algorithm, "ngpus"), algorithm.get("coll", "")
    if coll not in NAMES and reading.collective is None:
        raise UsageError(
            f"header: the collective {quoted(coll)} is none of {', '.join(NAMES)}: say with "
            "--collective which one it is."
        )
    name = NAMES.get(coll) or reading.collective
    loop = number_of(algorithm, "nchunksperloop", 1)
    # An allgather counts the chunks of all inputs; a reduce-scatter and an alltoall one input's.
    per = (
        loop // max(gpus, 1) if name in ("gossip", "reducescatter", "exchange", "gather") else loop
    )
    per = loop // max(gpus, 1) if name == "scatter" else per
    given = reading.root if reading.root is not None else number_of(algorithm, "root", 0)
    name, gpus, per, root = require_purpose(name, gpus, reading.chunks or max(per, 1), given)
    program = Program()
    for gpu in document.all("gpu"):
        for block in gpu.all("tb"):
            _read_block(program, number_of(gpu.attributes, "id"), block, gpus)
    _join(program, document)
    steps, order = timed(program.tasks, reading)
    purpose = (name, gpus, per, root)
    rows = follow(program, order, steps, purpose, number_of(algorithm, "inplace", 0) == 1)
    step, sender, receiver, chunk, add = np.array(rows, np.int64).reshape(-1, 5).T.copy()
    sums = add.astype(bool) if name in SUMS else None
    return Timetable(name, gpus, step, sender, receiver, chunk, per, root, add=sums)


def _read_block(program: Program, gpu: int, block: Element, gpus: int) -> None:
    """The steps of a thread block, one after the other."""
    peers = [number_of(block.attributes, end, -1) for end in ("send", "recv")]
    if not 0 <= gpu < gpus or any(not -1 <= peer < gpus or peer == gpu for peer in peers):
        raise UsageError(f"line {block.line}: there are GPUs 0..{gpus - 1}, and peers are others.")
    channel, number = number_of(block.attributes, "chan", 0), number_of(block.attributes, "id")
    before = -1
    for step in block.all("step"):
        try:
            first, last = _read_step(program, gpu, peers, channel, step)
            at = number_of(step.attributes, "s")
        except UsageError as error:
            raise UsageError(f"line {step.line}: {error}") from None
        if before >= 0:
            program.tasks.after(first, before)
        program.begun[gpu, number, at] = first
        before = program.last[gpu, number, at] = last


def _read_step(
    program: Program, gpu: int, peers: list[int], channel: int, step: Element
) -> tuple[int, int]:
    """Its first and last task."""
    given, kind = step.attributes, step.attributes.get("type", "")
    count = number_of(given, "cnt", 1)
    if kind not in KINDS or not 0 <= count <= MOST_COUNT:
        raise UsageError(f"there is no step of type {quoted(kind)} and count {count}.")
    where, before = f"line {step.line}: GPU {gpu}", -1
    first = before = program.add(where, Act("wait", None, None))
    for j in range(count):
        source = Place(gpu, given.get("srcbuf", "i"), number_of(given, "srcoff", 0) + j)
        target = Place(gpu, given.get("dstbuf", "o"), number_of(given, "dstoff", 0) + j)
        for does in KINDS[kind]:
            act, ends, line = Act(does, source, target), (-1, -1), None
            if does == "receive":
                act.adds = kind.startswith("rr")
                act.source = source if act.adds else None
                # What is only passed on has a place of its own, so that nothing else sees it.
                act.target = Place(gpu, "t", first * MOST_COUNT + j) if kind == "rrs" else target
                line = program.got, (peers[1], gpu, channel)
            elif does == "send":
                passing = {"rrs": Place(gpu, "t", first * MOST_COUNT + j), "s": source}
                act.source, ends = passing.get(kind, target), (gpu, peers[0])
                line = program.sent, (gpu, peers[0], channel)
            if line is not None and -1 in line[1][:2]:
                raise UsageError(f"its thread block has no peer to {does} with.")
            task = program.add(where, act, ends, number_of(given, "at", 1))
            program.tasks.after(task, before)
            before = task
            if line is not None:
                line[0][line[1]].append(task)
    return first, before


def _join(program: Program, document: Element) -> None:
    """The k-th send of a channel meets its k-th receive; steps wait for those they depend on."""
    for key in {**program.sent, **program.got}:
        sent, got = program.sent.get(key, []), program.got.get(key, [])
        if len(sent) != len(got):
            raise UsageError(
                f"GPU {key[0]} sends {len(sent)} times to {key[1]} on channel {key[2]}, which "
                f"receives {len(got)} times."
            )
        for send, receive in zip(sent, got, strict=True):
            program.tasks.after(receive, send)
            program.acts[receive].partner = send
    for gpu in document.inside:
        for block in gpu.inside:
            for step in block.inside:
                given, number = step.attributes, number_of(gpu.attributes, "id")
                other, at = number_of(given, "depid", -1), number_of(given, "deps", -1)
                if other < 0 or at < 0:
                    continue
                here = number, number_of(block.attributes, "id"), number_of(given, "s")
                if (number, other, at) not in program.last:
                    raise UsageError(
                        f"line {step.line}: it depends on step {at} of thread block {other}, which "
                        "is not there."
                    )
                program.tasks.after(program.begun[here], program.last[number, other, at])


def follow(
    program: Program,
    order: list[int],
    steps: list[int],
    purpose: tuple[str, int, int, int | None],
    in_place: bool,
) -> list[tuple[int, int, int, int, int]]:
    """Follow the pieces through the buffers; rows of step, sender, receiver, chunk, add."""
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
