"""Assignment of steps to ordered sends: each send takes the first step free in order and ports."""

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
    """Tasks with dependencies: a send takes one step, any other task takes no time."""

    sender: list[int] = field(default_factory=list)
    """Sender of each send; -1 for other tasks."""
    receiver: list[int] = field(default_factory=list)
    """Receiver of each send; -1 for other tasks."""
    where: list[str] = field(default_factory=list)
    """Description of each task for error messages."""
    earliest: list[int] = field(default_factory=list)
    """Earliest step of each send."""
    waiting: list[int] = field(default_factory=list)
    then: list[list[int]] = field(default_factory=list)
    then_begun: list[list[int]] = field(default_factory=list)

    def add(self, where: str, sender: int = -1, receiver: int = -1, earliest: int = 1) -> int:
        """Add a task and return its number; the lower number wins a contested step."""
        if len(self.sender) >= MOST_ROWS:
            raise UsageError(f"the file has more than {MOST_ROWS} sends and receives.")
        self.sender.append(sender)
        self.receiver.append(receiver)
        self.where.append(where)
        self.earliest.append(min(earliest, MOST_STEPS))
        self.waiting.append(0)
        self.then.append([])
        self.then_begun.append([])
        return len(self.sender) - 1

    def after(self, task: int, earlier: int) -> None:
        """Make a task wait for the end of an earlier task."""
        self.then[earlier].append(task)
        self.waiting[task] += 1

    @property
    def before(self) -> list[list[int]]:
        """Return for each task the tasks whose end it waits for."""
        found: list[list[int]] = [[] for _ in self.then]
        for earlier, later in enumerate(self.then):
            for task in later:
                found[task].append(earlier)
        return found

    def after_begun(self, task: int, earlier: int) -> None:
        """Make a task wait for the start of an earlier task."""
        self.then_begun[earlier].append(task)
        self.waiting[task] += 1


def timed(tasks: Tasks, reading: ReadingOptions) -> tuple[list[int], list[int]]:
    """Assign a step to every send.

    Returns
    -------
    steps : list of int
        Step of each send. For any other task: the step after which the task is done.
    order : list of int
        All tasks in order of execution: sends at the start of their step, dependent tasks at the
        end.

    Raises
    ------
    UsageError
        Tasks wait for each other in a cycle.
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
        raise UsageError(f"{tasks.where[first]} waits for ever: it needs a later task.")
    return steps, order


def _freed(tasks: Tasks, waiting: list[int]) -> list[int]:
    """Count down the dependencies of tasks; return the tasks without a remaining dependency."""
    freed = []
    for task in waiting:
        tasks.waiting[task] -= 1
        if tasks.waiting[task] == 0:
            freed.append(task)
    return freed


def _claims(sender: int, receiver: int, reading: ReadingOptions) -> tuple[tuple[int, int], ...]:
    """Return the resources of a send in its step: the link, and with one port both end points."""
    link = (sender, receiver)
    if reading.half_duplex:
        link = (min(link), max(link))
    return (link, (-1, sender), (-2, receiver)) if reading.one_port else (link,)


def timed_rows(
    tasks: Tasks, reading: ReadingOptions, purpose: Purpose, chunks: Sequence[int] | None = None
) -> Contents:
    """Return a timetable of the sends.

    `chunks` lists the chunk of each send, in the order of the sends. None: every send carries chunk
    0.
    """
    steps, _ = timed(tasks, reading)
    columns = np.array([steps, tasks.sender, tasks.receiver], np.int64)
    step, sender, receiver = columns[:, columns[1] >= 0]
    chunk = np.zeros_like(step) if chunks is None else np.array(chunks, np.int64)
    add = np.ones(len(step), bool) if purpose.collective == "reduce" else None
    name, hosts, per, root = purpose
    return Contents(Timetable(name, hosts, step, sender, receiver, chunk, per, root, add=add))
