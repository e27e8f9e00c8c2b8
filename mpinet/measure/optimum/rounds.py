"""Lower bound on the rounds per chunk of schedules with a number of steps, by a linear program.

In a step of r rounds each link carries r chunks. A chunk received in a step is forwarded in the
next step at the earliest (Cai et al. 2021, SCCL). The linear program allows arbitrarily small
chunks, and counts a chunk that helps several receivers once per link. The fewest rounds per chunk
of such flows over time are a bound for all numbers of chunks. The dual solution is the certificate:
a price for each link and step, and lengths for each receiver, paid by the prices
(`mpinet.certify.prices`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints, Table
from mpinet.certify.prices import fewest_rounds, pairs_of
from mpinet.measure.optimum.certified import CollectiveBound
from mpinet.measure.optimum.simplex import duals
from mpinet.networks.adjacency import Adjacency, hops_from_hosts

MOST_VARIABLES = 2**18
"""Largest number of variables of a linear program."""

PRECISION = 2**24
"""Whole price to which the largest dual is scaled."""


@dataclass
class RoundsBound(CollectiveBound):
    """Lower bound on the rounds of all-port schedules, by number of steps.

    A reduction has the bound of the reversed collective.
    """

    ports: str = "all"
    prices: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Body of a certificate for each number of steps."""

    def per_chunk(self, steps: int, limit: float) -> Fraction:
        """Return a lower bound on rounds per chunk for a number of steps; 0 if none is known.

        Parameters
        ----------
        steps : int
            Number of steps, at least the distance of the farthest pair.
        limit : float
            Seconds for the solver.
        """
        if steps not in self.prices:
            self.prices[steps] = self._priced(steps, limit)
        found = self.prices[steps]
        if not found:
            return Fraction(0)
        return fewest_rounds(self.network, self.collective, self.root, steps, found)

    def certificate_of(self, steps: int, chunks: int, rounds: int) -> dict[str, Any]:
        """Return the certificate that this number of steps and chunks needs `rounds` rounds."""
        return self.claimed(rounds, "prices", self.prices[steps], items=chunks, steps=steps)

    def _priced(self, steps: int, limit: float) -> dict[str, Any]:
        flows = Flows.of(self, steps)
        if flows is None:
            return {}
        found = duals(flows.program(), limit)
        return {} if found is None else flows.prices(np.abs(np.array(found)))


@dataclass(frozen=True, eq=False)
class Flows:
    """Linear program of flows over time: the arcs, and the useful arcs of each pair per step."""

    tail: Ints
    """Sending node of each arc; each arc is listed once. Shape (a,)."""
    head: Ints
    """Receiving node of each arc. Shape (a,)."""
    room: Ints
    """Number of parallel links of each arc. Shape (a,)."""
    nodes: int
    """Number of nodes of the network."""
    steps: int
    """Number of steps of the schedules."""
    pairs: list[tuple[int, int, int]]
    """Group, source and target of each pair; flows of the same group share their messages."""
    used: Table
    """Pair, arc and step (from 0) of each useful flow. Shape (f, 3)."""

    @classmethod
    def of(cls, bound: RoundsBound, steps: int) -> Flows | None:
        """Return the program of a network; None if it is too large."""
        topology, network = bound.topology, bound.network
        ends = [(u, v) for u in range(network.size) for v in network.neighbors[u]]
        tail, head = np.array(ends, np.int64).reshape(-1, 2).T
        room = np.array([network.parallel.get(pair, 1) for pair in ends], np.int64)
        hops = hops_from_hosts(topology, Adjacency.of(topology))
        pairs = pairs_of(network.hosts, bound.collective, bound.root)
        used = []
        size = 0
        for number, (_, source, target) in enumerate(pairs):
            fit = (head != source) & (tail != target)
            # A flow can use an arc only after it can reach the tail, and while it can still reach
            # its target. This removes most variables.
            least, most = hops[source][tail], steps - 1 - hops[target][head]
            for step in range(steps):
                arcs = np.flatnonzero(fit & (least <= step) & (step <= most))
                used.append(np.stack([np.full_like(arcs, number), arcs, np.full_like(arcs, step)]))
                size += len(arcs)
            if size > MOST_VARIABLES:
                return None
        rows = np.ascontiguousarray(np.concatenate(used, axis=1).T)
        return cls(tail, head, room, topology.size, steps, pairs, rows)

    def _groups(self) -> tuple[Ints, Ints]:
        """Return the shared flows as numbers of (group, arc, step), and the index for each flow."""
        pair, arc, step = self.used.T
        group = np.array([group for group, _, _ in self.pairs])[pair]
        found, which = np.unique(
            (group * len(self.tail) + arc) * self.steps + step, return_inverse=True
        )
        return found, which

    def program(self) -> dict[str, Any]:
        """Return the program for `simplex.duals`: all rows except the last are at least 0."""
        pair = self.used[:, 0]
        shared, which = self._groups()
        flows, count, steps = len(self.used), len(shared), self.steps
        number = np.arange(flows)
        rows: list[tuple[Ints, Ints, Any]] = []
        # The flow of a pair on a link is carried there for its group.
        rows += [(number, flows + which, repeat(1.0)), (number, number, repeat(-1.0))]
        # A link carries at most as much as its rounds allow.
        carried = shared % (len(self.tail) * steps)
        rounds = flows + count
        at = np.unique(carried)
        limits = np.searchsorted(at, carried) + flows
        rows.append((limits, flows + np.arange(count), repeat(-1.0)))
        all_limits = flows + np.arange(len(at))
        rows.append((all_limits, rounds + at % steps, self.room[at // steps].astype(float)))
        first = flows + len(at)
        # Everything sent by a node has arrived before.
        (out, leaves), (into, comes) = self._places
        held = np.unique(np.concatenate([out[leaves], into[comes]]))
        store = rounds + steps
        for places, flow, sign in ((out, leaves, -1.0), (into, comes, 1.0)):
            row = first + np.searchsorted(held, places[flow])
            rows.append((row, number[flow], repeat(sign)))
        later = np.flatnonzero(np.isin(held + 1, held) & (held % (steps + 1) < steps))
        rows.append((first + later, store + later, repeat(-1.0)))
        rows.append((first + np.searchsorted(held, held[later] + 1), store + later, repeat(1.0)))
        # Every target gets everything.
        last = first + len(held)
        rows.append((last + pair[~comes], number[~comes], repeat(1.0)))
        best = store + len(held)
        every = np.arange(len(self.pairs))
        rows.append((last + every, np.full_like(every, best), repeat(-1.0)))
        end = last + len(self.pairs)
        rows.append((np.full(steps, end), rounds + np.arange(steps), repeat(-1.0)))
        lower = np.zeros(end + 1)
        lower[end] = -self._too_few()
        return _compressed(rows, best + 1, lower)

    @cached_property
    def _places(self) -> tuple[tuple[Ints, Flags], tuple[Ints, Flags]]:
        """The start and end places of flows, as numbers of (pair, node, elapsed steps).

        Each has a mask of the flows that count there: not from a source, and not to a target.
        """
        pair, arc, step = self.used.T
        sources, targets = np.array(self.pairs)[pair, 1:].T
        leaves, comes = self.tail[arc] != sources, self.head[arc] != targets
        moments = pair * self.nodes, self.steps + 1
        out = (moments[0] + self.tail[arc]) * moments[1] + step
        into = (moments[0] + self.head[arc]) * moments[1] + step + 1
        return (out, leaves), (into, comes)

    def _too_few(self) -> float:
        """Return half of a lower bound on the rounds per chunk, from the links into targets."""
        into = np.bincount(self.head, self.room, self.nodes)
        apart = {(group, target) for group, _, target in self.pairs}
        wanted = np.bincount([target for _, target in apart], minlength=self.nodes)
        return float((wanted / np.maximum(into, 1)).max() / 2)

    def prices(self, found: Any) -> dict[str, Any]:
        """Round the duals to whole lengths, in the form of a certificate."""
        pair, arc, step = self.used.T
        # Any lengths prove a bound, so rounding needs no repair. The largest becomes 2**24, which
        # loses next to nothing.
        top = found[: len(self.used)].max()
        lengths = np.floor(found[: len(self.used)] / top * PRECISION).astype(np.int64)
        listed: list[list[list[int]]] = [[] for _ in self.pairs]
        for row in np.flatnonzero(lengths):
            ends = int(self.tail[arc[row]]), int(self.head[arc[row]])
            listed[pair[row]].append([int(step[row]) + 1, *ends, int(lengths[row])])
        return {"lengths": listed}


def _compressed(rows: list[tuple[Ints, Ints, Any]], columns: int, lower: Any) -> dict[str, Any]:
    """Convert (row, column, value) lists to the arrays of a linear program."""
    row = np.concatenate([each[0] for each in rows])
    column = np.concatenate([each[1] for each in rows])
    value = np.concatenate(
        [
            np.full(len(where), next(what)) if isinstance(what, repeat) else what
            for where, _, what in rows
        ]
    )
    order = np.argsort(row, kind="stable")
    begin = np.searchsorted(row[order], np.arange(len(lower) + 1))
    upper = np.full(len(lower), np.inf)
    return {
        "columns": columns, "plain": columns - 1, "begin": begin.astype(np.int32),
        "index": column[order].astype(np.int32), "value": value[order], "lower": lower,
        "upper": upper,
    }  # fmt: skip
