"""GOAL as a schedule: `mpinet.programs.messages` reads the file, and sends get their steps here.

This module also writes schedules as GOAL.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

from mpinet.errors import UsageError
from mpinet.machine.timed.layout import ANY, ANY_TAG, CALC, RECV, SEND
from mpinet.machine.timed.program import Program
from mpinet.programs.kinds import SPREADING, UNSTATED, Purpose
from mpinet.programs.messages.goal import program_of
from mpinet.programs.schedules.files.schedulefile import (
    MOST_PROCESSORS,
    Contents,
    ReadingOptions,
    require_purpose,
    rows_of,
)
from mpinet.programs.schedules.files.timing import Tasks, timed_rows
from mpinet.programs.schedules.timetable import Timetable

AT = re.compile(rb"\s*\w*_at_(\d{1,9})\s*:")
"""Regular expression for a label with the first step of a send, written by mpinet and optional."""

Ends = defaultdict[tuple[Any, ...], list[list[int]]]
"""Task and bytes of each operation, by (kind, sender, receiver, tag)."""


def read_goal(data: bytes, reading: ReadingOptions) -> Contents:
    """Return the timetable of a GOAL file; sends are timed in the order of ranks and lines.

    Raises
    ------
    FileError
        The file is not in this format.
    UsageError
        The file is not a schedule, or its operations wait for each other in a cycle.
    """
    tasks, ends = Tasks(), Ends(list)
    program = program_of(data, reading.path.name)
    ranks = program.processors
    if ranks > MOST_PROCESSORS:
        raise UsageError(f"the program has {ranks} ranks; at most {MOST_PROCESSORS} are allowed.")
    OperationTasks(program, data.split(b"\n"), reading, tasks, ends).add_all()
    for (kind, sender, receiver, tag), sent in ends.items():
        if kind == SEND:
            got = ends.get((RECV, sender, receiver, tag), [])
            _join(tasks, sent, got, f"from {sender} to {receiver} with tag {tag}")
        elif (SEND, sender, receiver, tag) not in ends:
            raise UsageError(
                f"rank {receiver}: the receive from {sender} with tag {tag} has no matching send."
            )
    purpose = Purpose(UNSTATED, ranks)
    if reading.collective is not None:
        if reading.collective not in SPREADING or (reading.chunks or 1) != 1:
            raise UsageError(
                "a GOAL file does not name the chunks of messages: a broadcast or reduce of one "
                f"chunk can be read, a {reading.collective} cannot."
            )
        purpose = require_purpose(reading.collective, ranks, 1, reading.root)
    return timed_rows(tasks, reading, purpose)


class OperationTasks(NamedTuple):
    """Operations of a program during their conversion to tasks."""

    program: Program
    lines: list[bytes]
    """Lines of the file."""
    reading: ReadingOptions
    tasks: Tasks
    ends: Ends

    def add_all(self) -> None:
        """Add the tasks of all operations, with their dependencies."""
        program, tasks = self.program, self.tasks
        first, needs_first = program.first.tolist(), program.needs_first.tolist()
        needs = program.needs.tolist()
        for rank in range(program.processors):
            made = [self._add(row, rank) for row in range(first[rank], first[rank + 1])]
            for number, (begun, _) in enumerate(made):
                row = first[rank] + number
                for need in needs[needs_first[row] : needs_first[row + 1]]:
                    if need & 1:
                        tasks.after_begun(begun, made[need >> 1][0])
                    else:
                        tasks.after(begun, made[need >> 1][1])

    def _add(self, row: int, rank: int) -> tuple[int, int]:
        """Add the tasks of an operation; return the first and the last task."""
        program, tasks = self.program, self.tasks
        columns = (program.kind, program.amount, program.peer)
        kind, size, other = (int(column[row]) for column in columns)
        tag, line = int(program.tag[row]), int(program.lines[row])
        where = f"line {line}: rank {rank}" if line else f"rank {rank}"
        if kind == CALC:
            task = tasks.add(where)
            return task, task
        if other == ANY or tag == ANY_TAG:
            raise UsageError(
                f"{where} receives from any: a schedule needs the sender of every message."
            )
        if other == rank:
            raise UsageError(f"{where} sends to or receives from itself.")
        if kind == RECV:
            begun, done = tasks.add(where), tasks.add(where)
            tasks.after(done, begun)
            self.ends[kind, other, rank, tag].append([done, size])
            return begun, done
        count = 1 if self.reading.bytes is None else max(1, -(-size // self.reading.bytes))
        at = AT.match(self.lines[line - 1]) if line else None
        parts = [tasks.add(where, rank, other, earliest=int(at[1]) if at else 1)]
        for _ in range(count - 1):
            parts.append(tasks.add(where, rank, other))
            tasks.after(parts[-1], parts[-2])
        self.ends[kind, rank, other, tag].append([parts[-1], size])
        return parts[0], parts[-1]


def _join(tasks: Tasks, sent: list[list[int]], got: list[list[int]], between: str) -> None:
    """Match the k-th send with the k-th receive."""
    if len(sent) != len(got):
        raise UsageError(f"there are {len(sent)} sends {between}, and {len(got)} receives.")
    for (send, size), (receive, wanted) in zip(sent, got, strict=True):
        if size != wanted:
            raise UsageError(
                f"of a message {between} {size} bytes are sent, and {wanted} received."
            )
        tasks.after(receive, send)


def as_goal(table: Timetable, size: int) -> bytes:
    """Return a timetable as GOAL, with `size` bytes per chunk.

    A send requires the receives of its chunk, and the sends of earlier steps.
    """
    lines: list[list[str]] = [[] for _ in range(table.processors)]
    came: dict[tuple[int, int], list[str]] = defaultdict(list)
    before: dict[int, tuple[int, list[str], list[str]]] = {}
    arrived: list[tuple[int, int, str]] = []
    now = 0
    for row, (step, sender, receiver, chunk, _) in enumerate(rows_of(table)):
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
