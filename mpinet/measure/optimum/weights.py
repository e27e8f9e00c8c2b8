"""Weighted cuts of a gossip of one port: the best that cuts can show, by a linear program.

The program asks for rates of messages over links by which everybody could have all items soonest:
no node sends or accepts more than one message a step, and into every set of nodes goes what has to.
There are too many sets: those that rates leave short are found by flows, and the program is asked
again, until there are none. Its duals are the weights of a certificate (`mpinet.certify.weights`).
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
"""Processors times links of the largest network that is looked at."""

SCALE = 2**24
"""Largest weight of a certificate."""

MOST_IDLE = 10
"""Times that more sets are looked for when the last ones have shown no more steps."""

SECONDS = 60.0
"""Limit of the solver, which takes a small part of it."""

SHORT = 1e-6
"""Part of an item that may be missing, as numbers are not exact."""


def weighted_cuts(topology: Topology) -> tuple[int, int, dict[str, Any]] | None:
    """Find weighted cuts of a gossip.

    Parameters
    ----------
    topology : Topology
        A connected network.

    Returns
    -------
    tuple or None
        What has to enter, what can in a step, and the certificate's part; None where the network is
        too large, has busses, or there is no solver.
    """
    if not topology.links or topology.hosts < 2 or find_spec("highspy") is None:
        return None
    lists = Adjacency.of(topology)
    if len(lists.others) * topology.hosts > MOST_LOOKS:
        return None
    return _Program(topology, lists).solved()


class _Program:
    """The linear program, with the sets that have been found so far."""

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
        """Solve it with more and more sets, until they show no more."""
        known, best, idle = set(self.sets), 0.0, 0
        while True:
            found = solution(self._rows(), SECONDS)
            # A stop of the solver gives no valid duals, so there is no certificate to round.
            if found is None:
                return None
            duals, values = found
            rates, steps = values[:-1], (self.hosts - 1) / (2 * values[-1])
            # Row generation: there are exponentially many sets. A minimum cut for each processor
            # finds the sets that the rates violate.
            more = [each for each in self._short(rates * steps) if each not in known]
            # Degenerate programs add sets without raising the bound for long. After some idle
            # rounds the bound so far is taken.
            best, idle = max(best, steps), 0 if steps > best + SHORT else idle + 1
            if not more or idle == MOST_IDLE:
                return self._rounded(duals)
            known |= set(more)
            self.sets += dict.fromkeys(more)

    def _rows(self) -> dict[str, Any]:
        """The program for `simplex.solution`."""
        arcs = np.arange(len(self.heads))
        rows = [np.flatnonzero(end == node) for end in (self.tails, self.heads)
                for node in range(self.size)]  # fmt: skip
        values = [np.ones(len(row)) for row in rows]
        for each in self.sets:
            entering = arcs[self._enters(each)]
            rows.append(np.append(entering, len(arcs)))
            # A gossip takes N - 1 steps at least. With the factor 2 the last variable stays below
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
        """Return which arcs lead into a set."""
        inside = np.isin(np.arange(self.size), [*nodes])
        return inside[self.heads] & ~inside[self.tails]

    def _needed(self, nodes: frozenset[int]) -> int:
        """Items that have to enter a set with processors."""
        return self.hosts - sum(node < self.hosts for node in nodes)

    def _short(self, flows: np.ndarray) -> list[frozenset[int]]:
        """The sets into which so many messages do not bring all items, one for each processor."""
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
        """Make whole numbers of the duals: weights, and charges that are not below them."""
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
        # The checker demands dual feasibility in integers. Receivers pay what rounding has left
        # open.
        np.maximum.at(accepts, self.heads, worth - sends[self.tails])
        body = {"cuts": cuts, "sends": sends.tolist(), "accepts": accepts.tolist()}
        return needed, int(sends.sum() + accepts.sum()), {"kind": "cuts", **body}
