"""Pipelines of items along paths between processors, through switches that only forward.

A forwarding switch sends each message on exactly once. It neither copies a message nor, in the
reversed schedule, combines messages. An item travels from a processor that holds the item through
switches to a processor that lacks it. A message in flight waits in no switch. The reversed paths
are a reduction in which only processors combine.

Two searches exist. In the first, each processor fetches the items with the fewest holders
(`mpinet.programs.pipelines.fetching`). In the second, processors with few items send to processors
that lack them. The second search is better if one processor holds all items.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.programs.pipelines.arcs import Arcs, Ends
from mpinet.programs.pipelines.fetching import fetch
from mpinet.programs.starts import best_rows

STARTS = 16
"""Number of searches with different random draws; the best one is returned."""

NEAR = 8
"""Maximum number of hops per path in the first try; doubled after a failure."""

MOST_CELLS = 2**28
"""Maximum number of marks for resources in use per step."""

MOST_LOOKS = 2**35
"""Maximum number of arcs and bit words examined by the first search (fetching)."""

MOST_AGAIN = 2**31
"""Maximum number of arcs and bit words examined by further starts of the first search."""

MOST_TRIES = 2**31
"""Approximate maximum number of arcs examined by the second search (sending)."""

LONGEST = 2**6
"""Average number of hops per path for which the second search allocates room."""


def path_rows(
    arcs: Arcs, sources: Ints, bound: int, one_port: bool, alone: bool
) -> tuple[Ints, Ints] | None:
    """Find paths that bring items to all processors in few steps.

    Parameters
    ----------
    arcs : Arcs
        Arcs of the network.
    sources : ndarray of int64, shape (items,)
        Processor that holds each item first.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.
    one_port : bool
        If True, a node sends and receives at most one message per step.
    alone : bool
        If True, an item reaches a switch at most once per step. In the reversed schedule two sums
        of the same item at one switch could not be told apart.

    Returns
    -------
    rows : ndarray of int64, shape (k, 4)
        Step, sender, receiver and item, by step; None if the search would take too long.
    ports : ndarray of int64, shape (k,)
        Port of each sender.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> rows, _ = path_rows(Arcs.of(open("fattree:2,2")), np.zeros(1, np.int64), 0, True, True)
    >>> int(rows[:, 0].max())
    5
    """
    items, hosts = len(sources), arcs.hosts
    rooted, best = bool((sources == sources[0]).all()), np.empty((0, 3), np.int64)
    deliveries, longest = items * (hosts - 1), NEAR
    looks = deliveries * (2 * hosts + (items >> 6) * hosts + items)
    # Short limits make the search cheap. The limit doubles after a failed search, up to the longest
    # path through all switches.
    while not len(best) and looks <= MOST_LOOKS and longest < 2 * (arcs.size - hosts + NEAR):
        cells = (longest + 1) * (len(arcs) + items * (arcs.size - hosts))
        if max(cells, deliveries * longest) > MOST_CELLS:
            break
        given = (arcs.ends, hosts, arcs.size, sources, one_port, alone, longest)
        room = np.empty((deliveries * longest, 3), np.int64)
        starts = min(STARTS, MOST_AGAIN // looks)
        best = best_rows(partial(_fetched, given, groups(arcs), room), room, starts, bound)
        longest *= 2
    # With a single source the second search, in which holders begin the paths, is tried as well.
    # Neither search is better on all networks.
    if rooted and (not len(best) or best[-1, 0] > bound):
        sent = _sent(arcs, sources, bound, one_port)
        if sent is not None and (not len(best) or sent[-1, 0] < best[-1, 0]):
            best = sent
    if not len(best):
        return None
    step, arc, item = best.T
    tail, head = arcs.ends.tail[arc], arcs.ends.head[arc]
    return np.stack([step, tail, head, item], axis=1), arcs.port[arc]


def groups(arcs: Arcs) -> Ints:
    """Return a group number per processor: a group has most links to the same node.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> groups(Arcs.of(open("fattree:2,2"))).tolist()
    [0, 0, 1, 1]
    """
    ends = np.stack([arcs.ends.tail, arcs.ends.head], axis=1)[arcs.ends.tail < arcs.hosts]
    pairs, wide = np.unique(ends, axis=0, return_counts=True)
    # For each processor the neighbour with most links comes first, ties by lowest number.
    order = np.lexsort((pairs[:, 1], -wide, pairs[:, 0]))
    _, first = np.unique(pairs[order, 0], return_index=True)
    _, group = np.unique(pairs[order][first, 1], return_inverse=True)
    return group.ravel()


def _fetched(given: tuple[Any, ...], group: Ints, rows: Table, seed: int) -> int:
    """Write the rows of one start of the fetching search; return their number.

    Starts with odd seeds ignore the groups.
    """
    count = int(fetch(*given, group * (seed % 2 == 0), seed, rows))
    rows[:count] = rows[np.lexsort((rows[:count, 1], rows[:count, 0]))]
    return count


def _sent(arcs: Arcs, sources: Ints, bound: int, one_port: bool) -> Table | None:
    """Return the rows of the best sending search, by step; None if the search takes too long."""
    items, hosts = len(sources), arcs.hosts
    # A guess: greedy schedules rarely take four times the bound. If the horizon is too short, the
    # kernel reports a failure and the horizon doubles.
    horizon = 4 * (max(bound, 1) + items) + 32
    width = len(arcs) + 2 * arcs.size + items * (arcs.size - hosts)
    if hosts * items * len(arcs) * max(bound, 1) > MOST_TRIES:
        return None
    rows = np.empty((items * (hosts - 1) * min(arcs.size - hosts + 1, LONGEST), 3), np.int64)
    best, start = rows[:0], 0
    while start < STARTS and not 0 < best[-1:, 0].sum() <= bound:
        if horizon * width > MOST_CELLS:
            break
        count = send(arcs.ends, hosts, arcs.size, sources, one_port, start, horizon, rows)
        # The retry repeats the same start, since its draws depend only on the seed.
        if count < 0:
            horizon *= 2
            continue
        start += 1
        found = rows[np.lexsort((rows[:count, 1], rows[:count, 0]))]
        if not len(best) or found[-1, 0] < best[-1, 0]:
            best = found
    return best if len(best) else None


@kernel
def send(
    ends: Ends,
    hosts: int,
    size: int,
    sources: Ints,
    one_port: bool,
    seed: int,
    horizon: int,
    rows: Table,
) -> int:
    """Let holders send all items; write step, arc and item of each hop, return their number.

    Return -1 if the horizon is too short.

    In every step each processor begins paths with the items of fewest holders, as far as its ports
    allow.
    """
    items = sources.size
    busy = np.zeros((horizon + 1, ends.tail.size), np.bool_)
    sends = np.zeros((horizon + 1, size), np.bool_)
    accepts = np.zeros((horizon + 1, size), np.bool_)
    passing = np.zeros((horizon + 1, size - hosts, items), np.bool_)
    since = np.full((items, hosts), -1)
    holders = np.ones(items, np.int64)
    for i in range(items):
        since[i, sources[i]] = 0
    queue, depth = np.empty(size, np.int64), np.full(size, -1)
    came_by, keys = np.empty(size, np.int64), np.empty(hosts, np.int64)
    count, left = 0, items * (hosts - 1)
    for step in range(1, horizon + 1):
        if left == 0:
            return count
        for node in range(hosts):
            keys[node] = draw32(int(seed), int(node), int(step), 11) & 0xFFFF
        # Rare items first: a common item also finds a sender in later steps.
        order, rare = np.argsort(keys), np.argsort(holders)
        for place in range(hosts):
            root = order[place]
            for at in range(items):
                item = rare[at]
                while since[item, root] >= 0 and since[item, root] < step:
                    # Stop early: the breadth-first search below is the expensive part.
                    if holders[item] == hosts or (one_port and sends[step, root]):
                        break
                    # Breadth-first search over free paths: the first target found is the nearest.
                    depth[:] = -1
                    depth[root], queue[0] = 0, root
                    first, last, target = 0, 1, -1
                    while first < last:
                        node = queue[first]
                        first += 1
                        now = step + depth[node]
                        if now > horizon or (one_port and sends[now, node]):
                            continue
                        for way in range(ends.out_begin[node], ends.out_begin[node + 1]):
                            arc = ends.out[way]
                            other = ends.head[arc]
                            if depth[other] >= 0 or busy[now, arc]:
                                continue
                            if one_port and accepts[now, other]:
                                continue
                            if other < hosts:
                                if since[item, other] < 0:
                                    target, depth[other], came_by[other] = other, now, arc
                                    # Even seeds take the nearest target, odd seeds the last one
                                    # found. The better choice depends on the network.
                                    if seed % 2 == 0:
                                        break
                            elif not passing[now, other - hosts, item]:
                                depth[other], came_by[other] = depth[node] + 1, arc
                                queue[last] = other
                                last += 1
                        if target >= 0 and seed % 2 == 0:
                            break
                    if target < 0:
                        break
                    now, node = depth[target], target
                    if count + now - step >= len(rows):
                        return -1
                    since[item, target] = now
                    while node != root:
                        arc = came_by[node]
                        if node >= hosts:
                            passing[now, node - hosts, item] = True
                        busy[now, arc] = accepts[now, node] = True
                        rows[count, 0], rows[count, 1], rows[count, 2] = now, arc, item
                        count += 1
                        node = ends.tail[arc]
                        sends[now, node] = True
                        now -= 1
                    holders[item] += 1
                    left -= 1
    # Some items were not delivered within the horizon; the caller has to enlarge the horizon.
    return -1 if left > 0 else count
