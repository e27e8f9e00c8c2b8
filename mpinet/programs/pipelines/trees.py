"""Arc-disjoint trees from a root, as many as Edmonds' theorem promises, and items sent down them.

If so many arc-disjoint ways lead from the root to every node, there are as many trees that share no
arc, each of which reaches all nodes (Edmonds 1973). They are grown one after the other, after
Lovász (1976): an arc is taken where those that are left still lead to its head by one way less for
every tree to come. Arcs of the shallowest tails come first.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.programs.pipelines.arcs import Arcs, Ends
from mpinet.programs.pipelines.rates import count_ways

MOST_LOOKS = 2**33
"""Looks at arcs that growing the trees may take."""


def looks_of_trees(arcs: Arcs, number: int) -> int:
    """Bound from below the looks at arcs that growing so many trees takes."""
    return number * number * arcs.size * len(arcs)


def disjoint_trees(arcs: Arcs, root: int, number: int) -> Ints:
    """Grow trees that share no arc.

    Parameters
    ----------
    arcs : Arcs
        Of a connected network.
    root : int
        Where they begin.
    number : int
        How many; so many arc-disjoint ways lead from the root to every node.

    Returns
    -------
    ndarray of int64, shape (number, N)
        The arc by which each tree reaches each node, -1 at the root.
    """
    reached_by = np.empty((number, arcs.size), np.int64)
    grow_trees(root, arcs.ends, reached_by)
    return reached_by


def tree_rows(arcs: Arcs, root: int, trees: Ints, items: int) -> tuple[Ints, Ints]:
    """Send items down trees, one after the other on each.

    Parameters
    ----------
    arcs, root
        As for `disjoint_trees`.
    trees : ndarray of int64, shape (number, N)
        As `disjoint_trees` gives them.
    items : int
        Items, 1 or more; each goes down one tree, and deep trees get fewer.

    Returns
    -------
    rows : ndarray of int64, shape (rows, 4)
        Step, sender, receiver and item, by step.
    ports : ndarray of int64, shape (rows,)
        The senders' ports.
    """
    away = np.stack([depths(arcs, root, tree) for tree in trees])
    # Switches do not count for the depth: the last item only has to come to processors.
    loads = _shared_out(away[:, : arcs.hosts].max(axis=1), items)
    first = np.cumsum(loads) - loads
    step, arc, item = [], [], []
    for tree, depth, load, begin in zip(trees, away, loads, first, strict=True):
        nodes = np.flatnonzero(tree >= 0)
        turns = np.arange(load)
        step.append((depth[nodes][:, None] + turns).ravel())
        arc.append(np.repeat(tree[nodes], load))
        item.append(np.tile(begin + turns, len(nodes)))
    steps, over, items_sent = map(np.concatenate, (step, arc, item))
    tail, head = arcs.ends.tail, arcs.ends.head
    order = np.lexsort((items_sent, head[over], tail[over], steps))
    over = over[order]
    rows = np.stack([steps[order], tail[over], head[over], items_sent[order]], axis=1)
    return rows, arcs.port[over]


def depths(arcs: Arcs, root: int, tree: Ints) -> Ints:
    """Hops from the root to each node of a tree, shape (N,)."""
    away = np.full(arcs.size, -1)
    away[root] = 0
    # The arcs of a tree are in no order, so that depths settle from the root outwards, a level a
    # turn.
    while (away < 0).any():
        open_ = np.flatnonzero(away < 0)
        above = away[arcs.ends.tail[tree[open_]]]
        away[open_] = np.where(above >= 0, above + 1, -1)
    return away


def _shared_out(depth: Ints, items: int) -> Ints:
    """Items of each tree such that the last one ends as early as can be."""
    order = np.argsort(depth, kind="stable")
    # A tree of depth d that ends in step t takes t - d + 1 items. Using the k shallowest trees, the
    # least t follows from the sum of their depths.
    sums = np.cumsum(depth[order])
    counts = np.arange(1, len(depth) + 1)
    last = int((-(-(items + sums) // counts)).min()) - 1
    loads = np.maximum(last + 1 - depth, 0)
    spare = int(loads.sum()) - items
    # Rounding up leaves room for too many items. Deep trees give theirs up first, to save messages.
    for tree in order[::-1].tolist():
        less = min(spare, int(loads[tree]))
        loads[tree] -= less
        spare -= less
    return loads


@kernel
def grow_trees(
    root: int,
    ends: Ends,
    reached_by: Table,
) -> None:
    """Write the arc by which each tree reaches each node."""
    number, size = reached_by.shape
    free = np.ones(ends.tail.size, np.bool_)
    queue = np.empty(size, np.int64)
    for tree in range(number):
        # Lovász: every node must keep as many disjoint ways from the root as trees are still to
        # come.
        more = number - 1 - tree
        reached_by[tree, :] = -1
        queue[0] = root
        first, last = 0, 1
        while first < last:
            node = queue[first]
            first += 1
            for at in range(ends.out_begin[node], ends.out_begin[node + 1]):
                arc = ends.out[at]
                other = ends.head[arc]
                # The check by max-flow costs most, so that arcs that cannot be used are sorted out
                # before it.
                if not free[arc] or other == root or reached_by[tree, other] >= 0:
                    continue
                free[arc] = False
                ways = count_ways(root, other, more, ends, free)
                if ways < more:
                    free[arc] = True
                    continue
                reached_by[tree, other] = arc
                queue[last] = other
                last += 1
