"""Maximum rates of items through a network with all ports, by maximum flows over its arcs.

From one root no processor receives more items per step than it has arc-disjoint paths from the
root. By Edmonds' theorem all processors can reach the smallest of these numbers at once.

In a gossip the items of a set S of processors leave S over its outgoing arcs. One item of each
therefore takes ``|S| / out(S)`` steps, maximised over all S without some processor (Zhao and
others, ForestColl, 2024). A flow over time gives a number of steps (Ford and Fulkerson 1958): k
paths with C steps in total bring k (T + 1) - C items in T steps.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import inlined, kernel
from mpinet.programs.pipelines.arcs import Arcs, Ends, by_ends

MOST_LOOKS = 2**31
"""Maximum number of arcs examined to find the rate of a network."""

NEVER = 2**40
"""Marker for an impossible number of steps."""


def ways_to_all(arcs: Arcs, root: int) -> Ints:
    """Return the number of arc-disjoint paths from a root to each node, shape (N,).

    The root's own entry is its number of outgoing arcs.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> ways_to_all(Arcs.of(open("mesh:3x3")), 0).tolist()
    [2, 2, 2, 2, 2, 2, 2, 2, 2]
    """
    found = np.empty(arcs.size, np.int64)
    free = np.ones(len(arcs), np.bool_)
    # The root's outgoing arcs limit the number of paths, so a search for more would waste time.
    own = int(arcs.out_degrees[root])
    for node in range(arcs.size):
        found[node] = own
        if node != root:
            found[node] = count_ways(root, node, own, arcs.ends, free)
    return found


def looks_of_ways(arcs: Arcs, root: int) -> int:
    """Return an upper bound of the arcs examined by `ways_to_all`."""
    return arcs.size * int(arcs.out_degrees[root]) * len(arcs)


def fewest_steps(arcs: Arcs, root: int, items: int) -> int:
    """Return a lower bound of the steps to bring items from the root to all processors.

    The bound is the largest time of a flow to a single processor, each item by its own path.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> fewest_steps(Arcs.of(open("ring:6")), 0, 10)
    7
    """
    away = np.empty(len(arcs.ends.out_begin) - 1, np.int64)
    steps = 0
    # Each single processor is a relaxation of the broadcast: its items may use all links. The worst
    # processor gives a bound for all of them together.
    for node in range(arcs.hosts):
        if node != root:
            steps = max(steps, int(steps_to_one(root, node, items, arcs.ends, NEVER, away)))
    return steps


def cut_over_time(arcs: Arcs, root: int, items: int, steps: int) -> list[int] | None:
    """Return the reason why `steps` steps T are too few to bring the items to some processor.

    The reason is the dual of a flow over time (Ford and Fulkerson 1958). A largest flow in T steps
    uses the paths of at most T steps. Take the residual network of this flow. Add a path of T + 1
    steps directly from the root to the processor (the reversed closing arc of the circulation). Let
    p(v) be the distance of node v from the root in this network. Node v belongs to a set after step
    p(v). An arc from u to v of t steps lets max(0, p(v) - p(u) - t) items out of the set. In total
    exactly the items of the flow leave.

    Returns
    -------
    list of int or None
        Step after which each node belongs to the set; -1: never, as for the processor itself. Fewer
        items than needed can leave the set in T steps. None if T steps suffice for every processor.
    """
    away = np.empty(len(arcs.ends.out_begin) - 1, np.int64)
    for node in range(arcs.hosts):
        if node != root and steps_to_one(root, node, items, arcs.ends, steps, away) > steps:
            found: list[int] = np.where(away <= steps, away, -1)[: arcs.size].tolist()
            return found
    return None


def fewest_to_one(arcs: Arcs, items: int) -> tuple[int, list[int]]:
    """Return the least steps to bring `items` items of all others to the worst processor.

    All items together flow to the processor over time, along shortest paths from their sources.
    Number and cut belong to the processor with the largest number of steps.

    Returns
    -------
    steps : int
        Lower bound of the steps.
    since : list of int
        Step after which each node belongs to a set, as in `cut_over_time`, for one step less. The
        other processors belong to the set from the beginning.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> fewest_to_one(Arcs.of(open("fattree:2,2")), 3)[0]
    10
    """
    # One source stands in front of all other processors, with more arcs to each than needed.
    beyond = len(arcs.ends.out_begin) - 1
    # Parallel arcs of 0 steps keep the capacity of all arcs at one: a processor never sends more
    # per step than it has arcs.
    own = np.repeat(np.arange(arcs.hosts), arcs.out_degrees[: arcs.hosts] + 1)
    tail = np.append(arcs.ends.tail, np.full(len(own), beyond))
    takes = np.append(arcs.ends.takes, np.zeros_like(own))
    ends = by_ends(tail, np.append(arcs.ends.head, own), takes, beyond + 1)
    away, most = np.empty(beyond + 1, np.int64), items * (arcs.hosts - 1)

    def brought_to(target: int, longest: int) -> int:
        ends.takes[len(arcs) :] = np.where(own == target, NEVER, 0)
        return int(steps_to_one(beyond, target, most, ends, longest, away))

    # The negative number selects the lowest of equal processors, so every rank chooses the same.
    steps, target = max((brought_to(node, NEVER // 2), -node) for node in range(arcs.hosts))
    # Run again with one step less: this flow fails, and its distances are the cut for the proof.
    brought_to(-target, steps - 1)
    return steps, np.where(away < steps, away, -1)[: arcs.size].tolist()


def looks_of_one(arcs: Arcs) -> int:
    """Return an upper bound of the arcs examined by `fewest_to_one`."""
    return int(arcs.in_degrees[: arcs.hosts].sum()) * len(arcs)


def gossip_rate(arcs: Arcs) -> tuple[Fraction, Flags]:
    """Return a lower bound of a gossip's steps per item: the largest ``|S| / out(S)`` (Dinkelbach).

    Returns
    -------
    rate : Fraction
        The largest quotient.
    inside : ndarray of bool, shape (N,)
        Nodes of the set S with this quotient.

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
    # Arc capacities follow from the current rate. If the target cannot receive all items, the nodes
    # that cannot send more form a set with a higher rate, and the search restarts with this rate.
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
    """Return an upper bound of the arcs examined by `gossip_rate`."""
    return arcs.hosts * arcs.hosts * len(arcs)


@inlined
def bring(target, width, ends, free, left, flow, reached):
    """Find a largest flow from all nodes to a target; mark the nodes that could bring more.

    Free arcs have capacity `width`. `left` keeps the supply that remains at each node, and `flow`
    the flow over each arc.
    """
    # Each round finds one more path, breadth first from the target. A path may cancel the flow over
    # an arc of another path; the two paths then swap their ends. A cancelled arc is stored as ~arc.
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
        # The amount is limited by the supply and by the narrowest arc of the path.
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
    """Return the number of arc-disjoint paths of free arcs from root to target, at most `most`."""
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
    """Return the minimum steps of a flow of items from root to target, over the best k paths.

    Paths of more than `longest` steps are left out. `away` receives the steps to each node while
    these paths are in use, with an additional path of `longest` + 1 steps from root to target.
    """
    size = ends.out_begin.size - 1
    # Ford and Fulkerson (1958): a static flow of minimum cost, repeated in every step, is a largest
    # flow over time. Each round adds the next shortest path.
    used = np.zeros(ends.tail.size, np.bool_)
    came_by = np.empty(size, np.int64)
    waiting = np.empty(size, np.bool_)
    queue = np.empty(size, np.int64)
    # Cancelled arcs have negative steps, so nodes may be examined again (Bellman, Ford). The queue
    # is a ring buffer, and contains each node at most once.
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
        # A path longer than the current optimum cannot bring an item in time.
        if away[target] > min(longest, best):
            return best
        total += away[target]
        ways += 1
        # k paths with C steps in total bring k (T + 1) - C items in T steps. Solve for the least T.
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
    """Find a largest flow of all processors' items to one; mark the nodes that could bring more.

    Processors with a remaining supply are unmarked if the flow is largest.
    """
    left[:] = 0
    left[:hosts] = supply
    left[target] = 0
    flow[:] = 0
    bring(target, width, ends, np.ones(ends.tail.size, np.bool_), left, flow, reached)
