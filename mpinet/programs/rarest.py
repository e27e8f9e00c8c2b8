"""Gossip on all ports: in every step every processor takes what is rarest from its neighbours.

A processor matches its links with items that it lacks and that the neighbour has, those first that
fewest have. Where all links that could bring an item bring another one, one of these is moved to a
free link. Every rank looks at the whole network and finds the same timetable.
"""

from __future__ import annotations

import numpy as np

from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology
from mpinet.programs.schedules.timetable import Timetable

STARTS = 8
"""Starts of a small network, with the seeds 0, 1, ..; the best of them counts."""

LOOKS = 2**30
"""Held items that all starts may look at, as far as the bound tells that before."""


def rarest_timetable(topology: Topology, bound: int) -> Timetable:
    """Find a gossip that takes few steps.

    Parameters
    ----------
    topology : Topology
        A connected network of links without switches.
    bound : int
        Steps that nothing beats: there the search stops.
    """
    lists, size = Adjacency.of(topology), topology.size
    looks = max(1, len(lists.others) * size * max(bound, 1))
    room = size * (size - 1)
    rows = np.empty((room, 4), np.int64)
    best = rows[:0]
    for seed in range(max(1, min(STARTS, LOOKS // looks))):
        count = take_rarest(lists.begin, lists.others, seed, rows)
        if not len(best) or rows[count - 1, 0] < best[-1, 0]:
            best = rows[:count].copy()
        if best[-1, 0] <= bound:
            break
    step, sender, receiver, chunk = (np.ascontiguousarray(column) for column in best.T)
    return Timetable("gossip", size, step, sender, receiver, chunk, ports="all")


@kernel("int64(int64[::1], int32[::1], int64, int64[:, ::1])")
def take_rarest(begin, others, seed, rows):
    """Write rows (step, sender, receiver, item), by step; how many there are."""
    size = begin.size - 1
    held = np.zeros((size, size), np.bool_)
    come = np.zeros((size, size), np.int64)  # the step in which an item comes
    holders = np.ones(size, np.int64)
    for node in range(size):
        held[node, node] = True
    keys = np.empty(size, np.int64)
    lacking = np.empty(size, np.int64)
    brings = np.empty(others.size, np.int64)
    count, step = 0, 0
    while count < rows.shape[0]:
        step += 1
        before = count
        brings[:] = -1
        for turn in range(size):
            node = (turn + draw32(int(seed), int(step), 0, 7)) % size
            first, last = begin[node], begin[node + 1]
            missing = 0
            for item in range(size):
                if not held[node, item] and come[node, item] == 0:
                    noise = draw32(int(seed), int(node * size + item), int(step), 8) & 0xFFFF
                    keys[missing] = holders[item] << 16 | noise
                    lacking[missing] = item
                    missing += 1
            order = np.argsort(keys[:missing])
            free = last - first
            for i in range(missing):
                if free == 0:
                    break
                item, link = lacking[order[i]], -1
                for at in range(first, last):
                    if brings[at] < 0 and held[others[at], item]:
                        link = at
                        break
                if link < 0:
                    for at in range(first, last):
                        if brings[at] < 0 or not held[others[at], item]:
                            continue
                        for instead in range(first, last):
                            if brings[instead] < 0 and held[others[instead], brings[at]]:
                                brings[instead] = brings[at]
                                link = at
                                break
                        if link >= 0:
                            break
                if link < 0:
                    continue
                brings[link] = item
                come[node, item] = step
                holders[item] += 1
                free -= 1
        for node in range(size):
            for at in range(begin[node], begin[node + 1]):
                if brings[at] >= 0:
                    held[node, brings[at]] = True
                    rows[count, 0], rows[count, 1] = step, others[at]
                    rows[count, 2], rows[count, 3] = node, brings[at]
                    count += 1
        if count == before:
            break
    return count
