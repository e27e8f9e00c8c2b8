"""A program of messages: the sends, receives and calcs of every processor, with their dependencies.

Programs come from files (`mpinet.programs.messages`) or from a `Builder`, and are the same on all
ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Counts, Ints, Shorts
from mpinet.errors import UsageError
from mpinet.machine.timed.layout import ANY, ANY_TAG, CALC, KINDS, RECV, SEND

MOST_AMOUNT = 1 << 48
"""Largest number of bytes of a message, and of units of time of a calc."""

MOST_ROWS = (1 << 30) - 1
"""Largest number of operations, and of requirements: their numbers have 32 bits, one bit for a
mark.
"""


@dataclass(frozen=True, eq=False)
class Program:
    """A program of messages; operations are rows, grouped by processor."""

    first: Ints
    """Each processor's first row, then the number of rows. Shape (processors + 1,)."""
    kind: NDArray[np.int8]
    """`CALC`, `SEND` or `RECV`. Shape (rows,)."""
    amount: Ints
    """Time of a calc, or bytes of a message. Shape (rows,)."""
    peer: Shorts
    """Other processor of each operation; `ANY` for a receive from any. Shape (rows,)."""
    cpu: Shorts
    """CPU of each operation. Shape (rows,)."""
    tag: Counts
    """Tag of each operation; `ANY_TAG` for a receive with any tag. Shape (rows,)."""
    needs_first: Ints
    """Each row's first requirement in `needs`. Shape (rows + 1,)."""
    needs: Ints
    """Required operations of each row, by their numbers at the processor: twice the number, plus 1
    if a begun operation is enough.
    """
    lines: Ints
    """Line of each operation in its file or script; 0: unknown. Shape (rows,)."""
    name: str = "program"
    """Origin of the program, for messages: a file's name or the generator's."""
    turns: Ints | None = None
    """Place of each requirement among the lines of its file; None: the order of `needs`. One step
    issues operations of one kind in this order. Shape of `needs`.
    """

    @property
    def processors(self) -> int:
        """Number of processors of the program."""
        return len(self.first) - 1

    @property
    def operations(self) -> int:
        """Number of operations of the program."""
        return len(self.kind)

    @property
    def counts(self) -> Ints:
        """Operations of each processor, shape (processors,)."""
        return np.diff(self.first)

    @property
    def cpus(self) -> int:
        """Number of CPUs of a processor."""
        return 1 + int(self.cpu.max(initial=0))

    @property
    def owners(self) -> Ints:
        """Processor of each operation, shape (rows,)."""
        found: Ints = np.repeat(np.arange(self.processors), np.diff(self.first))
        return found

    def owners_of(self, rows: Ints | int) -> Ints:
        """Return the processors of the operations in these rows; an int for a single row."""
        found: Ints = np.searchsorted(self.first, rows, "right") - 1
        return found

    @property
    def largest(self) -> int:
        """Bytes of the largest message; 0 without messages."""
        return int(self.amount[self.kind == SEND].max(initial=0))

    @property
    def sha256(self) -> str:
        """Hash of all operations."""
        found = sha256()
        for each in (self.first, self.kind, self.amount, self.peer, self.cpu, self.tag):
            found.update(each.tobytes())
        for one in (self.needs_first, self.needs, self.turns):
            if one is not None:
                found.update(one.tobytes())
        return found.hexdigest()

    def starts(self, processors: Ints) -> Ints:
        """Return the row of each given processor's first operation."""
        found: Ints = self.first[processors]
        return found

    def part(self, processors: Ints) -> Program:
        """Return the operations of the given processors, in their order, as a separate program."""
        if len(processors) == self.processors and np.array_equal(
            processors, np.arange(self.processors)
        ):
            return self
        starts = self.first[processors]
        return self.taken(starts, self.first[processors + 1] - starts)

    def taken(self, starts: Ints, counts: Ints) -> Program:
        """Return ranges of rows as a program, a processor for each range."""
        rows = ranges(starts, counts)
        needed = self.needs_first[rows + 1] - self.needs_first[rows]
        needs = ranges(self.needs_first[rows], needed)
        return Program(
            np.concatenate([[0], np.cumsum(counts)]),
            self.kind[rows], self.amount[rows], self.peer[rows], self.cpu[rows], self.tag[rows],
            np.concatenate([[0], np.cumsum(needed)]),
            self.needs[needs], self.lines[rows], self.name,
            None if self.turns is None else self.turns[needs],
        )  # fmt: skip


def ranges(first: Ints, counts: Ints) -> Ints:
    """Return the numbers of several ranges, one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(first - (ends - counts), counts)


def turns_of(later: Ints, earlier: Ints, order: Ints) -> Ints | None:
    """Return `Program.turns` of requirements, or None if they make no difference.

    Parameters
    ----------
    later, earlier : ndarray of int64, shape (requirements,)
        The operations that wait, and the required operations with their marks, in the order of the
        lines.
    order : ndarray of int64, shape (requirements,)
        Line of each requirement in the program's order.
    """
    ranked = np.argsort(earlier, kind="stable")
    descends = (np.diff(later[ranked]) < 0) & (np.diff(earlier[ranked]) == 0)
    return order if descends.any() else None


def receive_kinds(program: Program, way: Shorts | int = 0) -> tuple[int, int]:
    """Return a bit for each kind of receive, by its wildcards, and the number of kinds.

    Parameters
    ----------
    program : Program
        Operations, for scripts with the rows' `way` (see `Scripted`), which is 0 for open sources.
    """
    receives = program.kind == RECV
    open_source = ((program.peer == ANY) & (np.asarray(way) == 0))[receives]
    kinds = np.unique(2 * open_source + (program.tag[receives] == ANY_TAG))
    return sum(1 << int(kind) for kind in kinds), len(kinds)


class Builder:
    """Builds a program operation by operation.

    Parameters
    ----------
    processors : int
        Number of processors of the program.

    Examples
    --------
    >>> program = Builder(2)
    >>> begun = program.calc(0, 100)
    >>> sent = program.send(0, 1, 10, after=[begun])
    >>> got = program.recv(1, 0, 10)
    >>> program.done().operations
    3
    """

    def __init__(self, processors: int):
        if processors < 1:
            raise UsageError(f"A program is for 1 processor or more, not {processors}.")
        self._rows: list[list[tuple[int, int, int, int, int]]] = [[] for _ in range(processors)]
        self._needs: list[list[list[int]]] = [[] for _ in range(processors)]

    def calc(self, processor: int, time: int, *, cpu: int = 0, after: object = ()) -> int:
        """Add a calc of a processor; return the operation's index at the processor."""
        if time < 0:
            raise UsageError(f"A calc takes 0 units of time or more, not {time}.")
        return self._add(processor, CALC, time, ANY, 0, cpu, after)

    def send(
        self, processor: int, to: int, size: int, *, tag: int = 0, cpu: int = 0, after: object = ()
    ) -> int:
        """Add a send of `size` bytes to another processor; return the operation's index."""
        self._require(to)
        return self._add(processor, SEND, size, to, tag, cpu, after)

    def recv(
        self,
        processor: int,
        source: int | None,
        size: int,
        *,
        tag: int | None = 0,
        cpu: int = 0,
        after: object = (),
    ) -> int:
        """Add a receive of `size` bytes; a source or tag of None stands for any."""
        if source is not None:
            self._require(source)
        peer, word = ANY if source is None else source, ANY_TAG if tag is None else tag
        return self._add(processor, RECV, size, peer, word, cpu, after)

    def after(self, processor: int, operation: int, earlier: int, *, begun: bool = False) -> None:
        """Let an operation wait for the end, or begin, of another operation of the processor."""
        count = len(self._rows[processor])
        if not (0 <= operation < count and 0 <= earlier < count):
            raise UsageError(f"Processor {processor} has operations 0..{count - 1}.")
        self._needs[processor][operation].append(earlier << 1 | begun)

    def _add(
        self, processor: int, kind: int, amount: int, peer: int, tag: int, cpu: int, after: object
    ) -> int:
        self._require(processor)
        least = 0 if kind == CALC else 1
        if not least <= amount <= MOST_AMOUNT:
            raise UsageError(f"{KINDS[kind]}: {amount} is not in {least}..{MOST_AMOUNT}.")
        if not 0 <= tag <= ANY_TAG or not 0 <= cpu < 1 << 20:
            raise UsageError(f"{KINDS[kind]}: tags are 0..2^32-2, CPUs 0..2^20-1.")
        self._rows[processor].append((kind, amount, peer, tag, cpu))
        self._needs[processor].append([])
        number = len(self._rows[processor]) - 1
        for earlier in [after] if isinstance(after, int) else list(after):  # type: ignore[call-overload]
            self.after(processor, number, earlier)
        return number

    def _require(self, processor: int) -> None:
        if not 0 <= processor < len(self._rows):
            raise UsageError(
                f"There is no processor {processor} of {len(self._rows)} in this program."
            )

    def done(self, name: str = "program") -> Program:
        """Return the program."""
        rows = [row for each in self._rows for row in each]
        needs = [each for many in self._needs for each in many]
        table = np.array(rows, np.int64).reshape(-1, 5)
        return Program(
            np.cumsum([0, *map(len, self._rows)]),
            table[:, 0].astype(np.int8),
            np.ascontiguousarray(table[:, 1]),
            table[:, 2].astype(np.int32),
            table[:, 4].astype(np.int32),
            table[:, 3].astype(np.uint32),
            np.cumsum([0, *map(len, needs)]),
            np.array([each for many in needs for each in many], np.int64),
            np.zeros(len(rows), np.int64),
            name,
        )
