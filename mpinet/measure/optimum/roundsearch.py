"""Search for schedules with given chunks, steps and rounds: rarest chunk first, then a solver."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.base.deadline import deadline
from mpinet.certify.prices import pairs_of
from mpinet.measure.optimum.clausebook import ClauseBook, Literal
from mpinet.measure.optimum.sat import solved
from mpinet.networks.adjacency import Adjacency, hops_from_hosts, parallel_links
from mpinet.networks.topology import Topology
from mpinet.programs.rarest import rarest_rows

STARTS = 32
"""Number of starts of the greedy search for each distribution of the rounds."""

MOST_DEALT = 128
"""Largest number of distributions of rounds to steps, the most even first."""

MOST_CLAUSES = 2**21
"""Largest number of clauses of a formula for the solver."""


@dataclass(frozen=True, eq=False)
class WantedChunks:
    """Chunks of a collective, with their sources and targets."""

    sources: Ints
    """Processor that has each chunk at the beginning. Shape (chunks,)."""
    targets: list[frozenset[int]]
    """Processors that need each chunk."""
    numbers: Ints
    """Number of each chunk in a timetable. Shape (chunks,)."""

    @classmethod
    def of(cls, hosts: int, collective: str, root: int | None, chunks: int) -> WantedChunks:
        """Return the chunks of a collective, `chunks` per unit."""
        units: dict[int, tuple[int, set[int]]] = {}
        for _, source, target in pairs_of(hosts, collective, root):
            unit = {"scatter": target, "broadcast": 0, "exchange": source * hosts + target}
            units.setdefault(unit.get(collective, source), (source, set()))[1].add(target)
        sources = [source for source, _ in units.values() for _ in range(chunks)]
        targets = [frozenset(to) for _, to in units.values() for _ in range(chunks)]
        numbers = [unit * chunks + chunk for unit in units for chunk in range(chunks)]
        return cls(np.array(sources, np.int64), targets, np.array(numbers, np.int64))


def dealt_out(rounds: int, steps: int) -> Iterator[tuple[int, ...]]:
    """Yield the distributions of rounds to steps, at least one per step, the most even first.

    Examples
    --------
    >>> [*dealt_out(4, 2)]
    [(2, 2), (1, 3), (3, 1)]
    """
    # There are exponentially many distributions. Even ones succeed most often, and the limit keeps
    # the list within milliseconds.
    cuts = islice(combinations(range(1, rounds), steps - 1), 2**14)
    ways = [tuple(np.diff([0, *cut, rounds]).tolist()) for cut in cuts]
    yield from sorted(ways, key=lambda way: (sum(each * each for each in way), way))


def schedule_of(
    topology: Topology, wanted: WantedChunks, steps: int, rounds: int, limit: float
) -> tuple[Table, tuple[int, ...]] | None:
    """Find a schedule; return None if none is found.

    Parameters
    ----------
    topology : Topology
        A network of links.
    wanted : WantedChunks
        The chunks, with sources and targets.
    steps, rounds : int
        Number of steps, and total number of rounds.
    limit : float
        Seconds for formulas and solver together.

    Returns
    -------
    rows : ndarray of int64, shape (k, 4)
        Round, sender, receiver and chunk, by round; a chunk received in a step is forwarded in
        later steps.
    dealt : tuple of int
        Number of rounds of each step.
    """
    ways = [*islice(dealt_out(rounds, steps), MOST_DEALT)]
    # The greedy search spreads every chunk everywhere. It cannot leave processors out, as a scatter
    # requires.
    if all(len(to) == topology.hosts - 1 for to in wanted.targets):
        for way in ways:
            rows = rarest_rows(topology, wanted.sources, steps, np.array(way), STARTS)
            if len(rows) and rows[-1, 0] <= steps:
                return _numbered(topology, wanted, rows, way), way
    ends = time.monotonic() + deadline().share(limit)
    for way in ways:
        formula = RoundsFormula(topology, wanted, way, ends)
        left = ends - time.monotonic()
        if not formula.is_whole or left <= 0:
            return None
        answer = solved(formula, left)
        if answer.true is not None:
            return _numbered(topology, wanted, formula.rows(answer.true), way), way
    return None


def _numbered(topology: Topology, wanted: WantedChunks, rows: Table, way: tuple[int, ...]) -> Table:
    """Convert rows from steps to rounds, with the chunk numbers of a timetable."""
    found = in_rounds(topology, rows, way)
    found[:, 3] = wanted.numbers[found[:, 3]]
    return found


def in_rounds(topology: Topology, rows: Table, dealt: tuple[int, ...]) -> Table:
    """Assign each row to a round of its step in which a parallel link is free."""
    rows = rows[np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))]
    parallel = parallel_links(topology)
    begins = np.cumsum([0, *dealt])
    found, before, turn = rows.copy(), None, 0
    for number, (step, sender, receiver, _) in enumerate(rows.tolist()):
        turn = turn + 1 if (step, sender, receiver) == before else 0
        before = step, sender, receiver
        found[number, 0] = begins[step - 1] + turn // parallel.get((sender, receiver), 1) + 1
    order = np.lexsort((found[:, 3], found[:, 2], found[:, 1], found[:, 0]))
    return np.ascontiguousarray(found[order])


class RoundsFormula(ClauseBook):
    """The formula that has a solution if and only if the schedule exists.

    Variables: H(c, v, t), node v has chunk c after step t; S(c, a, t), chunk c crosses arc a in
    step t. A sender has the chunk. A node with a chunk had it before or receives it once. In each
    step, an arc carries at most as many chunks as its parallel links in the step's rounds.

    Parameters
    ----------
    topology, wanted
        As in `schedule_of`.
    dealt : tuple of int
        Number of rounds of each step.
    ends : float
        Time of the monotonic clock at which an unfinished formula is abandoned.
    """

    is_whole = False
    """True if the formula has all its clauses: it is not too large, and was built in time."""

    def __init__(
        self, topology: Topology, wanted: WantedChunks, dealt: tuple[int, ...], ends: float
    ):
        super().__init__()
        lists = Adjacency.of(topology)
        parallel = parallel_links(topology)
        tails = np.repeat(np.arange(topology.size), lists.degrees).tolist()
        self._arcs = [*zip(tails, lists.others.tolist(), strict=True)]
        self._steps, self._sent = len(dealt), dict[tuple[int, int, int], int]()
        hops = hops_from_hosts(topology, lists)
        loads: dict[tuple[int, int], list[int]] = {}
        for chunk, (source, targets) in enumerate(
            zip(wanted.sources.tolist(), wanted.targets, strict=True)
        ):
            if self._takes_too_long(ends):
                return
            left = self._steps - np.min([hops[target] for target in targets], axis=0)
            self._carry(chunk, source, targets, hops[source].tolist(), left.tolist(), loads)
        for (arc, step), variables in sorted(loads.items()):
            if self._takes_too_long(ends):
                return
            self._at_most(variables, parallel.get(self._arcs[arc], 1) * dealt[step - 1])
        self.is_whole = len(self.clauses) <= MOST_CLAUSES

    def _takes_too_long(self, ends: float) -> bool:
        """Return whether the formula is already too large, or its time is over."""
        return len(self.clauses) > MOST_CLAUSES or time.monotonic() > ends

    def _carry(
        self,
        chunk: int,
        source: int,
        targets: frozenset[int],
        away: list[int],
        left: list[int],
        loads: dict[tuple[int, int], list[int]],
    ) -> None:
        """Add clauses for the spreading of a chunk from its source to its targets."""
        has: dict[int, Literal] = {node: node == source for node in range(len(away))}
        for step in range(1, self._steps + 1):
            comes: dict[int, list[int]] = {}
            for arc, (tail, head) in enumerate(self._arcs):
                if away[tail] >= step or head == source or step > left[head] or has[tail] is False:
                    continue
                sent = self._sent[chunk, arc, step] = self.new()
                self.add(-sent, has[tail])
                comes.setdefault(head, []).append(sent)
                loads.setdefault((arc, step), []).append(sent)
            now = dict(has)
            for head, arrivals in comes.items():
                had = has[head]
                last = step == self._steps and head in targets
                now[head] = True if last else self.new()
                self.add(self.negated(now[head]), had, *arrivals)
                self.add(self.negated(had), now[head])
                self._at_most(arrivals if isinstance(had, bool) else [*arrivals, had], 1)
            has = now
        for target in targets:
            if has[target] is not True:
                self.add(has[target])

    def _at_most(self, variables: list[int], most: int) -> None:
        """Add clauses: at most `most` of the variables are true (sequential counter)."""
        if len(variables) <= most:
            return
        # Up to six variables, pairs are shorter than a counter and need no new variables.
        if most == 1 and len(variables) <= 6:
            for one, other in combinations(variables, 2):
                self.add(-one, -other)
            return
        before: list[int] = []
        for variable in variables:
            counts = [self.new() for _ in range(min(len(before) + 1, most))]
            self.add(-variable, counts[0])
            for at, known in enumerate(before):
                self.add(-known, counts[at])
                if at + 1 < len(counts):
                    self.add(-known, -variable, counts[at + 1])
            if len(before) == most:
                self.add(-before[-1], -variable)
            before = counts

    def rows(self, true: set[int]) -> Table:
        """Return a solution as rows (step, sender, receiver, chunk)."""
        found = [
            (step, *self._arcs[arc], chunk)
            for (chunk, arc, step), sent in self._sent.items()
            if sent in true
        ]
        return np.array(sorted(found), np.int64).reshape(-1, 4)
