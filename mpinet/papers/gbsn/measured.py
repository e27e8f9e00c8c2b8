"""Measures of block shift networks shared by several claims; each is computed once per network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet import measure
from mpinet.base.arrays import Array, Ints
from mpinet.claims import Measured
from mpinet.claims.remembered import remembered
from mpinet.measure.wiring import Subnetwork
from mpinet.networks import open as open_topology
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import Topology
from mpinet.papers.gbsn.definition import Link, subsection_widths
from mpinet.papers.gbsn.grids import blocks, ceil_lg, words
from mpinet.papers.witness import largest, smallest
from mpinet.programs.tree import first_hops


@remembered
def network(topology: str) -> Topology:
    """Return the network of a topology string."""
    return open_topology(topology)


@remembered
def links(topology: str) -> frozenset[Link]:
    """Return all links of the network, as pairs u < v of node numbers."""
    return frozenset((u, v) for u, v in measure.edges(network(topology)).tolist())


@remembered
def addresses(topology: str) -> list[int]:
    """Return the address words of the nodes."""
    opened = network(topology)
    return [int(opened.address(node), 2) for node in range(opened.size)]


def compare(found: frozenset[Link] | set[Link], expected: set[Link]) -> Measured | bool:
    """Return whether two sets of links are equal, with the first link that is in only one set."""
    other = sorted(found ^ expected)
    if not other:
        return True
    return Measured(False, {"link": other[0], "measured": other[0] in found})


def mean(matrix: Array) -> float:
    """Return the mean over all ordered pairs, including each node with itself."""
    return int(matrix.sum(dtype=np.int64)) / matrix.size


@remembered
def route_lengths(topology: str, routing: str) -> NDArray[np.int16]:
    """Return the hops of all routes, by walking the routing over links."""
    found = measure.length_matrix(network(topology), routing)
    if found.min() < 0:
        source, target = np.argwhere(found < 0)[0].tolist()
        raise AssertionError(f"{topology}: no route by {routing} from {source} to {target}.")
    return found


@dataclass(frozen=True, eq=False)
class Ports:
    """Wiring of the network, port by port."""

    left: Ints
    """Port LEFT of each node, which equals its number of partial ports; RIGHT follows. Shape
    (N,).
    """
    partial: Ints
    """Neighbours on the partial ports; -1 for no neighbour. Shape (N, P)."""
    shift: Ints
    """Neighbours on LEFT and RIGHT; -1 for no neighbour. Shape (N, 2)."""


@remembered
def ports(topology: str) -> Ports:
    """Return the wiring, by asking every node for its neighbours."""
    opened = network(topology)
    table = np.pad(neighbor_table(opened), ((0, 0), (0, 2)), constant_values=-1)
    left = partial_ports(topology)
    shift = np.take_along_axis(table, left[:, np.newaxis] + np.arange(2), axis=1)
    return Ports(left, np.where(np.arange(table.shape[1]) < left[:, np.newaxis], table, -1), shift)


def partial_ports(topology: str) -> Ints:
    """Return each node's number of partial ports: 2^width - 1 per subsection that can change."""
    if topology.startswith("bsn:"):
        a, b, n = words(topology)
        return np.full(2**n, b // a * (2**a - 1))
    _, m, parts = blocks(topology)
    counts = [
        sum(2**width - 1 for width in subsection_widths(ceil_lg(size), a))
        for size, a in zip(m, parts, strict=True)
    ]
    return np.repeat(counts, m)


def partial_links(topology: str) -> Ints:
    """Return each node's number of partial links."""
    return different(ports(topology).partial)


def shift_links(topology: str) -> Ints:
    """Return each node's number of shift links, made by itself or by the other end."""
    shift = ports(topology).shift
    nodes, sides = np.nonzero(shift >= 0)
    made = np.stack([nodes, shift[nodes, sides]], axis=1)
    # A shift link made by both ends is one link. A link made by one end also counts at the other
    # end.
    both_ends = np.unique(np.concatenate([made, made[:, ::-1]]), axis=0)
    return np.bincount(both_ends[:, 0], minlength=len(shift))


def degree_of_each(topology: str) -> Ints:
    """Return each node's number of different neighbours."""
    ends = measure.edges(network(topology))
    return np.bincount(ends.ravel(), minlength=network(topology).size)


def different(others: Ints) -> Ints:
    """Return the number of different nodes in each row; -1 marks no node."""
    ascending = np.sort(others, axis=1)
    first = ascending >= 0
    first[:, 1:] &= ascending[:, 1:] != ascending[:, :-1]
    return first.sum(axis=1)


def least(counts: Ints) -> Measured:
    """Return the smallest of the nodes' counts, with the first node that has it."""
    return smallest(counts, "node")


def most(counts: Ints) -> Measured:
    """Return the largest of the nodes' counts, with the first node that has it."""
    return largest(counts, "node")


def reached(topology: str) -> Measured | bool:
    """Return whether a flood from node 0 reaches all nodes, with the first unreached node."""
    missed = np.flatnonzero(measure.distance_matrix(network(topology), [0])[0] < 0)
    return Measured(False, {"source": 0, "not reached": int(missed[0])}) if len(missed) else True


def in_blocks(topology: str) -> list[tuple[int, ...]]:
    """Return the groups of nodes connected by partial links, block by block."""
    opened = network(topology)
    kept = np.arange(opened.ports) < partial_ports(topology)[:, np.newaxis]
    return measure.components(Subnetwork(opened, np.arange(opened.size), kept))


@remembered
def first_ports(topology: str) -> Ints:
    """Return the port of each node's first hop towards each target by the GBSN's routing.

    Returns
    -------
    ndarray of int64, shape (N, N)
        Port at the row's node towards the column's node; -1 on the diagonal.
    """
    opened = network(topology)
    routing = opened.routing("gbsn")
    nodes = np.arange(opened.size)
    found = np.empty((opened.size, opened.size), np.int64)
    for target in nodes:
        start, decide = routing.start.native, routing.decide.native
        first_hops(start, decide, routing.params, routing.words, nodes, target, found[target])
    return np.ascontiguousarray(found.T)
