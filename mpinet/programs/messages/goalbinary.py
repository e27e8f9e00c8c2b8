"""Binary GOAL, the format of LogGOPSim's txt2bin and of ATLAHS's traces.

All numbers are little-endian, and offsets of ranks count from the end of the first 8 bytes:

    8   the number 4223
    4   ranks P;  1 the largest CPU;  1 the largest NIC
    16P start and end of each rank's part
        part: operations n (4), those without requirement r (4), their numbers (4 each),
              n operations of 39 bytes, then the numbers of the operations that wait for each

The fields of an operation are: requirements (4), kind (1), peer (4), amount (8), tag (4), CPU (1),
NIC (1). Two pairs of numbers follow (4 bytes each). The first pair is the count of operations
waiting for the end of this one, and the start of their numbers. The second pair is the same for
operations waiting for its start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import FileError
from mpinet.machine.timed.layout import ANY, ANY_TAG, CALC, RECV, SEND
from mpinet.machine.timed.program import MOST_AMOUNT, MOST_ROWS, Program, ranges, turns_of

COOKIE = (4223).to_bytes(8, "little")

HEAD = 14
"""Bytes in front of the table of ranks."""

NODE = np.dtype(
    [
        *(("needed", "<u4"), ("kind", "i1"), ("peer", "<u4"), ("amount", "<u8"), ("tag", "<u4")),
        *(("cpu", "u1"), ("nic", "u1"), ("then", "<u4"), ("then_at", "<u4")),
        *(("begun", "<u4"), ("begun_at", "<u4")),
    ]
)

CALC_KIND = 3

KINDS = np.array([-1, SEND, RECV, CALC], np.int8)
"""Kind of an operation in a program, by kind in the file."""

ANY_NUMBER = 2**32 - 1
"""Peer or tag of a receive from any peer, or with any tag."""

MEMORY = 96
"""Bytes of memory for each operation, and for each requirement."""


def is_binary(data: bytes) -> bool:
    """Return whether the first bytes of a file mark it as binary GOAL."""
    return data[:8] == COOKIE


def binary_program(data: bytes, name: str) -> Program:
    """Read a program of messages from the bytes of a binary file.

    Raises
    ------
    FileError
        The bytes are not a valid program. The error names the byte.
    TooLarge
        The program does not fit into memory.
    """
    ranks = int.from_bytes(data[8:12], "little")
    if ranks < 1 or HEAD + 16 * ranks > len(data):
        raise _wrong(name, 8, f"{ranks} ranks do not fit into {len(data)} bytes")
    require_memory(512 * ranks, f"The program {name}")
    table = np.frombuffer(data, "<u8", 2 * ranks, HEAD).reshape(ranks, 2)
    wrong = np.flatnonzero((table[:, 0] > table[:, 1]) | (table[:, 1] > len(data) - 8))
    if len(wrong):
        at = HEAD + 16 * int(wrong[0])
        raise _wrong(name, at, f"the part of rank {wrong[0]} is not within the file")
    last = int(table[:, 1].max()) + 8
    if last < len(data):
        raise _wrong(name, last, "the file continues after the last rank's part")
    parts = [*_parts(data, table.astype(np.int64) + 8, name)]
    sizes = np.array([part.operations for part in parts], np.int64)
    total, needed = int(sizes.sum()), sum(part.room for part in parts)
    if max(total, needed) > MOST_ROWS:
        raise FileError(
            f"{name}: the file has {total} operations; at most {MOST_ROWS} are allowed."
        )
    require_memory(MEMORY * (total + needed), f"The program {name}")
    nodes = np.concatenate([np.frombuffer(data, NODE, part.operations, part.at) for part in parts])
    owners = np.repeat(np.arange(ranks), sizes)
    _require_right(nodes, parts, owners, ranks, name)
    first = np.concatenate([[0], np.cumsum(sizes)])
    later, earlier = _needs(data, parts, owners, name)
    counts = np.bincount(later, minlength=total)
    if not np.array_equal(counts, nodes["needed"]):
        row = int(np.argmax(counts != nodes["needed"]))
        at = _place(parts, owners, row)
        raise _wrong(name, at, f"{nodes['needed'][row]} requirements stated, {counts[row]} found")
    order = np.lexsort((earlier, earlier & 1, later))
    turns = turns_of(later, (first[owners[later]] << 1) + earlier, order)
    kind = KINDS[nodes["kind"]]
    peer = np.where(kind == CALC, ANY, nodes["peer"].astype(np.int64))
    peer[(kind == RECV) & (nodes["peer"] == ANY_NUMBER)] = ANY
    tag: Any = nodes["tag"].astype(np.uint32)
    tag[(kind == RECV) & (nodes["tag"] == ANY_NUMBER)] = ANY_TAG
    return Program(
        first, kind, nodes["amount"].astype(np.int64), peer.astype(np.int32),
        nodes["cpu"].astype(np.int32), tag,
        np.searchsorted(later[order], np.arange(total + 1)).astype(np.int64),
        earlier[order], np.zeros(total, np.int64), name, turns,
    )  # fmt: skip


class _Part(NamedTuple):
    """Part of a rank: start and number of its operations, and the offset behind them."""

    at: int
    operations: int
    lists: int
    room: int


def _parts(data: bytes, table: Ints, name: str) -> Iterator[_Part]:
    """Yield the part of each rank.

    Raises
    ------
    FileError
        Operations of a rank lie outside its part.
    """
    for rank, (begin, end) in enumerate(table.tolist()):
        count = int.from_bytes(data[begin : begin + 4], "little")
        roots = int.from_bytes(data[begin + 4 : begin + 8], "little")
        at = begin + 8 + 4 * roots
        lists = at + NODE.itemsize * count
        if begin + 8 > end or lists > end or (end - lists) % 4:
            raise _wrong(
                name,
                begin,
                f"{count} operations of rank {rank} do not fit into {end - begin} bytes",
            )
        yield _Part(at, count, lists, (end - lists) // 4)


def _require_right(nodes: Any, parts: list[_Part], owners: Ints, ranks: int, name: str) -> None:
    """Raise `FileError` for an invalid operation."""
    kinds = nodes["kind"]
    moves = kinds != CALC_KIND
    for what, wrong in (
        ("kind 1 (send), 2 (recv) or 3 (calc)", (kinds < 1) | (kinds > CALC_KIND)),
        ("at least 1 byte", moves & (nodes["amount"] == 0)),
        (f"an amount of at most {MOST_AMOUNT}", nodes["amount"] > MOST_AMOUNT),
        (
            f"a peer below {ranks}",
            moves & (nodes["peer"] >= ranks) & ((kinds == 1) | (nodes["peer"] != ANY_NUMBER)),
        ),
        ("a single tag", (kinds == 1) & (nodes["tag"] == ANY_NUMBER)),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise _wrong(name, _place(parts, owners, row), f"the operation must have {what}")


def _needs(data: bytes, parts: list[_Part], owners: Ints, name: str) -> tuple[Ints, Ints]:
    """Return the requirements: rows, and twice the required row, plus 1 for a required start."""
    later, earlier, first = [], [], 0
    for part in parts:
        if part.room:
            nodes = np.frombuffer(data, NODE, part.operations, part.at)
            lists = np.frombuffer(data, "<u4", part.room, part.lists).astype(np.int64)
            for mark, (count, at) in enumerate((("then", "then_at"), ("begun", "begun_at"))):
                counts = nodes[count].astype(np.int64)
                starts = np.where(counts > 0, nodes[at], 0).astype(np.int64)
                wrong = starts + counts > part.room
                if wrong.any():
                    row = first + int(np.argmax(wrong))
                    raise _wrong(
                        name, _place(parts, owners, row), "its waiting operations are missing"
                    )
                named = lists[ranges(starts, counts)]
                if named.max(initial=0) >= part.operations:
                    raise _wrong(name, part.lists, f"an operation is not below {part.operations}")
                later.append(first + named)
                earlier.append(np.repeat(np.arange(part.operations), counts) << 1 | mark)
        elif np.frombuffer(data, NODE, part.operations, part.at)["needed"].any():
            raise _wrong(name, part.at, "its requirements are missing")
        first += part.operations
    nothing = np.zeros(0, np.int64)
    return np.concatenate([nothing, *later]), np.concatenate([nothing, *earlier])


def _place(parts: list[_Part], owners: Ints, row: int) -> int:
    """Return the byte offset of an operation."""
    owner = int(owners[row])
    return parts[owner].at + NODE.itemsize * (row - int(np.searchsorted(owners, owner)))


def _wrong(name: str, at: int, what: str) -> FileError:
    return FileError(f"{name}, byte {at}: {what}.")
