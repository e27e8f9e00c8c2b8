"""Chakra execution traces of algorithms: a file per processor, with what it sends and receives."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.files import read_bytes
from mpinet.base.numerals import quoted
from mpinet.errors import FileError, UsageError
from mpinet.programs.schedules.chunks import OF_EACH, SUMS, UNSTATED
from mpinet.programs.schedules.files.buffers import (
    Act,
    Place,
    Program,
    follow,
    real_place,
    require_no_race,
)
from mpinet.programs.schedules.files.msccl import MOST_COUNT, NAMES
from mpinet.programs.schedules.files.schedulefile import (
    MOST_PROCESSORS,
    ReadingOptions,
    require_purpose,
)
from mpinet.programs.schedules.files.timing import timed
from mpinet.programs.schedules.files.wire import fields_of, messages_of, numbers_of, signed
from mpinet.programs.schedules.timetable import Timetable

NAME = re.compile(r"(.*)\.(\d{1,8})\.et")
"""Name of a processor's file."""

SEND, RECEIVE, WHOLE = 5, 6, 7
"""Types of nodes; the last one is a collective that the simulator takes apart itself."""

TACOS = re.compile(r"Node \d+, Chunk: (\d{1,9}), ")
"""Beginning of the name that TACOS gives to a node."""

Purpose = tuple[str, int, int, int | None]
"""Collective, processors, chunks of a unit, and root."""


class Node(NamedTuple):
    """A node of a trace.

    Attributes
    ----------
    type : int
        Type of the node.
    needs : tuple of int
        Nodes of the same file that come before it.
    told : dict
        Attributes, numbers and texts.
    chunk, chunks : int
        First chunk that it moves, and how many; -1 where it does not say so.
    where : str
        Beginning of a sentence on it.
    """

    type: int
    needs: tuple[int, ...]
    told: dict[str, Any]
    chunk: int
    chunks: int
    where: str


@dataclass
class Trace:
    """Files of all processors as tasks."""

    program: Program = field(default_factory=Program)
    ends: dict[Any, tuple[list[int], list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: ([], []))
    )


def read_chakra(path: Path, reading: ReadingOptions, most: int) -> Timetable:
    """The timetable of the traces of all processors, `most` bytes together.

    The k-th send from one to another with a tag meets the k-th receive. Where nodes say which
    chunks they move, data are followed; else only order, ports and wiring are known.

    Raises
    ------
    FileError
        A file cannot be read, or is no trace of an algorithm; the sentence names it.
    UsageError
        Nodes wait for ever, or race.
    """
    told, nodes = dict[str, Any](), list[dict[int, Node]]()
    for data, name in _files(path, most):
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
    trace = Trace()
    for rank, each in enumerate(nodes):
        _tasks(trace, rank, each, purpose, tacos)
    _meet(trace)
    steps, order = timed(trace.program.tasks, reading)
    if purpose is None or not known:
        return _unfollowed(trace, steps, purpose, len(nodes))
    name, hosts, per, root = purpose
    rows = follow(trace.program, order, steps, purpose, True)
    require_no_race(trace.program, order, lambda at: real_place(at, name, per, True))
    step, sender, receiver, chunk, add = np.array(rows, np.int64).reshape(-1, 5).T.copy()
    sums = add.astype(bool) if name in SUMS else None
    return Timetable(name, hosts, step, sender, receiver, chunk, per, root, add=sums)


def _files(path: Path, most: int) -> Iterator[tuple[bytes, str]]:
    """Read the files of all processors, one after the other."""
    found = NAME.fullmatch(path.name)
    assert found is not None
    rank, left = 0, most
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


def _read(data: bytes) -> tuple[dict[int, Node], dict[str, Any]]:
    """Return the nodes of a file by their numbers, and what its first message says."""
    nodes, meta, first = dict[int, Node](), dict[str, Any](), True
    if data[:2] == b"\x1f\x8b":
        raise UsageError("it is packed by gzip: unpack it first.")
    for at, message in messages_of(memoryview(data)):
        try:
            if first:
                meta = dict(_attribute(value) for key, value in fields_of(message) if key == 2)
            else:
                number, node = _node(message)
                if number in nodes:
                    raise UsageError(f"node {number} is there twice")
                nodes[number] = node
        except UsageError as error:
            raise UsageError(f"byte {at}: {error}") from None
        first = False
    return nodes, meta


def _node(message: memoryview) -> tuple[int, Node]:
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
            f"node {number} is a whole collective, which the simulator takes apart: this is a "
            "workload and no algorithm"
        )
    chunk, count = told.get("msg_chunk_idx", -1), told.get("msg_chunk_cnt", 1)
    if made := TACOS.match(name):
        told["tacos"], chunk = 1, int(made[1])
    if type(chunk) is not int or type(count) is not int or not 0 <= count <= MOST_COUNT:
        raise UsageError(f"node {number} moves {quoted(str(count))} chunks")
    return number, Node(kind, tuple(needs), told, chunk, count, f"node {number}")


def _attribute(value: int | memoryview) -> tuple[str, Any]:
    """Read an attribute: its name, and its number or text; None for others."""
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
    told: dict[str, Any], moved: list[Node], gpus: int, known: bool, reading: ReadingOptions
) -> Purpose | None:
    """Return what the traces are for, if that is known."""
    name = NAMES.get(str(told.get("collective"))) or reading.collective
    if name is None:
        return None
    if name == "exchange" and known:
        raise UsageError("header: it does not say to whom the chunks of an alltoall go.")
    total = max((node.chunk + node.chunks for node in moved), default=1) if known else 1
    per = -(-total // gpus) if name in (*OF_EACH, "scatter", "gather") else total
    root = reading.root if reading.root is not None else told.get("root")
    return require_purpose(name, gpus, reading.chunks or max(per, 1), root)


def _tasks(
    trace: Trace, rank: int, nodes: dict[int, Node], purpose: Purpose | None, tacos: bool
) -> None:
    """Add the tasks of a processor: two without effect around each node's messages."""
    begun, done = dict[int, int](), dict[int, int]()
    for number, node in nodes.items():
        begun[number] = trace.program.add(node.where, Act("wait", None, None))
        last = begun[number]
        for at in range(node.chunks if node.type in (SEND, RECEIVE) else 0):
            task = _message(trace, rank, node, _place(node.chunk + at, rank, purpose, tacos))
            trace.program.tasks.after(task, last)
            last = task
        done[number] = trace.program.add(node.where, Act("wait", None, None))
        trace.program.tasks.after(done[number], last)
    for number, node in nodes.items():
        for need in node.needs:
            if need not in done:
                raise UsageError(f"{node.where} needs node {need}, which is not there.")
            trace.program.tasks.after(begun[number], done[need])


def _message(trace: Trace, rank: int, node: Node, place: Place) -> int:
    """Add a send or a receive of one chunk."""
    sends = node.type == SEND
    other = node.told.get("comm_dst" if sends else "comm_src")
    if type(other) is not int or not 0 <= other <= MOST_PROCESSORS or other == rank:
        said = "sends to" if sends else "receives from"
        raise UsageError(f"{node.where} {said} {quoted(str(other))}, which is no other processor.")
    key = (rank, other) if sends else (other, rank)
    if sends:
        task = trace.program.add(node.where, Act("send", place, None), key)
    else:
        adds = bool(node.told.get("is_rrc"))
        task = trace.program.add(node.where, Act("receive", place if adds else None, place, adds))
    trace.ends[(*key, node.told.get("comm_tag", 0))][not sends].append(task)
    return task


def _place(chunk: int, rank: int, purpose: Purpose | None, tacos: bool) -> Place:
    """Return the place of a chunk in the one buffer of a processor."""
    if purpose is None:
        return Place(rank, "o", chunk)
    name, gpus, per, _ = purpose
    if tacos:
        chunk = chunk % gpus * per + chunk // gpus
    return Place(rank, "i" if name in ("reducescatter", "scatter") else "o", chunk)


def _meet(trace: Trace) -> None:
    """The k-th send meets the k-th receive."""
    for (sender, receiver, tag), (sent, got) in trace.ends.items():
        if len(sent) != len(got):
            raise UsageError(
                f"header: {sender} sends {len(sent)} times to {receiver} with tag {tag}, which "
                f"receives {len(got)} times."
            )
        for send, receive in zip(sent, got, strict=True):
            trace.program.tasks.after(receive, send)
            trace.program.acts[receive].partner = send


def _unfollowed(trace: Trace, steps: list[int], purpose: Purpose | None, gpus: int) -> Timetable:
    """Return the timetable of messages of unknown chunks; of one chunk where there is only one."""
    tasks = trace.program.tasks
    sends = [task for task, sender in enumerate(tasks.sender) if sender >= 0]
    step, sender, receiver = (
        np.array([column[task] for task in sends], np.int64)
        for column in (steps, tasks.sender, tasks.receiver)
    )
    chunk = np.zeros_like(step)
    if purpose is None or purpose[0] not in ("broadcast", "reduce"):
        return Timetable(UNSTATED, gpus, step, sender, receiver, chunk)
    add = np.ones(len(step), bool) if purpose[0] == "reduce" else None
    return Timetable(purpose[0], gpus, step, sender, receiver, chunk, 1, purpose[3], add=add)
