"""Programs whose processors share scripts, and the number of rows for their operations.

A halo exchange of 10^7 processors is a few statements, and arithmetic determines the neighbours. A
peer is given as the distance of a digit from the same digit of the processor's number. A rank's
part of a program has this form as well. If the program is stored whole, every processor has its own
script.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise

import numpy as np

from mpinet.base.arrays import Ints, Shorts, Table
from mpinet.base.memory import require_memory
from mpinet.errors import UsageError
from mpinet.machine.timed.program import MOST_ROWS, Program
from mpinet.networks.topology import Topology

# The search in `_span` is quadratic in the script; longer scripts get a row per operation instead.
MOST_LOOKED_AT = 1 << 12
"""Largest number of statements for which the distance between reusable rows is computed."""

BYTES_A_ROW = 60
"""Bytes per operation of a stored program, with one requirement."""


@dataclass(frozen=True, eq=False)
class Scripted:
    """A program whose processors share scripts."""

    scripts: Program
    """The scripts, in place of processors. If a row's `way` is not 0, `peer` is the distance of the
    other processor.
    """
    way: Shorts
    """The row of `ways` that determines each statement's peer; 0: `peer` is its number. Shape
    (rows,).
    """
    ways: Table
    """Stride and radix of a digit of processor numbers: the peer's digit is larger by `peer`,
    modulo the radix. The first row is unused. Shape (k, 2).
    """
    which: Shorts
    """The script of each processor. Shape (processors,)."""
    span: int = MOST_ROWS
    """Largest number of a processor's operations with rows at a time; later operations reuse these
    rows.
    """

    @property
    def name(self) -> str:
        """Origin of the program, for messages."""
        return self.scripts.name

    @property
    def processors(self) -> int:
        """Number of processors of the program."""
        return len(self.which)

    @property
    def counts(self) -> Ints:
        """Operations of each processor, shape (processors,)."""
        found: Ints = np.diff(self.scripts.first)[self.which]
        return found

    @property
    def operations(self) -> int:
        """Number of all processors' operations."""
        return int(self.counts.sum())

    @property
    def largest(self) -> int:
        """Bytes of the largest message; 0 without messages."""
        return self.scripts.largest

    @property
    def sha256(self) -> str:
        """Hash of the scripts and of their assignment to processors."""
        found = sha256(self.scripts.sha256.encode())
        for each in (self.way, self.ways, self.which):
            found.update(each.tobytes())
        return found.hexdigest()

    @property
    def cpus(self) -> int:
        """Number of CPUs of a processor."""
        return self.scripts.cpus

    @property
    def rows(self) -> Ints:
        """Number of each processor's operations with rows at a time, shape (processors,)."""
        return np.minimum(self.counts, self.span)

    def starts(self, nodes: Ints) -> Ints:
        """Return the number of each given processor's first operation in the whole program."""
        counts = np.diff(self.scripts.first)
        # The usual case needs no prefix sums over all processors, possibly 10^8.
        if np.all(counts == counts[0]):
            return nodes * counts[0]
        ends = np.cumsum(counts[self.which])
        found: Ints = ends[nodes] - counts[self.which[nodes]]
        return found

    def hosted(self, nodes: Ints) -> Scripted:
        """Return the scripts of the given processors, in their order."""
        return replace(self, which=self.which[nodes])

    def part(self, nodes: Ints) -> Program:
        """Return the operations of the given processors, in their order, as a separate program."""
        # Storing turns arithmetic into rows: ten million processors fit into memory as a script,
        # but perhaps not as a program.
        require_memory(BYTES_A_ROW * int(self.counts[nodes].sum()), f"The program {self.name}")
        part = self.scripts.part(self.which[nodes].astype(np.int64))
        rows = np.flatnonzero(way := self._ways_of(nodes))
        own, peer = nodes[part.owners_of(rows)], part.peer.copy()
        stride, radix = self.ways[way[rows]].T
        digit = own // stride % radix
        peer[rows] = own + ((digit + peer[rows]) % radix - digit) * stride
        return replace(part, peer=peer)

    def _ways_of(self, nodes: Ints) -> Ints:
        """Return the ways of all operations of the given processors."""
        first = self.scripts.first
        lines = [self.way[begin:end] for begin, end in pairwise(first.tolist())]
        found: Ints = np.concatenate([self.way[:0], *[lines[one] for one in self.which[nodes]]])
        return found

    def stored(self) -> Program:
        """Return the program with every processor's operations."""
        return self.part(np.arange(self.processors))


def shared(scripts: Program, way: Shorts, ways: Table, which: Shorts) -> Scripted:
    """Return a program of scripts, with the smallest possible number of rows per processor."""
    if scripts.operations > MOST_LOOKED_AT:
        return Scripted(scripts, way, ways, which)
    spans = [_span(scripts, *ends) for ends in pairwise(scripts.first.tolist())]
    return Scripted(scripts, way, ways, which, max(1, *spans))


def require_fitting(program: Program | Scripted, topology: Topology) -> None:
    """Raise `UsageError` if a program has more processors than the network."""
    if program.processors > topology.hosts:
        raise UsageError(
            f"{program.name} needs {program.processors} processors, but {topology.name} has "
            f"{topology.hosts}."
        )


def hosted(program: Program | Scripted, nodes: Ints) -> Scripted:
    """Return a program's operations for the given processors, as scripts."""
    if isinstance(program, Scripted):
        return program.hosted(nodes)
    part = program.part(nodes)
    which = np.arange(len(nodes), dtype=np.int32)
    return Scripted(part, np.zeros(part.operations, np.int32), np.ones((1, 2), np.int64), which)


def stored(program: Program | Scripted) -> Program:
    """Return a program with every processor's operations."""
    return program.stored() if isinstance(program, Scripted) else program


def _span(scripts: Program, begin: int, end: int) -> int:
    """Return the least distance of operations of a script that never need rows simultaneously.

    An operation needs its row until its own end, from the step that first meets one of its
    requirements. An operation may therefore reuse the row of any operation that all its
    requirements require, directly or not.
    """
    count, marked = end - begin, False
    needs: list[list[int]] = []
    for row in range(begin, end):
        words = scripts.needs[scripts.needs_first[row] : scripts.needs_first[row + 1]].tolist()
        marked |= any(word & 1 or word >> 1 >= row - begin for word in words)
        needs.append([word >> 1 for word in words])
    if marked:  # requirements on begins, or on later operations, prove no end
        return count
    # Sets of operations as big integers: inclusion is one operation on integers, for scripts of any
    # length.
    before = [0] * count
    for number, mine in enumerate(needs):
        for need in mine:
            before[number] |= before[need] | 1 << need
    # The least distance wins: operations this far apart never need rows at the same time, so they
    # can share a row.
    for apart in range(1, count):
        if all(
            needs[number] and all(before[need] >> number - apart & 1 for need in needs[number])
            for number in range(apart, count)
        ):
            return apart
    return count
