"""Lower bounds of the time of a collective, independent of the algorithm.

A bound holds for every program that delivers the collective's results and uses one CPU per
processor. Bounds depend on the data to move, not on the way it moves.
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
"""Ports of the largest network whose links are examined one by one."""

MOST_INFORMED = 1 << 20
"""Maximum number of processors for which the growth of the informed set is simulated."""


class TimeBound(NamedTuple):
    """A lower bound of the time, with its reason."""

    time: int
    """Lower bound of the time, in units of time."""
    by: str
    """Reason for the bound. ``distance``: latency to the farthest processor; ``growth``: time to
    inform all processors; ``ends``: bytes received by one processor; ``cut``: bytes across some
    links; ``nothing``: no bound.
    """


class CollectivePromise(NamedTuple):
    """Collective and placement for which bounds are computed."""

    collective: str
    """Name of the collective."""
    size: int
    """Size of a vector, in bytes."""
    places: Ints
    """Node of each processor in the network. Shape (processors,)."""
    root: int = 0
    """Root of the collective; 0 without a root."""

    @property
    def blocks(self) -> Ints:
        """Size of each processor's block, in bytes."""
        count = len(self.places)
        return np.diff(np.arange(count + 1) * self.size // count)

    @property
    def taken_in(self) -> int:
        """Minimum number of bytes that some processor has to receive from others."""
        own = self.blocks
        if self.collective in ("broadcast", "allreduce", "reduce"):
            return self.size
        if self.collective == "reduce-scatter":
            return int(own.max())
        if self.collective == "alltoall":
            return int(own.max()) * (len(own) - 1)
        return int(self.size - own.min())

    def crossing(self, inside: Ints, bytes_inside: Ints, root_inside: Flags) -> tuple[Ints, Ints]:
        """Return the bytes that must leave parts of a network, and the bytes that must enter them.

        Parameters
        ----------
        inside : ndarray of int64
            Number of processors in each part.
        bytes_inside : ndarray of int64
            Total bytes of their blocks.
        root_inside : ndarray of bool
            True if the part contains the root.
        """
        count = len(self.places)
        parted = (inside > 0) & (inside < count)
        leaves = self._leaving(inside, bytes_inside, root_inside)
        # Bytes enter a part if they leave the rest of the network.
        enters = self._leaving(count - inside, self.size - bytes_inside, ~root_inside)
        return np.where(parted, leaves, 0), np.where(parted, enters, 0)

    def _leaving(self, inside: Ints, bytes_inside: Ints, root_inside: Flags) -> Ints:
        """Return the bytes that must leave parts because processors outside need them."""
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
    """Return the largest known lower bound of the time, with or without a network.

    Parameters
    ----------
    demand : CollectivePromise
        Collective, vector size and placement.
    topology : Topology or None
        The network. None: the latency between any two processors is `costs.flat`.
    costs : Costs
        Costs of processors and links.

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
        TimeBound(
            costs.overhead + least + _taking(demand.taken_in, costs, topology is None), "ends"
        ),
    ]
    # Growth counts informed processors. A reduction only informs its root, so growth gives no
    # bound.
    if demand.collective == "reduce":
        del bounds[1]
    # An ideal network has no queues on links, so any amount crosses a cut at once.
    if topology is not None and topology.links and costs.mode != "ideal":
        bounds.append(TimeBound(both + least + _cut(demand, topology, costs), "cut"))
    return max(bounds, key=lambda bound: bound.time)


def _farthest(demand: CollectivePromise, topology: Topology | None, costs: Costs) -> int:
    """Return the largest latency between the root and another processor.

    In collectives without a root the result is the latency from any one processor to the farthest.
    """
    if topology is None:
        return costs.flat
    root = int(demand.places[demand.root if demand.collective in ROOTED else 0])
    hops = len({*costs.latencies}) == 1 or not topology.links
    # With equal latencies, hops are enough. In large networks the smallest latency times hops is
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
    # Dijkstra's search: latencies differ by class of link, so a path of fewest hops may not be the
    # fastest.
    while waiting:
        so_far, node = heapq.heappop(waiting)
        if node in found:
            continue
        found[node] = so_far
        for at in range(begin[node], begin[node + 1]):
            heapq.heappush(waiting, (so_far + latency[at], ends[at]))
    return max(found[place] for place in demand.places.tolist())


def _growth(count: int, costs: Costs, way: int) -> int:
    """Return the minimum time to inform `count` processors if all informed ones send at once.

    This is the time of the optimal broadcast in the LogP model (Karp, Sahay, Santos, Schauser
    1993).
    """
    every = max(costs.overhead, costs.gap)
    if every == 0 or count > MOST_INFORMED:
        return way
    latest, informed, tells = 0, 1, [(way, 0)]
    # Greedy is optimal: the earliest free sender informs the next processor, and more informed
    # processors never hurt.
    while informed < count:
        latest, begun = heapq.heappop(tells)
        informed += 1
        heapq.heappush(tells, (latest + every, begun + every))
        heapq.heappush(tells, (latest + way, latest))
    return latest


def _taking(size: int, costs: Costs, flat: bool) -> int:
    """Return the minimum time of CPU or NIC to receive `size` bytes, in any number of messages."""
    if not size:
        return 0
    byte = max(costs.overhead_byte, costs.gap_byte) if flat else costs.overhead_byte
    of_cpu = min(costs.overhead + (size - 1) * byte, size * costs.overhead)
    # On a network the NIC receives, then the CPU needs the overhead of the last message.
    of_nic = (size - 1) * min(costs.gap, costs.gap_byte) + costs.overhead
    return of_cpu if flat else max(of_cpu, of_nic)


def _of_classes(costs: tuple[int, ...], classes: Ints) -> Ints:
    return np.array(costs, np.int64)[np.minimum(classes, len(costs) - 1)]


def _cut(demand: CollectivePromise, topology: Topology, costs: Costs) -> int:
    """Return the longest busy time of the links into or out of a part, over some thousand parts.

    The parts are the single processors, the first k nodes by number, and the k nodes nearest to
    node 0.
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
    # Prefixes of an order are nested parts. One cumulative sum evaluates all of them, without a
    # search for each.
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
    """Return the number of links from the first k nodes to the others, for k = 1 to size - 1."""
    forwards = one < other
    changes: Ints = np.bincount(one[forwards], minlength=size) - np.bincount(
        other[forwards], minlength=size
    )
    return np.cumsum(changes)[:-1]


def _slowest(
    crossing: tuple[Ints, Ints], links: list[list[Ints]], times: Ints, shared: bool
) -> int:
    """Return the longest time of any part: its bytes divided by the total rate of its links."""
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
        # Floating point only selects the worst part. Its time is then computed in fractions, so the
        # bound is exact.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(needed > 0, needed / rates, 0)
        worst = int(np.argmax(ratio))
        pairs = zip(counts, speeds.tolist(), strict=True)
        rate = sum((Fraction(int(count[worst]), time) for count, time in pairs), Fraction(0))
        if rate:
            longest = max(longest, -(-int(needed[worst]) // rate))
    return int(longest)
