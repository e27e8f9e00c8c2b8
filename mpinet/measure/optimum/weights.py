"""Weighted cuts of a one-port gossip: the best bound from cuts, by a linear program.

The program optimizes rates of messages over links for the fastest gossip. A node sends and accepts
at most a single message per step, and every set of nodes receives all items from outside. The sets
are too many to list. Flows find sets with an insufficient rate, and the program is solved again
with these sets, until all rates suffice. The duals are the weights of a certificate
(`mpinet.certify.weights`).
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.measure.optimum.simplex import solution
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology

MOST_LOOKS = 2**14
"""Largest number of processors times links of a network."""

SCALE = 2**24
"""Largest weight of a certificate."""

MOST_IDLE = 10
"""Number of rounds without improvement after which the search for sets ends."""

SECONDS = 60.0
"""Time limit of the solver in seconds, which usually needs a small part of it."""

SHORT = 1e-6
"""Tolerance for missing parts of an item, because of rounding."""


def weighted_cuts(topology: Topology) -> tuple[int, int, dict[str, Any]] | None:
    """Find weighted cuts of a gossip.

    Parameters
    ----------
    topology : Topology
        A connected network.

    Returns
    -------
    tuple or None
        Demand into the sets, capacity per step, and the body of the certificate. None if the
        network is too large or has busses, or if no solver is installed.
    """
    if not topology.links or topology.hosts < 2 or find_spec("highspy") is None:
        return None
    lists = Adjacency.of(topology)
    if len(lists.others) * topology.hosts > MOST_LOOKS:
        return None
    return _Program(topology, lists).solved()


class _Program:
    """The linear program for weighted cuts of a gossip, with the sets found so far."""

    def __init__(self, topology: Topology, lists: Adjacency):
        self.size, self.hosts = topology.size, topology.hosts
        self.heads = np.repeat(np.arange(self.size), lists.degrees)
        self.tails = lists.others.astype(np.int64)
        # Single nodes and their complements are the cuts that bind first. Starting with them saves
        # most rounds of separation.
        everybody = frozenset(range(self.size))
        single = [frozenset([node]) for node in range(self.hosts)]
        self.sets = [*dict.fromkeys([*single, *(everybody - one for one in single)])]

    def solved(self) -> tuple[int, int, dict[str, Any]] | None:
        """Solve the program with more and more sets, until the bound stops increasing."""
        known, best, idle = set(self.sets), 0.0, 0
        while True:
            found = solution(self._rows(), SECONDS)
            # An interrupted solver gives no valid duals, and without duals no certificate.
            if found is None:
                return None
            duals, values = found
            rates, steps = values[:-1], (self.hosts - 1) / (2 * values[-1])
            # Row generation: the number of sets is exponential. A minimum cut for each processor
            # finds the sets violated by the rates.
            more = [each for each in self._short(rates * steps) if each not in known]
            # Degenerate programs add sets without raising the bound for long. After some idle
            # rounds the bound so far is taken.
            best, idle = max(best, steps), 0 if steps > best + SHORT else idle + 1
            if not more or idle == MOST_IDLE:
                return self._rounded(duals)
            known |= set(more)
            self.sets += dict.fromkeys(more)

    def _rows(self) -> dict[str, Any]:
        """Return the linear program for `simplex.solution`."""
        arcs = np.arange(len(self.heads))
        rows = [np.flatnonzero(end == node) for end in (self.tails, self.heads)
                for node in range(self.size)]  # fmt: skip
        values = [np.ones(len(row)) for row in rows]
        for each in self.sets:
            entering = arcs[self._enters(each)]
            rows.append(np.append(entering, len(arcs)))
            # A gossip takes at least N - 1 steps. With the factor 2 the last variable stays below
            # its bound of 1 at every optimum.
            asked = -2 * self._needed(each) / (self.hosts - 1)
            values.append(np.append(np.ones(len(entering)), asked))
        limits, sets = 2 * self.size, len(self.sets)
        begin = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        return {
            "columns": len(arcs) + 1, "plain": len(arcs), "begin": begin.astype(np.int32),
            "index": np.concatenate(rows).astype(np.int32), "value": np.concatenate(values),
            "lower": np.repeat([-np.inf, 0.0], [limits, sets]),
            "upper": np.repeat([1.0, np.inf], [limits, sets]),
        }  # fmt: skip

    def _enters(self, nodes: frozenset[int]) -> np.ndarray:
        """Return a mask of the arcs that lead into a set."""
        inside = np.isin(np.arange(self.size), [*nodes])
        return inside[self.heads] & ~inside[self.tails]

    def _needed(self, nodes: frozenset[int]) -> int:
        """Return the number of items that must enter a set with processors."""
        return self.hosts - sum(node < self.hosts for node in nodes)

    def _short(self, flows: np.ndarray) -> list[frozenset[int]]:
        """Return the sets, at most one per processor, into which the flows bring too few items."""
        import networkx

        graph, found = networkx.DiGraph(), list[frozenset[int]]()
        graph.add_edges_from(("all", node, {"capacity": 1.0}) for node in range(self.hosts))
        for tail, head, flow in zip(self.tails.tolist(), self.heads.tolist(), flows, strict=True):
            graph.add_edge(tail, head, capacity=float(flow))
        for target in range(self.hosts):
            value, (_, beyond) = networkx.minimum_cut(graph, "all", target)
            if value < self.hosts - SHORT:
                found.append(frozenset(beyond))
        return found

    def _rounded(self, duals: np.ndarray) -> tuple[int, int, dict[str, Any]]:
        """Round the duals to whole weights, and to charges that cover them."""
        limits = 2 * self.size
        charges, weights = np.abs(duals[:limits]), np.abs(duals[limits:])
        scale = SCALE / max(weights.max(), charges.max())
        # Rounding down keeps weights valid. Charges are raised afterwards until both ends pay for
        # each message, so the result stays a proof.
        whole = np.floor(weights * scale).astype(np.int64)
        sends, accepts = np.floor(charges * scale).astype(np.int64).reshape(2, self.size)
        worth: Ints = np.zeros(len(self.heads), np.int64)
        needed, cuts = 0, list[dict[str, Any]]()
        for each, weight in zip(self.sets, whole.tolist(), strict=True):
            if weight:
                worth[self._enters(each)] += weight
                needed += weight * self._needed(each)
                cuts.append({"nodes": sorted(each), "weight": weight})
        # The checker requires dual feasibility in integers. Receivers pay the remainder of
        # rounding.
        np.maximum.at(accepts, self.heads, worth - sends[self.tails])
        body = {"cuts": cuts, "sends": sends.tolist(), "accepts": accepts.tolist()}
        return needed, int(sends.sum() + accepts.sum()), {"kind": "cuts", **body}
