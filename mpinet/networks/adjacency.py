"""Neighbour lists of all nodes, for algorithms that need the whole network at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Ints, Shorts, Table
from mpinet.base.memory import require_memory
from mpinet.compiled import inlined, kernel
from mpinet.networks.wired import Wired

BYTES_A_PORT, BYTES_A_NODE = 4, 24
"""Bytes of the neighbour lists per port, and per node."""


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Distinct neighbours of each node, ascending; on a bus network the fellow members."""

    begin: Ints
    """Offsets: node u's neighbours are ``others[begin[u] : begin[u + 1]]``. Shape (N + 1,)."""
    others: NDArray[np.int32]
    """The neighbours. Self-loops are left out, and parallel links count once unless requested.
    Shape (2L,).
    """

    @classmethod
    def of(cls, topology: Wired, parallel: bool = False) -> Adjacency:
        """Return the neighbour lists of a topology, computed by its rule.

        Parameters
        ----------
        topology : Topology
            The network.
        parallel : bool
            Whether to list a neighbour once per link instead of once.

        Raises
        ------
        TooLarge
            The lists do not fit into memory.
        """
        size, ports = topology.size, topology.ports
        needed = size * BYTES_A_NODE + topology.most_wired * BYTES_A_PORT
        require_memory(needed, f"The neighbours of all nodes of {topology.name}")
        native, params = topology.neighbor.native, topology.params
        counts = topology.port_counts(np.arange(size))
        begin = np.zeros(size + 1, np.int64)
        # One row is reused for all nodes. A table of all ports would need eight bytes per port
        # before duplicates are dropped.
        row = np.empty(max(ports, 1), np.int64)
        list_neighbors(native, params, parallel, counts, row, begin, np.empty(0, np.int32))
        np.cumsum(begin, out=begin)
        others = np.empty(begin[-1], np.int32)
        list_neighbors(native, params, parallel, counts, row, begin, others)
        return cls(begin, others)

    @property
    def degrees(self) -> Ints:
        """Return the number of distinct neighbours of each node, shape (N,)."""
        return np.diff(self.begin)


def parallel_links(topology: Wired) -> dict[tuple[int, int], int]:
    """Return the number of links between nodes, for pairs with several links.

    Raises
    ------
    TooLarge
        The neighbours of all nodes do not fit into memory.
    """
    return {pair: count for pair, count in link_counts(topology).items() if count > 1}


def link_counts(topology: Wired) -> dict[tuple[int, int], int]:
    """Return the number of links from one node to another, for all linked pairs, in order.

    Raises
    ------
    TooLarge
        The neighbours of all nodes do not fit into memory.
    """
    if not topology.links:
        return {}
    lists = Adjacency.of(topology, parallel=True)
    ends = np.stack([np.repeat(np.arange(topology.size), lists.degrees), lists.others])
    # The lists are sorted by both ends. Equal links are adjacent, and their runs are counted
    # without a dictionary.
    first = np.flatnonzero(np.insert((np.diff(ends) != 0).any(axis=0), 0, True))
    counts = np.diff(first, append=ends.shape[1])
    pairs = zip(ends[:, first].T.tolist(), counts.tolist(), strict=True)
    return {(u, v): count for (u, v), count in pairs}


@kernel
def list_neighbors(
    neighbor_rule: PortRule,
    params: Ints,
    parallel: bool,
    counts: Ints,
    row: Ints,
    begin: Ints,
    others: Shorts,
) -> None:
    """Write the neighbours of every node in ascending order, distinct or once per link.

    If `others` is empty, only the number of neighbours of node u is written, to ``begin[u + 1]``.
    """
    neighbor = neighbor_rule.call
    for node in range(begin.size - 1):
        ports = counts[node]
        for port in range(ports):
            row[port] = neighbor(node, port, params)
        # Sorted rows put equal neighbours next to each other. Duplicates are then found by one
        # comparison, and the order is the same on all ranks.
        row[:ports].sort()
        count, before = 0, -1
        for place in range(ports):
            if row[place] > before and row[place] != node:
                if others.size > 0:
                    others[begin[node] + count] = row[place]
                count += 1
            # With parallel links, the bound is one lower, and an equal neighbour is written again.
            before = max(before, row[place] - parallel)
        if others.size == 0:
            begin[node + 1] = count


@inlined
def spread(begin, others, root, distance, queue):
    """Write the hops from a root where the distance is -1; return the number of reached nodes."""
    distance[root], queue[0] = 0, root
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for at in range(begin[node], begin[node + 1]):
            other = others[at]
            if distance[other] == -1:
                distance[other] = distance[node] + 1
                queue[tail] = other
                tail += 1
    return tail


@kernel
def measure_distances(begin: Ints, others: Shorts, root: int, distance: Shorts) -> int:
    """Write the hops from a root where the distance is -1; return the number of reached nodes."""
    return spread(begin, others, root, distance, np.empty(distance.size, np.int32))


def hops_from_hosts(topology: Wired, lists: Adjacency) -> Table:
    """Return the hops from each processor to all nodes, shape (hosts, N); -1 if unreachable."""
    hops = np.full((topology.hosts, topology.size), -1, np.int64)
    measure_all(lists.begin, lists.others, hops)
    return hops


@kernel
def measure_all(begin: Ints, others: Shorts, distance: Table) -> None:
    """Write the hops from each of the first nodes to all nodes with distance -1, a row each."""
    queue = np.empty(distance.shape[1], np.int64)
    for root in range(distance.shape[0]):
        spread(begin, others, root, distance[root], queue)
