"""Kernels of `passes`: levels, greedy passes from either end of a schedule, labels of trees.

Two arrays describe a network: ``begin`` with shape (n + 1,), and ``others``. The neighbours of node
v are ``others[begin[v]:begin[v + 1]]``. Levels, parents and steps are arrays with one entry per
node.
"""

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Ints, Shorts
from mpinet.compiled import inlined, kernel
from mpinet.draws import draw32

DIGIT_BITS = 11
DIGITS = 1 << DIGIT_BITS
"""Number of values of a digit in the radix sort of nodes."""

FEW = 64
"""Maximum number of nodes sorted by insertion instead of by digits."""

GONE = -1
"""Marker in place of a step: the node was removed by a pass from the end."""


@kernel
def write_depths(parent: Shorts, root: int, depth: Ints) -> bool:
    """Write every node's depth; return whether all nodes with a parent descend from the root."""
    way = np.empty(parent.size, np.int64)
    depth[root] = 0
    # Each walk upwards ends at the first node of known depth, so every node is walked once.
    for node in range(parent.size):
        length, at = 0, node
        while depth[at] < 0:
            if parent[at] < 0 or length == parent.size:
                return False
            way[length] = at
            length += 1
            at = parent[at]
        for place in range(length - 1, -1, -1):
            depth[way[place]] = depth[at] + 1
            at = way[place]
    return True


@kernel
def draw_keys(seed: int, number: int, keys: Ints) -> None:
    """Write a 16-bit random number for each node."""
    for node in range(keys.size):
        keys[node] = draw32(int(seed), int(node), int(number), 5) & 0xFFFF


@kernel
def sort_places(keys: Ints, places: Shorts, others: Shorts) -> bool:
    """Write the indices of the keys in ascending order; equal keys keep their order.

    Both output arrays have the length of `keys`. Return True if the result is in `others`, False if
    the result is in `places`.
    """
    if keys.size == 0:
        return False
    least = largest = keys[0]
    for place in range(keys.size):
        places[place] = place
        least, largest = min(least, keys[place]), max(largest, keys[place])
    if keys.size <= FEW:
        insert_places(keys, places)
        return False
    # Radix sort keeps the order of equal keys. The number of rounds is the number of digits in the
    # range of the keys: one round for steps and depths.
    shift, begin, swapped = 0, np.empty(DIGITS + 1, np.int64), False
    while (largest - least) >> shift > 0:
        begin[:] = 0
        for place in range(keys.size):
            begin[((keys[place] - least) >> shift & (DIGITS - 1)) + 1] += 1
        for digit in range(DIGITS):
            begin[digit + 1] += begin[digit]
        for at in range(keys.size):
            digit = (keys[places[at]] - least) >> shift & (DIGITS - 1)
            others[begin[digit]] = places[at]
            begin[digit] += 1
        places, others = others, places
        shift += DIGIT_BITS
        swapped = not swapped
    return swapped


@inlined
def insert_places(keys, places):
    """Sort indices by their keys with a stable insertion sort."""
    for count in range(1, places.size):
        place = places[count]
        at = count
        while at > 0 and keys[places[at - 1]] > keys[place]:
            places[at] = places[at - 1]
            at -= 1
        places[at] = place


@kernel
def lowest_nearer(begin: Ints, others: Shorts, distance: Shorts, parent: Shorts) -> None:
    """Write for every node the lowest-numbered neighbour that is one hop nearer to the root."""
    for node in range(distance.size):
        # Backwards, so the lowest neighbour is written last.
        for at in range(begin[node + 1] - 1, begin[node] - 1, -1):
            if distance[others[at]] == distance[node] - 1:
                parent[node] = others[at]


@inlined
def take_server(begin, others, number, step, since, pick, busy, serves, served_by):
    """Find and record the server of a node in a step; return the server, or -1 without one.

    A server is a neighbour in ``others``, present since an earlier step (``since`` is -1 for absent
    nodes), and not busy in this step. The free server with the largest `pick` is chosen. If all are
    busy, one server hands its node to another free server: one augmenting move. Without this move a
    step with one port is only a greedy matching, and most networks need a step or two more.
    """
    server = free_server(begin, others, number, step, since, pick, busy)
    if server < 0:
        for at in range(begin[number], begin[number + 1]):
            middle = others[at]
            if since[middle] < 0 or since[middle] >= step:
                continue
            moved = serves[middle]  # node served in this step: otherwise the server would be free
            instead = free_server(begin, others, moved, step, since, pick, busy)
            if instead >= 0:
                served_by[moved], serves[instead], busy[instead] = instead, moved, step
                server = middle
                break
    if server >= 0:
        served_by[number], serves[server], busy[server] = server, number, step
    return server


@inlined
def free_server(begin, others, number, step, since, pick, busy):
    """Return the free server of a node with the largest `pick`, or -1 without one."""
    server = -1
    for at in range(begin[number], begin[number + 1]):
        other = others[at]
        free = since[other] >= 0 and since[other] < step and busy[other] != step
        if free and (server < 0 or pick[other] > pick[server]):
            server = other
    return server


@kernel
def reverse_pass(
    begin: Ints,
    others: Shorts,
    hosts: int,
    level: Shorts,
    order: Shorts,
    pick: Ints,
    parent: Shorts,
    turn: Shorts,
) -> None:
    """Remove nodes, the last informed first; each removed node is served by a remaining node.

    Steps are counted from the end. In a step a remaining node serves at most one node, and a server
    is not removed in the same step. A node stays while it is the only remaining lower-level
    neighbour of a remaining node, so the remaining nodes stay connected. Switches are informed only
    if they serve a node.
    """
    size = level.size
    since = np.zeros(size, np.int32)  # values for `take_server`: 0 = remaining, -1 = removed
    lower, holds = np.zeros(size, np.int32), np.zeros(size, np.int32)
    busy, serves = np.zeros(size, np.int32), np.zeros(size, np.int32)
    # `lower` counts the remaining neighbours of lower level. `holds` counts the nodes with no other
    # connection downwards than this node.
    for node in range(size):
        above = node
        for at in range(begin[node], begin[node + 1]):
            if level[others[at]] < level[node]:
                lower[node] += 1
                above = others[at]
        holds[above] += lower[node] == 1
    parent[:] = -1
    turn[:] = 0
    # The remaining order moves to the front in each step, so a step only costs the remaining nodes.
    todo, count, step = order.copy(), order.size, 0
    while count > 0:
        step += 1
        kept = 0
        for i in range(count):
            node = todo[i]
            todo[kept] = node
            kept += 1
            # A node that serves in this step must still be present, and cannot be removed in the
            # same step.
            if holds[node] > 0 or busy[node] == step:
                continue
            since[node] = GONE  # keeps an augmenting move from choosing this node as a server
            if node < hosts or busy[node] > 0:
                server = take_server(begin, others, node, step, since, pick, busy, serves, parent)
                if server < 0:
                    # Without a server the node stays for a later step.
                    since[node] = 0
                    continue
                turn[node] = step
            kept -= 1
            for at in range(begin[node], begin[node + 1]):
                other = others[at]
                if level[other] < level[node]:
                    holds[other] -= lower[node] == 1 and since[other] != GONE
                elif level[other] > level[node]:
                    lower[other] -= 1
                    if lower[other] == 1 and since[other] != GONE:
                        holds[lower_left(begin, others, level, since, other)] += 1
        count = kept


@kernel
def lower_left(begin: Ints, others: Shorts, level: Shorts, since: Shorts, node: int) -> int:
    """Return the first remaining neighbour of lower level, or -1 without one."""
    for at in range(begin[node], begin[node + 1]):
        if since[others[at]] != GONE and level[others[at]] < level[node]:
            return int(others[at])
    return -1


@kernel
def forward_pass(
    begin: Ints,
    others: Shorts,
    hosts: int,
    root: int,
    order: Shorts,
    pick: Ints,
    parent: Shorts,
    since: Shorts,
) -> None:
    """Inform nodes in the given order, each by a neighbour informed in an earlier step.

    An informed node serves at most one node per step. The pass ends when all processors are
    informed.
    """
    size = since.size
    busy, serves = np.zeros(size, np.int32), np.zeros(size, np.int32)
    near, place_of = np.zeros(order.size, np.bool_), np.full(size, -1, np.int32)
    for place in range(order.size):
        place_of[order[place]] = place
    parent[:] = -1
    since[:] = -1
    since[root] = 0
    for at in range(begin[root], begin[root + 1]):
        near[place_of[others[at]]] = True
    step, missing = 0, hosts - 1
    while missing > 0:
        step += 1
        # Only neighbours of informed nodes are examined. `near` marks them in the order of the
        # pass.
        for turn in range(order.size):
            if not near[turn]:
                continue
            node = order[turn]
            server = take_server(begin, others, node, step, since, pick, busy, serves, parent)
            if server < 0:
                continue
            since[node] = step
            near[turn] = False
            for at in range(begin[node], begin[node + 1]):
                if since[others[at]] < 0:
                    near[place_of[others[at]]] = True
            missing -= node < hosts


@kernel
def ported_pass(
    neighbor_rule: PortRule,
    params: Ints,
    order: Ints,
    hosts: int,
    root: int,
    parent: Shorts,
    since: Shorts,
) -> None:
    """In every step offer the ports, one after the other, to all informed nodes.

    An informed node sends through the offered port if the node has not sent in this step and the
    neighbour is not informed. The pass ends when all processors are informed.
    """
    neighbor = neighbor_rule.call
    able, busy = np.empty(since.size, np.int32), np.empty(since.size, np.int32)
    parent[:] = -1
    since[:] = -1
    since[root], busy[root], able[0] = 0, 0, root
    count, step, missing = 1, 0, hosts - 1
    while missing > 0:
        step += 1
        # Nodes informed in this step are stored after `count`, and send from the next step on.
        end = count
        for port in order:
            for i in range(count):
                node = able[i]
                if busy[node] == step:
                    continue
                other = neighbor(node, port, params)
                if other < 0 or since[other] >= 0:
                    continue
                parent[other], since[other], busy[node], busy[other] = node, step, step, 0
                able[end] = other
                end += 1
                missing -= other < hosts
        kept = 0
        for i in range(end):
            node = able[i]
            able[kept] = node
            kept += busy[node] == step or since[node] == step  # the rest is finished
        count = kept


@kernel
def label_tree(
    parent: Shorts, upwards: Shorts, hosts: int, root: int, rest: Shorts, since: Shorts
) -> int:
    """Serve every node's children by the remaining time of their subtrees, longest first.

    Write into `rest` the steps needed by each subtree (-1: no processor in the subtree). Write into
    `since` the step in which each node is informed (-1: never). Return the steps of the whole tree.
    `upwards` contains all nodes of the tree except the root, children before parents.
    """
    size = parent.size
    begin = np.zeros(size + 1, np.int64)
    for i in range(upwards.size):
        begin[parent[upwards[i]] + 1] += 1
    for node in range(size):
        begin[node + 1] += begin[node]
    end = begin[:-1].copy()
    children = np.empty(upwards.size, np.int64)
    rest[:] = -1
    rest[:hosts] = 0
    for i in range(upwards.size + 1):
        node = int(upwards[i]) if i < upwards.size else int(root)
        # A child is stored as (steps of its subtree, child), so sorting orders by both.
        own = children[begin[node] : end[node]]
        own.sort()
        for turn in range(1, own.size + 1):
            # Serving the child with the longest subtree first is optimal (exchange argument), so
            # orders of children need no search.
            rest[node] = max(rest[node], (own[own.size - turn] >> 32) + turn)
        if node != root and rest[node] >= 0:
            above = parent[node]
            children[end[above]] = (int(rest[node]) << 32) | node
            end[above] += 1
    since[:] = -1
    since[root] = 0
    # Downwards: a parent's step is known before the steps of its children.
    for i in range(upwards.size, -1, -1):
        node = int(upwards[i]) if i < upwards.size else int(root)
        if since[node] < 0:
            continue
        for turn in range(1, end[node] - begin[node] + 1):
            child = children[end[node] - turn] & 0xFFFFFFFF
            since[child] = since[node] + turn
    return rest[root]
