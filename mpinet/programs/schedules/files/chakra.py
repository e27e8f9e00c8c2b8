"""Chakra execution traces of algorithms: one file per processor, with its sends and receives."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from mpinet.base.files import MOST_BYTES, read_bytes
from mpinet.base.numerals import quoted
from mpinet.errors import FileError, UsageError
from mpinet.programs.kinds import OWNED, SPREADING, UNSTATED, Purpose
from mpinet.programs.schedules.files.buffers import (
    MOST_COUNT,
    NAMES,
    Act,
    BufferPlace,
    TaskProgram,
    followed,
    name_of,
)
from mpinet.programs.schedules.files.schedulefile import (
    MOST_PROCESSORS,
    Contents,
    ReadingOptions,
    require_purpose,
    rows_of,
)
from mpinet.programs.schedules.files.timing import timed_rows
from mpinet.programs.schedules.files.wire import (
    fields_of,
    messages_of,
    numbers_of,
    piece,
    signed,
    varint,
)
from mpinet.programs.schedules.timetable import Timetable

NAME = re.compile(r"(.*)\.(\d{1,8})\.et")
"""Name of a processor's file."""

SEND, RECEIVE, WHOLE = 5, 6, 7
"""Types of nodes; the last one is a collective that the simulator itself splits into messages."""

TACOS = re.compile(r"Node \d+, Chunk: (\d{1,9}), ")
"""Beginning of the node names written by TACOS."""


class TraceNode(NamedTuple):
    """A node of a trace."""

    type: int
    """Type of the node."""
    needs: tuple[int, ...]
    """Required nodes of the same file."""
    told: dict[str, Any]
    """Attributes, numbers and texts."""
    chunk: int
    """First chunk that the node moves; -1 if the trace does not state it."""
    chunks: int
    """Number of chunks that the node moves; -1 if the trace does not state it."""
    where: str
    """Start of an error message about the node."""


def read_chakra(_: bytes, reading: ReadingOptions) -> Contents:
    """Return the timetable of all processors' traces; the bytes of one file are ignored.

    The k-th send between two processors with a tag matches the k-th receive. If nodes state their
    chunks, the data are followed. Otherwise only order, ports and wiring are known.

    Raises
    ------
    FileError
        A file cannot be read, or is not a trace of an algorithm. The error names the file.
    UsageError
        Nodes wait for each other forever.
    """
    told, nodes = dict[str, Any](), list[dict[int, TraceNode]]()
    for data, name in _files(reading.path):
        try:
            found, meta = _read(data)
        except UsageError as error:
            raise FileError(f"{name}, {str(error).rstrip('.')}.") from None
        nodes.append({number: node._replace(where=f"{name}, {node.where}")
                      for number, node in found.items()})  # fmt: skip
        told |= meta
    moved = [node for each in nodes for node in each.values() if node.type in (SEND, RECEIVE)]
    known = bool(moved) and all(node.chunk >= 0 for node in moved)
    tacos = any("tacos" in node.told for node in moved)
    purpose = _purpose(told, moved, len(nodes), known, reading)
    program = TaskProgram()
    for rank, each in enumerate(nodes):
        _tasks(program, rank, each, purpose, tacos)
    program.meet("with tag")
    if purpose is None or not known:
        spreads = purpose is not None and purpose.collective in SPREADING
        stated = purpose if purpose and spreads else Purpose(UNSTATED, len(nodes))
        # The traces do not state the chunks of messages, so only a single chunk is possible.
        return timed_rows(program.tasks, reading, stated._replace(chunks=1))
    return followed(program, reading, purpose, [True])


def _files(path: Path) -> Iterator[tuple[bytes, str]]:
    """Yield the contents and names of all processors' files."""
    found = NAME.fullmatch(path.name)
    if found is None:
        raise UsageError("a trace is a file per processor, with the names NAME.0.et, NAME.1.et, ..")
    rank, left = 0, MOST_BYTES
    while (file := path.with_name(f"{found[1]}.{rank}.et")).exists():
        try:
            data = read_bytes(file, left)
        except OSError as error:
            raise FileError(f"Cannot read {file}: {error.strerror}.") from None
        yield data, file.name
        rank, left = rank + 1, left - len(data)
        if rank > MOST_PROCESSORS:
            return
    if rank <= int(found[2]):
        raise FileError(f"Cannot read {file}: a trace is a file per processor, from 0 on.")


def _read(data: bytes) -> tuple[dict[int, TraceNode], dict[str, Any]]:
    """Return the nodes of a file by number, and the attributes of its first message."""
    nodes, meta, first = dict[int, TraceNode](), dict[str, Any](), True
    if data[:2] == b"\x1f\x8b":
        raise UsageError("the file is packed by gzip: unpack it first.")
    for at, message in messages_of(memoryview(data)):
        try:
            if first:
                meta = dict(_attribute(value) for key, value in fields_of(message) if key == 2)
            else:
                number, node = _node(message)
                if number in nodes:
                    raise UsageError(f"node {number} appears twice")
                nodes[number] = node
        except UsageError as error:
            raise UsageError(f"byte {at}: {error}") from None
        first = False
    return nodes, meta


def _node(message: memoryview) -> tuple[int, TraceNode]:
    """Read a node: its number, type, needs and attributes."""
    number = kind = 0
    name, needs, told = "", list[int](), dict[str, Any]()
    for key, value in fields_of(message):
        if key in (4, 5):
            needs += numbers_of(value)
        elif key == 1 and isinstance(value, int):
            number = value
        elif key == 3 and isinstance(value, int):
            kind = value
        elif key == 2:
            name = _text(value)
        elif key == 10:
            pair = _attribute(value)
            told[pair[0]] = pair[1]
    if kind == WHOLE:
        raise UsageError(
            f"node {number} is a whole collective, split by the simulator: the file is a "
            "workload, not an algorithm"
        )
    chunk, count = told.get("msg_chunk_idx", -1), told.get("msg_chunk_cnt", 1)
    if made := TACOS.match(name):
        told["tacos"], chunk = 1, int(made[1])
    if type(chunk) is not int or type(count) is not int or not 0 <= count <= MOST_COUNT:
        raise UsageError(f"node {number} moves {quoted(str(count))} chunks")
    return number, TraceNode(kind, tuple(needs), told, chunk, count, f"node {number}")


def _attribute(value: int | memoryview) -> tuple[str, Any]:
    """Read an attribute: its name, and its number or text; None for other types."""
    if isinstance(value, int):
        raise UsageError("an attribute is a message")
    name, found = "", None  # type: str, Any
    for key, given in fields_of(value):
        if key == 1:
            name = _text(given)
        elif isinstance(given, int):
            found = signed(given) if key not in (15, 17) else (given >> 1) ^ -(given & 1)
        elif key == 29:
            found = _text(given)
    return name, found


def _text(value: int | memoryview) -> str:
    return "" if isinstance(value, int) else bytes(value).decode(errors="replace")


def _purpose(
    told: dict[str, Any], moved: list[TraceNode], gpus: int, known: bool, reading: ReadingOptions
) -> Purpose | None:
    """Return the collective of the traces with its chunks, if known."""
    name = NAMES.get(str(told.get("collective"))) or reading.collective
    if name is None:
        return None
    if name == "exchange" and known:
        raise UsageError("header: the file does not state the targets of an alltoall's chunks.")
    total = max((node.chunk + node.chunks for node in moved), default=1) if known else 1
    per = -(-total // gpus) if name in OWNED else total
    root = reading.root if reading.root is not None else told.get("root")
    return require_purpose(name, gpus, reading.chunks or max(per, 1), root)


def _tasks(
    program: TaskProgram,
    rank: int,
    nodes: dict[int, TraceNode],
    purpose: Purpose | None,
    tacos: bool,
) -> None:
    """Add the tasks of a processor: each node's messages between two tasks without effect."""
    begun, done = dict[int, int](), dict[int, int]()
    for number, node in nodes.items():
        begun[number] = program.add(node.where, Act("wait", None, None))
        last = begun[number]
        for at in range(node.chunks if node.type in (SEND, RECEIVE) else 0):
            task = _message(program, rank, node, _place(node.chunk + at, rank, purpose, tacos))
            program.tasks.after(task, last)
            last = task
        done[number] = program.add(node.where, Act("wait", None, None))
        program.tasks.after(done[number], last)
    for number, node in nodes.items():
        for need in node.needs:
            if need not in done:
                raise UsageError(f"{node.where} needs node {need}, which is missing.")
            program.tasks.after(begun[number], done[need])


def _message(program: TaskProgram, rank: int, node: TraceNode, place: BufferPlace) -> int:
    """Add a send or a receive of one chunk."""
    sends = node.type == SEND
    other = node.told.get("comm_dst" if sends else "comm_src")
    if type(other) is not int or not 0 <= other <= MOST_PROCESSORS or other == rank:
        said = "sends to" if sends else "receives from"
        raise UsageError(f"{node.where} {said} {quoted(str(other))}: not another processor.")
    key = (rank, other) if sends else (other, rank)
    if sends:
        task = program.add(node.where, Act("send", place, None), key)
    else:
        adds = bool(node.told.get("is_rrc"))
        task = program.add(node.where, Act("receive", place if adds else None, place, adds))
    (program.sent if sends else program.got)[(*key, node.told.get("comm_tag", 0))].append(task)
    return task


def _place(chunk: int, rank: int, purpose: Purpose | None, tacos: bool) -> BufferPlace:
    """Return the place of a chunk in the only buffer of a processor."""
    if purpose is None:
        return BufferPlace(rank, "o", chunk)
    name, gpus, per, _ = purpose
    if tacos:
        chunk = chunk % gpus * per + chunk // gpus
    return BufferPlace(rank, "i" if name in ("reducescatter", "scatter") else "o", chunk)


Sends = defaultdict[tuple[int, int], list[int]]
"""Numbers of the nodes that send (or receive) a chunk, by (processor, chunk)."""


def as_chakra(table: Timetable, size: int) -> list[bytes]:
    """Return the trace of each processor, with `size` bytes per chunk.

    A send requires the receives of its chunk, and the sends of the previous step. A receive
    requires the earlier sends and receives of its chunk, so no chunk changes during its send.
    """
    meta = {"schema": "1.0.2-chakra.0.0.4", "collective": name_of(table.collective)}
    first = b"".join(piece(2, attribute(*pair)) for pair in meta.items())
    if table.root is not None:
        first += piece(2, attribute("root", table.root))
    files = [[first] for _ in range(table.processors)]
    rows = enumerate(rows_of(table))
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
    """Return the bytes of a node with its number, type, needs and attributes."""
    parts = [piece(1, number), piece(3, kind), *(piece(5, need) for need in needs)]
    return b"".join([*parts, *(piece(10, attribute(*pair)) for pair in told.items())])


def attribute(name: str, value: int | str) -> bytes:
    """Return the bytes of an attribute: a text, or a number (int64)."""
    return piece(1, name.encode()) + (
        piece(29, value.encode()) if isinstance(value, str) else piece(9, value)
    )
