"""Packing of trees that carry items to all processors at the optimal rate, also through switches.

Consider links that carry a limited number of messages in total. Trees for the items of many roots
exist under one condition: every set of nodes without some processor has at least as many outgoing
messages as items (Edmonds 1973). Maximum flows find the smallest number of steps with enough
capacity.

Switches are then removed one by one. A link into a switch and a link out of it become one link, if
every such set keeps enough capacity. This splitting off follows Mader (1978) and Bang-Jensen, Frank
and Jackson (1995). Between the processors alone trees are grown, each for as many items as can take
the same tree (ForestColl, Zhao and others 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import inlined, kernel

Ways = dict[tuple[int, int], list[tuple[int, tuple[int, ...]]]]
"""Ways from one processor to another: number of items and list of nodes, ends included."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees for the items of all roots."""

    steps: int
    """Smallest number of steps in which links have enough capacity; a lower bound."""
    roots: Ints
    """Root of each tree. Shape (t,)."""
    numbers: Ints
    """Number of items on each tree. Shape (t,)."""
    parents: Table
    """Parent of each processor in each tree; -1 at the root. Shape (t, hosts)."""
    ways: Ways
    """Ways between pairs of processors, see `Ways`; each pair has enough ways for all trees."""


def pack(wide: Table, weights: Ints) -> Forest:
    """Pack trees for the items of all processors.

    Parameters
    ----------
    wide : ndarray of int64, shape (N, N)
        Messages per step from one node to another. Every node has equal capacity in and out.
    weights : ndarray of int64, shape (hosts,)
        Number of items of each processor. The first nodes are the processors, at least two.

    Examples
    --------
    >>> ring = np.roll(np.eye(6, dtype=np.int64), 1, 0) + np.roll(np.eye(6, dtype=np.int64), -1, 0)
    >>> found = pack(ring, np.full(6, 2))
    >>> found.steps, int(found.numbers.sum())
    (5, 12)
    """
    # All links are scaled by the steps, so trees carry whole items and no fractions appear.
    steps = fewest_loads(wide, weights)
    free = wide * steps
    ways = remove_switches(free, weights)
    hosts = len(weights)
    # A link that replaces a way through switches takes as many steps as the way has hops.
    longer = np.ones((hosts, hosts), np.int64)
    for (tail, head), parts in ways.items():
        longer[tail, head] = min(len(way) - 1 for _, way in parts)
    # Usually few trees suffice. In the rare other case the kernel restarts with twice the room,
    # because it cannot grow its arrays.
    room = 4 * hosts
    while True:
        roots, numbers = np.empty(room, np.int64), np.empty(room, np.int64)
        parents = np.empty((room, hosts), np.int64)
        between = np.ascontiguousarray(free[:hosts, :hosts])
        count = grow(between, longer, weights.copy(), roots, numbers, parents)
        if count >= 0:
            return Forest(steps, roots[:count], numbers[:count], parents[:count], ways)
        room *= 2


def fewest_loads(wide: Table, weights: Ints) -> int:
    """Return the smallest number of steps in which links can carry all items to all processors.

    Waiting of items is not considered.
    """
    few, enough = 0, int(weights.sum())
    # More steps never make a feasible load infeasible, so bisection finds the smallest number.
    # `enough` starts feasible: one item per step crosses any cut of a connected network.
    while enough - few > 1:
        steps = (few + enough) // 2
        if shortfall(wide * steps, weights, 1):
            few = steps
        else:
            enough = steps
    return enough


def remove_switches(free: Table, weights: Ints) -> Ways:
    """Replace links at switches by links past them, highest switch first; `free` is changed.

    First each switch distributes the capacity of every incoming link as evenly as possible, for
    shallow trees. The remaining capacity then goes to any possible link.
    """
    ways: Ways = {}
    for tail, head in zip(*(ends.tolist() for ends in np.nonzero(free)), strict=True):
        ways[tail, head] = [(int(free[tail, head]), (tail, head))]
    # Mader's splitting-off, as in ForestColl: a pair of links at a switch becomes one link past the
    # switch, as long as every cut keeps enough capacity.
    for switch in range(len(free) - 1, len(weights) - 1, -1):
        into, out, every = free[:, switch].copy(), free[switch].copy(), int(free[switch].sum())
        for evenly in (True, False):
            for tail in np.flatnonzero(into).tolist():
                heads = np.flatnonzero(out)
                # Each link begins with the neighbour after its own tail, so not all links choose
                # the same head.
                behind = int(np.searchsorted(heads, tail, side="right"))
                for head in np.roll(heads, -behind).tolist():
                    most = min(int(free[tail, switch]), int(free[switch, head]))
                    if evenly:
                        most = min(most, -(-int(into[tail] * out[head]) // every))
                    # A message back to its previous node would be a wasted loop.
                    if most == 0 or tail == head:
                        continue
                    number = int(split_off(free, weights, tail, switch, head, most))
                    if number:
                        _join(ways, tail, switch, head, number)
        free[:, switch] = free[switch] = 0
    return {ends: parts for ends, parts in ways.items() if max(ends) < len(weights)}


def _join(ways: Ways, tail: int, switch: int, head: int, number: int) -> None:
    """Join `number` ways that end at a switch with as many that begin there."""
    joined = ways.setdefault((tail, head), [])
    while number:
        (some, into), (others, out) = ways[tail, switch].pop(), ways[switch, head].pop()
        least = min(some, others, number)
        if some > least:
            ways[tail, switch].append((some - least, into))
        if others > least:
            ways[switch, head].append((others - least, out))
        joined.append((least, into + out[1:]))
        number -= least


@kernel
def split_off(free: Table, weights: Ints, tail: int, switch: int, head: int, most: int) -> int:
    """Route at most `most` messages past a switch; change `free` and return their number.

    The shortfall of the worst set of nodes after the split is given back.
    """
    free[tail, switch] -= most
    free[switch, head] -= most
    free[tail, head] += most
    short = shortfall(free, weights, most)
    # `shortfall` counts the items lost by a too large split; exactly these are given back.
    free[tail, switch] += short
    free[switch, head] += short
    free[tail, head] -= short
    return most - short


@inlined
def copy_square(table, size, into):
    """Copy the first rows and columns of a table, number by number.

    NumPy's assignment would need an error message built at run time.
    """
    for row in range(size):
        for column in range(size):
            into[row, column] = table[row, column]


@kernel
def shortfall(free: Table, weights: Ints, most: int) -> int:
    """Return the largest number of items that some processor cannot get, at most `most`."""
    size, hosts = len(free), len(weights)
    left = np.zeros((size + 1, size + 1), np.int64)
    needed, short = weights.sum(), 0
    for target in range(hosts):
        left[:, size] = 0
        copy_square(free, size, left)
        for node in range(hosts):
            left[size, node] = weights[node]
        # One source in front of all roots holds all their items. By Edmonds' theorem trees exist if
        # and only if the full flow from this source reaches every processor.
        short = max(short, needed - largest_flow(left, size + 1, size, target, needed))
        # The caller cannot take back more than `most`, so a larger shortfall need not be known.
        if short >= most:
            return most
    return short


@inlined
def largest_flow(left: Table, size: int, source: int, target: int, most: int) -> int:
    """Return the largest flow from source to target, at most `most`.

    `left` keeps the free capacity.
    """
    # Paths of one and two links are most of the flow in dense tables, and need no search.
    flow = min(most, left[source, target])
    left[source, target] -= flow
    # Paths of two links at once, then single paths by breadth-first search.
    for node in range(size):
        if node != source and node != target:
            amount = min(most - flow, left[source, node], left[node, target])
            left[source, node] -= amount
            left[node, source] += amount
            left[node, target] -= amount
            left[target, node] += amount
            flow += amount
    came_by, queue = np.empty(size, np.int64), np.empty(size, np.int64)
    while flow < most:
        came_by[:] = -1
        came_by[source], queue[0] = source, source
        first, last = 0, 1
        while first < last and came_by[target] < 0:
            node = queue[first]
            first += 1
            for other in range(size):
                if left[node, other] > 0 and came_by[other] < 0:
                    came_by[other] = node
                    queue[last] = other
                    last += 1
        if came_by[target] < 0:
            break
        amount, node = most - flow, target
        while node != source:
            amount = min(amount, left[came_by[node], node])
            node = came_by[node]
        node = target
        while node != source:
            left[came_by[node], node] -= amount
            left[node, came_by[node]] += amount
            node = came_by[node]
        flow += amount
    return flow


@kernel
def grow(
    free: Table, longer: Table, waiting: Ints, roots: Ints, numbers: Ints, parents: Table
) -> int:
    """Grow trees for all items; write them and return their number, or -1 if arrays are too small.

    A tree takes the link that reaches a new processor earliest. As many items as possible use the
    tree. Every set of processors without the roots of future trees must keep one incoming link for
    each future tree. Items that cannot take a link form a new tree, which shares the part grown
    before.
    """
    hosts, room = len(free), len(numbers)
    depths = np.empty((room, hosts), np.int64)
    tried = np.empty((hosts, hosts), np.bool_)
    # Lovász' proof of Edmonds' theorem: a tree takes a link only if all future trees can still be
    # completed. Then greedy growth never gets stuck.
    done, open_ = 0, 0  # complete trees; trees begun, up to open_
    for root in range(hosts):
        if waiting[root] == 0:
            continue
        if done == room:
            return -1
        parents[done, :] = -2
        parents[done, root], depths[done, root] = -1, 0
        roots[done], numbers[done] = root, waiting[root]
        waiting[root] = 0
        open_ = done + 1
        while done < open_:
            tried[:] = False
            missing = 0
            for node in range(hosts):
                missing += parents[done, node] == -2
            while missing > 0:
                tail, head, best = -1, -1, 0
                for node in range(hosts):
                    if parents[done, node] == -2:
                        continue
                    for other in range(hosts):
                        if parents[done, other] != -2 or free[node, other] == 0:
                            continue
                        if tried[node, other]:
                            continue
                        depth = depths[done, node] + longer[node, other]
                        # Shallow trees end early. Among equal depths, a link with more room leaves
                        # more choice.
                        key = (depth << 32) - free[node, other]
                        if tail < 0 or key < best:
                            tail, head, best = node, other, key
                most = min(numbers[done], free[tail, head])
                number = spare(free, waiting, numbers, parents, done, open_, tail, head, most)
                if number == 0:
                    tried[tail, head] = True
                    continue
                # Only some of the items fit through this link. The others split off into a new
                # tree, which shares the part grown before.
                if number < numbers[done]:
                    if open_ == room:
                        return -1
                    for node in range(hosts):
                        parents[open_, node] = parents[done, node]
                        depths[open_, node] = depths[done, node]
                    roots[open_], numbers[open_] = root, numbers[done] - number
                    numbers[done] = number
                    open_ += 1
                free[tail, head] -= number
                parents[done, head] = tail
                depths[done, head] = depths[done, tail] + longer[tail, head]
                missing -= 1
            done += 1
    return done


@inlined
def spare(
    free: Table,
    waiting: Ints,
    numbers: Ints,
    parents: Table,
    tree: int,
    open_: int,
    tail: int,
    head: int,
    most: int,
) -> int:
    """Return how many items of a tree can take a link, at most `most`.

    All other trees must stay possible.
    """
    hosts, others = len(waiting), open_ - tree - 1
    size = hosts + others
    left = np.zeros((size, size), np.int64)
    copy_square(free, hosts, left)
    needed, every = most, most
    for root in range(hosts):
        every += waiting[root]
        if root != tail:
            left[tail, root] += waiting[root]
    for other in range(others):
        place, begun = hosts + other, tree + 1 + other
        left[tail, place] = numbers[begun]
        every += numbers[begun]
        for node in range(hosts):
            if parents[begun, node] != -2:
                # A tree already begun may continue from each of its nodes, without a capacity
                # limit.
                left[place, node] = 1 << 40
    # The flow to `head` must bring all other trees there. The excess can be used now.
    needed = every - most
    return max(0, largest_flow(left, size, tail, head, every) - needed)
