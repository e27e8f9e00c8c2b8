"""Hamiltonian cycles and paths by search, for networks without a rule of their own.

A path grows at its end. A path that cannot grow is closed to a cycle and opened elsewhere, or a
link from its end to a node of the path reverses the rest (Posa's rotations). Random numbers come
from counters, so every rank finds the same cycle. A failed search does not prove that the network
has no cycle.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import inlined, kernel
from mpinet.draws import draw
from mpinet.networks.cycle import Cycle, table_cycle
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.wired import Wired

MOST_NODES = 2**14
"""Nodes of the largest network that is searched: each rank's table has 8 bytes per node."""

MOST_ENTRIES = 2**22
"""Most neighbours of all nodes of a network that is searched: 32 MiB during the search."""

EFFORT = 2**15
"""Effort after which a search gives up, in inspected or moved nodes per node of the network."""

TURN_WHOLE = 16
"""Mean number of rotations between two reversals of the whole path, which then grows at the other
end.
"""


def searched_cycle(topology: Wired) -> Cycle | None:
    """Return a cycle found by search, as a table of N ports.

    Returns
    -------
    Cycle or None
        None for busses, for switches, for too large a network, or if the search found no cycle.
    """
    order = _search(neighbor_table(topology), closed=True) if _searchable(topology) else None
    return None if order is None else table_cycle("searched", topology, order)


def searched_path(topology: Wired) -> Ints | None:
    """Return all nodes in the order of a path found by search; None as for `searched_cycle`."""
    return _search(neighbor_table(topology), closed=False) if _searchable(topology) else None


def _searchable(topology: Wired) -> bool:
    """Return whether a search is worthwhile: links, no switches, and not too many entries."""
    if not topology.links or topology.hosts != topology.size:
        return False
    # Every rank holds the table of the cycle. Larger networks need a rule of their own.
    small = 1 < topology.size <= MOST_NODES
    return small and topology.size * topology.ports <= MOST_ENTRIES


def order_between(neighbors: Ints, first: int, last: int) -> Ints | None:
    """Return all nodes in the order of a path from `first` to `last`; None if the search fails.

    The path is a cycle of the network with one more node, which is linked to these two nodes only.
    """
    size, ports = neighbors.shape
    wider = np.full((size + 1, max(ports + 1, 2)), -1, np.int64)
    wider[:size, :ports] = neighbors
    # A path between two given nodes is a cycle through one more node. One search serves cycles
    # and paths with fixed ends.
    wider[[first, last], ports] = size
    wider[size, :2] = first, last
    order = _search(wider, closed=True)
    if order is None:
        return None
    at = int(np.flatnonzero(order == size)[0])
    inside = np.roll(order, -at)[1:]
    return inside if inside[0] == first else inside[::-1]


def _search(neighbors: Ints, closed: bool) -> Ints | None:
    """Return all nodes in the order of a cycle or path; None if the search fails."""
    order = np.zeros(len(neighbors), np.int64)
    found = grow(np.ascontiguousarray(neighbors), closed, EFFORT * len(neighbors), order)
    return order if found else None


@kernel
def grow(neighbors: Table, closed: bool, effort: int, order: Ints) -> bool:
    """Write a path or a cycle through all nodes from node 0; return whether one was found."""
    size = order.size
    places = np.full(size, -1, np.int64)
    order[0], places[0] = 0, 0
    count, spent, rotations = 1, 0, 0
    while spent < effort:
        end = order[count - 1]
        # Effort counts inspected and moved nodes, never seconds. Every rank gives up at the same
        # point, at any speed.
        spent += neighbors.shape[1]
        # Warnsdorff's choice: a node with few free neighbours becomes unreachable soonest.
        other = tightest(end, neighbors, places)
        if other >= 0:
            order[count], places[other] = other, count
            count += 1
            continue
        if count == size and (not closed or joins(end, order[0], neighbors)):
            return True
        # The path closes to a cycle before it has all nodes: open the cycle next to a free node,
        # and go on.
        if count > 2 and count < size and joins(end, order[0], neighbors):
            cut = opening(order, count, neighbors, places)
            # No node on the path has a free neighbour: the network is disconnected. No effort
            # would find a cycle.
            if cut < 0:
                return False
            reverse(order, places, 0, cut)
            reverse(order, places, cut + 1, count - 1)
            reverse(order, places, 0, count - 1)
            spent += 2 * count
            continue
        # The path is stuck: reverse the part behind a neighbour of the end, which gives the path
        # another end (Posa's rotation).
        rotations += 1
        first = pivot(end, count, neighbors, places, draw(0, rotations, 0)) + 1
        reverse(order, places, first, count - 1)
        spent += count - first
    return False


@inlined
def tightest(node, neighbors, places):
    """Return the free neighbour with the fewest free neighbours; -1 if no neighbour is free."""
    best, fewest = -1, neighbors.shape[1] + 1
    for other in neighbors[node]:
        if other < 0 or places[other] >= 0:
            continue
        free = 0
        for next_but_one in neighbors[other]:
            if next_but_one >= 0 and places[next_but_one] < 0:
                free += 1
        if free < fewest:
            best, fewest = other, free
    return best


@inlined
def joins(node, other, neighbors):
    """Return whether the two nodes are linked."""
    for candidate in neighbors[node]:
        if candidate == other:
            return True
    return False


@inlined
def opening(order, count, neighbors, places):
    """Return the first place of the path whose node has a free neighbour; -1 if there is none."""
    for place in range(count):
        for other in neighbors[order[place]]:
            if other >= 0 and places[other] < 0:
                return place
    return -1


@inlined
def pivot(end, count, neighbors, places, drawn):
    """Return the place on the path of a neighbour of the end; -1 to reverse the whole path."""
    ports = neighbors.shape[1]
    # Occasionally the whole path is reversed, and grows at its other end. Rotations at one end
    # alone can cycle through a few ends.
    if drawn % TURN_WHOLE:
        shift = drawn // TURN_WHOLE
        for port in range(ports):
            other = neighbors[end, (port + shift) % ports]
            # The node directly before the end would give back the same path. A rotation has to
            # produce another end.
            if other >= 0 and places[other] < count - 2:
                return places[other]
    return -1


@inlined
def reverse(order, places, low, high):
    """Reverse the part of the path from place `low` to place `high`."""
    while low < high:
        one, other = order[low], order[high]
        order[low], places[other] = other, low
        order[high], places[one] = one, high
        low += 1
        high -= 1
