"""Hamiltonian cycles and paths by search: for networks without a rule of their own.

A path grows at its end. Where it cannot, it is closed and opened elsewhere, or a link from its end
to one of its nodes turns the rest round (Posa's rotations). What is drawn at random is drawn by
counters, so that every rank finds the same. Not to find a cycle within the effort proves nothing.
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
"""Largest network that is searched: the table of a rank has an entry of 8 bytes for each node."""

MOST_ENTRIES = 2**22
"""Most neighbours of all nodes of a network that is searched: 32 MiB while the search goes on."""

EFFORT = 2**15
"""Nodes looked at or moved, for each node of the network, after which a search gives up."""

TURN_WHOLE = 16
"""Mean number of rotations per turn of the whole path, after which it grows at its other end."""


def searched_cycle(topology: Wired) -> Cycle | None:
    """A cycle found by search, as a table of N ports.

    Returns
    -------
    Cycle or None
        None for busses, for switches, for too large a network, or if none was found.
    """
    order = _search(neighbor_table(topology), closed=True) if _searchable(topology) else None
    return None if order is None else table_cycle("searched", topology, order)


def searched_path(topology: Wired) -> Ints | None:
    """The nodes in the order of a path through all of them; None as for `searched_cycle`."""
    return _search(neighbor_table(topology), closed=False) if _searchable(topology) else None


def _searchable(topology: Wired) -> bool:
    """Return whether a search is worth trying: links, no switches, at least two nodes, and few."""
    if not topology.links or topology.hosts != topology.size:
        return False
    # The table of the cycle is held by every rank. Larger networks need a rule of their own.
    small = 1 < topology.size <= MOST_NODES
    return small and topology.size * topology.ports <= MOST_ENTRIES


def order_between(neighbors: Ints, first: int, last: int) -> Ints | None:
    """The nodes in the order of a path from one through all to another; None if none was found.

    It is a cycle of the network with one more node, which only these two are linked to.
    """
    size, ports = neighbors.shape
    wider = np.full((size + 1, max(ports + 1, 2)), -1, np.int64)
    wider[:size, :ports] = neighbors
    # A path between two given nodes is a cycle through one more node. So one search serves cycles
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
    """The nodes in the order of a cycle or path through all of them; None if none was found."""
    order = np.zeros(len(neighbors), np.int64)
    found = grow(np.ascontiguousarray(neighbors), closed, EFFORT * len(neighbors), order)
    return order if found else None


@kernel
def grow(neighbors: Table, closed: bool, effort: int, order: Ints) -> bool:
    """Write a path or a cycle through all nodes, from node 0 on; return whether it was found."""
    size = order.size
    places = np.full(size, -1, np.int64)
    order[0], places[0] = 0, 0
    count, spent, rotations = 1, 0, 0
    while spent < effort:
        end = order[count - 1]
        # Effort counts looks and moves, never seconds. So every rank gives up at the same place,
        # whatever its speed.
        spent += neighbors.shape[1]
        # Warnsdorff's choice: a node with few free neighbours becomes unreachable soonest.
        other = tightest(end, neighbors, places)
        if other >= 0:
            order[count], places[other] = other, count
            count += 1
            continue
        if count == size and (not closed or joins(end, order[0], neighbors)):
            return True
        # The path closes to a cycle before it has all nodes: open it beside a free node, go on.
        if count > 2 and count < size and joins(end, order[0], neighbors):
            cut = opening(order, count, neighbors, places)
            # No node on the path has a free neighbour, so that the network is in pieces. No effort
            # would find a cycle.
            if cut < 0:
                return False
            reverse(order, places, 0, cut)
            reverse(order, places, cut + 1, count - 1)
            reverse(order, places, 0, count - 1)
            spent += 2 * count
            continue
        # Stuck: turn the part behind a neighbour of the end round, which gives the path another end
        # (Posa's rotation).
        rotations += 1
        first = pivot(end, count, neighbors, places, draw(0, rotations, 0)) + 1
        reverse(order, places, first, count - 1)
        spent += count - first
    return False


@inlined
def tightest(node, neighbors, places):
    """The free neighbour with the fewest free neighbours; -1 if there is none."""
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
    """The first place of the path whose node has a free neighbour; -1 if there is none."""
    for place in range(count):
        for other in neighbors[order[place]]:
            if other >= 0 and places[other] < 0:
                return place
    return -1


@inlined
def pivot(end, count, neighbors, places, drawn):
    """The place of one of the end's neighbours on the path; -1, at times, to turn all round."""
    ports = neighbors.shape[1]
    # Now and then the whole path is turned, so that it grows at its other end. Rotations at one end
    # alone can be caught in a few ends.
    if drawn % TURN_WHOLE:
        shift = drawn // TURN_WHOLE
        for port in range(ports):
            other = neighbors[end, (port + shift) % ports]
            # The neighbour directly before the end would give back the same path. A rotation has to
            # make another end.
            if other >= 0 and places[other] < count - 2:
                return places[other]
    return -1


@inlined
def reverse(order, places, low, high):
    """Turn a stretch of the path round."""
    while low < high:
        one, other = order[low], order[high]
        order[low], places[other] = other, low
        order[high], places[one] = one, high
        low += 1
        high -= 1
