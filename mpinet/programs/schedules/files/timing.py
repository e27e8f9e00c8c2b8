"""Steps for sends that only have an order: each takes the first step that ports and order allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mpinet.errors import UsageError
from mpinet.programs.kinds import Purpose
from mpinet.programs.schedules.files.schedulefile import (
    MOST_ROWS,
    MOST_STEPS,
    Contents,
    ReadingOptions,
)
from mpinet.programs.schedules.timetable import Timetable


@dataclass
class Tasks:
    """Tasks to be done: sends, which take a step, and others, which cost nothing."""

    sender: list[int] = field(default_factory=list)
    """Sender of each task that is a send; -1 for other tasks."""
    receiver: list[int] = field(default_factory=list)
    """Receiver of each task that is a send; -1 for other tasks."""
    where: list[str] = field(default_factory=list)
    """Description of each task for sentences in errors."""
    earliest: list[int] = field(default_factory=list)
    """The first step that a send may take."""
    waiting: list[int] = field(default_factory=list)
    then: list[list[int]] = field(default_factory=list)
    then_begun: list[list[int]] = field(default_factory=list)

    def add(self, where: str, sender: int = -1, receiver: int = -1, earliest: int = 1) -> int:
        """Add a task; earlier ones go first where several may."""
        if len(self.sender) >= MOST_ROWS:
            raise UsageError(f"it has more than {MOST_ROWS} sends and receives.")
        self.sender.append(sender)
        self.receiver.append(receiver)
        self.where.append(where)
        self.earliest.append(min(earliest, MOST_STEPS))
        self.waiting.append(0)
        self.then.append([])
        self.then_begun.append([])
        return len(self.sender) - 1

    def after(self, task: int, earlier: int) -> None:
        """A task waits until an earlier one is done."""
        self.then[earlier].append(task)
        self.waiting[task] += 1

    @property
    def before(self) -> list[list[int]]:
        """The tasks that each one waits for until they are done."""
        found: list[list[int]] = [[] for _ in self.then]
        for earlier, later in enumerate(self.then):
            for task in later:
                found[task].append(earlier)
        return found

    def after_begun(self, task: int, earlier: int) -> None:
        """A task waits until an earlier one has begun."""
        self.then_begun[earlier].append(task)
        self.waiting[task] += 1


def timed(tasks: Tasks, reading: ReadingOptions) -> tuple[list[int], list[int]]:
    """Give every send its step.

    Returns
    -------
    steps : list of int
        The step of each task that is a send, else the one after which it is done.
    order : list of int
        The tasks as they are done: sends of a step when it begins, what follows when it ends.

    Raises
    ------
    UsageError
        Some wait for one another.
    """
    steps, order = [-1] * len(tasks.sender), []
    ready: list[int] = []

    def release(freed: list[int], step: int) -> None:
        waiting = list(freed)
        while waiting:
            task = waiting.pop()
            if tasks.sender[task] >= 0:
                ready.append(task)
                continue
            steps[task] = step
            order.append(task)
            waiting += _freed(tasks, tasks.then_begun[task])
            waiting += _freed(tasks, tasks.then[task])

    release([task for task, left in enumerate(tasks.waiting) if left == 0], 0)
    step = 0
    while ready:
        step = max(step + 1, min(tasks.earliest[task] for task in ready))
        chosen, left, taken = [], [], Counter[tuple[int, int]]()
        for task in sorted(ready):
            ends = _claims(tasks.sender[task], tasks.receiver[task], reading)
            free = all(not taken[end] or taken[end] < reading.parallel.get(end, 1) for end in ends)
            if tasks.earliest[task] <= step and free:
                taken.update(ends)
                chosen.append(task)
            else:
                left.append(task)
        ready = left
        for task in chosen:
            steps[task] = step
        order += chosen
        begun = [free for task in chosen for free in _freed(tasks, tasks.then_begun[task])]
        done = [free for task in chosen for free in _freed(tasks, tasks.then[task])]
        release(begun + done, step)
    if len(order) < len(steps):
        first = steps.index(-1)
        raise UsageError(f"{tasks.where[first]} waits for ever: what it needs comes after it.")
    return steps, order


def _freed(tasks: Tasks, waiting: list[int]) -> list[int]:
    """Those that wait for nothing any more."""
    freed = []
    for task in waiting:
        tasks.waiting[task] -= 1
        if tasks.waiting[task] == 0:
            freed.append(task)
    return freed


def _claims(sender: int, receiver: int, reading: ReadingOptions) -> tuple[tuple[int, int], ...]:
    """Return what a send takes for its step: the link, and with one port both ends."""
    link = (sender, receiver)
    if reading.half_duplex:
        link = (min(link), max(link))
    return (link, (-1, sender), (-2, receiver)) if reading.one_port else (link,)


def timed_rows(
    tasks: Tasks, reading: ReadingOptions, purpose: Purpose, chunks: Sequence[int] | None = None
) -> Contents:
    """Time the sends, whose chunks stand in their order; None: each carries chunk 0."""
    steps, _ = timed(tasks, reading)
    columns = np.array([steps, tasks.sender, tasks.receiver], np.int64)
    step, sender, receiver = columns[:, columns[1] >= 0]
    chunk = np.zeros_like(step) if chunks is None else np.array(chunks, np.int64)
    add = np.ones(len(step), bool) if purpose.collective == "reduce" else None
    name, hosts, per, root = purpose
    return Contents(Timetable(name, hosts, step, sender, receiver, chunk, per, root, add=add))
