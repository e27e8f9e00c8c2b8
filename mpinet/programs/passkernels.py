"""The loops of `passes`: levels, greedy passes from either end of a schedule, labels of trees.

A network is two arrays: ``begin``, shape (n + 1,), and ``others``: node v has the neighbours
``others[begin[v]:begin[v + 1]]``. What is kept a node (level, parent, step) is an array, too.
"""

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Ints, Shorts
from mpinet.compiled import inlined, kernel
from mpinet.draws import draw32

DIGIT_BITS = 11
DIGITS = 1 << DIGIT_BITS
"""Values of a digit by which nodes are sorted."""

FEW = 64
"""Most nodes that are sorted without digits."""

GONE = -1
"""In place of a step: a node that a pass from the end has taken away."""


@kernel
def write_depths(parent: Shorts, root: int, depth: Ints) -> bool:
    """Write the depths; whether everybody with a parent hangs on the root."""
    way = np.empty(parent.size, np.int64)
    depth[root] = 0
    # Each way up ends at the first node whose depth is known, so that every node is walked once.
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
    """Write random numbers of 16 bits, one a node."""
    for node in range(keys.size):
        keys[node] = draw32(int(seed), int(node), int(number), 5) & 0xFFFF


@kernel
def sort_places(keys: Ints, places: Shorts, others: Shorts) -> bool:
    """Write the places of the keys in rising order, equal keys in the order of their places.

    Both arrays are as long as `keys`. Return True if the result is in `others`.
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
    # Sorting by digits keeps equal keys as they came, and takes as many rounds as the spread of the
    # keys has digits: one for steps and depths.
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
    """Sort places by their keys, each put in behind those whose keys are not larger."""
    for count in range(1, places.size):
        place = places[count]
        at = count
        while at > 0 and keys[places[at - 1]] > keys[place]:
            places[at] = places[at - 1]
            at -= 1
        places[at] = place


@kernel
def lowest_nearer(begin: Ints, others: Shorts, distance: Shorts, parent: Shorts) -> None:
    """Write everybody's lowest neighbour that is one hop nearer."""
    for node in range(distance.size):
        # Backwards, so that the lowest one is written last.
        for at in range(begin[node + 1] - 1, begin[node] - 1, -1):
            if distance[others[at]] == distance[node] - 1:
                parent[node] = others[at]


@inlined
def take_server(begin, others, number, step, since, pick, busy, serves, served_by):
    """Find who serves a number in a step, and write it down; -1 = nobody can.

    Those can who are among its `others`, are in since an earlier step (-1: are not in at all), and
    serve nobody else in this step; of several the one with the largest `pick`. Where all are busy,
    one of them leaves what it serves to another: one augmenting move. Without it a step of one
    port is a greedy matching only, and most networks take a step or two more.
    """
    server = free_server(begin, others, number, step, since, pick, busy)
    if server < 0:
        for at in range(begin[number], begin[number + 1]):
            middle = others[at]
            if since[middle] < 0 or since[middle] >= step:
                continue
            moved = serves[middle]  # of this step: else it would have been free
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
    """Return, of the free ones who can serve a number, the one with the largest `pick`."""
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
    """Take nodes away, those that are informed last first, each served by one that is left.

    In a step (counted from the end) a node that is left serves one at most, and one that serves
    stays. Nobody goes who is the only neighbour of lower level that somebody has left, so that all
    that are left stay connected. Of switches only those are informed that serve somebody.
    """
    size = level.size
    since = np.zeros(size, np.int32)  # as `take_server` reads it: 0 = is left, -1 = has gone
    lower, holds = np.zeros(size, np.int32), np.zeros(size, np.int32)
    busy, serves = np.zeros(size, np.int32), np.zeros(size, np.int32)
    # `lower` counts a node's neighbours of lower level that are left, `holds` the nodes that would
    # be cut off without this one.
    for node in range(size):
        above = node
        for at in range(begin[node], begin[node + 1]):
            if level[others[at]] < level[node]:
                lower[node] += 1
                above = others[at]
        holds[above] += lower[node] == 1
    parent[:] = -1
    turn[:] = 0
    # The rest of the order moves to the front in each step, so that a step costs only what is left.
    todo, count, step = order.copy(), order.size, 0
    while count > 0:
        step += 1
        kept = 0
        for i in range(count):
            node = todo[i]
            todo[kept] = node
            kept += 1
            # A node that serves in this step must still be there, so that it cannot go in the same
            # step.
            if holds[node] > 0 or busy[node] == step:
                continue
            since[node] = GONE  # nor does it serve, in place of another, who serves it
            if node < hosts or busy[node] > 0:
                server = take_server(begin, others, node, step, since, pick, busy, serves, parent)
                if server < 0:
                    # No server was found, so that the node stays for a later step.
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
    """The first neighbour of lower level that is left."""
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
    """Inform nodes in this order, each by a neighbour that was informed in a step before.

    An informed node serves one a step at most. It ends when all processors are informed.
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
        # Only nodes beside informed ones are looked at; `near` has them in the order of the pass.
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
    """In every step offer the ports to all who are informed, one port after the other.

    Who sends nothing yet in the step sends by the port if the node behind it is not informed. It
    ends when all processors are informed.
    """
    neighbor = neighbor_rule.call
    able, busy = np.empty(since.size, np.int32), np.empty(since.size, np.int32)
    parent[:] = -1
    since[:] = -1
    since[root], busy[root], able[0] = 0, 0, root
    count, step, missing = 1, 0, hosts - 1
    while missing > 0:
        step += 1
        # Who is informed in this step stands behind `count`, and sends from the next step on.
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
            kept += busy[node] == step or since[node] == step  # others have nobody left to inform
        count = kept


@kernel
def label_tree(
    parent: Shorts, upwards: Shorts, hosts: int, root: int, rest: Shorts, since: Shorts
) -> int:
    """Serve every node's children in the order of what their subtrees still need, longest first.

    Write the steps that each subtree needs (-1: no processor is in it), and the step in which each
    node is informed (-1: not). Returns the steps of the whole tree. `upwards` has all nodes of the
    tree but the root, children before their parents.
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
        # A child is held as (steps that its subtree needs, child), so that sorting orders both.
        own = children[begin[node] : end[node]]
        own.sort()
        for turn in range(1, own.size + 1):
            # Serving the child with the longest rest first is optimal (exchange argument), so that
            # no search over the orders of children is needed.
            rest[node] = max(rest[node], (own[own.size - turn] >> 32) + turn)
        if node != root and rest[node] >= 0:
            above = parent[node]
            children[end[above]] = (int(rest[node]) << 32) | node
            end[above] += 1
    since[:] = -1
    since[root] = 0
    # Downwards now: a parent's step is known before those of its children.
    for i in range(upwards.size, -1, -1):
        node = int(upwards[i]) if i < upwards.size else int(root)
        if since[node] < 0:
            continue
        for turn in range(1, end[node] - begin[node] + 1):
            child = children[end[node] - turn] & 0xFFFFFFFF
            since[child] = since[node] + turn
    return rest[root]
