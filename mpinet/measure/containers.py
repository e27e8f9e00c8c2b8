"""Exact fault diameters, proved by disjoint paths, and by removals that reach the value.

After f node failures, at least one of f+1 paths without common inner nodes remains (Menger). If all
of these paths are short, the ends stay close for any failures. Such a set of paths is a
*container*. The largest necessary container bounds the fault diameter (the network's wide
diameter). For a pair without a container, the search branches over the inner nodes of a shortest
path: at least one of these nodes must fail, otherwise the distance is unchanged. The value is
therefore exact, without sampling or listing all removals.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from mpinet.base.arrays import Flags, Ints, Shorts, Table
from mpinet.base.fielddocs import described
from mpinet.compiled import inlined, kernel
from mpinet.errors import OutOfReach, UsageError
from mpinet.measure.cuts import separating_nodes
from mpinet.measure.symmetry import orbits
from mpinet.networks.adjacency import Adjacency, spread
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology

UNDECIDED = -1
"""Mark of a pair without enough short disjoint paths. Decided pairs have their distance, or 0 if
the ends stay close.
"""

MOST_BRANCHES = 10**6
"""Largest number of sets of failed nodes that are examined for a pair."""


@described
@dataclass(frozen=True)
class FaultDistance:
    """The largest distance after a number of node failures, with its proof."""

    value: int | float
    """Fault diameter, in hops; infinite if some removal disconnects the network."""
    removed: tuple[int, ...]
    """Nodes, ascending, whose removal increases the distance of two other nodes to `value`."""
    ends: tuple[int, ...]
    """Two nodes at this distance after the removal; empty if the network is disconnected."""
    pairs: int
    """Number of examined pairs; all other pairs are images under automorphisms."""
    by_paths: int
    """Number of pairs without a search: neighbours, or pairs joined by faults + 1 disjoint paths of
    at most `value` hops. The search branched over all other pairs.
    """
    branches: int
    """Number of sets of failed nodes examined by the search."""


def fault_distance(topology: NetworkLike, faults: int = 1) -> FaultDistance:
    """Compute and prove the worst diameter after the removal of any `faults` nodes.

    The search does not try all removals. Every rank computes the same result by itself.

    Parameters
    ----------
    topology : Topology or str
        The network; switches may be removed as well. In a bus network, all members of a bus are
        neighbours.
    faults : int
        Number of removed nodes, 0..N-2.

    Raises
    ------
    UsageError
        Fewer than two nodes would be left.
    OutOfReach
        A pair takes more branches than `MOST_BRANCHES`.

    Examples
    --------
    >>> found = fault_distance("hypercube:4", 3)
    >>> found.value, found.by_paths == found.pairs
    (5, True)
    """
    network = open_topology(topology)
    if not 0 <= faults <= network.size - 2:
        raise UsageError(
            f"{faults} of the nodes of {network.name} cannot be removed: two must stay, and "
            f"0..{network.size - 2} can be removed."
        )
    # If f nodes can disconnect the network, the answer is known at once. Otherwise Menger's theorem
    # gives f + 1 disjoint paths for every pair.
    pieces = separating_nodes(network)
    if pieces is not None and len(pieces) <= faults:
        return FaultDistance(inf, _more_removed(network, pieces, faults), (), 0, 0, 0)
    return _ContainerSearch(network, faults).run()


def _more_removed(network: Topology, pieces: tuple[int, ...], faults: int) -> tuple[int, ...]:
    """Extend a disconnecting set of nodes to exactly `faults` nodes."""
    lists = Adjacency.of(network)
    distance = np.full(network.size, -1, np.int64)
    distance[list(pieces)] = -2
    first = int(np.flatnonzero(distance == -1)[0])
    write_distances(lists.begin, lists.others, first, distance)
    apart = int(np.flatnonzero(distance == -1)[0])
    return _filled(network, pieces, (first, apart), faults)


def _filled(
    network: Topology, removed: tuple[int, ...], ends: tuple[int, ...], faults: int
) -> tuple[int, ...]:
    """Extend a removal to exactly `faults` nodes, which makes no distance smaller."""
    spare = (node for node in range(network.size) if node not in {*removed, *ends})
    more = [next(spare) for _ in range(faults - len(removed))]
    return tuple(sorted([*removed, *more]))


class _ContainerSearch:
    """The search over all pairs of nodes.

    Parameters
    ----------
    network : Topology
        The network, connected after any `faults` failures.
    faults : int
        Number of failing nodes.
    """

    def __init__(self, network: Topology, faults: int):
        self._network, self._faults = network, faults
        self._adjacency = Adjacency.of(network)
        self._limit = 1
        self._branches = 0

    def run(self) -> FaultDistance:
        """Examine one pair per orbit; a pair beyond the known limit raises the limit."""
        size = self._network.size
        # An automorphism maps removals to removals. One end from each orbit, with every other end,
        # therefore covers all pairs.
        roots = [orbit[0] for orbit in orbits(self._network)]
        pairs = np.array([(u, v) for u in roots for v in range(size) if u != v], np.int64)
        nobody = np.zeros(size, bool)
        found: tuple[tuple[int, ...], tuple[int, ...]] = ((), (0, 1))
        todo = pairs
        while True:
            decided = self._decide(todo, nobody, self._faults)
            far = int(decided.max(initial=0))
            if far <= self._limit:
                break
            at = int(decided.argmax())
            self._limit, found = far, ((), tuple(todo[at].tolist()))
        # Only pairs without enough short disjoint paths are left. On symmetric networks these are
        # few, and branching stays affordable.
        hard = todo[decided == UNDECIDED]
        for pair in hard.tolist():
            while (removed := self._hits(pair)) is not None:
                self._limit = self._distance(pair, removed)
                found = removed, tuple(pair)
        decided = self._decide(pairs, nobody, self._faults)
        by_paths = int((decided == 0).sum())
        removed, ends = found
        removed = _filled(self._network, removed, ends, self._faults)
        return FaultDistance(self._limit, removed, ends, len(pairs), by_paths, self._branches)

    def _decide(self, pairs: Ints, dead: Flags, faults: int) -> Ints:
        """Return for each pair its distance if above the limit, 0 if it stays close, or -1."""
        decided = np.empty(len(pairs), np.int64)
        lists = self._adjacency
        decide(lists.begin, lists.others, dead, pairs, faults, self._limit, decided)
        return decided

    def _distance(self, pair: list[int], removed: tuple[int, ...]) -> int:
        """Return the distance of two nodes, in hops, after a removal."""
        distance = np.full(self._network.size, -1, np.int64)
        distance[list(removed)] = -2
        write_distances(self._adjacency.begin, self._adjacency.others, pair[0], distance)
        return int(distance[pair[1]])

    def _hits(self, pair: list[int]) -> tuple[int, ...] | None:
        """Return failing nodes that separate a pair beyond the limit; None if there are none.

        Every sufficiently short path must have an inner node in this set.
        """
        self._left = MOST_BRANCHES
        dead = np.zeros(self._network.size, bool)
        found = self._branch(np.array([pair]), dead, set(), self._faults)
        return None if found is None else tuple(sorted(found))

    def _branch(self, pair: Ints, dead: Flags, kept: set[int], faults: int) -> list[int] | None:
        """Complete a set of failed nodes; nodes in `kept` do not fail."""
        self._branches += 1
        self._left -= 1
        if self._left < 0:
            source, target = pair[0].tolist()
            raise OutOfReach(
                f"nodes {source} and {target} of {self._network.name}: more than {MOST_BRANCHES} "
                "sets of failed nodes would be examined"
            )
        decided = int(self._decide(pair, dead, faults)[0])
        if decided > 0:
            return np.flatnonzero(dead).tolist()
        # Sufficiently short disjoint paths survive any further failures. No removal below this
        # branch can work.
        if decided == 0 or faults == 0:
            return None
        kept = set(kept)
        for node in self._shortest(pair[0].tolist(), dead):
            if node in kept:
                continue
            dead[node] = True
            found = self._branch(pair, dead, kept, faults - 1)
            dead[node] = False
            if found is not None:
                return found
            # A tried node stays alive in later branches, so no set of failed nodes is examined
            # twice.
            kept.add(node)
        return None

    def _shortest(self, ends: list[int], dead: Flags) -> list[int]:
        """Return the inner nodes of a shortest path of living nodes."""
        source, target = ends
        distance = np.where(dead, -2, -1).astype(np.int64)
        write_distances(self._adjacency.begin, self._adjacency.others, target, distance)
        path, at = [], source
        while distance[at] > 1:
            begin, end = self._adjacency.begin[at], self._adjacency.begin[at + 1]
            around = self._adjacency.others[begin:end]
            at = int(around[distance[around] == distance[at] - 1][0])
            path.append(at)
        return path


@kernel
def write_distances(begin: Ints, others: Shorts, root: int, distance: Ints) -> None:
    """Write the hops from a root to all nodes marked -1; nodes with smaller marks are dead."""
    spread(begin, others, root, distance, np.empty(distance.size, np.int64))


@inlined
def offer(place, cost, origin, costs, came, waits, ring, tail):
    """Update a place of the flow if this path is cheaper; return the end of the queue."""
    if cost >= costs[place]:
        return tail
    costs[place], came[place] = cost, origin
    # A waiting place is not queued again, so the ring never holds more places than exist.
    if waits[place]:
        return tail
    ring[tail], waits[place] = place, True
    return (tail + 1) % ring.size


@inlined
def search_way(begin, others, source, target, near, after, before, costs, came, waits, ring):
    """Write the cheapest path from the source's exit to the target's entrance, backwards.

    A link used by a path can only be cancelled, at cost -1. A node on a path can only be passed
    along the reverse of its path.
    """
    size = near.size
    # No path costs as much as 4N hops, so 4N marks an unreached place.
    costs[:], came[:], waits[:] = 4 * size, -1, False
    costs[source + size], ring[0] = 0, source + size
    head, tail = 0, 1
    while head != tail:
        place = ring[head]
        head = (head + 1) % ring.size
        waits[place] = False
        cost = costs[place]
        if place == target:
            continue
        if place >= size:
            node = place - size
            # From the exit of a node on a path, the flow may go back into the node. It must then
            # leave through the node's own entering link.
            if node != source and before[node] >= 0:
                tail = offer(node, cost, place, costs, came, waits, ring, tail)
            for at in range(begin[node], begin[node + 1]):
                other = others[at]
                taken = before[other] == source if node == source else after[node] == other
                if near[other] and other != source and not taken:
                    tail = offer(other, cost + 1, place, costs, came, waits, ring, tail)
        # An unused node is passed once. Splitting nodes into entrance and exit makes disjoint paths
        # a flow with unit capacities.
        elif before[place] < 0:
            tail = offer(place + size, cost, place, costs, came, waits, ring, tail)
        elif before[place] != source:
            tail = offer(before[place] + size, cost - 1, place, costs, came, waits, ring, tail)


@inlined
def lay_way(source, target, after, before, came):
    """Remove the links cancelled by the new path, then add its new links."""
    size = before.size
    # Links cancelled by the new path are removed first. In a single pass, a removal could erase a
    # link just added.
    for laying in range(2):
        place = target
        while place != source + size:
            previous = came[place]
            # A step from exit to entrance uses a link; from entrance to exit of a different node,
            # it cancels a link.
            if previous >= size and place < size and previous - size != place:
                if laying and previous - size != source:
                    after[previous - size] = place
                if laying and place != target:
                    before[place] = previous - size
            elif previous < size and place >= size and place - size != previous and not laying:
                after[place - size], before[previous] = -1, -1
            place = previous


@inlined
def count_short(begin, others, source, target, after, before, limit):
    """Return the number of the flow's paths with at most `limit` hops."""
    count = 0
    for at in range(begin[source], begin[source + 1]):
        node = others[at]
        if before[node] == source:
            hops = 1
            while node != target:
                node = after[node]
                hops += 1
            count += hops <= limit
    return count


@kernel
def decide(
    begin: Ints, others: Shorts, dead: Flags, pairs: Table, faults: int, limit: int, decided: Ints
) -> None:
    """Decide for each pair if `faults` + 1 disjoint paths of living nodes are within the limit.

    Augmenting paths are added in ascending order of length, so the paths have the fewest hops in
    total. A node v becomes two places of the flow: entrance v and exit v + N. Nodes on no path
    within the limit are left out.
    """
    size = dead.size
    hops, back = np.empty(size, np.int64), np.empty(size, np.int64)
    near, queue = np.empty(size, np.bool_), np.empty(size, np.int64)
    after, before = np.empty(size, np.int64), np.empty(size, np.int64)
    costs, came = np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    waits, ring = np.empty(2 * size, np.bool_), np.empty(2 * size + 1, np.int64)
    for i in range(pairs.shape[0]):
        source, target = pairs[i, 0], pairs[i, 1]
        # Pairs are sorted by source, so one breadth-first search serves all pairs of the source.
        if i == 0 or source != pairs[i - 1, 0]:
            for node in range(size):
                hops[node] = -2 if dead[node] else -1
            spread(begin, others, source, hops, queue)
        if hops[target] > limit:
            decided[i] = hops[target]
            continue
        decided[i] = 0
        if hops[target] == 1 or faults == 0:
            continue
        for node in range(size):
            back[node] = -2 if dead[node] else -1
        spread(begin, others, target, back, queue)
        for node in range(size):
            # A node whose shortest detour exceeds the limit is on no relevant path. Leaving it out
            # shrinks the flow network.
            near[node] = hops[node] >= 0 and hops[node] + back[node] <= limit
            after[node], before[node] = -1, -1
        short = 0
        for _ in range(faults + 1):
            search_way(begin, others, source, target, near, after, before, costs, came, waits, ring)
            if came[target] < 0:
                break
            lay_way(source, target, after, before, came)
            short = max(short, count_short(begin, others, source, target, after, before, limit))
            if short > faults:
                break
        if short <= faults:
            decided[i] = UNDECIDED
