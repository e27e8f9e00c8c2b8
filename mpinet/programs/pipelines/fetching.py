"""Pipelines in which processors fetch the rarest items through switches that only forward.

Switches do not buffer: an item that arrives over h hops left its source h steps earlier, and passed
each switch without waiting. Earlier steps are fixed and later steps are open, so each receiver
plans its paths backwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Ints, Table, Words
from mpinet.compiled import kernel, phase
from mpinet.draws import draw32
from mpinet.programs.pipelines.arcs import Ends


class Past(NamedTuple):
    """Items held and arcs used in the last steps: step t is row t modulo ``longest + 1``."""

    held: Array
    """The items of each processor after the step, as bits. Type: ndarray of uint64, shape (rows,
    hosts, words).
    """
    busy: Array
    """Arcs that carry an item. Type: ndarray of bool, shape (rows, arcs)."""
    sent: Array
    """Number of items sent by each node. Type: ndarray of int64, shape (rows, places)."""
    accepted: Array
    """Nodes that receive an item. Type: ndarray of bool, shape (rows, places)."""
    passing: Array
    """Items received by each switch. Type: ndarray of bool, shape (rows, switches, items)."""


class Paths(NamedTuple):
    """Tree of the free paths that end at one processor, the root, in the current step."""

    queue: Ints
    """Nodes of the tree, nearest first. Shape (places,)."""
    depth: Ints
    """Number of hops from each node to the root; -1 outside the tree. Shape (places,)."""
    by: Ints
    """Arc of each node's first hop to the root. Shape (places,)."""
    offered: Words
    """Items that processors of the tree held in time to send, as bits. Shape (words,)."""


class Have(NamedTuple):
    """Items held by all processors, with counts by item, group and processor."""

    held: Array
    """The items of each processor, as bits. Type: ndarray of uint64, shape (hosts, words)."""
    holders: Ints
    """Number of processors that hold each item. Shape (items,)."""
    near: Table
    """Number of processors in each group that hold each item. Shape (groups, items)."""
    lacking: Ints
    """Number of items that each processor lacks. Shape (hosts,)."""


@kernel
def fetch(
    ends: Ends,
    hosts: int,
    size: int,
    sources: Ints,
    one_port: bool,
    alone: bool,
    longest: int,
    group: Ints,
    seed: int,
    rows: Table,
) -> int:
    """Let processors fetch all items; write step, arc and item of each hop, return their number.

    Return 0 if longer paths are needed.

    In every step each processor fetches one item over each of its links in turn. The item is the
    lacked item with the fewest holders, first in the processor's group and then in the network.
    Among the holders that could have sent the item in time, the one with most free links sends it.
    """
    # A path of `longest` hops began `longest` steps ago. A ring of as many steps is the whole past
    # that a search may still use.
    items, words, span = sources.size, (sources.size + 63) >> 6, longest + 1
    # The number of groups is computed here, because starts with odd seeds use a single group.
    groups = 1
    for node in range(group.size):
        groups = max(groups, group[node] + 1)
    have = Have(
        np.zeros((hosts, words), np.uint64),
        np.zeros(items, np.int64),
        np.zeros((groups, items), np.int64),
        np.full(hosts, items),
    )
    for item in range(items):
        receive(sources[item], item, have, group)
    past = Past(
        np.zeros((span, hosts, words), np.uint64),
        np.zeros((span, ends.tail.size), np.bool_),
        np.zeros((span, size), np.int64),
        np.zeros((span, size), np.bool_),
        np.zeros((span, size - hosts, items), np.bool_),
    )
    keep_held(have.held, past.held, 0)
    paths = Paths(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(words, np.uint64),
    )
    links = 0
    for node in range(hosts):
        links = max(links, ends.in_begin[node + 1] - ends.in_begin[node])
    count, left, step, idle = 0, items * (hosts - 1), 0, 0
    while left > 0:
        step += 1
        # The slot of this step still holds the oldest step, which no path can reach any more.
        now, before = step % span, left
        past.busy[now, :], past.sent[now, :], past.accepted[now, :] = False, 0, False
        past.passing[now, :, :] = False
        # Link by link: otherwise a late processor could find only its own items at a switch.
        for turn in range(links * hosts):
            link = turn // hosts
            target = (turn + draw32(int(seed), int(step), int(link), 10)) % hosts
            entry = ends.in_begin[target] + link
            if entry >= ends.in_begin[target + 1] or have.lacking[target] == 0:
                continue
            # One port accepts one message per step, on any link.
            if one_port and past.accepted[now, target]:
                continue
            found = look_back(target, entry, step, hosts, one_port, ends, past, paths)
            item = rarest(target, have, paths, group, seed)
            if item < 0:
                continue
            source = sender(item, target, step, found, hosts, alone, ends, past, paths)
            if source < 0:
                continue
            count = send(item, source, target, step, hosts, ends, past, paths, rows, count)
            receive(target, item, have, group)
            left -= 1
        keep_held(have.held, past.held, now)
        # No new item for longer than any path takes: all current paths were tried already, so
        # longer paths are needed.
        idle = idle + 1 if left == before else 0
        if idle > span:
            return 0
    return count


@phase
def keep_held(held, past_held, now):
    """Record the items of each processor at the end of a step."""
    for node in range(held.shape[0]):
        for word in range(held.shape[1]):
            past_held[now, node, word] = held[node, word]


@phase
def receive(node, item, have, group):
    """Record the arrival of an item at a processor."""
    have.held[node, item >> 6] |= np.uint64(1) << np.uint64(item & 63)
    have.holders[item] += 1
    have.near[group[node], item] += 1
    have.lacking[node] -= 1


@phase
def look_back(target, entry, step, hosts, one_port, ends, past, paths):
    """Find all nodes that could have sent an item to arrive over an arc now; return their number.

    The search goes backwards from the end of the paths: the hop before the last was made one step
    earlier.
    """
    span = past.busy.shape[0]
    paths.depth[:] = -1
    paths.depth[target] = 0
    paths.offered[:] = 0
    node, begin, end = target, entry, entry + 1
    first, last = 0, 0
    while True:
        # Counted backwards: a hop at depth d from the end of the path was made d steps ago.
        then = step - paths.depth[node]
        for way in range(begin, end if then > 0 else begin):
            arc = ends.into[way]
            other = ends.tail[arc]
            if paths.depth[other] >= 0 or past.busy[then % span, arc]:
                continue
            if one_port and past.sent[then % span, other] > 0:
                continue
            if other < hosts:
                for word in range(paths.offered.size):
                    # A processor can only send items received before the step of the send.
                    paths.offered[word] |= past.held[(then - 1) % span, other, word]
            elif step - then + 2 == span or (
                one_port and then > 1 and past.accepted[(then - 1) % span, other]
            ):
                continue  # path too long, or switch busy with another item
            paths.depth[other], paths.by[other] = step - then + 1, arc
            paths.queue[last] = other
            last += 1
        while first < last and paths.queue[first] < hosts:
            first += 1  # paths do not pass through processors
        if first == last:
            return last
        node = paths.queue[first]
        first += 1
        begin, end = ends.in_begin[node], ends.in_begin[node + 1]


@phase
def rarest(target, have, paths, group, seed):
    """Return the item with the fewest holders among the lacked, available items; -1 without one."""
    items, best, least = have.holders.size, -1, 0
    for word in range(paths.offered.size):
        # Whole words are compared first, because most items are either held or not offered.
        lacked = paths.offered[word] & ~have.held[target, word]
        for item in range(word << 6, min(items, (word + 1) << 6) if lacked else 0):
            if (lacked >> np.uint64(item & 63)) & np.uint64(1):
                noise = draw32(int(seed), int(item), int(target), 11) & 0xFFFF
                # Rarity in the own group counts more than rarity in the network: a copy in the
                # group spares its links to other groups. Noise, different in each start, breaks
                # ties.
                key = (have.near[group[target], item] << 24 | have.holders[item]) << 16 | noise
                if best < 0 or key < least:
                    best, least = item, key
    return best


@phase
def sender(item, target, step, found, hosts, alone, ends, past, paths):
    """Return the processor with most free links among an item's timely holders; -1 for none."""
    span, source, most = past.busy.shape[0], -1, 0
    for place in range(found):
        node = paths.queue[place]
        then = step + 1 - paths.depth[node]
        if node >= hosts:
            continue
        if not (past.held[(then - 1) % span, node, item >> 6] >> np.uint64(item & 63)) & np.uint64(
            1
        ):
            continue
        # Other receivers are least likely to need a source with many free links in the same step.
        free = ends.out_begin[node + 1] - ends.out_begin[node] - past.sent[then % span, node]
        if source >= 0 and free <= most:
            continue
        # In the reversed schedule, an item twice at a switch in one step would be two different
        # sums, which the switch could not distinguish.
        other, goes = ends.head[paths.by[node]], True
        while other != target and alone:
            goes = goes and not past.passing[then % span, other - hosts, item]
            other, then = ends.head[paths.by[other]], then + 1
        if goes:
            source, most = node, free
    return source


@phase
def send(item, source, target, step, hosts, ends, past, paths, rows, count):
    """Write the hops of an item from its source to the target; return the new number of rows."""
    span, node, then = past.busy.shape[0], source, step + 1 - paths.depth[source]
    while node != target:
        arc = paths.by[node]
        rows[count, 0], rows[count, 1], rows[count, 2] = then, arc, item
        count += 1
        past.busy[then % span, arc] = True
        past.sent[then % span, node] += 1
        node = ends.head[arc]
        past.accepted[then % span, node] = True
        if node >= hosts:
            past.passing[then % span, node - hosts, item] = True
        then += 1
    return count
