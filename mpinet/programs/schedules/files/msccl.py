"""MSCCL-XML: thread blocks of GPUs that send, receive, copy and reduce pieces of three buffers."""

from __future__ import annotations

import numpy as np

from mpinet.base.markup import Element
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.schedules.chunks import SUMS
from mpinet.programs.schedules.files.buffers import Act, Place, Program, follow
from mpinet.programs.schedules.files.schedulefile import ReadingOptions, number_of, require_purpose
from mpinet.programs.schedules.files.timing import timed
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
