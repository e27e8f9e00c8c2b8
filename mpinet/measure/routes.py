"""Routes determined by the nodes' decisions: length, stretch, termination, headers.

A route is followed by the routing's two local rules, from the source on; every hop leaves by a
wired port. On busses a hop is one traversal of a bus. Routes start and end at processors and may
pass through switches. The measures are collective: ranks share the pairs, and all ranks get the
result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Array, Ints
from mpinet.base.fielddocs import described
from mpinet.compiled import inlined
from mpinet.errors import RoutingError, UsageError
from mpinet.machine.transport import Local, world
from mpinet.measure.distance import distance_matrix
from mpinet.measure.pairs import Pair, Pairs, as_routing, own_pairs, own_share
from mpinet.networks import walks
from mpinet.networks.catalogue import open_topology
from mpinet.networks.routing import Routing, path
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.networks.walks import arrived, rules

STOPPED, UNWIRED, ENDLESS = -1, -2, -3
"""Marks of routes without a length: the route stops elsewhere, leaves by an unwired port, or does
not end.
"""

LARGEST_MATRIX = 8000
"""Largest number of nodes for a matrix of route lengths; longer routes need wider numbers."""


@described
@dataclass(frozen=True)
class Routes:
    """Summary of the routes between a number of pairs."""

    pairs: int
    """Number of pairs."""
    delivered: int
    """Number of pairs whose route ends at its target."""
    longest: int
    """Hops of the longest route that ends at its target."""
    longest_pair: Pair | None
    """Smallest pair with a longest route; None if no message was delivered."""
    total: int
    """Total hops of all routes that end at their targets."""
    undelivered_pair: Pair | None
    """Smallest pair whose route does not end at its target; None if all do."""
    reason: str | None
    """Fate of the message of `undelivered_pair`; None if all routes end at their targets."""
    stretch_max: float | None
    """Largest quotient of a route's length and the distance, over pairs of different nodes."""
    stretch_pair: Pair | None
    """Smallest pair with this quotient."""

    @property
    def average(self) -> float | None:
        """Mean length of the delivered routes, in hops."""
        return self.total / self.delivered if self.delivered else None


def route_lengths(
    topology: NetworkLike,
    routing: Routing | str | None = None,
    pairs: Any = "all",
    seed: int = 0,
) -> Routes:
    """Measure the routes of all ordered pairs of processors (collective).

    Parameters
    ----------
    topology : Topology or str
        The network; links or busses.
    routing : Routing or str, optional
        Default: the network's first.
    pairs : str or array-like of int, shape (k, 2)
        A traffic pattern (``all``, ``random:K``, ..), or rows (source, target).
    seed : int
        Seed of random pairs.

    Returns
    -------
    Routes
        The summary, the same for any number of ranks. Distances are measured by flooding.

    Examples
    --------
    >>> found = route_lengths("ring:5")
    >>> found.delivered, found.longest, found.total, found.stretch_max
    (20, 2, 30, 1.0)
    """
    network = open_topology(topology)
    routing = as_routing(network, routing)
    asked, transport = Pairs(network, pairs, seed), world()
    longest, stretch = LargestWithKey(transport), LargestWithKey(transport)
    failed = LargestWithKey(transport)
    delivered = total = 0
    for sources, targets in asked.parts():
        # Distances are collective: all ranks flood for the whole part, and each rank then takes its
        # share of the pairs.
        distances = _distances(network, sources, targets)[own_share(transport, len(sources))]
        hops, sources, targets = _own_hops(network, routing, transport, sources, targets)
        keys = sources * network.size + targets
        good = hops >= 0
        longest.take(hops[good], keys[good])
        failed.take(np.ones(int((~good).sum())), keys[~good])
        apart = good & (distances > 0)
        stretch.take(hops[apart] / distances[apart], keys[apart])
        delivered += int(good.sum())
        total += int(hops[good].sum())
    delivered, total = transport.sum(np.array([delivered, total], np.int64)).tolist()
    lost = failed.agree(network.size)[1]
    length, longest_pair = longest.agree(network.size)
    most, stretch_pair = stretch.agree(network.size)
    return Routes(
        pairs=asked.total,
        delivered=delivered,
        longest=int(length or 0),
        longest_pair=longest_pair,
        total=total,
        undelivered_pair=lost,
        reason=_reason(network, routing, lost),
        stretch_max=most,
        stretch_pair=stretch_pair,
    )


class LargestWithKey:
    """The largest of many values, with the lowest key among equal values, over all ranks.

    Parameters
    ----------
    transport : Local
        The ranks.
    """

    def __init__(self, transport: Local):
        self._transport = transport
        self._value, self._key = -np.inf, 0

    def take(self, values: Array, keys: Ints) -> None:
        """Process more values; their keys ascend and are larger than all keys before."""
        if len(values):
            first = int(np.argmax(values))
            # Keys ascend, so the first of equal values has the lowest key. The witness is then the
            # same on any number of ranks.
            if values[first] > self._value:
                self._value, self._key = float(values[first]), int(keys[first])

    def agree(self, size: int) -> tuple[float | None, Pair | None]:
        """Return the largest value and its pair divmod(key, size); (None, None) without values."""
        value = float(self._transport.max(np.array([self._value]))[0])
        # Ranks can only compute a maximum together. The lowest key is the largest of the negated
        # keys.
        mine = -self._key if self._value == value else np.iinfo(np.int64).min
        key = -int(self._transport.max(np.array([mine], np.int64))[0])
        return (None, None) if value == -np.inf else (value, divmod(key, size))


def longest_route(topology: Topology, routing: Routing) -> int:
    """Return the hops of the longest route between two processors (collective)."""
    transport, longest = world(), 0
    for sources, targets in Pairs(topology, "all").parts():
        hops = _own_hops(topology, routing, transport, sources, targets)[0]
        longest = max(longest, int(hops.max(initial=0)))
    return int(transport.max(np.array([longest], np.int64))[0])


def _distances(topology: Topology, sources: Ints, targets: Ints) -> NDArray[np.int16]:
    """Return the distances of pairs, shape (k,) (collective)."""
    # Pairs with the same source share a flood. A flood per pair would multiply the cost by the
    # number of targets.
    starts, rows = np.unique(sources, return_inverse=True)
    return distance_matrix(topology, starts)[rows.ravel(), targets]


def _own_hops(
    topology: Topology, routing: Routing, transport: Local, sources: Ints, targets: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return the route lengths of this rank's share of pairs (negative: none), and the share."""
    sources, targets = own_pairs(transport, sources, targets)
    hops = np.empty(len(sources), np.int64)
    walk_pairs(rules(topology, routing), sources, targets, Lengths(hops))
    return hops, sources, targets


def _reason(topology: Topology, routing: Routing, pair: Pair | None) -> str | None:
    """Return a sentence with the reason why a message is not delivered."""
    if pair is None:
        return None
    try:
        path(topology, routing, *pair)
    except (RoutingError, UsageError) as error:
        return str(error)
    return None


class Lengths(NamedTuple):
    """Results of `walk_pairs` for each pair: the hops of its route, or a negative mark."""

    hops: Ints


@inlined
def note_length(visit, header, notes):
    """Write the length of a finished route, or the mark of a route without a length."""
    length = visit.hops
    if visit.port < 0:
        length = length if arrived(visit) else STOPPED
    else:
        length = UNWIRED if visit.following < 0 else ENDLESS
    notes.hops[visit.pair] = length
    return False


walk_pairs = walks.walk.bind("walk_pairs", notes=Lengths, ended=note_length)


def length_matrix(topology: NetworkLike, routing: Routing | str | None = None) -> NDArray[np.int16]:
    """Return the lengths of all routes (collective).

    Parameters
    ----------
    topology, routing
        As in `route_lengths`.

    Returns
    -------
    ndarray of int16, shape (hosts, hosts)
        Hops from row to column; -1 if the route does not end at its target.

    Raises
    ------
    UsageError
        The network has more than `LARGEST_MATRIX` nodes.
    """
    network = open_topology(topology)
    if network.size > LARGEST_MATRIX:
        raise UsageError(
            f"{network.name} has {network.size} nodes, but a matrix of route lengths has at most "
            f"{LARGEST_MATRIX}."
        )
    routing, transport = as_routing(network, routing), world()
    matrix = np.zeros((network.hosts, network.hosts), np.int16)
    for sources, targets in Pairs(network).parts():
        hops, sources, targets = _own_hops(network, routing, transport, sources, targets)
        matrix[sources, targets] = np.maximum(hops, -1)
    return transport.sum(matrix)


def walk(
    topology: NetworkLike, source: int, target: int, routing: Routing | str | None = None
) -> list[int]:
    """Return the nodes of one route, including source and target.

    Parameters
    ----------
    topology, routing
        As in `route_lengths`.
    source, target : int
        Processor numbers.

    Raises
    ------
    RoutingError
        The route does not end at the target.

    Examples
    --------
    >>> walk("hypercube:4", 0, 5)
    [0, 1, 5]
    """
    network = open_topology(topology)
    network.require_node(source)
    network.require_node(target)
    return path(network, as_routing(network, routing), source, target)[0]


def terminates(
    topology: NetworkLike, routing: Routing | str | None = None, pairs: Any = "all"
) -> bool:
    """Return whether every route ends at its target (collective); see `route_lengths`."""
    network, transport = open_topology(topology), world()
    routing = as_routing(network, routing)
    lost = 0
    for sources, targets in Pairs(network, pairs).parts():
        lost += int((_own_hops(network, routing, transport, sources, targets)[0] < 0).sum())
    return int(transport.sum(np.array([lost], np.int64))[0]) == 0


def repeats(
    topology: NetworkLike, routing: Routing | str | None = None, pairs: Any = "all"
) -> Pair | None:
    """Return the smallest pair whose route visits a node twice; None without one (collective).

    Parameters
    ----------
    topology, routing, pairs
        As in `route_lengths`.
    """
    network, transport = open_topology(topology), world()
    routing = as_routing(network, routing)
    found = LargestWithKey(transport)
    for sources, targets in Pairs(network, pairs).parts():
        sources, targets = own_pairs(transport, sources, targets)
        seen = Seen(np.full(network.size, -1, np.int64))
        place = first_repeat(rules(network, routing), sources, targets, seen)
        if place >= 0:
            key = sources[place] * network.size + targets[place]
            found.take(np.ones(1), np.array([key]))
    return found.agree(network.size)[1]


class Seen(NamedTuple):
    """Results of `first_repeat` for each node: the last pair whose route visited it, or -1."""

    by: Ints


@inlined
def comes_again(visit, header, notes):
    """Return whether a hop leads to a node already visited by this route."""
    # Nodes are marked with the pair's number, so no marks need to be erased.
    notes.by[visit.node] = visit.pair
    return notes.by[visit.following] == visit.pair


first_repeat = walks.walk.bind("first_repeat", notes=Seen, hop=comes_again)


def header_bits(
    topology: NetworkLike,
    routing: Routing | str | None = None,
    pairs: Any = "all",
    seed: int = 0,
) -> int:
    """Return the length in bits of the longest header written by a source (collective).

    Parameters
    ----------
    topology, routing, pairs, seed
        As in `route_lengths`; the routing provides the header's number of bits on the real machine.
        Every pair is evaluated separately: sample the pairs of large networks.
    """
    network, transport = open_topology(topology), world()
    bits = as_routing(network, routing).header_bits
    most = 0
    for sources, targets in Pairs(network, pairs, seed).parts():
        own = own_pairs(transport, sources, targets)
        ends = zip(*(column.tolist() for column in own), strict=True)
        most = max(most, max((bits(source, target) for source, target in ends), default=0))
    return int(transport.max(np.array([most], np.int64))[0])
