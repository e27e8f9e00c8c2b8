"""Writing schedule files: CSV, NPZ, MSCCL-XML and GOAL, and the table of all that are written."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from mpinet.errors import UsageError
from mpinet.programs.schedules.chunks import OWNED, count_chunks
from mpinet.programs.schedules.files.chakrawriting import as_chakra
from mpinet.programs.schedules.files.msccl import NAMES
from mpinet.programs.schedules.files.mscclppwriting import as_plan
from mpinet.programs.schedules.timetable import (
    COLUMNS,
    EXTRA,
    HEADER,
    WHOLE,
    Timetable,
    csv_text,
    turns,
)


def as_csv(table: Timetable) -> bytes:
    """Mpinet's format as text."""
    return csv_text(table).encode()


def as_npz(table: Timetable) -> bytes:
    """Mpinet's format as arrays."""
    table, file = table.ordered(), io.BytesIO()
    header = {key: getattr(table, key) for key in HEADER if getattr(table, key) is not None}
    arrays = {name: getattr(table, key) for key, name in COLUMNS.items()}
    arrays |= {key: getattr(table, key) for key in EXTRA if _has(table, key)}
    if table.add is not None:
        arrays["op"] = np.where(table.add, "a", "c")
    np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)
    return file.getvalue()


def _has(table: Timetable, column: str) -> bool:
    return getattr(table, column) is not None


def as_goal(table: Timetable, size: int) -> bytes:
    """GOAL, chunks of `size` bytes: a send requires the receives of it, and the sends before."""
    _require_hosts(table, "GOAL")
    table = table.ordered()
    lines: list[list[str]] = [[] for _ in range(table.processors)]
    came: dict[tuple[int, int], list[str]] = defaultdict(list)
    before: dict[int, tuple[int, list[str], list[str]]] = {}
    columns = (table.step, table.sender, table.receiver, table.chunk)
    arrived: list[tuple[int, int, str]] = []
    now = 0
    for row, (step, sender, receiver, chunk) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if step > now:
            for node, brought, label in arrived:
                came[node, brought].append(label)
            now, arrived = step, []
        lines[sender].append(f"s{row}_at_{step}: send {size}b to {receiver} tag {row}")
        lines[receiver].append(f"r{row}: recv {size}b from {sender} tag {row}")
        last, earlier, labels = before.get(sender, (0, [], []))
        needed = came[sender, chunk] if table.add is not None else came[sender, chunk][-1:]
        lines[sender] += [f"s{row}_at_{step} requires {label}" for label in needed]
        if last < step:
            earlier, labels = labels, []
            before[sender] = (step, earlier, labels)
        lines[sender] += [f"s{row}_at_{step} requires {label}" for label in earlier]
        labels.append(f"s{row}_at_{step}")
        arrived.append((receiver, chunk, f"r{row}"))
    text = [f"num_ranks {table.processors}", ""]
    for rank, own in enumerate(lines):
        text += [f"rank {rank} {{", *own, "}", ""]
    return "\n".join(text).encode()


def _require_hosts(table: Timetable, format: str) -> None:
    """Raise `UsageError` where switches send or receive, which the format does not know."""
    ends = np.maximum(table.sender, table.receiver)
    if len(ends) and ends.max() >= table.processors:
        raise UsageError(f"{format} knows no switches, and in this schedule some send or receive.")


MOST_STEPS = 2**8
"""Steps that the executor of MSCCL-XML takes in a thread block."""

MOST_PEERS = 2**5
"""Thread blocks of a GPU that send on a channel, and that receive: so many the executor takes."""

MOST_BYTES = 2**62
"""The largest messages that the executor may take an algorithm for: any."""


class Block(NamedTuple):
    """A thread block: its GPU, the other one, and whether it sends there or receives from there.

    What goes over parallel links in one step has a channel of the executor for each of them.
    """

    gpu: int
    peer: int
    sends: bool
    channel: int


class Step(NamedTuple):
    """A step of a thread block.

    Attributes
    ----------
    kind : str
        ``s``, ``r``, ``rrc`` or ``nop``.
    chunk : int
        What it sends or receives; a ``nop`` only waits.
    awaited : tuple of int or None
        The thread block and the step of its GPU that it waits for.
    at : int
        The first step of a send, mpinet's own; 0 of others.
    """

    kind: str
    chunk: int
    awaited: tuple[int, int] | None
    at: int = 0


def as_msccl(table: Timetable) -> bytes:
    """MSCCL-XML: a thread block a neighbour and direction, a step a row; but exchange in place.

    Raises
    ------
    UsageError
        Switches send or receive, parts of sums are sent, or there is more than the executor takes.
    """
    _require_hosts(table, "MSCCL-XML")
    if table.since is not None and (table.since != WHOLE).any():
        raise UsageError(
            "In this schedule processors send parts of their sums (since), and MSCCL-XML that is "
            "written has one place for a sum: write .csv, .npz or .goal, or take another "
            "--algorithm."
        )
    table = table.ordered()
    blocks: dict[Block, list[Step]] = defaultdict(list)
    numbers: dict[Block, int] = {}
    came: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    read: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    own = dict[int, int]()

    def place(block: Block) -> int:
        if block not in numbers:
            numbers[block] = own[block.gpu] = own.get(block.gpu, -1) + 1
        return numbers[block]

    def add(
        block: Block, kind: str, chunk: int, needed: list[tuple[int, int]], at: int = 0
    ) -> tuple[int, int]:
        steps, number = blocks[block], place(block)
        awaited = [each for each in needed if each[0] != number]
        steps += [Step("nop", chunk, each) for each in awaited[:-1]]
        steps.append(Step(kind, chunk, awaited[-1] if awaited else None, at))
        return number, len(steps) - 1

    for step, rows in groupby(_rows(table), key=itemgetter(0)):
        now = list(rows)
        for _, sender, receiver, chunk, channel, _ in now:
            block = Block(sender, receiver, True, channel)
            sent = add(block, "s", chunk, list(came[sender, chunk]), step)
            place(Block(receiver, sender, False, channel))
            read[sender, chunk].append(sent)
        # Blocks run side by side: a place is written after what is in it was added to and sent.
        for _, sender, receiver, chunk, channel, adds in sorted(now, key=itemgetter(5)):
            held, kind = (receiver, chunk), "rrc" if adds else "r"
            needed = came[held] + read.pop(held, [])
            came[held] = [add(Block(receiver, sender, False, channel), kind, chunk, needed)]
    _require_executable(table, blocks)
    return _document(table, {block: (numbers[block], blocks[block]) for block in blocks})


def _require_executable(table: Timetable, blocks: Mapping[Block, list[Step]]) -> None:
    """Raise `UsageError` where the executor refuses what there is; each step moves one chunk."""
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


def _rows(table: Timetable) -> list[tuple[int, int, int, int, int, bool]]:
    """Return step, sender, receiver, chunk and channel of each row, and whether it adds."""
    ends = table.step, table.sender, table.receiver
    columns = (*ends, table.chunk, turns(*ends))
    add = np.zeros(len(table), bool) if table.add is None else table.add
    return list(zip(*(column.tolist() for column in columns), add.tolist(), strict=True))


def _document(table: Timetable, blocks: Mapping[Block, tuple[int, list[Step]]]) -> bytes:
    """The whole document: of each block its number in its GPU, and its steps."""
    hosts = table.processors
    coll = next(theirs for theirs, ours in NAMES.items() if ours == table.collective)
    total = count_chunks(table.collective, hosts, table.chunks)
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
    i_chunks, o_chunks = _sizes(table, total)
    for gpu in range(hosts):
        mine = sorted((*blocks[block], block) for block in blocks if block.gpu == gpu)
        # A block tells the others how far it is after those steps alone that they wait for.
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
    """A step as XML; `awaited`: whether another one waits for it."""
    block, deps = step.awaited or (-1, -1)
    first = f' at="{step.at}"' if step.at else ""
    return (
        f'<step s="{number}" type="{step.kind}" srcbuf="{buffer}" srcoff="{offset}" '
        f'dstbuf="{buffer}" dstoff="{offset}" cnt="{int(step.kind != "nop")}" depid="{block}" '
        f'deps="{deps}" hasdep="{int(awaited)}"{first}/>'
    )


def _own_copied(first: int, per: int, number: int) -> list[str]:
    """A block that copies what a GPU has for itself from its input to its output."""
    steps = [
        f'<step s="{j}" type="cpy" srcbuf="i" srcoff="{first + j}" dstbuf="o" '
        f'dstoff="{first + j}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
        for j in range(per)
    ]
    return [f'<tb id="{number}" send="-1" recv="-1" chan="0">', *steps, "</tb>"]


def _sizes(table: Timetable, total: int) -> tuple[int, int]:
    """Chunks in a GPU's input and output."""
    hosts, per = table.processors, table.chunks
    inputs = {"gossip": per, "gather": per, "exchange": hosts * per}
    outputs = {"scatter": per, "reducescatter": per, "exchange": hosts * per}
    return inputs.get(table.collective, total), outputs.get(table.collective, total)


def _places(
    table: Timetable, scratch: dict[tuple[int, int], int]
) -> Callable[[int, int], tuple[str, int]]:
    """Finds buffer and offset of a chunk on a GPU; keeps what is in the scratch buffers."""
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


GOAL_BYTES = 8
"""Bytes of a chunk in GOAL, where nobody says it."""

FORMATS: dict[str, Callable[[Timetable, int], bytes | list[bytes]]] = {
    "csv": lambda table, _: as_csv(table),
    "npz": lambda table, _: as_npz(table),
    "msccl": lambda table, _: as_msccl(table),
    "mscclpp": lambda table, _: as_plan(table),
    "goal": as_goal,
    "chakra": as_chakra,
}
"""Formats that a schedule can be written in, given a chunk's bytes; some have a file a processor.
"""

SIZED = ("goal", "chakra")
"""Formats that tell a chunk's bytes."""

ENDINGS = {
    ".csv": "csv", ".npz": "npz", ".xml": "msccl", ".json": "mscclpp", ".goal": "goal",
    ".et": "chakra",
}  # fmt: skip
"""The formats that files' endings stand for."""
