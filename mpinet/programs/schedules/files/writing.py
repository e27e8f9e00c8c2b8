"""Writing schedule files: CSV, NPZ, MSCCL-XML and GOAL."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter

import numpy as np

from mpinet.errors import UsageError
from mpinet.programs.schedules.chunks import OWNED, count_chunks
from mpinet.programs.schedules.files.msccl import NAMES
from mpinet.programs.schedules.timetable import COLUMNS, HEADER, Timetable, csv_text


def as_csv(table: Timetable) -> bytes:
    """Mpinet's format as text."""
    return csv_text(table).encode()


def as_npz(table: Timetable) -> bytes:
    """Mpinet's format as arrays."""
    table, file = table.ordered(), io.BytesIO()
    header = {key: getattr(table, key) for key in HEADER if getattr(table, key) is not None}
    arrays = {name: getattr(table, key) for key, name in COLUMNS.items()}
    arrays |= {key: getattr(table, key) for key in ("bus", "port") if _has(table, key)}
    if table.add is not None:
        arrays["op"] = np.where(table.add, "a", "c")
    np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)
    return file.getvalue()


def _has(table: Timetable, column: str) -> bool:
    return getattr(table, column) is not None


def as_goal(table: Timetable) -> bytes:
    """GOAL: a send requires the receives of what it sends, and the sends before it."""
    _require_hosts(table, "GOAL")
    table = table.ordered()
    lines: list[list[str]] = [[] for _ in range(table.processors)]
    came: dict[tuple[int, int], list[str]] = defaultdict(list)
    before: dict[int, tuple[int, list[str]]] = {}
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
        lines[sender].append(f"s{row}_at_{step}: send 8b to {receiver} tag {row}")
        lines[receiver].append(f"r{row}: recv 8b from {sender} tag {row}")
        last, labels = before.get(sender, (0, []))
        needed = came[sender, chunk] if table.add is not None else came[sender, chunk][-1:]
        lines[sender] += [f"s{row}_at_{step} requires {label}" for label in needed]
        if last < step:
            earlier = labels
            before[sender] = (step, [f"s{row}_at_{step}"])
            lines[sender] += [f"s{row}_at_{step} requires {label}" for label in earlier]
        else:
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


def as_msccl(table: Timetable) -> bytes:
    """MSCCL-XML: a thread block a neighbour and direction, a step a row; but exchange in place."""
    _require_hosts(table, "MSCCL-XML")
    table = table.ordered()
    coll = next(theirs for theirs, ours in NAMES.items() if ours == table.collective)
    blocks: dict[tuple[int, int, int], list[str]] = defaultdict(list)
    numbers: dict[tuple[int, int, int], int] = {}
    came: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    read: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    own = dict[int, int]()

    def place(key: tuple[int, int, int]) -> int:
        if key not in numbers:
            numbers[key] = own[key[0]] = own.get(key[0], -1) + 1
        return numbers[key]

    def step_of(
        key: tuple[int, int, int], kind: str, chunk: int, needed: list[tuple[int, int]], at: int
    ) -> tuple[int, int]:
        steps, block = blocks[key], place(key)
        needed = [dependency for dependency in needed if dependency[0] != block]
        while len(needed) > 1:
            depends = needed.pop(0)
            steps.append(_step(len(steps), "nop", 0, *depends, count=0))
        steps.append(_step(len(steps), kind, chunk, *(needed or [(-1, -1)])[0], at=at))
        return block, len(steps) - 1

    for step, rows in groupby(_rows(table), key=itemgetter(0)):
        now = list(rows)
        for _, sender, receiver, chunk, _ in now:
            sent = step_of((sender, receiver, 0), "s", chunk, list(came[sender, chunk]), step)
            place((receiver, sender, 1))
            read[sender, chunk].append(sent)
        # Blocks run side by side: a place is written after what is in it was added to and sent.
        for _, sender, receiver, chunk, adds in sorted(now, key=itemgetter(4)):
            held, kind = (receiver, chunk), "rrc" if adds else "r"
            needed = came[held] + read.pop(held, [])
            came[held] = [step_of((receiver, sender, 1), kind, chunk, needed, 0)]
    return _document(table, coll, blocks, numbers)


def _rows(table: Timetable) -> list[tuple[int, int, int, int, bool]]:
    """Step, sender, receiver, chunk of each row, and whether it adds."""
    columns = (table.step, table.sender, table.receiver, table.chunk)
    add = np.zeros(len(table), bool) if table.add is None else table.add
    return list(zip(*(column.tolist() for column in columns), add.tolist(), strict=True))


def _step(
    number: int, kind: str, chunk: int, depid: int, deps: int, count: int = 1, at: int = 0
) -> str:
    """A step of a block; `at` is mpinet's own: the first step of a send."""
    first = f' at="{at}"' if at else ""
    return (
        f'<step s="{number}" type="{kind}" srcbuf="t{chunk}" srcoff="0" dstbuf="t{chunk}" '
        f'dstoff="0" cnt="{count}" depid="{depid}" deps="{deps}" hasdep="0"{first}/>'
    )


def _document(
    table: Timetable,
    coll: str,
    blocks: dict[tuple[int, int, int], list[str]],
    numbers: dict[tuple[int, int, int], int],
) -> bytes:
    """The whole document."""
    hosts = table.processors
    total = count_chunks(table.collective, hosts, table.chunks)
    loop = table.chunks * (hosts if table.collective in OWNED or coll == "alltoall" else 1)
    root = "" if table.root is None else f' root="{table.root}"'
    in_place = int(table.collective != "exchange")
    lines = [
        f'<algo name="mpinet" proto="Simple" nchannels="1" nchunksperloop="{loop}" '
        f'ngpus="{hosts}" coll="{coll}" inplace="{in_place}"{root}>'
    ]
    scratch = dict[tuple[int, int], int]()
    where = _places(table, total, scratch)
    for gpu in range(hosts):
        mine = sorted((number, key) for key, number in numbers.items() if key[0] == gpu)
        body = []
        for number, key in mine:
            send, receive = (key[1], -1) if key[2] == 0 else (-1, key[1])
            body.append(f'<tb id="{number}" send="{send}" recv="{receive}" chan="0">')
            body += [where(gpu, step) for step in blocks[key]]
            body.append("</tb>")
        if not in_place:
            body += _own_copied(gpu * table.chunks, table.chunks, len(mine))
        i_chunks, o_chunks = _sizes(table, total)
        s_chunks = sum(node == gpu for node, _ in scratch)
        lines.append(
            f'<gpu id="{gpu}" i_chunks="{i_chunks}" o_chunks="{o_chunks}" s_chunks="{s_chunks}">'
        )
        lines += [*body, "</gpu>"]
    return "\n".join([*lines, "</algo>", ""]).encode()


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
    table: Timetable, total: int, scratch: dict[tuple[int, int], int]
) -> Callable[[int, str], str]:
    """Puts buffer and offset in place of a chunk's number."""
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

    def put(gpu: int, step: str) -> str:
        chunk = int(step.split('srcbuf="t')[1].split('"')[0])
        buffer, offset = found(gpu, chunk)
        return step.replace(f'buf="t{chunk}"', f'buf="{buffer}"').replace(
            'off="0"', f'off="{offset}"'
        )

    return put


FORMATS: dict[str, Callable[[Timetable], bytes]] = {
    "csv": as_csv,
    "npz": as_npz,
    "msccl": as_msccl,
    "goal": as_goal,
}
"""What a schedule can be written as."""

ENDINGS = {".csv": "csv", ".npz": "npz", ".xml": "msccl", ".goal": "goal"}
"""The formats that files' endings stand for."""
