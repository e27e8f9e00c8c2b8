"""Programs whose processors follow scripts that they share, and how many rows that takes.

A halo exchange of 10^7 processors is a few statements, and who is which neighbour is arithmetic: a
peer is said as a digit of the processor's number that is so far off. What a rank plays is of this
kind, too: of a program that is stored whole, every processor has a script of its own.
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

# The search below is quadratic in the script; longer scripts get a row per operation instead.
MOST_LOOKED_AT = 1 << 12
"""Statements of the scripts for which it is found out which operations need rows at one time."""

BYTES_A_ROW = 60
"""Bytes that an operation of a stored program takes, with a requirement."""


@dataclass(frozen=True, eq=False)
class Scripted:
    """A program whose processors share scripts."""

    scripts: Program
    """A script in the place of each processor. Where a row's `way` is not 0, `peer` is how far off
    the other processor is."""
    way: Shorts
    """The row of `ways` by which each statement's peer is found; 0: `peer` is its number. Shape
    (rows,)."""
    ways: Table
    """Stride and radix of a digit of processors' numbers: the peer's is `peer` more, modulo the
    radix. The first row is not used. Shape (k, 2)."""
    which: Shorts
    """The script of each processor. Shape (processors,)."""
    span: int = MOST_ROWS
    """Operations of a processor that have rows at one time, at most: those behind take theirs."""

    @property
    def name(self) -> str:
        """Name of what it was made by."""
        return self.scripts.name

    @property
    def processors(self) -> int:
        """Number of processors that it is for."""
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
        """Bytes of its largest message; 0 without any."""
        return self.scripts.largest

    @property
    def sha256(self) -> str:
        """Hash of all that its processors do, as they share it."""
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
        """Operations of each processor that have rows at one time, shape (processors,)."""
        return np.minimum(self.counts, self.span)

    def starts(self, nodes: Ints) -> Ints:
        """Return the number of each of some processors' first operation in the whole program."""
        counts = np.diff(self.scripts.first)
        # The usual case needs no prefix sums over all processors, of which there may be 10^8.
        if np.all(counts == counts[0]):
            return nodes * counts[0]
        ends = np.cumsum(counts[self.which])
        found: Ints = ends[nodes] - counts[self.which[nodes]]
        return found

    def hosted(self, nodes: Ints) -> Scripted:
        """Return what some processors do, in their order."""
        return replace(self, which=self.which[nodes])

    def part(self, nodes: Ints) -> Program:
        """Return the operations of some processors, in their order, as a program of these alone."""
        # Storing turns arithmetic into rows: ten million processors fit as a script, and may not
        # fit as a program.
        require_memory(BYTES_A_ROW * int(self.counts[nodes].sum()), f"The program {self.name}")
        part = self.scripts.part(self.which[nodes].astype(np.int64))
        rows = np.flatnonzero(way := self._ways_of(nodes))
        own, peer = nodes[part.owners_of(rows)], part.peer.copy()
        stride, radix = self.ways[way[rows]].T
        digit = own // stride % radix
        peer[rows] = own + ((digit + peer[rows]) % radix - digit) * stride
        return Program(
            part.first, part.kind, part.amount, peer, part.cpu, part.tag, part.needs_first,
            part.needs, part.lines, part.name,
        )  # fmt: skip

    def _ways_of(self, nodes: Ints) -> Ints:
        """Return the ways of all operations of some processors."""
        first = self.scripts.first
        lines = [self.way[begin:end] for begin, end in pairwise(first.tolist())]
        found: Ints = np.concatenate([self.way[:0], *[lines[one] for one in self.which[nodes]]])
        return found

    def stored(self) -> Program:
        """Return the program with every processor's operations."""
        return self.part(np.arange(self.processors))


def shared(scripts: Program, way: Shorts, ways: Table, which: Shorts) -> Scripted:
    """Return a program of scripts, with rows for as few operations at one time as they allow."""
    if scripts.operations > MOST_LOOKED_AT:
        return Scripted(scripts, way, ways, which)
    spans = [_span(scripts, *ends) for ends in pairwise(scripts.first.tolist())]
    return Scripted(scripts, way, ways, which, max(1, *spans))


def require_fitting(program: Program | Scripted, topology: Topology) -> None:
    """Raise `UsageError` if a program is for more processors than there are."""
    if program.processors > topology.hosts:
        raise UsageError(
            f"{program.name} is for {program.processors} processors, and {topology.name} has "
            f"{topology.hosts}."
        )


def hosted(program: Program | Scripted, nodes: Ints) -> Scripted:
    """Return what some processors of a program do, as scripts."""
    if isinstance(program, Scripted):
        return program.hosted(nodes)
    part = program.part(nodes)
    which = np.arange(len(nodes), dtype=np.int32)
    return Scripted(part, np.zeros(part.operations, np.int32), np.ones((1, 2), np.int64), which)


def stored(program: Program | Scripted) -> Program:
    """Return a program with every processor's operations."""
    return program.stored() if isinstance(program, Scripted) else program


def _span(scripts: Program, begin: int, end: int) -> int:
    """Return how far apart two operations of a script are that never need rows at one time.

    An operation needs its row from when a requirement of it is met until it is done and those that
    wait for it are released. All of this is over as soon as something begins that waits for it and
    for all else that these wait for.
    """
    count, marked = end - begin, False
    needs: list[list[int]] = []
    for row in range(begin, end):
        words = scripts.needs[scripts.needs_first[row] : scripts.needs_first[row + 1]].tolist()
        marked |= any(word & 1 or word >> 1 >= row - begin for word in words)
        needs.append([word >> 1 for word in words])
    if marked:  # by begins alone little is over, and after later ones nothing is known
        return count
    # Sets of operations as big integers: inclusion is one operation on words, whatever the script's
    # length.
    before, over = [0] * count, [1 << number for number in range(count)]
    for number, mine in enumerate(needs):
        together = sum(1 << need for need in mine)
        for need in mine:
            before[number] |= before[need] | 1 << need
            over[need] |= together
    # The least distance wins: rows of operations this far apart are never alive together, so they
    # can share.
    for apart in range(1, count):
        if all(
            needs[number]
            and all(not over[number - apart] & ~before[need] for need in needs[number])
            for number in range(apart, count)
        ):
            return apart
    return count
