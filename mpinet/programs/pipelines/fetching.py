"""Items that processors fetch through switches that only forward: in every step what is rarest.

What comes at the end of a path in a step has left its source so many steps before as the path has
hops, and passed each switch on the way without waiting. Nothing is known yet of later steps, all of
earlier ones: so a processor looks backwards from where it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Ints, Table, Words
from mpinet.compiled import kernel, phase
from mpinet.draws import draw32
from mpinet.programs.pipelines.arcs import Ends


class Past(NamedTuple):
    """Items held, and arcs used, in the last steps: step t is row t modulo ``longest + 1``."""

    held: Array
    """The items of each processor after the step, as bits. Type: ndarray of uint64, shape (rows,
    hosts, words)."""
    busy: Array
    """Arcs that carry an item. Type: ndarray of bool, shape (rows, arcs)."""
    sent: Array
    """Number of items that each place sends. Type: ndarray of int64, shape (rows, places)."""
    accepted: Array
    """Places that take in an item. Type: ndarray of bool, shape (rows, places)."""
    passing: Array
    """Items that each switch takes in. Type: ndarray of bool, shape (rows, switches, items)."""


class Paths(NamedTuple):
    """Paths on which an item could come to one processor just now: a tree, with it as the root."""

    queue: Ints
    """The places, the nearest first. Shape (places,)."""
    depth: Ints
    """Number of hops from each place to the root; -1 if it is not in the tree. Shape (places,)."""
    by: Ints
    """The arc of a place's first hop. Shape (places,)."""
    offered: Words
    """Items that processors of the tree had in time, as bits. Shape (words,)."""


class Have(NamedTuple):
    """Items that everybody has."""

    held: Array
    """The items of each processor, as bits. Type: ndarray of uint64, shape (hosts, words)."""
    holders: Ints
    """Number of processors that have each item. Shape (items,)."""
    near: Table
    """Number of them in each group. Shape (groups, items)."""
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
    """Write step, arc and item of each hop; how many there are, 0 where paths are longer.

    In every step each processor fetches over each of its links in turn what fewest have, in its
    own group and then elsewhere, from one of those that have it and could have sent it just in
    time: from the one with most free links.
    """
    # A path of `longest` hops began that many steps ago. A ring of so many steps is all of the past
    # that a search may still use.
    items, words, span = sources.size, (sources.size + 63) >> 6, longest + 1
    # The number of groups is not given, because starts with odd seeds put all processors into one.
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
        # Link by link, so that nobody is left with his own items alone to fetch from a switch.
        for turn in range(links * hosts):
            link = turn // hosts
            target = (turn + draw32(int(seed), int(step), int(link), 10)) % hosts
            entry = ends.in_begin[target] + link
            if entry >= ends.in_begin[target + 1] or have.lacking[target] == 0:
                continue
            # One port accepts one message per step, whatever link it comes over.
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
        # Nothing new for longer than any path takes: what is there now was tried already, so that
        # paths would have to be longer.
        idle = idle + 1 if left == before else 0
        if idle > span:
            return 0
    return count


@phase
def keep_held(held, past_held, now):
    """Keep the items of each processor, as they are at the end of a step."""
    for node in range(held.shape[0]):
        for word in range(held.shape[1]):
            past_held[now, node, word] = held[node, word]


@phase
def receive(node, item, have, group):
    """Let a processor have an item."""
    have.held[node, item >> 6] |= np.uint64(1) << np.uint64(item & 63)
    have.holders[item] += 1
    have.near[group[node], item] += 1
    have.lacking[node] -= 1


@phase
def look_back(target, entry, step, hosts, one_port, ends, past, paths):
    """Find who could have sent what comes along an arc now; return how many places.

    The search goes backwards from the end of the paths: what makes the last hop in this step has
    made the hop before in the step before.
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
                    # What a processor sends in a step must have come to it in the step before at
                    # the latest.
                    paths.offered[word] |= past.held[(then - 1) % span, other, word]
            elif step - then + 2 == span or (
                one_port and then > 1 and past.accepted[(then - 1) % span, other]
            ):
                continue  # the path would be too long, or the switch had an item to take in
            paths.depth[other], paths.by[other] = step - then + 1, arc
            paths.queue[last] = other
            last += 1
        while first < last and paths.queue[first] < hosts:
            first += 1  # nothing is passed on by a processor
        if first == last:
            return last
        node = paths.queue[first]
        first += 1
        begin, end = ends.in_begin[node], ends.in_begin[node + 1]


@phase
def rarest(target, have, paths, group, seed):
    """Return the item that fewest have of those that a processor lacks and could get; or -1."""
    items, best, least = have.holders.size, -1, 0
    for word in range(paths.offered.size):
        # Whole words are compared first, because most items are either held or not offered.
        lacked = paths.offered[word] & ~have.held[target, word]
        for item in range(word << 6, min(items, (word + 1) << 6) if lacked else 0):
            if (lacked >> np.uint64(item & 63)) & np.uint64(1):
                noise = draw32(int(seed), int(item), int(target), 11) & 0xFFFF
                # Rare in the own group counts more than rare at all: a copy in the group spares its
                # links to other groups. Noise decides among equals, another in each start.
                key = (have.near[group[target], item] << 24 | have.holders[item]) << 16 | noise
                if best < 0 or key < least:
                    best, least = item, key
    return best


@phase
def sender(item, target, step, found, hosts, alone, ends, past, paths):
    """Return who of those that had an item in time has most free links; or -1."""
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
        # Sources with many free links are least likely to be missed by others in the same step.
        free = ends.out_begin[node + 1] - ends.out_begin[node] - past.sent[then % span, node]
        if source >= 0 and free <= most:
            continue
        # Turned round, an item twice at a switch in one step would be two different sums, which the
        # switch could not tell apart.
        other, goes = ends.head[paths.by[node]], True
        while other != target and alone:
            goes = goes and not past.passing[then % span, other - hosts, item]
            other, then = ends.head[paths.by[other]], then + 1
        if goes:
            source, most = node, free
    return source


@phase
def send(item, source, target, step, hosts, ends, past, paths, rows, count):
    """Write the hops of an item from its source to the target; return the number of all rows."""
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
