"""Times that no program of a collective beats, whatever its algorithm.

A bound holds for every program after which every processor has what the collective promises, if it
uses one CPU of each processor. It looks at what has to cross, never at how.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.machine.beep import wired
from mpinet.machine.timed.costs import Costs
from mpinet.networks.adjacency import Adjacency, measure_distances
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import ROOTED

MOST_PORTS = 1 << 20
"""Ports of the largest network whose links are looked at one by one."""

MOST_INFORMED = 1 << 20
"""Most processors for which it is counted how they inform one another."""


class TimeBound(NamedTuple):
    """A time, and why nothing ends before it."""

    time: int
    """Units of time."""
    by: str
    """``distance``: what the farthest processor has to know is so far away; ``growth``: so many
    cannot be informed sooner; ``ends``: what a processor has to take in; ``cut``: what has to cross
    some links; ``nothing`` where there is none."""


class CollectivePromise(NamedTuple):
    """Promise of a collective."""

    collective: str
    """Name of the collective."""
    size: int
    """Bytes of a vector."""
    places: Ints
    """Node of each processor in the network. Shape (processors,)."""
    root: int = 0
    """Root of the collective; 0 if it has no root."""

    @property
    def blocks(self) -> Ints:
        """Bytes of each processor's block."""
        count = len(self.places)
        return np.diff(np.arange(count + 1) * self.size // count)

    @property
    def taken_in(self) -> int:
        """Bytes that some processor has to take in from others, at least."""
        own = self.blocks
        if self.collective in ("broadcast", "allreduce", "reduce"):
            return self.size
        if self.collective == "reduce-scatter":
            return int(own.max())
        if self.collective == "alltoall":
            return int(own.max()) * (len(own) - 1)
        return int(self.size - own.min())

    def crossing(self, inside: Ints, bytes_inside: Ints, root_inside: Flags) -> tuple[Ints, Ints]:
        """Return the bytes that leave parts of a network, and that enter them.

        Parameters
        ----------
        inside : ndarray of int64
            How many of the processors each part has.
        bytes_inside : ndarray of int64
            Bytes of their blocks.
        root_inside : ndarray of bool
            Whether the root is one of them.
        """
        count = len(self.places)
        parted = (inside > 0) & (inside < count)
        leaves = self._leaving(inside, bytes_inside, root_inside)
        # What enters a part leaves all others together.
        enters = self._leaving(count - inside, self.size - bytes_inside, ~root_inside)
        return np.where(parted, leaves, 0), np.where(parted, enters, 0)

    def _leaving(self, inside: Ints, bytes_inside: Ints, root_inside: Flags) -> Ints:
        """Return the bytes that leave parts, if any of the others needs them."""
        size = self.size
        return {
            "broadcast": np.where(root_inside, size, 0),
            "reduce": np.where(root_inside, 0, size),
            "allreduce": np.full(len(inside), size),
            "allgather": bytes_inside,
            "reduce-scatter": size - bytes_inside,
            "alltoall": inside * (size - bytes_inside),
        }[self.collective]


def lower_bound(demand: CollectivePromise, topology: Topology | None, costs: Costs) -> TimeBound:
    """Return the best bound that is known, for a network or without one.

    Parameters
    ----------
    demand : CollectivePromise
        What is to be done.
    topology : Topology or None
        The network; None: every two processors are `costs.flat` apart.
    costs : Costs
        What processors and links take.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> costs = Costs(latencies=(10,), byte_times=(2,))
    >>> lower_bound(CollectivePromise("broadcast", 100, np.arange(6), 0), open("ring:6"), costs)
    TimeBound(time=110, by='cut')
    """
    if len(demand.places) == 1:
        return TimeBound(0, "nothing")
    least = costs.flat if topology is None else min(costs.latencies)
    both = 2 * costs.overhead
    bounds = [
        TimeBound(both + _farthest(demand, topology, costs), "distance"),
        TimeBound(_growth(len(demand.places), costs, both + least), "growth"),
        TimeBound(costs.overhead + least + _taking(demand.taken_in, costs), "ends"),
    ]
    # Growth counts informed processors. A reduction informs its root alone, which growth does not
    # limit.
    if demand.collective == "reduce":
        del bounds[1]
    # An ideal network has no queues on links, so a cut lets everything through at once.
    if topology is not None and topology.links and costs.mode != "ideal":
        bounds.append(TimeBound(both + least + _cut(demand, topology, costs), "cut"))
    return max(bounds, key=lambda bound: bound.time)


def _farthest(demand: CollectivePromise, topology: Topology | None, costs: Costs) -> int:
    """Return the latency from one processor to the farthest; of any one, where all hear all."""
    if topology is None:
        return costs.flat
    root = int(demand.places[demand.root if demand.collective in ROOTED else 0])
    hops = len({*costs.latencies}) == 1 or not topology.links
    # With equal latencies, hops are enough. In large networks the least latency times hops is
    # weaker, but still a bound.
    if hops or topology.size * topology.ports > MOST_PORTS:
        lists = Adjacency.of(topology)
        distance = np.full(topology.size, -1, np.int32)
        measure_distances(lists.begin, lists.others, root, distance)
        return int(distance[demand.places].max()) * min(costs.latencies)
    senders, ports = wired(topology, np.arange(topology.size))
    ends = topology.neighbor(senders, ports).tolist()
    latency = _of_classes(costs.latencies, topology.link_class(senders, ports)).tolist()
    begin = np.searchsorted(senders, np.arange(topology.size + 1)).tolist()
    found, waiting = dict[int, int](), [(0, root)]
    # Dijkstra's search: latencies differ by class of link, so the fewest hops may not be the
    # quickest way.
    while waiting:
        so_far, node = heapq.heappop(waiting)
        if node in found:
            continue
        found[node] = so_far
        for at in range(begin[node], begin[node + 1]):
            heapq.heappush(waiting, (so_far + latency[at], ends[at]))
    return max(found[place] for place in demand.places.tolist())


def _growth(count: int, costs: Costs, way: int) -> int:
    """Return when so many can have heard of one, if each that has heard tells others at once.

    That is the optimal broadcast of the LogP model (Karp, Sahay, Santos, Schauser 1993).
    """
    every = max(costs.overhead, costs.gap)
    if every == 0 or count > MOST_INFORMED:
        return way
    latest, informed, tells = 0, 1, [(way, 0)]
    # Greedy is optimal here: the earliest free teller always informs the next, and more informed
    # processors never hurt.
    while informed < count:
        latest, begun = heapq.heappop(tells)
        informed += 1
        heapq.heappush(tells, (latest + every, begun + every))
        heapq.heappush(tells, (latest + way, latest))
    return latest


def _taking(size: int, costs: Costs) -> int:
    """Return the least CPU time in which so many bytes are taken in, in any number of messages."""
    byte = max(costs.overhead_byte, costs.gap_byte)
    return min(costs.overhead + (size - 1) * byte, size * costs.overhead) if size else 0


def _of_classes(costs: tuple[int, ...], classes: Ints) -> Ints:
    return np.array(costs, np.int64)[np.minimum(classes, len(costs) - 1)]


def _cut(demand: CollectivePromise, topology: Topology, costs: Costs) -> int:
    """Return the longest time that links into or out of a part are busy, of some thousand parts.

    These are single processors, the first nodes by number, and those that are nearest to node 0.
    """
    if topology.size * topology.ports > MOST_PORTS:
        return 0
    size = topology.size
    senders, ports = wired(topology, np.arange(size))
    ends = topology.neighbor(senders, ports)
    bytes_each = _of_classes(costs.byte_times, topology.link_class(senders, ports))
    lists = Adjacency.of(topology)
    distance = np.full(size, -1, np.int32)
    measure_distances(lists.begin, lists.others, 0, distance)
    share, blocks = np.zeros(size, np.int64), np.zeros(size, np.int64)
    share[demand.places] = 1
    blocks[demand.places] = demand.blocks
    root = int(demand.places[demand.root])
    best = 0
    times = np.unique(bytes_each)
    # Prefixes of an order are nested parts. All of them are evaluated by one cumulative sum instead
    # of a search for each.
    for order in (np.arange(size), np.lexsort((np.arange(size), distance))):
        place = np.empty(size, np.int64)
        place[order] = np.arange(size)
        crossing = demand.crossing(
            np.cumsum(share[order])[:-1],
            np.cumsum(blocks[order])[:-1],
            place[root] < np.arange(1, size),
        )
        kinds = _each(bytes_each, times)
        links = [
            [_crossing(place[one[kind]], place[other[kind]], size) for kind in kinds]
            for one, other in ((senders, ends), (ends, senders))
        ]
        best = max(best, _slowest(crossing, links, times, costs.half_duplex))
    nodes = demand.places
    crossing = demand.crossing(share[nodes], blocks[nodes], nodes == root)
    links = [
        [np.bincount(end[chosen], minlength=size)[nodes] for chosen in _each(bytes_each, times)]
        for end in (senders, ends)
    ]
    return max(best, _slowest(crossing, links, times, costs.half_duplex))


def _each(bytes_each: Ints, times: Ints) -> list[Ints]:
    return [np.flatnonzero(bytes_each == time) for time in times]


def _crossing(one: Ints, other: Ints, size: int) -> Ints:
    """Return how many links lead from the first k places to the others, for k = 1.. size - 1."""
    forwards = one < other
    changes: Ints = np.bincount(one[forwards], minlength=size) - np.bincount(
        other[forwards], minlength=size
    )
    return np.cumsum(changes)[:-1]


def _slowest(
    crossing: tuple[Ints, Ints], links: list[list[Ints]], times: Ints, shared: bool
) -> int:
    """Return the longest time of any part: its bytes over the sum of its links' rates."""
    if shared:
        crossing, links = (crossing[0] + crossing[1],), links[:1]  # type: ignore[assignment]
    longest = 0
    for needed, counts in zip(crossing, links, strict=True):
        if times[0] == 0:
            free = counts[0] > 0
            needed, counts, speeds = np.where(free, 0, needed), counts[1:], times[1:]
        else:
            speeds = times
        if not len(speeds) or not needed.max(initial=0):
            continue
        rates = sum(count / time for count, time in zip(counts, speeds, strict=True))
        # Floating point only chooses the worst part. Its time is then computed in fractions, so the
        # bound is exact.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(needed > 0, needed / rates, 0)
        worst = int(np.argmax(ratio))
        pairs = zip(counts, speeds.tolist(), strict=True)
        rate = sum((Fraction(int(count[worst]), time) for count, time in pairs), Fraction(0))
        if rate:
            longest = max(longest, -(-int(needed[worst]) // rate))
    return int(longest)
