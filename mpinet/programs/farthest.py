"""Total exchange over links: items take shortest paths, those with the farthest targets first.

With one port a step is a largest matching of senders and receivers, the busiest senders first. With
all ports every node matches its links with items. Every rank examines the whole network and finds
the same timetable.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Shorts, Table
from mpinet.compiled import kernel, phase
from mpinet.draws import draw32
from mpinet.errors import Disconnected
from mpinet.networks.adjacency import Adjacency, hops_from_hosts
from mpinet.networks.topology import Topology
from mpinet.programs.matching import match
from mpinet.programs.schedules.timetable import Timetable
from mpinet.programs.starts import best_rows

STARTS = 32
"""Number of starts on a small network, with seeds 0, 1 and so on; the best one is returned."""

LOOKS = 2**28
"""Maximum number of pairs of node and target examined by all starts."""


def farthest_timetable(topology: Topology, one_port: bool, bound: int) -> Timetable:
    """Return the timetable of a total exchange with few steps.

    Parameters
    ----------
    topology : Topology
        A connected network of links.
    one_port : bool
        If True, a node sends and receives at most one message per step; otherwise one per link.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.

    Raises
    ------
    Disconnected
        A processor cannot be reached.
    """
    lists, hosts = Adjacency.of(topology, parallel=not one_port), topology.hosts
    hops = hops_from_hosts(topology, lists)
    if (hops < 0).any():
        raise Disconnected(f"{topology.name} is not connected: nothing can be exchanged.")
    # Kernels look up one node's distances to all targets, which are adjacent in memory here.
    distance = np.ascontiguousarray(hops.T)
    # Work is limited by counted operations, never by seconds, so every rank and every computer
    # finds the same schedule.
    looks = max(1, topology.size * hosts * max(bound, 1))
    rows = np.empty((int(distance[:hosts].sum()), 4), np.int64)

    def take(seed: int) -> int:
        take_farthest(lists.begin, lists.others, distance, one_port, seed, rows)
        return len(rows)

    best = best_rows(take, rows, min(STARTS, LOOKS // looks), bound) if len(rows) else rows
    return Timetable.of("exchange", topology, best, ports="one" if one_port else "all")


@kernel
def take_farthest(
    begin: Ints, others: Shorts, distance: Table, one_port: bool, seed: int, rows: Table
) -> None:
    """Run one start of a total exchange; write rows (step, sender, receiver, item), by step.

    Item s * hosts + t goes from processor s to t.
    """
    size, hosts = distance.shape
    # Items at a node for the same target form a list: `first` is its head, `following` the links.
    # Their order does not change the number of steps.
    first, following = np.full((size, hosts), -1, np.int64), np.full(hosts * hosts, -1, np.int64)
    waiting, work = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for source in range(hosts):
        for target in range(hosts):
            if source != target:
                first[source, target] = source * hosts + target
                waiting[source] += 1
                work[source] += distance[source, target]
    goes = np.empty(others.size, np.int64)  # target of the item on an arc, or -1
    useful, ranked = np.empty(others.size, np.bool_), np.empty(others.size, np.int32)
    value, arcs = np.empty(others.size, np.int64), np.empty(others.size, np.int64)
    keys, targets = np.empty(hosts, np.int64), np.empty(hosts, np.int64)
    busy, mine, theirs = (
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    seen, queue, came = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    offers, lists = (busy, value, arcs), (first, following, waiting, work)
    count, step = 0, 0
    while count < rows.shape[0]:
        step += 1
        goes[:] = -1
        for node in range(size):
            begins, ends = begin[node], begin[node + 1]
            if waiting[node] == 0:
                continue
            there = 0
            for target in range(hosts):
                if first[node, target] >= 0:
                    noise = draw32(int(seed), int(node * hosts + target), int(step), 12) & 0xFFFF
                    # Items with many remaining hops cannot catch up later, so far targets go first.
                    keys[there] = -(distance[node, target] << 16 | noise)
                    targets[there] = target
                    there += 1
            # The farthest targets choose first; ties are in random order, by start.
            order = np.argsort(keys[:there])
            free = ends - begins
            for i in range(there):
                target = targets[order[i]]
                nearer = distance[node, target] - 1
                item = first[node, target]
                while item >= 0 and free > 0:
                    link = -1
                    for at in range(begins, ends):
                        if distance[others[at], target] != nearer:
                            continue
                        # With one port every link that leads closer is offered, and the matching
                        # below chooses one. With all ports the first free link is taken.
                        if goes[at] < 0:
                            link = at
                            if not one_port:
                                break
                            goes[at] = target
                            free -= 1
                        elif not one_port and link < 0:
                            # The link is taken. Free it if a free link brings its item equally
                            # close to the target.
                            moved = goes[at]
                            nearest = distance[node, moved] - 1
                            for instead in range(begins, ends):
                                if (
                                    goes[instead] < 0
                                    and distance[others[instead], moved] == nearest
                                ):
                                    goes[instead] = moved
                                    goes[at] = -1
                                    link = at
                                    break
                            if link >= 0:
                                break
                    if one_port or link < 0:
                        break
                    goes[link] = target
                    free -= 1
                    item = following[item]
        if one_port:
            even = seed & 1 == 0
            rank_offers(begin, distance, goes, work if even else waiting, (seed, step), offers)
            for place in range(arcs.size):
                ranked[place], useful[place] = others[arcs[place]], value[place] >= 0
            # A largest matching uses as many ports as possible in one step. A greedy choice would
            # leave neighbours of busy nodes without a partner.
            match(begin, ranked, useful, np.argsort(busy), mine, theirs, seen, queue, came)
            for node in range(size):
                for place in range(begin[node], begin[node + 1]):
                    if place != mine[node]:
                        goes[arcs[place]] = -1
        count = moved_on(begin, others, distance, goes, lists, (rows, count, step))


@phase
def rank_offers(begin, distance, goes, left, drawn, offers):
    """Order the nodes, and the arcs of each node, for the matching.

    Busy senders and far targets come first, because they determine the length of an exchange. Even
    starts count remaining hops of a sender, odd starts its items.
    """
    (seed, step), (busy, value, arcs) = drawn, offers
    for node in range(distance.shape[0]):
        noise = draw32(int(seed), int(node), int(step), 13) & 0xFF
        busy[node] = -(left[node] << 8 | noise)
        for at in range(begin[node], begin[node + 1]):
            noise = draw32(int(seed), int(at), int(step), 14) & 0xFFFF
            key, place = -1, at
            if goes[at] >= 0:
                key = distance[node, goes[at]] << 16 | noise
            while place > begin[node] and value[place - 1] < key:
                value[place], arcs[place] = value[place - 1], arcs[place - 1]
                place -= 1
            value[place], arcs[place] = key, at


@phase
def moved_on(begin, others, distance, goes, lists, written):
    """Write a step's rows and move its items; return the new number of rows.

    All items leave their lists before any item joins another list, so none moves twice in a step.
    """
    (first, following, waiting, work), (rows, before, step) = lists, written
    size, hosts = distance.shape
    count = before
    for node in range(size):
        for at in range(begin[node], begin[node + 1]):
            if goes[at] < 0:
                continue
            item = first[node, goes[at]]
            first[node, goes[at]] = following[item]
            waiting[node] -= 1
            work[node] -= distance[node, goes[at]]
            rows[count, 0], rows[count, 1] = step, node
            rows[count, 2], rows[count, 3] = others[at], item
            count += 1
    for row in range(before, count):
        node, item = rows[row, 2], rows[row, 3]
        target = item % hosts
        if node != target:
            following[item] = first[node, target]
            first[node, target] = item
            waiting[node] += 1
            work[node] += distance[node, target]
    return count
