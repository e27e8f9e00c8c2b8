"""MSCCL-XML files: thread blocks of GPUs send, receive, copy and reduce pieces of three buffers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from mpinet.base.markup import Element, parse_xml
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.kinds import OWNED
from mpinet.programs.schedules.files.buffers import (
    BUFFERS,
    MOST_COUNT,
    Act,
    BufferPlace,
    TaskProgram,
    collective_named,
    followed,
    name_of,
    sizes_of,
)
from mpinet.programs.schedules.files.schedulefile import (
    Contents,
    ReadingOptions,
    number_of,
    require_purpose,
    rows_of,
)
from mpinet.programs.schedules.timetable import Timetable, turns

KINDS = {
    "nop": (), "cpy": ("copy",), "re": ("reduce",), "s": ("send",), "r": ("receive",),
    "rcs": ("receive", "send"), "rrc": ("receive",), "rrs": ("receive", "send"),
    "rrcs": ("receive", "send"),
}  # fmt: skip
"""Actions of each type of step, in order."""


def read_msccl(data: bytes, reading: ReadingOptions) -> Contents:
    """Return the timetable of an algorithm; sends are timed in the order of GPUs and thread blocks.

    Raises
    ------
    UsageError
        The file is not in this format, or its steps wait for each other in a cycle.
    """
    document = parse_xml(data)
    algorithm = document.attributes
    gpus, coll = number_of(algorithm, "ngpus"), algorithm.get("coll", "")
    name = collective_named(coll, reading)
    loop = number_of(algorithm, "nchunksperloop", 1)
    # An allgather counts the chunks of all inputs, a reduce-scatter or alltoall those of one input.
    per = (
        loop // max(gpus, 1) if name in ("gossip", "reducescatter", "exchange", "gather") else loop
    )
    per = loop // max(gpus, 1) if name == "scatter" else per
    given = reading.root if reading.root is not None else number_of(algorithm, "root", 0)
    purpose = require_purpose(name, gpus, reading.chunks or max(per, 1), given)
    program = TaskProgram()
    for gpu in document.all("gpu"):
        number = number_of(gpu.attributes, "id")
        for buffer in BUFFERS:
            if (size := number_of(gpu.attributes, f"{buffer}_chunks", -1)) >= 0:
                program.sizes[number, buffer] = size
        for block in gpu.all("tb"):
            _read_block(program, number, block, gpus)
    _join(program, document)
    in_place = number_of(algorithm, "inplace", 0) == 1
    both = in_place and number_of(algorithm, "outofplace", 0) == 1
    modes = [True, False] if both else [in_place]
    return followed(program, reading, purpose, modes)


class Thread(NamedTuple):
    """A thread block during reading."""

    gpu: int
    number: int
    peers: tuple[int, int]
    """GPUs of the sends and of the receives; -1 for none."""
    channel: int


def _read_block(program: TaskProgram, gpu: int, block: Element, gpus: int) -> None:
    """Read the steps of a thread block; each step waits for the previous one."""
    send, receive = (number_of(block.attributes, end, -1) for end in ("send", "recv"))
    if not 0 <= gpu < gpus or any(not -1 <= peer < gpus or peer == gpu for peer in (send, receive)):
        raise UsageError(
            f"line {block.line}: a peer must be another one of the GPUs 0..{gpus - 1}."
        )
    channel, number = number_of(block.attributes, "chan", 0), number_of(block.attributes, "id")
    thread, before = Thread(gpu, number, (send, receive), channel), -1
    for step in block.all("step"):
        try:
            first, last = _read_step(program, thread, step)
            at = number_of(step.attributes, "s")
        except UsageError as error:
            raise UsageError(f"line {step.line}: {error}") from None
        if (gpu, number, at) in program.begun:
            raise UsageError(
                f"line {step.line}: step {at} of thread block {number} of GPU {gpu} appears twice."
            )
        if before >= 0:
            program.tasks.after(first, before)
        program.begun[gpu, number, at] = first
        before = program.last[gpu, number, at] = last


def _read_step(program: TaskProgram, thread: Thread, step: Element) -> tuple[int, int]:
    """Read a step; return its first and last task."""
    gpu, _, peers, channel = thread
    given, kind = step.attributes, step.attributes.get("type", "")
    count = number_of(given, "cnt", 1)
    if kind not in KINDS or not bool(KINDS[kind]) <= count <= MOST_COUNT:
        raise UsageError(f"unknown step of type {quoted(kind)} and count {count}.")
    for end in ("srcbuf", "dstbuf") if KINDS[kind] else ():
        if given.get(end, "i") not in BUFFERS:
            raise UsageError(f"{end} is {', '.join(BUFFERS)}, not {quoted(given[end])}.")
    where, before = f"line {step.line}: GPU {gpu}", -1
    first = before = program.add(where, Act("wait", None, None))
    if kind in ("cpy", "re", "rrc", "rrcs"):
        program.spans.append((where, *_ends(gpu, given, 0), count))
    for j in range(count):
        source, target = _ends(gpu, given, j)
        for does in KINDS[kind]:
            act, ends, line = Act(does, source, target), (-1, -1), None
            if does == "receive":
                act.adds = kind.startswith("rr")
                act.source = source if act.adds else None
                # A chunk that is only forwarded has a private place, hidden from other steps.
                act.target = (
                    BufferPlace(gpu, "t", first * MOST_COUNT + j) if kind == "rrs" else target
                )
                line = program.got, (peers[1], gpu, channel)
            elif does == "send":
                passing = {"rrs": BufferPlace(gpu, "t", first * MOST_COUNT + j), "s": source}
                act.source, act.target = passing.get(kind, target), None
                ends = gpu, peers[0]
                line = program.sent, (gpu, peers[0], channel)
            if line is not None and -1 in line[1][:2]:
                raise UsageError(f"its thread block has no peer to {does} with.")
            task = program.add(where, act, ends, number_of(given, "at", 1))
            program.tasks.after(task, before)
            before = task
            if line is not None:
                _require_alone(program, thread, does, line[1])
                line[0][line[1]].append(task)
    return first, before


def _ends(gpu: int, given: Mapping[str, str], at: int) -> tuple[BufferPlace, BufferPlace]:
    """Return source and target of one chunk of a step."""
    source = BufferPlace(gpu, given.get("srcbuf", "i"), number_of(given, "srcoff", 0) + at)
    return source, BufferPlace(gpu, given.get("dstbuf", "o"), number_of(given, "dstoff", 0) + at)


def _require_alone(
    program: TaskProgram, thread: Thread, does: str, connection: tuple[int, int, int]
) -> None:
    """Raise `UsageError` if two thread blocks use the same end of a connection."""
    other = program.owners.setdefault((does, *connection), thread.number)
    if other != thread.number:
        sender, receiver, channel = connection
        raise UsageError(
            f"thread blocks {other} and {thread.number} both {does} on channel {channel} from GPU "
            f"{sender} to GPU {receiver}: give each of them its own channel."
        )


def _join(program: TaskProgram, document: Element) -> None:
    """Match sends with receives, and make steps wait for their dependencies."""
    program.meet("on channel")
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


MOST_STEPS = 2**8
"""Maximum number of steps per thread block in the MSCCL-XML executor."""

MOST_PEERS = 2**5
"""Maximum number of sending thread blocks per GPU and channel in the executor, and of receiving
ones.
"""

MOST_BYTES = 2**62
"""Largest message for which the executor may choose an algorithm, in bytes: no real limit."""


class PairedBlock(NamedTuple):
    """A thread block: its GPU, its peer GPU, and whether the block sends or receives.

    Messages over parallel links in one step use one channel of the executor per link.
    """

    gpu: int
    peer: int
    sends: bool
    channel: int


class Step(NamedTuple):
    """A step of a thread block."""

    kind: str
    """``s``, ``r``, ``rrc`` or ``nop``."""
    chunk: int
    """Chunk that the step sends or receives; a ``nop`` only waits."""
    awaited: tuple[int, int] | None
    """Thread block and step of the same GPU to wait for; None without a dependency."""
    at: int = 0
    """Step of a send in the timetable; 0 for other steps."""


def as_msccl(table: Timetable) -> bytes:
    """Return a timetable as MSCCL-XML: a thread block per neighbour and direction, a step per row.

    All collectives except the exchange work in place.

    Raises
    ------
    UsageError
        The schedule exceeds a limit of the executor.
    """
    blocks: dict[PairedBlock, list[Step]] = defaultdict(list)
    numbers: dict[PairedBlock, int] = {}
    came: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    read: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    own = dict[int, int]()

    def place(block: PairedBlock) -> int:
        if block not in numbers:
            numbers[block] = own[block.gpu] = own.get(block.gpu, -1) + 1
        return numbers[block]

    def add(
        block: PairedBlock, kind: str, chunk: int, needed: list[tuple[int, int]], at: int = 0
    ) -> tuple[int, int]:
        steps, number = blocks[block], place(block)
        awaited = [each for each in needed if each[0] != number]
        steps += [Step("nop", chunk, each) for each in awaited[:-1]]
        steps.append(Step(kind, chunk, awaited[-1] if awaited else None, at))
        return number, len(steps) - 1

    channels = turns(table.step, table.sender, table.receiver).tolist()
    for step, rows in groupby(
        zip(rows_of(table), channels, strict=True), key=lambda row: row[0][0]
    ):
        now = [(*row[1:], channel) for row, channel in rows]
        for sender, receiver, chunk, _, channel in now:
            block = PairedBlock(sender, receiver, True, channel)
            sent = add(block, "s", chunk, list(came[sender, chunk]), step)
            place(PairedBlock(receiver, sender, False, channel))
            read[sender, chunk].append(sent)
        # Thread blocks run concurrently: a place is overwritten only after its old content was
        # reduced and sent.
        for sender, receiver, chunk, adds, channel in sorted(now, key=itemgetter(3)):
            held, kind = (receiver, chunk), "rrc" if adds else "r"
            needed = came[held] + read.pop(held, [])
            came[held] = [add(PairedBlock(receiver, sender, False, channel), kind, chunk, needed)]
    _require_executable(table, blocks)
    return _document(table, {block: (numbers[block], blocks[block]) for block in blocks})


def _require_executable(table: Timetable, blocks: Mapping[PairedBlock, list[Step]]) -> None:
    """Raise `UsageError` if blocks exceed a limit of the executor; each step moves one chunk."""
    longest = max(blocks, key=lambda block: len(blocks[block]), default=None)
    copied = table.chunks if table.collective == "exchange" else 0
    steps = max(copied, len(blocks[longest]) if longest else 0)
    if steps > MOST_STEPS:
        whose = f"of GPU {longest.gpu} " if longest and copied < steps else ""
        raise UsageError(
            f"A thread block {whose}would have {steps} steps, and MSCCL's executor takes "
            f"{MOST_STEPS}: write .csv, .npz or .goal, or a schedule of fewer items."
        )
    peers = Counter((block.gpu, block.sends, block.channel) for block in blocks)
    for (gpu, sends, _), number in peers.items():
        if number > MOST_PEERS:
            raise UsageError(
                f"GPU {gpu} {'sends to' if sends else 'receives from'} {number} others, and "
                f"MSCCL's executor takes {MOST_PEERS} thread blocks a channel: write .csv, .npz "
                "or .goal."
            )


def _document(table: Timetable, blocks: Mapping[PairedBlock, tuple[int, list[Step]]]) -> bytes:
    """Return the XML document; `blocks` maps each block to its number in its GPU and its steps."""
    hosts = table.processors
    coll = name_of(table.collective)
    loop = table.chunks * (hosts if table.collective in OWNED or coll == "alltoall" else 1)
    root = "" if table.root is None else f' root="{table.root}"'
    in_place = int(table.collective != "exchange")
    channels = 1 + max((block.channel for block in blocks), default=0)
    lines = [
        f'<algo name="mpinet" proto="Simple" nchannels="{channels}" nchunksperloop="{loop}" '
        f'ngpus="{hosts}" coll="{coll}" inplace="{in_place}" outofplace="{1 - in_place}" '
        f'minBytes="0" maxBytes="{MOST_BYTES}"{root}>'
    ]
    scratch = dict[tuple[int, int], int]()
    where = _places(table, scratch)
    i_chunks, o_chunks = sizes_of(table)
    for gpu in range(hosts):
        mine = sorted((*blocks[block], block) for block in blocks if block.gpu == gpu)
        # A block only signals steps that other blocks wait for.
        awaited = {step.awaited for _, steps, _ in mine for step in steps}
        body = []
        for number, steps, block in mine:
            send, receive = (block.peer, -1) if block.sends else (-1, block.peer)
            body.append(f'<tb id="{number}" send="{send}" recv="{receive}" chan="{block.channel}">')
            body += [
                _step(at, step, *where(gpu, step.chunk), (number, at) in awaited)
                for at, step in enumerate(steps)
            ]
            body.append("</tb>")
        if not in_place:
            body += _own_copied(gpu * table.chunks, table.chunks, len(mine))
        s_chunks = sum(node == gpu for node, _ in scratch)
        lines.append(
            f'<gpu id="{gpu}" i_chunks="{i_chunks}" o_chunks="{o_chunks}" s_chunks="{s_chunks}">'
        )
        lines += [*body, "</gpu>"]
    return "\n".join([*lines, "</algo>", ""]).encode()


def _step(number: int, step: Step, buffer: str, offset: int, awaited: bool) -> str:
    """Return a step as XML; `awaited` is True if another step waits for this step."""
    block, deps = step.awaited or (-1, -1)
    first = f' at="{step.at}"' if step.at else ""
    return (
        f'<step s="{number}" type="{step.kind}" srcbuf="{buffer}" srcoff="{offset}" '
        f'dstbuf="{buffer}" dstoff="{offset}" cnt="{int(step.kind != "nop")}" depid="{block}" '
        f'deps="{deps}" hasdep="{int(awaited)}"{first}/>'
    )


def _own_copied(first: int, per: int, number: int) -> list[str]:
    """Return the XML of a block that copies a GPU's own chunks from its input to its output."""
    steps = [
        f'<step s="{j}" type="cpy" srcbuf="i" srcoff="{first + j}" dstbuf="o" '
        f'dstoff="{first + j}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
        for j in range(per)
    ]
    return [f'<tb id="{number}" send="-1" recv="-1" chan="0">', *steps, "</tb>"]


def _places(
    table: Timetable, scratch: dict[tuple[int, int], int]
) -> Callable[[int, int], tuple[str, int]]:
    """Return a function from a GPU and a chunk to buffer and offset.

    The function records the chunks in scratch buffers in `scratch`.
    """
    hosts, per, name = table.processors, table.chunks, table.collective

    def found(gpu: int, chunk: int) -> tuple[str, int]:
        if name in ("gossip", "gather", "broadcast", "reduce", "allreduce"):
            return "o", chunk
        if name in ("scatter", "reducescatter"):
            return "i", chunk
        owner, target = chunk // per // hosts, chunk // per % hosts
        if owner == gpu:
            return "i", chunk % (hosts * per)
        if target == gpu:
            return "o", owner * per + chunk % per
        mine = sum(node == gpu for node, _ in scratch)
        return "s", scratch.setdefault((gpu, chunk), mine)

    return found
