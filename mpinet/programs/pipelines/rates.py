"""The rates at which items can flow through a network on all ports: maximum flows of its arcs.

From one root nobody gets more items a step than arc-disjoint ways lead to him, and by Edmonds all
get that many at once. In a gossip the items of the processors in a set S have to leave it, by the
arcs that lead out of S: ``|S| / out(S)`` steps an item, at most over all S that leave somebody out
(Zhao and others, ForestColl, 2024). A number of steps follows from a flow over time: k ways of C
steps in all bring k (T + 1) - C items in T steps (Ford and Fulkerson 1958).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import inlined, kernel
from mpinet.programs.pipelines.arcs import Arcs, Ends, by_ends

MOST_LOOKS = 2**31
"""Looks at arcs that may be taken for the rate of a network."""

NEVER = 2**40
"""Stand-in for steps that cannot be."""


def ways_to_all(arcs: Arcs, root: int) -> Ints:
    """Arc-disjoint ways from a root to each node, shape (N,); as many as arcs to itself.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> ways_to_all(Arcs.of(open("mesh:3x3")), 0).tolist()
    [2, 2, 2, 2, 2, 2, 2, 2, 2]
    """
    found = np.empty(arcs.size, np.int64)
    free = np.ones(len(arcs), np.bool_)
    # No cut is smaller than needed beyond the arcs that leave the root, so that a search for more
    # ways would only cost time.
    own = int(arcs.out_degrees[root])
    for node in range(arcs.size):
        found[node] = own
        if node != root:
            found[node] = count_ways(root, node, own, arcs.ends, free)
    return found


def looks_of_ways(arcs: Arcs, root: int) -> int:
    """Bound the looks at arcs that the ways from a root to all may take."""
    return arcs.size * int(arcs.out_degrees[root]) * len(arcs)


def fewest_steps(arcs: Arcs, root: int, items: int) -> int:
    """Steps that nobody beats who brings so many items from the root to all processors.

    To each processor alone, as a flow over time, every item by a way of its own.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> fewest_steps(Arcs.of(open("ring:6")), 0, 10)
    7
    """
    away = np.empty(len(arcs.ends.out_begin) - 1, np.int64)
    steps = 0
    # Each processor alone is a relaxation of the broadcast: its items may use all links. The worst
    # one is a bound for all of them together.
    for node in range(arcs.hosts):
        if node != root:
            steps = max(steps, int(steps_to_one(root, node, items, arcs.ends, NEVER, away)))
    return steps


def cut_over_time(arcs: Arcs, root: int, items: int, steps: int) -> list[int] | None:
    """Find why so many steps T are too few to bring items to some processor.

    The dual of Ford and Fulkerson (1958) says it. A flow that brings most in T steps uses the ways
    that take T steps or fewer. What is left of the network when it flows, with a way of T + 1 steps
    from the root straight to the processor (the closing arc of the circulation, backwards), gives
    each place v its distance p(v) from the root. If v belongs to a set after step p(v), an arc from
    u to v that takes t steps lets max(0, p(v) - p(u) - t) items out of the set, in all as many as
    the flow brings.

    Returns
    -------
    list of int or None
        The step after which each node belongs to a set, never that processor (-1): fewer items can
        leave the set in so many steps. None where so many steps are enough for every processor.
    """
    away = np.empty(len(arcs.ends.out_begin) - 1, np.int64)
    for node in range(arcs.hosts):
        if node != root and steps_to_one(root, node, items, arcs.ends, steps, away) > steps:
            found: list[int] = np.where(away <= steps, away, -1)[: arcs.size].tolist()
            return found
    return None


def fewest_to_one(arcs: Arcs, items: int) -> tuple[int, list[int]]:
    """Steps in which some processor can get so many items of each other one, at the fewest.

    All items together flow to it over time, from wherever the ways are shortest. The number is of
    the processor for which it is largest, and so is the cut.

    Returns
    -------
    steps : int
        That nobody beats.
    since : list of int
        Step after which each node belongs to a set, as of `cut_over_time`, for a step less; the
        others do from the beginning.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> fewest_to_one(Arcs.of(open("fattree:2,2")), 3)[0]
    10
    """
    # All others stand behind one source, with more arcs to each of them than can be of use.
    beyond = len(arcs.ends.out_begin) - 1
    # Parallel arcs of no steps keep all arcs of capacity one: a processor never sends more per step
    # than it has arcs.
    own = np.repeat(np.arange(arcs.hosts), arcs.out_degrees[: arcs.hosts] + 1)
    tail = np.append(arcs.ends.tail, np.full(len(own), beyond))
    takes = np.append(arcs.ends.takes, np.zeros_like(own))
    ends = by_ends(tail, np.append(arcs.ends.head, own), takes, beyond + 1)
    away, most = np.empty(beyond + 1, np.int64), items * (arcs.hosts - 1)

    def brought_to(target: int, longest: int) -> int:
        ends.takes[len(arcs) :] = np.where(own == target, NEVER, 0)
        return int(steps_to_one(beyond, target, most, ends, longest, away))

    # The negative number makes the lowest of equal processors win, so that every rank chooses
    # alike.
    steps, target = max((brought_to(node, NEVER // 2), -node) for node in range(arcs.hosts))
    # Run again with one step less: that flow fails, and its distances are the cut that shows it.
    brought_to(-target, steps - 1)
    return steps, np.where(away < steps, away, -1)[: arcs.size].tolist()


def looks_of_one(arcs: Arcs) -> int:
    """Bound the looks at arcs that `fewest_to_one` may take."""
    return int(arcs.in_degrees[: arcs.hosts].sum()) * len(arcs)


def gossip_rate(arcs: Arcs) -> tuple[Fraction, Flags]:
    """Steps an item that no gossip beats: the largest ``|S| / out(S)``, by Dinkelbach's method.

    Returns
    -------
    rate : Fraction
        Of a set S.
    inside : ndarray of bool, shape (N,)
        Which nodes are in S.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> gossip_rate(Arcs.of(open("mesh:3x3")))[0]
    Fraction(4, 1)
    """
    hosts, places = arcs.hosts, len(arcs.ends.out_begin) - 1
    into = arcs.in_degrees[:hosts]
    best, within = Fraction(hosts - 1, int(into.min())), np.arange(places) != int(into.argmin())
    left, reached = np.empty(places, np.int64), np.empty(places, np.bool_)
    flow = np.empty(len(arcs), np.int64)
    # Arcs are as wide as the rate so far asks for. Where not all can be brought to the target, the
    # places from which nothing more comes are a set of a higher rate: with that it is tried again.
    target = 0
    while target < hosts:
        width, supply = best.numerator, best.denominator
        supply_one(target, hosts, width, supply, arcs.ends, left, flow, reached)
        inside = ~reached
        leaving = int((inside[arcs.ends.tail] & reached[arcs.ends.head]).sum())
        tighter = Fraction(int(inside[:hosts].sum()), leaving) if leaving else best
        if tighter > best:
            best, within = tighter, inside
        else:
            target += 1
    return best, within[: arcs.size]


def looks_of_gossip(arcs: Arcs) -> int:
    """Bound the looks at arcs that the rate of a gossip may take."""
    return arcs.hosts * arcs.hosts * len(arcs)


@inlined
def bring(target, width, ends, free, left, flow, reached):
    """Bring what is left at nodes to one, over free arcs of a width; mark who could bring more.

    Writes what stays at each node, and the flow over each arc: a largest one.
    """
    # Each round finds a way more, by breadth first from the target. It may go back over an arc that
    # a way uses: then the two ways change their ends there. An arc taken back is noted as ~arc.
    size = ends.out_begin.size - 1
    came_by = np.empty(size, np.int64)
    queue = np.empty(size, np.int64)
    while True:
        reached[:] = False
        reached[target] = True
        queue[0] = target
        first, last, start = 0, 1, -1
        while first < last and start < 0:
            node = queue[first]
            first += 1
            if left[node] > 0:
                start = node
                break
            for at in range(ends.in_begin[node], ends.in_begin[node + 1]):
                arc = ends.into[at]
                other = ends.tail[arc]
                if free[arc] and flow[arc] < width and not reached[other]:
                    reached[other], came_by[other] = True, arc
                    queue[last] = other
                    last += 1
            for at in range(ends.out_begin[node], ends.out_begin[node + 1]):
                arc = ends.out[at]
                other = ends.head[arc]
                if flow[arc] > 0 and not reached[other]:
                    reached[other], came_by[other] = True, ~arc
                    queue[last] = other
                    last += 1
        if start < 0:
            return
        # As much as is there and as the narrowest arc of the way lets through.
        amount, node = left[start], start
        while node != target:
            arc = came_by[node]
            amount = min(amount, width - flow[arc] if arc >= 0 else flow[~arc])
            node = ends.head[arc] if arc >= 0 else ends.tail[~arc]
        left[start] -= amount
        node = start
        while node != target:
            arc = came_by[node]
            if arc >= 0:
                flow[arc] += amount
                node = ends.head[arc]
            else:
                flow[~arc] -= amount
                node = ends.tail[~arc]


@kernel
def count_ways(root: int, target: int, most: int, ends: Ends, free: Flags) -> int:
    """Count the arc-disjoint ways of free arcs from root to target, at most so many."""
    size = ends.out_begin.size - 1
    left, flow = np.zeros(size, np.int64), np.zeros(ends.tail.size, np.int64)
    left[root] = most
    bring(target, 1, ends, free, left, flow, np.empty(size, np.bool_))
    return most - left[root]


@kernel
def steps_to_one(
    root: int,
    target: int,
    items: int,
    ends: Ends,
    longest: int,
    away: Ints,
) -> int:
    """Steps in which items flow from root to target at best, over k ways of fewest steps in all.

    Ways of more than `longest` steps are left out. Writes the steps to each place when the ways are
    used, and `longest` + 1 steps lead from root to target beside them.
    """
    size = ends.out_begin.size - 1
    # Ford and Fulkerson (1958): a static flow of least cost, repeated in every step, brings the
    # most over time. Each round adds the next shortest way.
    used = np.zeros(ends.tail.size, np.bool_)
    came_by = np.empty(size, np.int64)
    waiting = np.empty(size, np.bool_)
    queue = np.empty(size, np.int64)
    # Arcs that are taken back have negative steps, so that places may be looked at again (Bellman,
    # Ford). The queue goes round in an array: a place is in it once.
    best, total, ways = NEVER, 0, 0
    while True:
        away[:] = NEVER
        waiting[:] = False
        away[root], away[target] = 0, longest + 1
        queue[0], queue[1] = root, target
        waiting[root] = waiting[target] = True
        first, length = 0, 2
        while length > 0:
            node = queue[first]
            first = first + 1 if first + 1 < size else 0
            length -= 1
            waiting[node] = False
            for side in range(2):
                begin = ends.out_begin if side == 0 else ends.in_begin
                arcs = ends.out if side == 0 else ends.into
                for at in range(begin[node], begin[node + 1]):
                    arc = arcs[at]
                    if used[arc] == (side == 0):
                        continue
                    other = ends.head[arc] if side == 0 else ends.tail[arc]
                    then = away[node] + (ends.takes[arc] if side == 0 else -ends.takes[arc])
                    if then < away[other]:
                        away[other] = then
                        came_by[other] = arc if side == 0 else ~arc
                        if not waiting[other]:
                            waiting[other] = True
                            place = first + length
                            queue[place if place < size else place - size] = other
                            length += 1
        # A way that takes more steps than the current optimum cannot bring an item in time.
        if away[target] > min(longest, best):
            return best
        total += away[target]
        ways += 1
        # k ways of C steps in all bring k (T + 1) - C items in T steps: the least T for all items.
        best = min(best, (items + total + ways - 1) // ways - 1)
        node = target
        while node != root:
            arc = came_by[node]
            if arc >= 0:
                used[arc] = True
                node = ends.tail[arc]
            else:
                used[~arc] = False
                node = ends.head[~arc]


@kernel
def supply_one(
    target: int,
    hosts: int,
    width: int,
    supply: int,
    ends: Ends,
    left: Ints,
    flow: Ints,
    reached: Flags,
) -> None:
    """Bring what all processors have to one, over arcs of a width; mark who could still bring it.

    Processors that have something left are not marked where the flow is a largest one.
    """
    left[:] = 0
    left[:hosts] = supply
    left[target] = 0
    flow[:] = 0
    bring(target, width, ends, np.ones(ends.tail.size, np.bool_), left, flow, reached)
