"""Eccentricities between two bounds, tightened by floods from a few nodes.

A flood from s gives its eccentricity e and every node's distance d from s. By the triangle
inequality the eccentricity of a node at distance d is at least max(d, e - d) and at most e + d
(Takes and Kosters, 2011). Consider two nodes whose distances from a middle node add up to at most
the largest known distance: neither needs to flood for the diameter (iFUB: Crescenzi et al., 2013).
If bounds do not help, as in random graphs, all remaining nodes flood, 512 at once.

All of this assumes links in both directions; a flood that contradicts a bound raises an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Array, Flags, HalfRows, Ints, Shorts, WordRows
from mpinet.base.memory import require_memory
from mpinet.compiled import kernel
from mpinet.errors import Disconnected, TooLarge, WiringError
from mpinet.machine.state import Numbered, State
from mpinet.programs.waves import SOURCES, SOURCES_PER_WORD, Floods, lowest_bit

UNKNOWN = 2**30
"""Upper bound of an eccentricity before any flood."""

FARTHEST = 2**16 - 2
"""Largest distance that can be stored."""

WORTH = 8
"""Least number of nodes that a flooding node must decide to make bounds worthwhile."""


@dataclass(frozen=True, eq=False)
class Landed:
    """Results of completed floods from some nodes."""

    rows: HalfRows
    """Distances of this rank's nodes from the sources, in hops; 65535 for dead nodes. Shape
    (hosted, k).
    """
    eccentricities: Ints
    """Largest distance from each source to any node, in hops. Shape (k,)."""
    sums: Ints
    """Sum of the distances from each source to all nodes, in hops. Shape (k,)."""


class Nearing:
    """Bounds on all eccentricities; its loops run within ``with nearing.state`` (collective).

    Parameters
    ----------
    floods : Floods
        Floods on the machine shared by all ranks.
    alive : ndarray of int64, shape (k,)
        The living nodes, ascending.

    Raises
    ------
    TooLarge
        The distances from 64 nodes do not fit into memory.
    """

    def __init__(self, floods: Floods, alive: Ints):
        self._floods, self._machine, self._alive = floods, floods.machine, alive
        nodes = self._machine.nodes
        network = self._machine.topology
        ranks = self._machine.transport.size
        what = f"Distances from 64 nodes of {network.name}"
        require_memory(needed(network.size, network.ports, ranks), what)
        self._here = np.isin(nodes, alive)
        self.state = State(
            self._machine,
            "eccentricities",
            lower=Numbered(np.zeros(len(nodes), np.int32), nodes),
            upper=Numbered(np.where(self._here, UNKNOWN, 0).astype(np.int32), nodes),
            near=Numbered(np.zeros(len(nodes), np.int32), nodes),
            diameter=0,
            floods=0,
            swept=False,
            left=len(alive),
            wide=False,
        )

    @property
    def degree(self) -> int:
        """Largest number of links of a node."""
        return self._machine.max(self._floods.most_links)[0]

    def sweep(self) -> None:
        """Find far nodes, and a node in the middle of them, by seven floods from one node each."""
        start = int(self._alive[0])
        for _ in range(2):
            start = self._middle(start)
        self.state.near = self._single(start)
        self.state.swept = True
        self.state.boundary()

    def settle_diameter(self, most: int | None = None) -> int:
        """Flood until the diameter is known, or from `most` nodes; return its upper bound.

        The lower bound is `state.diameter`.
        """
        state = self.state
        while True:
            order, keys = self._ordered(state.upper > state.diameter, self._fringe())
            farthest = keys[:2] >> 31
            pair = int(farthest.sum()) if len(farthest) == 2 and state.swept else 2 * UNKNOWN
            if len(order) < 2 or pair <= state.diameter:
                return int(state.diameter)
            if most is not None and state.floods >= most:
                return min(pair, self._machine.max(int(state.upper.max(initial=0)))[0])
            if state.swept:
                self._flood(order, order[:SOURCES_PER_WORD])
            else:
                self.sweep()

    def settle_all(self) -> Ints:
        """Flood until all eccentricities are known; return them, shape (N,), 0 for dead nodes."""
        state = self.state
        if not state.swept:
            self.sweep()
        while True:
            unknown = state.lower < state.upper
            high, _ = self._ordered(unknown, state.upper)
            if not len(high):
                return self._everywhere(state.lower)
            low, _ = self._ordered(unknown, UNKNOWN - state.lower)
            half = SOURCES_PER_WORD // 2
            self._flood(high, np.unique(np.concatenate([high[:half], low[:half]])))

    def narrow(self, sources: Ints) -> Landed:
        """Flood from at most 64 nodes, and tighten all bounds."""
        state, machine = self.state, self._machine
        rows = np.full((len(machine.nodes), len(sources)), FARTHEST + 1, np.uint16)
        reached = 0
        for wave in self._floods.waves(sources):
            if wave.distance > FARTHEST:
                raise TooLarge(
                    f"{machine.topology.name} has distances of more than {FARTHEST:,} hops."
                )
            write_distances(wave.fresh, wave.distance, 0, rows)
            reached += wave.total
        self._require_connected(reached, len(sources))
        lived = rows if self._here.all() else rows[self._here]
        farthest = machine.transport.max(lived.max(axis=0, initial=0).astype(np.int64))
        sums = machine.transport.sum(lived.sum(axis=0, dtype=np.int64))
        self._believe(sources, farthest)
        tighten(rows, farthest, state.lower, state.upper)
        state.lower[~self._here] = state.upper[~self._here] = 0
        self._note(sources, farthest)
        return Landed(rows, farthest, sums)

    def _wide(self, sources: Ints) -> None:
        """Flood from at most 512 nodes, to compute their own eccentricities."""
        state, machine = self.state, self._machine
        last = np.zeros(SOURCES, np.int64)
        reached = 0
        for wave in self._floods.waves(sources):
            came = np.bitwise_or.reduce(wave.fresh, axis=0, initial=0)
            bits = np.unpackbits(came.astype("<u8").view(np.uint8), bitorder="little")
            last[: len(bits)][bits > 0] = wave.distance
            late = wave.fresh.any(axis=1)
            state.lower[late] = np.maximum(state.lower[late], wave.distance)
            reached += wave.total
        self._require_connected(reached, len(sources))
        farthest = machine.transport.max(last)[: len(sources)]
        self._believe(sources, farthest)
        slots = machine.slots(sources)
        here = (slots >= 0) & (slots < len(machine.nodes))
        state.lower[slots[here]] = state.upper[slots[here]] = farthest[here]
        self._note(sources, farthest)

    def _flood(self, left: Ints, few: Ints) -> None:
        """Flood from few nodes while bounds decide others, otherwise from as many as possible."""
        state = self.state
        state.wide |= state.left - len(left) < WORTH * SOURCES_PER_WORD and state.floods > SOURCES
        state.left = len(left)
        if state.wide:
            self._wide(left[:SOURCES])
        else:
            self.narrow(few)
        state.boundary()

    def _single(self, source: int) -> Shorts:
        return self.narrow(np.array([source])).rows[:, 0].astype(np.int32)

    def _middle(self, start: int) -> int:
        """Return the lowest node in the middle of a shortest path between two far nodes.

        The first far node is farthest from `start`, the second is farthest from the first.
        """
        first = self._single(self._last(self._single(start)))
        second = self._single(self._last(first))
        length = self._machine.max(int(first[self._here].max(initial=0)))[0]
        between = (first + second == length) & (first == length // 2)
        return int(self._ordered(between, second)[0][0])

    def _last(self, distances: Shorts) -> int:
        """Return the lowest of the nodes at the largest distance."""
        return int(self._ordered(self._here, distances)[0][0])

    def _fringe(self) -> Ints:
        """Return a sort key per node of this rank: distance from the middle, upper bound.

        The middle is the node found by `sweep`; before `sweep`, distances are 0. The bound is
        that of the node's eccentricity. Large keys come first.
        """
        state = self.state
        return (state.near.astype(np.int64) << 31) | state.upper

    def _ordered(self, wanted: Flags, keys: Array) -> tuple[Ints, Ints]:
        """Return all ranks' wanted living nodes, in descending order of key, and their keys."""
        there = self._everywhere(np.where(wanted & self._here, keys, -1))
        nodes = np.flatnonzero(there >= 0)
        nodes = nodes[np.argsort(-there[nodes], kind="stable")]
        return nodes, there[nodes]

    def _everywhere(self, values: Array) -> Ints:
        """Return every node's value, shape (N,), gathered from all ranks."""
        found = np.full(self._machine.topology.size, -1, np.int64)
        found[self._machine.nodes] = values
        return self._machine.transport.max(found)

    def _require_connected(self, reached: int, sources: int) -> None:
        if reached != sources * len(self._alive):
            name = self._machine.topology.name
            raise Disconnected(f"{name} is not connected: some nodes have no distance.")

    def _believe(self, sources: Ints, farthest: Ints) -> None:
        """Raise `WiringError` if new eccentricities contradict the bounds known before."""
        state = self.state
        lower = self._everywhere(state.lower)[sources]
        upper = self._everywhere(state.upper)[sources]
        wrong = np.flatnonzero((farthest < lower) | (farthest > upper))
        if len(wrong):
            first = wrong[0]
            raise WiringError(
                f"{self._machine.topology.name}: node {sources[first]} has an eccentricity of "
                f"{farthest[first]}, but bounds from other nodes give {lower[first]} to "
                f"{upper[first]}: its links do not lead both ways."
            )

    def _note(self, sources: Ints, farthest: Ints) -> None:
        self.state.floods += len(sources)
        self.state.diameter = max(self.state.diameter, int(farthest.max()))


def needed(size: int, ports: int, ranks: int) -> int:
    """Return the memory of `Nearing` on a rank, in bytes: 64 distances per node, and all bounds."""
    hosted = -(-size // ranks)
    return hosted * (2 * SOURCES_PER_WORD + 3 * SOURCES // 8 + 19 * ports) + 32 * size


@kernel
def tighten(rows: HalfRows, eccentricities: Ints, lower: Shorts, upper: Shorts) -> None:
    """Tighten the bounds of nodes by their distances from nodes that have flooded."""
    for u in range(rows.shape[0]):
        least, most = lower[u], upper[u]
        for k in range(rows.shape[1]):
            hops, farthest = rows[u, k], eccentricities[k]
            least = max(least, hops, farthest - hops)
            most = min(most, farthest + hops)
        lower[u], upper[u] = least, most


@kernel
def write_distances(fresh: WordRows, distance: int, begin: int, rows: HalfRows) -> None:
    """Write the distance for every set bit: the node is the row, the source is the column."""
    for u in range(fresh.shape[0]):
        for w in range(fresh.shape[1]):
            word = fresh[u, w]
            # From one set bit to the next: in most waves few bits of a word are set.
            while word:
                rows[u, begin + 64 * w + lowest_bit(word)] = distance
                word &= word - np.uint64(1)
