"""Chakra traces of schedules, written: a file per processor, nodes of one chunk each."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby

import numpy as np

from mpinet.errors import UsageError
from mpinet.programs.schedules.files.chakra import RECEIVE, SEND
from mpinet.programs.schedules.files.msccl import NAMES
from mpinet.programs.schedules.files.wire import BYTES, VARINT
from mpinet.programs.schedules.timetable import Timetable

EXPORTED = ("allgather", "allreduce", "reducescatter", "broadcast", "reduce")
"""Collectives whose traces are written."""

Sends = defaultdict[tuple[int, int], list[int]]
"""(Processor, chunk) -> the nodes there that send it, or receive it."""


def as_chakra(table: Timetable, size: int) -> list[bytes]:
    """Write the trace of each processor, chunks of `size` bytes.

    A send needs the receives of its chunk, and the sends of the step before; a receive needs the
    sends and receives of its chunk before it, so that nothing changes while it is sent.

    Raises
    ------
    UsageError
        The collective has no name there that this writes, or switches or parts of sums are sent.
    """
    names = {ours: theirs for theirs, ours in NAMES.items() if theirs in EXPORTED}
    if table.collective not in names:
        raise UsageError(f"Traces of Chakra are written for {', '.join(sorted(names))}.")
    if table.since is not None and (table.since >= 0).any():
        raise UsageError("Traces of Chakra have no parts of sums: give another --algorithm.")
    if max(table.sender.max(initial=0), table.receiver.max(initial=0)) >= table.processors:
        raise UsageError("Traces of Chakra have no switches, and here some send or receive.")
    meta = {"schema": "1.0.2-chakra.0.0.4", "collective": names[table.collective]}
    first = b"".join(piece(2, attribute(*pair)) for pair in meta.items())
    if table.root is not None:
        first += piece(2, attribute("root", table.root))
    files = [[first] for _ in range(table.processors)]
    table = table.ordered()
    add = np.zeros(len(table), bool) if table.add is None else table.add
    columns = (table.step, table.sender, table.receiver, table.chunk, add)
    rows = enumerate(zip(*(column.tolist() for column in columns), strict=True))
    sent, got, last = Sends(list), Sends(list), defaultdict[int, list[int]](list)
    for _, step in groupby(rows, key=lambda row: row[1][0]):
        own, now = [*step], defaultdict[int, list[int]](list)
        for tag, (_, sender, receiver, chunk, _) in own:
            file, needs = files[sender], [*got[sender, chunk], *last[sender]]
            now[sender].append(len(file) - 1)
            said = {"comm_dst": receiver, "comm_tag": tag, "comm_size": size}
            file.append(node(len(file) - 1, SEND, needs, said | {"msg_chunk_idx": chunk}))
            sent[sender, chunk].append(len(file) - 2)
        for tag, (_, sender, receiver, chunk, adds) in own:
            file, needs = files[receiver], [*sent[receiver, chunk], *got[receiver, chunk]]
            said = {"comm_src": sender, "comm_tag": tag, "comm_size": size}
            said |= {"msg_chunk_idx": chunk} | ({"is_rrc": 1} if adds else {})
            file.append(node(len(file) - 1, RECEIVE, needs, said))
            got[receiver, chunk].append(len(file) - 2)
        last |= now
    return [b"".join(varint(len(each)) + each for each in file) for file in files]


def node(number: int, kind: int, needs: list[int], told: dict[str, int]) -> bytes:
    """Write a node: its number, type, needs and attributes."""
    parts = [piece(1, number), piece(3, kind), *(piece(5, need) for need in needs)]
    return b"".join([*parts, *(piece(10, attribute(*pair)) for pair in told.items())])


def attribute(name: str, value: int | str) -> bytes:
    """Write an attribute: a text, or a number (int64)."""
    return piece(1, name.encode()) + (
        piece(29, value.encode()) if isinstance(value, str) else piece(9, value)
    )


def piece(field: int, content: int | bytes) -> bytes:
    """Write a field."""
    if isinstance(content, int):
        return varint(field << 3 | VARINT) + varint(content)
    return varint(field << 3 | BYTES) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """Write a whole number, seven bits a byte."""
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])
