"""Items that processors fetch through switches that only forward: in every step what is rarest.

What comes at the end of a path in a step has left its source so many steps before as the path has
hops, and passed each switch on the way without waiting. Nothing is known yet of later steps, all of
earlier ones: so a processor looks backwards from where it is.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.programs.pipelines.arcs import Ends


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
    items, words = sources.size, (sources.size + 63) >> 6
    span, one = longest + 1, np.uint64(1)
    holders, lacking = np.ones(items, np.int64), np.full(hosts, items)
    near = np.zeros((group.max() + 1, items), np.int64)  # holders in each group
    held = np.zeros((hosts, words), np.uint64)
    for item in range(items):
        held[sources[item], item >> 6] |= one << np.uint64(item & 63)
        lacking[sources[item]] -= 1
        near[group[sources[item]], item] += 1
    # What was held and used in the last steps, in turn.
    was_held = np.zeros((span, hosts, words), np.uint64)
    was_held[0] = held
    busy = np.zeros((span, ends.tail.size), np.bool_)
    sent, accepted = np.zeros((span, size), np.int64), np.zeros((span, size), np.bool_)
    passing = np.zeros((span, size - hosts, items), np.bool_)
    queue, depth = np.empty(size, np.int64), np.full(size, -1)
    came_by, offered = np.empty(size, np.int64), np.empty(words, np.uint64)
    links = 0
    for node in range(hosts):
        links = max(links, ends.in_begin[node + 1] - ends.in_begin[node])
    count, left, step, idle = 0, items * (hosts - 1), 0, 0
    while left > 0:
        step += 1
        now, before = step % span, left
        busy[now, :], sent[now, :], accepted[now, :] = False, 0, False
        passing[now, :, :] = False
        # Link by link, so that nobody is left with his own items alone to fetch from a switch.
        for turn in range(links * hosts):
            link = turn // hosts
            target = (turn + draw32(int(seed), int(step), int(link), 10)) % hosts
            entry = ends.in_begin[target] + link
            if entry >= ends.in_begin[target + 1] or lacking[target] == 0:
                continue
            if one_port and accepted[now, target]:
                continue
            # Backwards, from the end of each path: who could have sent what comes now.
            depth[:] = -1
            depth[target] = 0
            offered[:] = 0
            node, at, end = target, entry, entry + 1
            first, last = 0, 0
            while True:
                then = step - depth[node]
                for way in range(at, end if then > 0 else at):
                    arc = ends.into[way]
                    other = ends.tail[arc]
                    if depth[other] >= 0 or busy[then % span, arc]:
                        continue
                    if one_port and sent[then % span, other] > 0:
                        continue
                    if other < hosts:
                        for word in range(words):
                            offered[word] |= was_held[(then - 1) % span, other, word]
                    elif step - then + 1 == longest or (
                        one_port and then > 1 and accepted[(then - 1) % span, other]
                    ):
                        continue
                    depth[other], came_by[other] = step - then + 1, arc
                    queue[last] = other
                    last += 1
                while first < last and queue[first] < hosts:
                    first += 1
                if first == last:
                    break
                node = queue[first]
                first += 1
                at, end = ends.in_begin[node], ends.in_begin[node + 1]
            item, rarest = -1, 0
            for word in range(words):
                lacked = offered[word] & ~held[target, word]
                for each in range(word << 6, min(items, (word + 1) << 6) if lacked else 0):
                    if (lacked >> np.uint64(each & 63)) & one:
                        noise = draw32(int(seed), int(each), int(target), 11) & 0xFFFF
                        key = (near[group[target], each] << 24 | holders[each]) << 16 | noise
                        if item < 0 or key < rarest:
                            item, rarest = each, key
            source, most = -1, 0
            for place in range(last if item >= 0 else 0):
                node = queue[place]
                then = step + 1 - depth[node]
                if node >= hosts:
                    continue
                if not (was_held[(then - 1) % span, node, item >> 6] >> np.uint64(item & 63)) & one:
                    continue
                free = ends.out_begin[node + 1] - ends.out_begin[node] - sent[then % span, node]
                if source >= 0 and free <= most:
                    continue
                other, goes = ends.head[came_by[node]], True
                while other != target and alone:
                    goes = goes and not passing[then % span, other - hosts, item]
                    other, then = ends.head[came_by[other]], then + 1
                if goes:
                    source, most = node, free
            if source < 0:
                continue
            node, then = source, step + 1 - depth[source]
            while node != target:
                arc = came_by[node]
                rows[count, 0], rows[count, 1], rows[count, 2] = then, arc, item
                count += 1
                busy[then % span, arc] = True
                sent[then % span, node] += 1
                node = ends.head[arc]
                accepted[then % span, node] = True
                if node >= hosts:
                    passing[then % span, node - hosts, item] = True
                then += 1
            held[target, item >> 6] |= one << np.uint64(item & 63)
            holders[item] += 1
            near[group[target], item] += 1
            lacking[target] -= 1
            left -= 1
        was_held[now] = held
        idle = idle + 1 if left == before else 0
        if idle > span:
            return 0
    return count
