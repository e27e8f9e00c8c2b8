"""GOAL: what each rank sends, receives and computes, and what requires what."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import numpy as np

from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.schedules.chunks import UNSTATED
from mpinet.programs.schedules.files.schedulefile import (
    MOST_PROCESSORS,
    ReadingOptions,
    require_purpose,
)
from mpinet.programs.schedules.files.timing import Tasks, timed
from mpinet.programs.schedules.timetable import Timetable

OPERATION = re.compile(
    r"(?:(?P<label>\w+)\s*:\s*)?(?:(?P<kind>send|recv)\s+(?P<size>\d{1,12})b\s+(?:to|from)\s+"
    r"(?P<other>\d{1,9})(?:\s+tag\s+(?P<tag>\d{1,9}))?|calc\s+\d{1,18})(?:\s+(?:cpu|nic)\s+\d+)*"
)
ORDER = re.compile(r"(?P<task>\w+)\s+(?P<how>i?requires)\s+(?P<earlier>\w+)")
RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
RANK = re.compile(r"rank\s+(\d{1,9})\s*\{")

AT = re.compile(r"_at_(\d{1,9})$")
"""The end of a label that tells the first step of a send: mpinet writes it, others need not."""

STATED = ("broadcast", "reduce")
"""Collectives with one chunk: with them it is known what a message carries."""


def read_goal(text: str, reading: ReadingOptions) -> Timetable:
    """The timetable of a GOAL file; sends are timed in the order of ranks and lines.

    Raises
    ------
    UsageError
        The file is no such one, or its operations wait for one another.
    """
    tasks, ends = Tasks(), defaultdict[tuple[Any, ...], list[list[int]]](list)
    ranks = _operations(text, reading, tasks, ends)
    for (kind, sender, receiver, tag), sent in ends.items():
        if kind == "send":
            got = ends.get(("recv", sender, receiver, tag), [])
            _join(tasks, sent, got, f"from {sender} to {receiver} with tag {tag}")
        elif ("send", sender, receiver, tag) not in ends:
            raise UsageError(
                f"rank {receiver}: it receives from {sender} with tag {tag}, and nobody sends that."
            )
    steps, _ = timed(tasks, reading)
    sends = [task for task, sender in enumerate(tasks.sender) if sender >= 0]
    columns = (
        np.array([column[task] for task in sends], np.int64)
        for column in (steps, tasks.sender, tasks.receiver)
    )
    step, sender, receiver = columns
    chunk = np.zeros_like(step)
    if reading.collective is None:
        return Timetable(UNSTATED, ranks, step, sender, receiver, chunk)
    if reading.collective not in STATED or (reading.chunks or 1) != 1:
        raise UsageError(
            "a GOAL file does not say which chunk a message carries: of a broadcast or reduce of "
            f"one chunk it is known, of a {reading.collective} it is not."
        )
    name, ranks, chunks, root = require_purpose(reading.collective, ranks, 1, reading.root)
    add = np.ones(len(step), bool) if name == "reduce" else None
    return Timetable(name, ranks, step, sender, receiver, chunk, chunks, root, add=add)


def _operations(
    text: str, reading: ReadingOptions, tasks: Tasks, ends: dict[Any, list[list[int]]]
) -> int:
    """Read the lines; how many ranks there are."""
    ranks, rank = None, -1
    labels: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(//|#).*", "", line).strip().rstrip(";").strip()
        where = f"line {number}"
        if not line:
            continue
        if found := RANKS.fullmatch(line):
            ranks = int(found[1])
        elif found := RANK.fullmatch(line):
            rank, labels = int(found[1]), {}
            if ranks is None or rank >= ranks or ranks > MOST_PROCESSORS:
                raise UsageError(f"{where}: there is no rank {rank} of num_ranks {ranks}.")
        elif line == "}" and rank >= 0:
            rank = -1
        elif rank >= 0 and (found := ORDER.fullmatch(line)):
            _order(tasks, labels, found, where)
        elif rank >= 0 and (found := OPERATION.fullmatch(line)):
            first_last = _operation(tasks, ends, found, rank, reading, where)
            if found["label"]:
                labels[found["label"]] = first_last
        else:
            raise UsageError(f"{where}: this is no line of GOAL: {quoted(line)}.")
    if ranks is None or rank >= 0:
        raise UsageError("it ends before it is complete: num_ranks or a closing } is missing.")
    return ranks


def _order(tasks: Tasks, labels: dict[str, tuple[int, int]], found: Any, where: str) -> None:
    """A line that says what requires what."""
    for name in (found["task"], found["earlier"]):
        if name not in labels:
            raise UsageError(f"{where}: there is no operation {name} above it in this rank.")
    task, earlier = labels[found["task"]], labels[found["earlier"]]
    if found["how"] == "requires":
        tasks.after(task[0], earlier[1])
    else:
        tasks.after_begun(task[0], earlier[0])


def _operation(
    tasks: Tasks,
    ends: dict[Any, list[list[int]]],
    found: Any,
    rank: int,
    reading: ReadingOptions,
    where: str,
) -> tuple[int, int]:
    """A line that sends, receives or computes; its first and last task."""
    kind = found["kind"]
    if kind is None:
        task = tasks.add(f"{where}: rank {rank}")
        return task, task
    other, tag, size = int(found["other"]), int(found["tag"] or 0), int(found["size"])
    if other == rank:
        raise UsageError(f"{where}: rank {rank} sends to or receives from itself.")
    ends_at = (rank, other) if kind == "send" else (other, rank)
    if kind == "recv":
        begun, done = tasks.add(f"{where}: rank {rank}"), tasks.add(f"{where}: rank {rank}")
        tasks.after(done, begun)
        ends[(kind, *ends_at, tag)].append([done, size])
        return begun, done
    count = 1 if reading.bytes is None else max(1, -(-size // reading.bytes))
    at = AT.search(found["label"] or "")
    parts = [tasks.add(f"{where}: rank {rank}", *ends_at, earliest=int(at[1]) if at else 1)]
    for _ in range(count - 1):
        parts.append(tasks.add(f"{where}: rank {rank}", *ends_at))
        tasks.after(parts[-1], parts[-2])
    ends[(kind, *ends_at, tag)].append([parts[-1], size])
    return parts[0], parts[-1]


def _join(tasks: Tasks, sent: list[list[int]], got: list[list[int]], between: str) -> None:
    """The k-th send meets the k-th receive."""
    if len(sent) != len(got):
        raise UsageError(f"there are {len(sent)} sends {between}, and {len(got)} receives.")
    for (send, size), (receive, wanted) in zip(sent, got, strict=True):
        if size != wanted:
            raise UsageError(
                f"of a message {between} {size} bytes are sent, and {wanted} received."
            )
        tasks.after(receive, send)
