"""Binary GOAL, as LogGOPSim's txt2bin writes it and ATLAHS's traces come in.

All numbers are little-endian, and places of ranks count from behind the first 8 bytes:

    8   the number 4223
    4   ranks P;  1 the largest CPU;  1 the largest NIC
    16P begin and end of each rank's part
        part: operations n (4), those without requirement r (4), their numbers (4 each),
              n operations of 39 bytes, then the numbers of the operations that wait for each

An operation is: requirements (4), kind (1), peer (4), amount (8), tag (4), CPU (1), NIC (1), how
many operations wait until it is done and where their numbers begin (4 each), and the same for those
that wait until it has begun.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import FileError
from mpinet.machine.timed.layout import ANY, ANY_TAG, CALC, RECV, SEND
from mpinet.machine.timed.program import MOST_AMOUNT, MOST_ROWS, Program, ranges

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
"""Kind of an operation in the file -> in a program."""

ANY_NUMBER = 2**32 - 1
"""Peer and tag of a receive from any, or with any."""

MEMORY = 96
"""Bytes of memory for each operation, and each requirement."""


def is_binary(data: bytes) -> bool:
    """Return whether a file is binary GOAL by its first bytes."""
    return data[:8] == COOKIE


def binary_program(data: bytes, name: str) -> Program:
    """Read a program of messages from the bytes of a binary file.

    Raises
    ------
    FileError
        They are no such program; names the byte.
    TooLarge
        It does not fit into memory.
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
        raise _wrong(name, last, "the file goes on behind the last rank's part")
    parts = [*_parts(data, table.astype(np.int64) + 8, name)]
    sizes = np.array([part.operations for part in parts], np.int64)
    total, needed = int(sizes.sum()), sum(part.room for part in parts)
    if max(total, needed) > MOST_ROWS:
        raise FileError(f"{name}: it has {total} operations; {MOST_ROWS} are allowed.")
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
        raise _wrong(name, at, f"{nodes['needed'][row]} requirements, and {counts[row]} are there")
    order = np.lexsort((earlier, earlier & 1, later))
    kind = KINDS[nodes["kind"]]
    peer = np.where(kind == CALC, ANY, nodes["peer"].astype(np.int64))
    peer[(kind == RECV) & (nodes["peer"] == ANY_NUMBER)] = ANY
    tag: Any = nodes["tag"].astype(np.uint32)
    tag[(kind == RECV) & (nodes["tag"] == ANY_NUMBER)] = ANY_TAG
    return Program(
        first, kind, nodes["amount"].astype(np.int64), peer.astype(np.int32),
        nodes["cpu"].astype(np.int32), tag,
        np.searchsorted(later[order], np.arange(total + 1)).astype(np.int64),
        earlier[order], np.zeros(total, np.int64), name,
    )  # fmt: skip


class _Part(NamedTuple):
    """Part of a rank: where its operations begin, how many there are, what stands behind them."""

    at: int
    operations: int
    lists: int
    room: int


def _parts(data: bytes, table: Ints, name: str) -> Iterator[_Part]:
    """Find the operations of each rank.

    Raises
    ------
    FileError
        They are not within their part.
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
    """Raise `FileError` for an operation that is none."""
    kinds = nodes["kind"]
    moves = kinds != CALC_KIND
    for what, wrong in (
        ("is a send (1), a recv (2) or a calc (3)", (kinds < 1) | (kinds > CALC_KIND)),
        ("takes 1 byte or more", moves & (nodes["amount"] == 0)),
        (f"has an amount of {MOST_AMOUNT} at most", nodes["amount"] > MOST_AMOUNT),
        (
            f"is to or from one of {ranks} ranks",
            moves & (nodes["peer"] >= ranks) & ((kinds == 1) | (nodes["peer"] != ANY_NUMBER)),
        ),
        ("has one tag", (kinds == 1) & (nodes["tag"] == ANY_NUMBER)),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise _wrong(name, _place(parts, owners, row), f"this operation is none, which {what}")


def _needs(data: bytes, parts: list[_Part], owners: Ints, name: str) -> tuple[Ints, Ints]:
    """Return what requires what: rows, and twice the number of the other, 1 more if it is begun."""
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
                    raise _wrong(name, _place(parts, owners, row), "what waits for it is not there")
                named = lists[ranges(starts, counts)]
                if named.max(initial=0) >= part.operations:
                    raise _wrong(
                        name, part.lists, f"an operation of {part.operations} that is not there"
                    )
                later.append(first + named)
                earlier.append(np.repeat(np.arange(part.operations), counts) << 1 | mark)
        elif np.frombuffer(data, NODE, part.operations, part.at)["needed"].any():
            raise _wrong(name, part.at, "its requirements are not there")
        first += part.operations
    nothing = np.zeros(0, np.int64)
    return np.concatenate([nothing, *later]), np.concatenate([nothing, *earlier])


def _place(parts: list[_Part], owners: Ints, row: int) -> int:
    """Return the byte at which an operation stands."""
    owner = int(owners[row])
    return parts[owner].at + NODE.itemsize * (row - int(np.searchsorted(owners, owner)))


def _wrong(name: str, at: int, what: str) -> FileError:
    return FileError(f"{name}, byte {at}: {what}.")
