"""Exact bisection of networks over which a front of few nodes can pass.

Nodes are placed one after another. The front consists of the placed nodes with unplaced neighbours.
For all other placed nodes, only the number of processors inside and the number of cut links matter.
A table stores the least number of cut links for each assignment of the front and each number of
processors inside. This is dynamic programming over a vertex separation (Kinnersley 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from mpinet.base.arrays import ByteTables, Flags, HalfRows, Ints, Table
from mpinet.compiled import inlined, kernel
from mpinet.measure.cutsearch import CutHypergraph
from mpinet.networks.arithmetic import count_ones

Neighbors = list[list[int]]

ENTRIES_PER_SECOND = 5e8
"""Approximate number of table entries computed per second."""

LARGEST_FRONT = 22
"""Largest number of nodes of a front: the table has a row for every assignment of the front."""

LARGEST_MEMORY = 1 << 28
"""Largest size in bytes of the table, and of the stored choices; without choices only the width is
found.
"""

# Networks have fewer links, so a sum of both still fits into 16 bits, and an unreachable state
# never looks better than a reachable state.
NOT_REACHED = 1 << 14
"""Number of cut links of an unreachable state, larger than the number of links of any network in
use here.
"""

PLACE, LEAVE = 0, 1
"""Events: a node is placed in a slot of the front; a node leaves its slot."""


@dataclass(frozen=True, eq=False)
class ExactCut:
    """The width of the narrowest bisection, and such a bisection."""

    width: int
    """Number of cut links."""
    inside: Flags | None
    """True for each node inside; None if the search was too large to keep the choices. Shape (N,).
    """


def exact_cut(cuts: CutHypergraph, seconds: float) -> ExactCut | None:
    """Return the narrowest bisection; None if the front is too wide for the effort.

    Parameters
    ----------
    cuts : CutHypergraph
        Channels with two members each; the result is None for other channels.
    seconds : float
        Effort, counted in table entries.
    """
    planned = narrowest_front(cuts)
    if planned is None:
        return None
    _, front, events = planned
    counts = cuts.hosts // 2 + 1
    entries = cuts.nodes * counts << front
    # The table doubles with every node of the front, so a limit on the front bounds time and memory
    # at once.
    if front > LARGEST_FRONT or 2 * counts << front > LARGEST_MEMORY:
        return None
    if entries > seconds * ENTRIES_PER_SECOND:
        return None
    rows = np.array(events, np.int64)
    parted = np.empty((1 << front, counts), np.uint16)
    choices = cuts.nodes, 1 << front, -(-counts // 8)
    # The width alone needs one table. The cut needs a bit per choice, which may not fit even if the
    # table does.
    if prod(choices) > LARGEST_MEMORY:
        return ExactCut(int(sweep(rows, cuts.hosts, parted, np.zeros((0, 0, 0), np.uint8))), None)
    chosen, inside = np.zeros(choices, np.uint8), np.zeros(cuts.nodes, bool)
    width = int(sweep(rows, cuts.hosts, parted, chosen))
    retrace(rows, cuts.hosts, chosen, inside)
    return ExactCut(width, inside)


def narrowest_front(cuts: CutHypergraph) -> tuple[list[int], int, list[list[int]]] | None:
    """Return an order of the nodes, the width of its front, and its events; None with busses."""
    links = cuts.by_channel()
    if any(len(ends) != 2 for ends in links) or len(links) >= NOT_REACHED:
        return None
    neighbors = neighbors_in(cuts)
    # The narrowest order is NP-hard to find. A few greedy orders cost milliseconds, and each node
    # less halves the table.
    plans = [(order, *front_plan(neighbors, order)) for order in orders(neighbors)]
    return min(plans, key=lambda plan: plan[1])


def neighbors_in(cuts: CutHypergraph) -> Neighbors:
    """Return for each node the other members of its channels."""
    neighbors: Neighbors = [[] for _ in range(cuts.nodes)]
    for members in cuts.by_channel():
        for node in members.tolist():
            neighbors[node] += [other for other in members.tolist() if other != node]
    return neighbors


def orders(neighbors: Neighbors) -> list[list[int]]:
    """Return orders of the nodes to try.

    The orders are: by number, and greedy orders with a small front, from node 0 and from an outer
    node.
    """
    first = list(range(len(neighbors)))
    return [first, narrow_order(neighbors, 0), narrow_order(neighbors, outermost(neighbors))]


def outermost(neighbors: Neighbors) -> int:
    """Return the lowest node farthest from node 0; a front from there grows in one direction."""
    return int(hops_from(neighbors, 0).argmax())


def hops_from(neighbors: Neighbors, source: int) -> Ints:
    """Return the hops from a source to every node; -1 for unreachable nodes."""
    hops = np.full(len(neighbors), -1)
    hops[source] = 0
    for node in (queue := [source]):
        for other in neighbors[node]:
            if hops[other] < 0:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops


def narrow_order(neighbors: Neighbors, start: int) -> list[int]:
    """Return a greedy order from a start node: each next node keeps the front small."""
    waiting = [len(others) for others in neighbors]
    order: list[int] = []
    front: set[int] = set()
    left = dict.fromkeys([start, *range(len(neighbors))])

    def widening(node: int) -> tuple[int, int]:
        leaves = sum(waiting[v] == 1 for v in neighbors[node] if v in front)
        return (waiting[node] > 0) - leaves, node

    # A front beyond the limit is refused later. Its order need not be completed greedily, which
    # takes quadratic time.
    while left and len(front) <= LARGEST_FRONT:
        near = {v for u in front for v in neighbors[u] if v in left}
        node = min(near or [next(iter(left))], key=widening)
        del left[node]
        order.append(node)
        front.add(node)
        for v in neighbors[node]:
            waiting[v] -= 1
        front -= {u for u in (node, *neighbors[node]) if waiting[u] == 0}
    return order + list(left)


def front_plan(neighbors: Neighbors, order: list[int]) -> tuple[int, list[list[int]]]:
    """Return the width of an order's front, and its events.

    An event is a row [kind, node, slot, bits of the neighbours' slots].
    """
    waiting = [len(others) for others in neighbors]
    slot: dict[int, int] = {}
    free, widest = list(range(LARGEST_FRONT + 1)), 0
    events = []
    for node in order:
        if not free:
            return LARGEST_FRONT + 1, []
        beside = sum(1 << slot[v] for v in neighbors[node] if v in slot)
        # The lowest free slot keeps assignments small numbers, so the table is no larger than the
        # widest front.
        slot[node] = free.pop(free.index(min(free)))
        widest = max(widest, slot[node] + 1)
        events.append([PLACE, node, slot[node], beside])
        for v in neighbors[node]:
            waiting[v] -= 1
        for u in sorted({node, *neighbors[node]}):
            if waiting[u] == 0 and u in slot:
                free.append(slot[u])
                events.append([LEAVE, u, slot.pop(u), 0])
    return widest, events


@kernel
def sweep(events: Table, hosts: int, parted: HalfRows, chosen: ByteTables) -> int:
    """Return the number of links cut by the narrowest cut with half of the hosts inside.

    `parted` is the table. The sides chosen by `leave` are written to `chosen`, unless it is empty.
    """
    rows, nothing = parted.shape[0], np.zeros((0, 0), np.uint8)
    parted[:] = NOT_REACHED
    parted[0, 0] = 0
    used, left = 0, 0
    # A row is an assignment of the front: bit s is set if the node in slot s is inside. Unused
    # slots are 0 in the valid rows; other rows hold leftovers until `place` overwrites them.
    for e in range(events.shape[0]):
        bit = 1 << events[e, 2]
        if events[e, 0] == PLACE:
            counted = 1 if events[e, 1] < hosts else 0
            for row in range(rows):
                if row & ~used == 0:
                    place(parted, row, bit, events[e, 3], counted)
            used |= bit
        else:
            used &= ~bit
            choices = chosen[left] if chosen.shape[0] > 0 else nothing
            for row in range(rows):
                if row & ~used == 0:
                    leave(parted, row, bit, choices)
            left += 1
    # All nodes have left the front: row 0 holds the width.
    return parted[0, hosts // 2]


@kernel
def retrace(events: Table, hosts: int, chosen: ByteTables, inside: Flags) -> None:
    """Reconstruct the cut from a sweep's choices: write which nodes are inside."""
    # Processed backwards, a node that re-enters the front is on the side chosen by `leave`, and
    # keeps this side when its placing is undone.
    row, count, left = 0, hosts // 2, chosen.shape[0]
    for e in range(events.shape[0] - 1, -1, -1):
        bit = 1 << events[e, 2]
        if events[e, 0] == LEAVE:
            left -= 1
            if chosen[left, row, count >> 3] >> (count & 7) & 1:
                row |= bit
        elif row & bit:
            inside[events[e, 1]] = True
            row &= ~bit
            count -= 1 if events[e, 1] < hosts else 0


@inlined
def place(parted, row, bit, beside, counted):
    """Update a table row for a new node: outside (same row) or inside (row with its bit)."""
    within = count_ones(row & beside)
    without = count_ones(beside) - within
    counts = parted.shape[1]
    for c in range(counted):
        parted[row | bit, c] = NOT_REACHED
    # The row with the bit is written before the row without it changes, because the first is
    # computed from the second.
    for c in range(counts - counted):
        parted[row | bit, c + counted] = parted[row, c] + np.uint16(without)
    for c in range(counts):
        parted[row, c] += np.uint16(within)


@inlined
def leave(parted, row, bit, chosen):
    """Keep the better side of a node that leaves the front, and record the choice."""
    for c in range(parted.shape[1]):
        if parted[row | bit, c] < parted[row, c]:
            parted[row, c] = parted[row | bit, c]
            if chosen.size > 0:
                chosen[row, c >> 3] |= np.uint8(1 << (c & 7))
