"""Best order of a route's hops, which section 3.2 leaves open.

The paper takes the hops of H, the diagonal if the sector difference needs it, and at most one more
hop of type 0. It states that in some order few edges remain. To refute this statement, the best
order has to fail. The emulator's routing uses only one order, the printed traversals.

A hop keeps its position in a sector, and an edge of the ring changes the position by one. Without
wraparound, a route is a walk on a line from the source's position to the target's position. The
target's position moves by a sector for an additional hop of type 0. The walk passes each position
with hops left to make, in any sector.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.claims import Measured
from mpinet.claims.remembered import remembered
from mpinet.compiled import inlined, kernel
from mpinet.networks import open as open_topology
from mpinet.networks.gmn.parameters import HALF, LOOPS, RANGE, SECTOR, TYPES, position_of
from mpinet.networks.gmn.walk import cheaper_class, count_hops
from mpinet.papers.witness import at_pair

LENGTH, BESIDES, AROUND, KINDS = range(4)
"""Indices of the extremes: the longest route, the most edges outside of H and the diagonal, and the
most edges of the ring.
"""

ADDITIONAL = 1
"""Number of hops of type 0 that may be added in either direction."""


@remembered(most=4)
def best_orders(topology: str) -> list[Measured]:
    """Return the longest route with the best order of hops, and the most edges of both kinds.

    Parameters
    ----------
    topology : str
        A G(m,N). Sources are the nodes of sector 0, because all sectors are equivalent.
    """
    found = np.zeros((KINDS, 3), np.int64)
    network = open_topology(topology)
    judge_best_orders(network.routing("source").params, found)
    return [at_pair(count, (source, at)) for count, source, at in found.tolist()]


@kernel
def judge_best_orders(params: Ints, found: Table) -> None:
    """Find the pair with the longest best route, and the pair with the most edges outside of H."""
    m, size = params[SECTOR], params[LOOPS]
    hops = np.empty(params[TYPES] + 2, np.int64)
    needed = np.empty(m, np.bool_)
    for source in range(m):
        for target in range(size):
            ahead = (target - source) % size
            ring = min(ahead, size - ahead)
            length = besides = around = ring
            # Closer pairs are connected by the ring, where no order of hops can be chosen.
            if ring > m:
                length, besides, around = best_order(source, target, hops, needed, params)
            for kind, value in ((LENGTH, length), (BESIDES, besides), (AROUND, around)):
                if value > found[kind, 0]:
                    found[kind, 0], found[kind, 1], found[kind, 2] = value, source, target


@inlined
def best_order(source, target, hops, needed, params):
    """Return the fewest hops of a route, the fewest edges outside of H, and those of the ring."""
    m, half, types = params[SECTOR], params[HALF], params[TYPES]
    sectors, sign = (target // m - source // m) % (2 * half), 1
    if sectors > half - 1:
        sectors, sign = 2 * half - sectors, -1
    diagonal = not 0 < sectors <= params[RANGE]
    number = sign * (sectors - half) if diagonal else sign * sectors
    count_hops(number, cheaper_class(number), hops)
    others = 0
    for hop_type in range(1, types):
        others += abs(hops[hop_type])
    length = besides = around = params[LOOPS]
    # The paper may add one hop of type 0 in either direction. Even the best choice has to fail.
    for added in range(-ADDITIONAL, ADDITIONAL + 1):
        zeros = abs(hops[0] + added)
        needed[:] = False
        needed[0] = diagonal
        for hop_type in range(1, types):
            if hops[hop_type] != 0:
                needed[position_of(hop_type, params)] = True
        if zeros != 0:
            needed[position_of(0, params)] = True
        edges = shortest_walk(source % m, target % m - added * m, needed, m)
        length = min(length, edges + others + zeros + diagonal)
        besides = min(besides, edges + max(0, zeros - abs(hops[0])))
        around = min(around, edges)
    return length, besides, around


@inlined
def shortest_walk(start, end, needed, m):
    """Return the fewest edges of a walk on the line that passes each needed position modulo m."""
    low, high = min(start, end), max(start, end)
    best = 4 * m
    # Positions repeat with period m, so a walk never reaches further than one sector below the
    # ends.
    for first in range(low, low - m, -1):
        last = high
        while not passes_all(first, last, needed, m):
            last += 1
        # Out to the nearer turning point, across, and back to the end: the walk passes both ends.
        best = min(best, (start - first) + (last - first) + (last - end))
        best = min(best, (last - start) + (last - first) + (end - first))
    return best


@inlined
def passes_all(first, last, needed, m):
    """Return whether an interval of the line has a copy of every needed position."""
    if last - first >= m - 1:
        return True
    for position in range(m):
        if needed[position] and (position - first) % m > last - first:
            return False
    return True
