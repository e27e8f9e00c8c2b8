"""Network measures shared by several claims of the STH paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet import measure
from mpinet.base.arrays import Flags, Ints
from mpinet.claims import Measured, OutOfReach
from mpinet.claims.remembered import remembered
from mpinet.measure.bisection import Bisection
from mpinet.measure.distance import disconnected
from mpinet.networks.catalogue import open_topology
from mpinet.networks.product import Product
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import Topology
from mpinet.papers.measured import common, degrees, links
from mpinet.papers.sweeps import reached, swept
from mpinet.papers.widths import certified
from mpinet.papers.witness import at_pair

ALL_SOURCES = 1024
"""Largest number of nodes of a network that is flooded from every node."""

MOST_EXACT = 256
"""Largest number of nodes for which a bisection is searched even if a plain cut refutes a claim."""

MOST_SEARCHED = 2048
"""Largest number of nodes for which a bisection is searched."""

EFFORT = 2.0
"""Effort limit of an exact bisection, in deterministic seconds."""

SPARSE_EFFORT = 20.0
"""Effort limit for Hex-Cells, which a front of few nodes can sweep, in deterministic seconds."""


@dataclass(frozen=True)
class Extent:
    """Summary of all distances of a network."""

    nodes: int
    """Number of nodes reached by the flood."""
    diameter: int
    """Largest distance, in hops."""
    total: int
    """Sum of distances over all ordered pairs, in hops."""
    ends: tuple[int, int]
    """Two nodes at the largest distance."""

    @property
    def average(self) -> float:
        """Mean distance of different nodes, in hops."""
        return self.total / (self.nodes * (self.nodes - 1))


@remembered
def extent(topology: str) -> Extent:
    """Summarize distances by floods from every node, or from one node of each class."""
    network = open_topology(topology)
    if network.size <= ALL_SOURCES:
        matrix = measure.distance_matrix(network)
        if matrix.min() < 0:
            raise disconnected(network)
        source, target = divmod(int(matrix.argmax()), network.size)
        total = int(matrix.sum(dtype=np.int64))
        return Extent(network.size, int(matrix.max()), total, (source, target))
    roots, members = np.unique(classes(network), return_counts=True)
    diameter, total, ends = -1, 0, (0, 0)
    for root, count in zip(roots.tolist(), members.tolist(), strict=True):
        counts, last = levels(network, root)
        if sum(counts) != network.size:
            raise disconnected(network)
        total += count * sum(distance * nodes for distance, nodes in enumerate(counts))
        if len(counts) - 1 > diameter:
            diameter, ends = len(counts) - 1, (root, last)
    return Extent(network.size, diameter, total, ends)


def levels(network: Topology, root: int) -> tuple[list[int], int]:
    """Return the number of nodes at each distance from a node, and the first farthest one."""
    _, hops = swept(network, root)
    return np.bincount(hops[hops >= 0]).tolist(), int(hops.argmax())


def classes(network: Topology) -> Ints:
    """Return the lowest node of each node's class under automorphisms checked by link."""
    table = neighbor_table(network)
    nodes = np.arange(network.size)
    # An unwired port is -1, and `image[-1]` would be the image of the last node. So networks with
    # unwired ports get no classes and are flooded from every node.
    if (table < 0).any():
        return nodes
    wiring = np.sort(table, axis=1)
    images = [
        image
        for image in supposed(network)
        if np.array_equal(np.sort(image[wiring], axis=1), wiring[image])
    ]
    lowest = nodes
    while True:
        before = lowest
        for image in images:
            lowest = np.minimum(lowest, lowest[image])
            lowest[image] = np.minimum(lowest[image], lowest)
        lowest = lowest[lowest]
        if np.array_equal(lowest, before):
            return lowest


def supposed(network: Topology) -> list[Ints]:
    """Return possible automorphisms; for a product, permutations from its factors' groups."""
    nodes = np.arange(network.size)
    if isinstance(network, Product):
        b, a = np.divmod(nodes, network.first.size)
        first = [b * network.first.size + image[a] for image in supposed(network.first)]
        return first + [image[b] * network.first.size + a for image in supposed(network.second)]
    if network.family == "hypercube":
        return [nodes ^ (1 << bit) for bit in range(network.ports)]
    return list(measure.automorphism_group(network).generators)


def degree(topology: str) -> int:
    """Return the largest degree."""
    return max(degrees(topology))


def common_degree(topology: str) -> Any:
    """Return the common degree of all nodes, or a text with the number of nodes by degree."""
    return common(degrees(topology), "{1} of degree {0}")


def diameter(topology: str) -> Measured:
    """Return the largest distance, with two nodes at this distance."""
    found = extent(topology)
    return at_pair(found.diameter, found.ends)


def properties(*names: str) -> Callable[[str], dict[str, Any]]:
    """Return a function that measures several basic numbers: nodes, degree, links, diameter."""
    measures: dict[str, Callable[[str], Any]] = {
        "nodes": reached,
        "degree": common_degree,
        "links": links,
        "diameter": lambda topology: extent(topology).diameter,
    }
    return lambda topology: {name: measures[name](topology) for name in names}


def average(topology: str) -> float:
    """Return the mean distance of different nodes."""
    return extent(topology).average


def density(topology: str) -> float:
    """Return the traffic density: average distance times nodes, divided by links."""
    return average(topology) * reached(topology) / links(topology)


@remembered
def plain_cut(topology: str) -> tuple[int, tuple[int, ...]]:
    """Return the width of the narrowest plain cut, and the nodes on one side of it."""
    network = open_topology(topology)
    sides = [tuple(np.flatnonzero(half).tolist()) for half in plain_halves(network)]
    return min((measure.cut_width(network, side), side) for side in sides)


@remembered
def bisection(topology: str) -> Bisection:
    """Return bounds on the bisection width, equal if the effort suffices."""
    cut, side = plain_cut(topology)
    sparse = topology.startswith("hexcell")
    found = measure.bisection_width(topology, SPARSE_EFFORT if sparse else EFFORT)
    # In large networks the obvious cut is often narrower than the best cut of a short search.
    if found.upper <= cut:
        return found
    return Bisection(found.lower, cut, found.lower == cut, side)


def plain_halves(network: Topology) -> list[Flags]:
    """Return obvious halves: by node numbers, by the first factor's, or half the sextants."""
    nodes = np.arange(network.size)
    if network.family == "hexcell":
        level = np.array(
            [int(network.address(node)[1:].split(",")[0]) for node in range(network.size)]
        )
        return [nodes - 6 * (level - 1) ** 2 < 3 * (2 * level - 1)]
    halves = [2 * nodes < network.size]
    if isinstance(network, Product):
        halves.append(2 * (nodes % network.first.size) < network.first.size)
    return halves


def width(topology: str, claimed: float) -> Measured:
    """Return the bisection width, or a bound on one side of the claimed value.

    Parameters
    ----------
    topology : str
        The network.
    claimed : float
        Claimed value, which decides whether the bounds suffice.

    Raises
    ------
    OutOfReach
        The claimed value is between the bounds.
    """
    if open_topology(topology).size > MOST_EXACT:
        cut, side = plain_cut(topology)
        if cut < claimed:
            return Measured(cut, {"at most, by the cut": ranges(side)})
    if open_topology(topology).size > MOST_SEARCHED:
        raise OutOfReach(f"no bounds are searched for beyond {MOST_SEARCHED} nodes")
    found = bisection(topology)
    if found.exact:
        return Measured(found.upper, certified(topology, {"side": ranges(found.side)}))
    if found.upper < claimed:
        return Measured(found.upper, {"at most, by the cut": ranges(found.side)})
    if found.lower > claimed:
        bounds = {"at least": found.lower, "at most": found.upper}
        return Measured(found.lower, certified(topology, bounds))
    raise OutOfReach(
        f"the bisection width of {topology} is only known to be {found.lower}..{found.upper}"
    )


def ranges(numbers: tuple[int, ...]) -> str:
    """Return ascending numbers as text, ``0-3,8-11``; only the first of many."""
    array = np.array(numbers)
    pieces = np.split(array, np.flatnonzero(np.diff(array) > 1) + 1)
    words = [f"{p[0]}-{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in pieces]
    return ",".join(words[:16]) + (",.." if len(words) > 16 else "")
