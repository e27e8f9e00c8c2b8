"""Pipelines of items down a packing of trees, whose trees together fill the links.

`mpinet.programs.pipelines.packing` finds the trees. Switches do not buffer: an item on its way from
one processor to another waits in no switch. Items with the longest remaining way go first.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.packing import Forest, pack
from mpinet.programs.starts import best_rows

STARTS = 8
"""Number of timetables with different random draws; the best one is returned."""

MOST_LOOKS = 2**22
"""Maximum number of pairs of nodes examined by the packing of one tree."""

MOST_ROWS = 2**20
"""Maximum number of messages to schedule."""


def is_packed(arcs: Arcs, sources: Ints) -> bool:
    """Return whether the network is small enough to pack trees for these items."""
    roots, switches = len(np.unique(sources)), arcs.size - arcs.hosts
    looks = (roots + switches) * arcs.hosts * arcs.size**2
    return looks <= MOST_LOOKS and len(sources) * arcs.hosts <= MOST_ROWS


class ForestSends(NamedTuple):
    """Messages between processors, by item and receiver."""

    parent: Table
    """Processor that sends each item to each processor; -1 at the root. Shape (items, hosts)."""
    way: Table
    """Number of the way of each message. Shape (items, hosts)."""
    turn: Ints
    """Start time of each item within its tree, in 64ths of a step. Shape (items,)."""
    begin: Ints
    """First index in `wires` of each way: way k is ``wires[begin[k] : begin[k + 1]]``. Shape (ways
    + 1,).
    """
    wires: Ints
    """Pairs of nodes along each way. Shape (w,)."""


def packed_trees(arcs: Arcs, sources: Ints) -> Forest:
    """Pack trees for items, given the source processor of each item."""
    wide = np.zeros((arcs.size, arcs.size), np.int64)
    np.add.at(wide, (arcs.ends.tail, arcs.ends.head), 1)
    return pack(wide, np.bincount(sources, minlength=arcs.hosts))


def forest_rows(
    arcs: Arcs, forest: Forest, sources: Ints, bound: int, alone: bool
) -> tuple[Ints, Ints]:
    """Schedule items down trees in few steps.

    Parameters
    ----------
    arcs : Arcs
        Arcs of the network.
    forest : Forest
        Trees for all items.
    sources : ndarray of int64, shape (items,)
        Processor that holds each item first.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.
    alone : bool
        If True, an item reaches a switch at most once per step.

    Returns
    -------
    rows : ndarray of int64, shape (k, 4)
        Step, sender, receiver and item, by step.
    ports : ndarray of int64, shape (k,)
        Port of each sender.
    """
    order = np.lexsort((arcs.ends.head, arcs.ends.tail))
    # Parallel links between two nodes are equivalent. The kernel only counts the links in use;
    # links are chosen when the rows are written.
    pairs = arcs.ends.tail[order] * arcs.size + arcs.ends.head[order]
    wires, first = np.unique(pairs, return_index=True)
    wide = np.diff(np.append(first, len(pairs)))
    sends = sends_of(forest, sources, {pair: at for at, pair in enumerate(wires.tolist())}, arcs)
    # In a reduction (the reversed schedule), an item at a switch twice in one step would be two
    # sums.
    into = wires % arcs.size - arcs.hosts if alone else np.full(len(wires), -1)
    rows = np.empty((int(np.diff(sends.begin)[sends.way].sum()), 4), np.int64)

    def take(seed: int) -> int:
        count = int(take_turns(*sends, wide, into, arcs.size - arcs.hosts, seed, rows))
        rows[:count] = rows[np.argsort(rows[:count, 0], kind="stable")]
        return count

    best = best_rows(take, rows, STARTS, bound)
    at = order[first[best[:, 1]] + best[:, 2]]
    table = np.stack([best[:, 0], arcs.ends.tail[at], arcs.ends.head[at], best[:, 3]], axis=1)
    return np.ascontiguousarray(table), arcs.port[at]


def sends_of(forest: Forest, sources: Ints, numbers: dict[int, int], arcs: Arcs) -> ForestSends:
    """Assign a tree to each item and a way to each message; `numbers` are the wires of pairs."""
    hosts = arcs.hosts
    parent = np.full((len(sources), hosts), -1)
    way = np.zeros((len(sources), hosts), np.int64)
    turn = np.zeros(len(sources), np.int64)
    # Ways are stored once and items refer to them, because many items take the same way.
    listed, begin = list[int](), [0, 0]  # way 0 leads from the root to itself
    places: dict[tuple[int, ...], int] = {}
    left = {ends: [*parts] for ends, parts in forest.ways.items()}
    by_root = [np.flatnonzero(sources == root) for root in range(hosts)]
    for root, number, above in zip(forest.roots, forest.numbers, forest.parents, strict=True):
        items, by_root[root] = np.split(by_root[root], [number])
        parent[items] = above
        # Items of one tree start evenly over all steps, in units of 1/64 step. With whole steps,
        # trees of different loads would start together.
        turn[items] = np.arange(number) * (64 * forest.steps) // number
        for head in np.flatnonzero(above >= 0).tolist():
            parts, done = left[int(above[head]), head], 0
            while done < number:
                most, nodes = parts.pop()
                some = min(most, int(number) - done)
                if most > some:
                    parts.append((most - some, nodes))
                if nodes not in places:
                    places[nodes] = len(begin) - 1
                    listed += [numbers[tail * arcs.size + to] for tail, to in pairwise(nodes)]
                    begin.append(len(listed))
                way[items[done : done + some], head] = places[nodes]
                done += some
    return ForestSends(parent, way, turn, np.array(begin), np.array(listed))


@kernel
def take_turns(
    parent: Table,
    way: Table,
    turn: Ints,
    begin: Ints,
    wires: Ints,
    wide: Ints,
    into: Ints,
    switches: int,
    seed: int,
    rows: Table,
) -> int:
    """Schedule items down trees: write rows (step, wire, link, item); return their number.

    A wire is an ordered pair of nodes, and a link is one of its parallel links, from 0. In every
    step, messages whose items have arrived at the sender may leave. The messages of a tree are
    spread over all steps. In three of four seeds, messages with a long remaining way have
    priority.
    """
    items, hosts = parent.shape
    height, keys = np.zeros((items, hosts), np.int64), np.empty(items * hosts, np.int64)
    span, left = 1, 0
    for item in range(items):
        for head in range(hosts):
            node, steps = head, 0
            while parent[item, node] >= 0:
                at = way[item, node]
                steps += begin[at + 1] - begin[at]
                # Height: hops below a node. The longest remaining way determines the end of the
                # whole forest.
                height[item, node] = max(height[item, node], steps)
                node = parent[item, node]
    for item in range(items):
        for head in range(hosts):
            noise = draw32(int(seed), int(item), int(head), 12) & 0xFFF
            # Starts differ in the weight of the height, because no weight is best on all networks.
            soon = turn[item] - (seed % 4) * 32 * height[item, head]
            last = int(parent[item, head] < 0) << 60  # roots receive no message
            keys[item * hosts + head] = last + soon * 64 + noise
            left += parent[item, head] >= 0
            at = way[item, head]
            span = max(span, begin[at + 1] - begin[at])
    # Roots have the largest keys, so the cut at `left` drops exactly the roots.
    waiting = np.argsort(keys)[:left]
    come = np.full((items, hosts), -1)
    for item in range(items):
        for head in range(hosts):
            if parent[item, head] < 0:
                come[item, head] = 0
    # A ring of steps: a message through switches reserves links at most `span` steps ahead.
    used = np.zeros((span, wide.size), np.int64)
    passing = np.zeros((span, switches, items), np.bool_)
    count, step = 0, 0
    while left > 0:
        step += 1
        still = 0
        for place in range(left):
            send = waiting[place]
            item, head = send // hosts, send % hosts
            since = come[item, parent[item, head]]
            first, last = begin[way[item, head]], begin[way[item, head] + 1]
            goes = since >= 0 and since < step
            for at in range(first, last if goes else first):
                wire, now = wires[at], (step + at - first) % span
                if used[now, wire] == wide[wire]:
                    goes = False
                    break
                if into[wire] >= 0 and passing[now, into[wire], item]:
                    goes = False
                    break
            if not goes:
                waiting[still] = send
                still += 1
                continue
            for at in range(first, last):
                wire, now = wires[at], (step + at - first) % span
                rows[count, 0], rows[count, 1] = step + at - first, wire
                rows[count, 2], rows[count, 3] = used[now, wire], item
                count += 1
                used[now, wire] += 1
                if into[wire] >= 0:
                    passing[now, into[wire], item] = True
            # Switches do not buffer, so all hops of a way are reserved at once.
            come[item, head] = step + last - first - 1
        left = still
        used[step % span, :] = 0
        passing[step % span, :, :] = False
    return count
