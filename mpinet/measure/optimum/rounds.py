"""Rounds per chunk below which no schedule of so many steps comes, by a linear program.

In a step of r rounds each link carries r chunks, and what comes in a step can go on in the next one
at the earliest (Cai et al. 2021, SCCL). Cut chunks as fine as you like, and let each link carry
what helps several receivers once: the fewest rounds per chunk of such flows over time are a bound
for all numbers of chunks. Its dual is the certificate: a price for each link and step, and for each
receiver lengths that the prices pay for (`mpinet.certify.prices`).
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
"""Variables of the largest linear program that is asked."""

PRECISION = 2**24
"""Whole price that the largest dual is rounded to."""


@dataclass
class RoundsBound(CollectiveBound):
    """Bound of the rounds of schedules on all ports, by number of steps.

    A reduction has the bound of the reversed collective.
    """

    ports: str = "all"
    prices: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Statement of a certificate for each number of steps."""

    def per_chunk(self, steps: int, limit: float) -> Fraction:
        """Rounds per chunk that no schedule of so many steps beats; 0 where nothing is known.

        Parameters
        ----------
        steps : int
            As many as the farthest pair's distance, at least.
        limit : float
            Seconds.
        """
        if steps not in self.prices:
            self.prices[steps] = self._priced(steps, limit)
        found = self.prices[steps]
        if not found:
            return Fraction(0)
        return fewest_rounds(self.network, self.collective, self.root, steps, found)

    def certificate_of(self, steps: int, chunks: int, rounds: int) -> dict[str, Any]:
        """The certificate that so many steps take more than one round less."""
        return self.claimed(rounds, "prices", self.prices[steps], items=chunks, steps=steps)

    def _priced(self, steps: int, limit: float) -> dict[str, Any]:
        flows = Flows.of(self, steps)
        if flows is None:
            return {}
        found = duals(flows.program(), limit)
        return {} if found is None else flows.prices(np.abs(np.array(found)))


@dataclass(frozen=True, eq=False)
class Flows:
    """Linear program of flows over time: the arcs, and what each pair may use when."""

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
    """Group, source and target: flows of one group share what they carry."""
    used: Table
    """Pair, arc and step (from 0) of each flow that can be of use. Shape (f, 3)."""

    @classmethod
    def of(cls, bound: RoundsBound, steps: int) -> Flows | None:
        """Look at the network; None where the program is too large."""
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
            # A flow is of use on an arc only after it can be there, and while it can still reach
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
        """The shared flows as (group, arc, step) in one number, and the one of each flow."""
        pair, arc, step = self.used.T
        group = np.array([group for group, _, _ in self.pairs])[pair]
        found, which = np.unique(
            (group * len(self.tail) + arc) * self.steps + step, return_inverse=True
        )
        return found, which

    def program(self) -> dict[str, Any]:
        """The program for `simplex.duals`: rows of at least 0, but for the last."""
        pair = self.used[:, 0]
        shared, which = self._groups()
        flows, count, steps = len(self.used), len(shared), self.steps
        number = np.arange(flows)
        rows: list[tuple[Ints, Ints, Any]] = []
        # What a pair has on a link is carried there for its group.
        rows += [(number, flows + which, repeat(1.0)), (number, number, repeat(-1.0))]
        # A link carries no more than its rounds allow.
        carried = shared % (len(self.tail) * steps)
        rounds = flows + count
        at = np.unique(carried)
        limits = np.searchsorted(at, carried) + flows
        rows.append((limits, flows + np.arange(count), repeat(-1.0)))
        all_limits = flows + np.arange(len(at))
        rows.append((all_limits, rounds + at % steps, self.room[at // steps].astype(float)))
        first = flows + len(at)
        # What goes out of a node has come before.
        (out, leaves), (into, comes) = self._places
        held = np.unique(np.concatenate([out[leaves], into[comes]]))
        store = rounds + steps
        for places, flow, sign in ((out, leaves, -1.0), (into, comes, 1.0)):
            row = first + np.searchsorted(held, places[flow])
            rows.append((row, number[flow], repeat(sign)))
        later = np.flatnonzero(np.isin(held + 1, held) & (held % (steps + 1) < steps))
        rows.append((first + later, store + later, repeat(-1.0)))
        rows.append((first + np.searchsorted(held, held[later] + 1), store + later, repeat(1.0)))
        # Every target gets all.
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
        """The places that flows leave, and come to: (pair, node, steps that have passed).

        Each with the flows that count there: not from a source, not to a target.
        """
        pair, arc, step = self.used.T
        sources, targets = np.array(self.pairs)[pair, 1:].T
        leaves, comes = self.tail[arc] != sources, self.head[arc] != targets
        moments = pair * self.nodes, self.steps + 1
        out = (moments[0] + self.tail[arc]) * moments[1] + step
        into = (moments[0] + self.head[arc]) * moments[1] + step + 1
        return (out, leaves), (into, comes)

    def _too_few(self) -> float:
        """Rounds per chunk that are too few: half of what the links into a target take."""
        into = np.bincount(self.head, self.room, self.nodes)
        apart = {(group, target) for group, _, target in self.pairs}
        wanted = np.bincount([target for _, target in apart], minlength=self.nodes)
        return float((wanted / np.maximum(into, 1)).max() / 2)

    def prices(self, found: Any) -> dict[str, Any]:
        """Round the duals to whole prices and lengths, as a certificate has them."""
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
    """Rows, columns and values as the arrays of a linear program."""
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
