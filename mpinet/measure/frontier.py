"""Exact bisection of networks that a front of few nodes can pass over.

Nodes are placed one after another. The front is the placed nodes that still have neighbours to
come; all that matters of the others is how many are inside and how many links are parted. For each
assignment of the front and each number of processors inside, the least number of parted links is
kept (dynamic programming over a vertex separation, as in Kinnersley 1992).
"""

from __future__ import annotations

import numpy as np

from mpinet.arrays import Flags
from mpinet.compiled import inlined, kernel
from mpinet.measure.cutsearch import Cuts
from mpinet.networks.arithmetic import count_ones

Neighbors = list[list[int]]

ENTRIES_PER_SECOND = 5e8
"""About how many table entries are made in a second."""

LARGEST_FRONT = 22
"""Most nodes of a front: the table has a row for every assignment of them."""

LARGEST_MEMORY = 1 << 28
"""Most bytes that the table and the remembered choices take each."""

# Networks have fewer links than that, so that a sum of both still fits into 16 bits, and what
# cannot be reached never looks better than what can.
NOT_REACHED = 1 << 14
"""Links parted by what cannot be; more than any network that this is for has."""

PLACE, LEAVE = 0, 1
"""Events: a node is placed in a slot of the front; a node leaves its slot."""


def exact_cut(cuts: Cuts, seconds: float) -> Flags | None:
    """The narrowest cut into halves; None where the front is too wide for the effort.

    Parameters
    ----------
    cuts : Cuts
        Channels with two members each; others are out of reach.
    seconds : float
        Effort, counted in table entries.
    """
    links = cuts.by_channel()
    if any(len(ends) != 2 for ends in links) or len(links) >= NOT_REACHED:
        return None
    neighbors: Neighbors = [[] for _ in range(cuts.nodes)]
    for u, v in (ends.tolist() for ends in links):
        neighbors[u].append(v)
        neighbors[v].append(u)
    plans = [front_plan(neighbors, order) for order in orders(neighbors)]
    front, events = min(plans, key=lambda plan: plan[0])
    counts = cuts.hosts // 2 + 1
    entries = cuts.nodes * counts << front
    memory = max(cuts.nodes * -(-counts // 8), 2 * counts) << front
    if front > LARGEST_FRONT or memory > LARGEST_MEMORY or entries > seconds * ENTRIES_PER_SECOND:
        return None
    inside = np.zeros(cuts.nodes, bool)
    sweep(np.array(events, np.int64), front, cuts.hosts, inside)
    return inside


def orders(neighbors: Neighbors) -> list[list[int]]:
    """Orders of the nodes to try: by number, and always the node that keeps the front small."""
    waiting = [len(others) for others in neighbors]
    order: list[int] = []
    front: set[int] = set()
    left = dict.fromkeys(range(len(neighbors)))

    def widening(node: int) -> tuple[int, int]:
        leaves = sum(waiting[v] == 1 for v in neighbors[node] if v in front)
        return (waiting[node] > 0) - leaves, node

    while left and len(front) <= LARGEST_FRONT:
        near = {v for u in front for v in neighbors[u] if v in left}
        node = min(near or [next(iter(left))], key=widening)
        del left[node]
        order.append(node)
        front.add(node)
        for v in neighbors[node]:
            waiting[v] -= 1
        front -= {u for u in (node, *neighbors[node]) if waiting[u] == 0}
    return [list(range(len(neighbors))), order + list(left)]


def front_plan(neighbors: Neighbors, order: list[int]) -> tuple[int, list[list[int]]]:
    """The widest front of an order, and its events: rows [kind, node, slot, neighbours' slots]."""
    waiting = [len(others) for others in neighbors]
    slot: dict[int, int] = {}
    free, widest = list(range(LARGEST_FRONT + 1)), 0
    events = []
    for node in order:
        if not free:
            return LARGEST_FRONT + 1, []
        beside = sum(1 << slot[v] for v in neighbors[node] if v in slot)
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


@kernel("void(int64[:, ::1], int64, int64, boolean[::1])")
def sweep(events, front, hosts, inside):
    """Write which nodes are inside in the narrowest cut with half of the hosts inside."""
    counts = hosts // 2 + 1
    rows = 1 << front
    parted = np.full((rows, counts), NOT_REACHED, np.uint16)
    parted[0, 0] = 0
    chosen = np.zeros((inside.size, rows, (counts + 7) // 8), np.uint8)
    used, left = 0, 0
    # A row is an assignment of the front: bit s is set if the node in slot s is inside. Slots that
    # are not in use are 0 in the rows that count; the others hold leftovers until `place`
    # overwrites them.
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
            for row in range(rows):
                if row & ~used == 0:
                    leave(parted, row, bit, chosen[left])
            left += 1
    # All nodes have left the front: row 0 holds the width. Undone backwards, a node that comes back
    # into the front is on the side that `leave` chose, and stays there when its placing is undone.
    row, count = 0, hosts // 2
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
    """Place a node outside (the row stays) or inside (the row with its bit)."""
    within = count_ones(row & beside)
    without = count_ones(beside) - within
    counts = parted.shape[1]
    for c in range(counted):
        parted[row | bit, c] = NOT_REACHED
    for c in range(counts - counted):
        parted[row | bit, c + counted] = parted[row, c] + np.uint16(without)
    for c in range(counts):
        parted[row, c] += np.uint16(within)


@inlined
def leave(parted, row, bit, chosen):
    """Keep the better side of a node that leaves the front, and remember which it is."""
    for c in range(parted.shape[1]):
        if parted[row | bit, c] < parted[row, c]:
            parted[row, c] = parted[row | bit, c]
            chosen[row, c >> 3] |= np.uint8(1 << (c & 7))
