"""Arc-disjoint trees from a root, the maximum number by Edmonds' theorem, and items sent down them.

If k arc-disjoint paths lead from the root to every node, k trees exist that share no arc and reach
all nodes (Edmonds 1973). The trees are grown one after the other (Lovász 1976). An arc is taken
only if the remaining arcs keep enough disjoint paths to its head, one for every future tree. Arcs
with the shallowest tails come first.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.programs.pipelines.arcs import Arcs, Ends
from mpinet.programs.pipelines.rates import count_ways

MOST_LOOKS = 2**33
"""Maximum number of arcs examined to grow the trees."""


def looks_of_trees(arcs: Arcs, number: int) -> int:
    """Return a lower bound of the arcs examined to grow `number` trees."""
    return number * number * arcs.size * len(arcs)


def disjoint_trees(arcs: Arcs, root: int, number: int) -> Ints:
    """Return trees that share no arc.

    Parameters
    ----------
    arcs : Arcs
        Arcs of a connected network.
    root : int
        Root of all trees.
    number : int
        Number of trees; at most the number of arc-disjoint paths from the root to any node.

    Returns
    -------
    ndarray of int64, shape (number, N)
        Arc by which each tree reaches each node, -1 at the root.
    """
    reached_by = np.empty((number, arcs.size), np.int64)
    grow_trees(root, arcs.ends, reached_by)
    return reached_by


def tree_rows(arcs: Arcs, root: int, trees: Ints, items: int) -> tuple[Ints, Ints]:
    """Schedule items down trees, one after the other on each tree.

    Parameters
    ----------
    arcs, root
        As in `disjoint_trees`.
    trees : ndarray of int64, shape (number, N)
        Result of `disjoint_trees`.
    items : int
        Number of items, 1 or more. Each uses one tree, and deep trees get fewer items.

    Returns
    -------
    rows : ndarray of int64, shape (rows, 4)
        Step, sender, receiver and item, by step.
    ports : ndarray of int64, shape (rows,)
        Port of each sender.
    """
    away = np.stack([depths(arcs, root, tree) for tree in trees])
    # Switches do not count for the depth: the last item only has to reach processors.
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
    """Return the hops from the root to each node of a tree, shape (N,)."""
    away = np.full(arcs.size, -1)
    away[root] = 0
    # The arcs of a tree are unordered, so depths settle from the root outwards, one level per
    # round.
    while (away < 0).any():
        open_ = np.flatnonzero(away < 0)
        above = away[arcs.ends.tail[tree[open_]]]
        away[open_] = np.where(above >= 0, above + 1, -1)
    return away


def _shared_out(depth: Ints, items: int) -> Ints:
    """Return the number of items per tree with the earliest possible end."""
    order = np.argsort(depth, kind="stable")
    # A tree of depth d that ends in step t takes t - d + 1 items. For the k shallowest trees, the
    # smallest t follows from the sum of their depths.
    sums = np.cumsum(depth[order])
    counts = np.arange(1, len(depth) + 1)
    last = int((-(-(items + sums) // counts)).min()) - 1
    loads = np.maximum(last + 1 - depth, 0)
    spare = int(loads.sum()) - items
    # Rounding up leaves room for too many items. Deep trees give up items first, to save messages.
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
        # Lovász: every node must keep as many disjoint paths from the root as there are future
        # trees.
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
                # The max-flow check is the most expensive part, so unusable arcs are excluded
                # before.
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
