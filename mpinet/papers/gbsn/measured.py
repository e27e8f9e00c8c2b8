"""Measures of block shift networks that several claims share; each is taken once a network."""

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
    """The network."""
    return open_topology(topology)


@remembered
def links(topology: str) -> frozenset[Link]:
    """All links of the network, as pairs u < v of node numbers."""
    return frozenset((u, v) for u, v in measure.edges(network(topology)).tolist())


@remembered
def addresses(topology: str) -> list[int]:
    """The nodes' address words."""
    opened = network(topology)
    return [int(opened.address(node), 2) for node in range(opened.size)]


def compare(found: frozenset[Link] | set[Link], expected: set[Link]) -> Measured | bool:
    """Tell if two sets of links are equal; else the first link that only one of them has."""
    other = sorted(found ^ expected)
    if not other:
        return True
    return Measured(False, {"link": other[0], "measured": other[0] in found})


def mean(matrix: Array) -> float:
    """The mean over all ordered pairs, self included."""
    return int(matrix.sum(dtype=np.int64)) / matrix.size


@remembered
def route_lengths(topology: str, routing: str) -> NDArray[np.int16]:
    """Hops of all routes, as the routing walks them over links."""
    found = measure.length_matrix(network(topology), routing)
    if found.min() < 0:
        source, target = np.argwhere(found < 0)[0].tolist()
        raise AssertionError(f"{topology}: no route by {routing} from {source} to {target}.")
    return found


@dataclass(frozen=True, eq=False)
class Ports:
    """The wiring, port by port."""

    left: Ints
    """Each node's port LEFT, the number of its partial ports; RIGHT follows. Shape (N,)."""
    partial: Ints
    """The nodes behind the partial ports; -1 where there is none. Shape (N, P)."""
    shift: Ints
    """The nodes behind LEFT and RIGHT; -1 where there is none. Shape (N, 2)."""


@remembered
def ports(topology: str) -> Ports:
    """Ask every node what is behind its ports."""
    opened = network(topology)
    table = np.pad(neighbor_table(opened), ((0, 0), (0, 2)), constant_values=-1)
    left = partial_ports(topology)
    shift = np.take_along_axis(table, left[:, np.newaxis] + np.arange(2), axis=1)
    return Ports(left, np.where(np.arange(table.shape[1]) < left[:, np.newaxis], table, -1), shift)


def partial_ports(topology: str) -> Ints:
    """Count each node's partial ports, from port 0 on: 2^width - 1 per change of subsections."""
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
    """Each node's number of partial links."""
    return different(ports(topology).partial)


def shift_links(topology: str) -> Ints:
    """Each node's number of shift links: those that it makes itself and those that others make."""
    shift = ports(topology).shift
    nodes, sides = np.nonzero(shift >= 0)
    made = np.stack([nodes, shift[nodes, sides]], axis=1)
    # A shift link that both ends make is one link, and one that a single end makes counts at the
    # other.
    both_ends = np.unique(np.concatenate([made, made[:, ::-1]]), axis=0)
    return np.bincount(both_ends[:, 0], minlength=len(shift))


def degree_of_each(topology: str) -> Ints:
    """Each node's number of different neighbours."""
    ends = measure.edges(network(topology))
    return np.bincount(ends.ravel(), minlength=network(topology).size)


def different(others: Ints) -> Ints:
    """Count the different nodes of each row, -1 being none."""
    ascending = np.sort(others, axis=1)
    first = ascending >= 0
    first[:, 1:] &= ascending[:, 1:] != ascending[:, :-1]
    return first.sum(axis=1)


def least(counts: Ints) -> Measured:
    """The least of the nodes' numbers, and the first node that has it."""
    return smallest(counts, "node")


def most(counts: Ints) -> Measured:
    """The largest of the nodes' numbers, and the first node that has it."""
    return largest(counts, "node")


def reached(topology: str) -> Measured | bool:
    """Tell if a flood from node 0 reaches all; else the first node that it does not reach."""
    missed = np.flatnonzero(measure.distance_matrix(network(topology), [0])[0] < 0)
    return Measured(False, {"source": 0, "not reached": int(missed[0])}) if len(missed) else True


def in_blocks(topology: str) -> list[tuple[int, ...]]:
    """The nodes that partial links alone connect, block by block."""
    opened = network(topology)
    kept = np.arange(opened.ports) < partial_ports(topology)[:, np.newaxis]
    return measure.components(Subnetwork(opened, np.arange(opened.size), kept))


@remembered
def first_ports(topology: str) -> Ints:
    """The port of every node's first hop by the GBSN's routing towards every target.

    Returns
    -------
    ndarray of int64, shape (N, N)
        From row to column; -1 on the diagonal.
    """
    opened = network(topology)
    routing = opened.routing("gbsn")
    nodes = np.arange(opened.size)
    found = np.empty((opened.size, opened.size), np.int64)
    for target in nodes:
        start, decide = routing.start.native, routing.decide.native
        first_hops(start, decide, routing.params, routing.words, nodes, target, found[target])
    return np.ascontiguousarray(found.T)
