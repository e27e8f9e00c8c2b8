"""Deadlock freedom by the channel dependency graph (Dally, Seitz 1987).

The nodes of this graph are (channel, class) pairs. A message that holds one channel and waits for
the next makes the first depend on the second, so the graph has an arc between them. A routing is
free of deadlock if no channel depends on itself, directly or indirectly. A routing with a single
choice of next channel can deadlock if some channel depends on itself. For an adaptive routing, the
nodes are the channels of its escape (see `escape`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import ByteRows, Flags, Ints
from mpinet.base.memory import require_memory
from mpinet.compiled import inlined, kernel
from mpinet.errors import UsageError
from mpinet.machine.transport import world
from mpinet.measure.distance import diameter
from mpinet.measure.escape import escape_dependencies
from mpinet.measure.pairs import Pairs, as_routing, own_pairs
from mpinet.measure.routes import longest_route
from mpinet.networks.bubble import BUBBLE, rings
from mpinet.networks.catalogue import open_topology
from mpinet.networks.classchoice import open_classes
from mpinet.networks.classes import FEWEST, LONGEST, ChannelClasses, in_order, no_classes
from mpinet.networks.routing import Routing
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.networks.valiant import phased
from mpinet.networks.walks import rules, walk

MOST_PAIRS = 2**22
"""Largest number of pairs whose routes are followed to find the longest: a second of work."""

MOST_COUNTED, MOST_ARCS = 2**20, 2**21
"""Largest number of pairs whose routes are followed to find the fewest classes, and largest number
of possible dependencies: a second of work, and some 100 MB.
"""

MOST_SEARCHED = 2**13
"""Largest number of nodes of a network whose diameter is measured for unnamed classes."""


def channel_dependency_cycle(
    topology: NetworkLike,
    routing: Routing | str | None = None,
    pairs: Any = "all",
    classes: str | None = None,
) -> list[tuple[int, ...]] | None:
    """Return a shortest cycle of channels that depend on each other (collective).

    Parameters
    ----------
    topology : Topology or str
        The network; links or busses.
    routing : Routing or str, optional
        Default: the network's first.
    pairs : str or array-like of int, shape (k, 2)
        Pairs that exchange messages: a traffic pattern (``all``, ..), or rows (source, target).
    classes : str, optional
        A class rule of the network or of the routing (`mpinet.networks.classes`). Default: the
        default rule of `load`. With ``none`` all channels have the same class.

    Returns
    -------
    list of (node, port, class), or None
        None if the dependencies have no cycle: the routing is free of deadlock. Otherwise the
        channels of a shortest cycle, each waiting for the next and the last for the first, starting
        at the lowest possible channel. A channel is given by the sender's node and port, and the
        class. For an adaptive routing the cycle is in its escape, with the routing's own classes.
        With ``bubble``, and for routings with bubbles, it is a cycle of rings, each given by its
        lowest channel.

    Raises
    ------
    UsageError
        The classes do not exist, or their number is unknown.

    Examples
    --------
    On a ring with a single class, every channel may wait for the next. In a hypercube, messages
    correct one dimension after the other, and there is no cycle. By default a ring has two classes:

    >>> channel_dependency_cycle("ring:5", classes="none")
    [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)]
    >>> channel_dependency_cycle("hypercube:3", classes="none") is None
    True
    >>> channel_dependency_cycle("ring:5") is None
    True
    """
    network = open_topology(topology)
    chosen = settled(network, as_routing(network, routing))
    counted = counted_classes(network, chosen, classes)
    return shortest_dependency_cycle(network, chosen, counted, pairs)


def shortest_dependency_cycle(
    network: Topology, routing: Routing, classes: ChannelClasses, pairs: Any = "all"
) -> list[tuple[int, ...]] | None:
    """Return the result of `channel_dependency_cycle` for given classes (collective)."""
    count = classes.count
    channels = network.size * network.ports * count
    heads, tails = dependencies(network, routing, classes, pairs)
    offsets = np.searchsorted(heads, np.arange(channels + 1))
    cycle = np.empty(channels, np.int64)
    length = shortest_cycle(offsets, tails, remaining(offsets, tails), cycle)
    if length == 0:
        return None
    return [
        (*divmod(pair // count, network.ports), pair % count) for pair in cycle[:length].tolist()
    ]


def dependencies(
    network: Topology, routing: Routing, classes: ChannelClasses, pairs: Any = "all"
) -> tuple[Ints, Ints]:
    """Return the arcs of the channel dependency graph (collective).

    Returns
    -------
    heads, tails : ndarray of int64, shape (k,)
        Dependent channels, ascending, and the channels on which they depend, as numbers (node *
        ports + port) * classes + class.

    Raises
    ------
    UsageError
        A route uses a class that does not exist.
    """
    count = classes.count
    channels = network.size * network.ports * count
    # An adaptive routing may have cycles and still be free of deadlock. By Duato's theorem only its
    # escape counts.
    if routing.adaptive:
        arcs = escape_dependencies(network, routing, pairs)
        if routing.bubble:
            return between_rings(network, arcs[:, 0], arcs[:, 1], count)
        return arcs[:, 0].copy(), arcs[:, 1].copy()
    # Only channels at a channel's end node can follow it. The table therefore has ports as columns,
    # not all channels.
    require_memory(channels * network.ports * count, f"The dependencies of {network.name}")
    transport = world()
    follows = np.zeros((channels, network.ports * count), np.uint8)
    notes = Dependencies(count, follows, np.zeros(1, np.int64))
    for sources, targets in Pairs(network, pairs).parts():
        ends = own_pairs(transport, sources, targets)
        if note_dependencies(rules(network, routing, classes), *ends, notes) >= 0:
            transport.fail(
                UsageError(
                    f"The classes {classes.name} of {network.name} are 0..{count - 1}, but a route "
                    f"of routing {routing.name} takes class {notes.wrong[0]}."
                )
            )
    # Each rank marks the dependencies of its share of pairs. The maximum over ranks is the union of
    # the marks.
    heads, then = np.nonzero(transport.max(follows))
    nodes, ports = np.divmod(heads // count, network.ports)
    tails = network.neighbor(nodes, ports) * network.ports * count + then
    if classes.name != BUBBLE:
        return heads, tails
    return between_rings(network, heads, tails, count)


def between_rings(network: Topology, heads: Ints, tails: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the arcs between rings, each named by its lowest channel.

    With bubble flow control, only dependencies between rings matter. Channels are numbered with
    their classes, of which there are `count`.
    """
    # With bubble flow control a ring never fills up, and cycles within a ring are harmless.
    # Dependencies between rings decide.
    of = rings(network)
    ends = [of[each // count] * count + each % count for each in (heads, tails)]
    arcs = np.unique(np.stack(ends, axis=1), axis=0)
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    return arcs[:, 0].copy(), arcs[:, 1].copy()


def settled(topology: Topology, routing: Routing) -> Routing:
    """Return the routing, with the channel classes of its base routing counted (collective).

    A routing without a base, or with counted classes, is returned unchanged.
    """
    if routing.settle is None or routing.base is None:
        return routing
    return routing.settle(counted_classes(topology, routing.base))


def counted_classes(
    topology: Topology, routing: Routing, name: str | None = None
) -> ChannelClasses:
    """Return a class rule by name, with its number of classes (collective).

    If no name is given and the rule is the network's channel order, the result is ``none`` if
    one class is enough, or if counting the classes takes too long.

    Parameters
    ----------
    topology, routing
        The network and its routing.
    name : str, optional
        As in `open_classes`. The default is ``none`` if the network's own order of channels needs a
        single class, or an unknown number of classes.

    Raises
    ------
    UsageError
        The rule does not exist, or its number of classes is unknown.
    """
    routing = settled(topology, routing)
    if routing.base is not None and name in (None, "own"):
        return phased(topology, routing, counted_classes(topology, routing.base))
    classes = open_classes(topology, routing, name)
    if classes.count == LONGEST:
        longest = _longest(topology, routing, classes.name)
        return replace(classes, count=max(1, longest - classes.beside))
    if classes.count != FEWEST:
        return classes
    if name is None and not is_counted(topology, routing):
        return no_classes(topology.params)
    count = _fewest(topology, routing)
    return no_classes(topology.params) if name is None and count == 1 else in_order(topology, count)


def _longest(topology: Topology, routing: Routing, name: str) -> int:
    """Return the hops of the longest route, or an upper bound (collective)."""
    times = 1 if routing.shortest else routing.diameters
    if times:
        return times * diameter(topology)
    if topology.hosts**2 > MOST_PAIRS:
        raise UsageError(
            f"The classes {name} need the length of the longest route, known only for "
            f"shortest paths and in small networks, not for routing {routing.name} on "
            f"{topology.name}."
        )
    return longest_route(topology, routing)


def is_counted(topology: Topology, routing: Routing) -> bool:
    """Return whether the number of classes by order can be found within seconds."""
    if is_followed(topology, routing) or topology.most_classes is not None:
        return True
    return topology.size <= MOST_SEARCHED and (routing.shortest or routing.diameters > 0)


def is_followed(topology: Topology, routing: Routing) -> bool:
    """Return whether the routes of all pairs can be followed in about a second."""
    arcs = topology.size * topology.ports**2
    return not routing.numbered and topology.hosts**2 <= MOST_COUNTED and arcs <= MOST_ARCS


def _fewest(topology: Topology, routing: Routing) -> int:
    """Return the fewest classes by order without a cycle, or a sufficient number (collective)."""
    if not is_followed(topology, routing):
        if topology.most_classes is not None:
            return topology.most_classes
        # A path enters a new class at most at every second hop: each descent in the order follows
        # an ascent.
        return 1 + _longest(topology, routing, "ordered") // 2
    # Dependencies with many classes include those with fewer: the last class takes all further
    # hops. One walk therefore serves several counts.
    least, most = 1, 4
    while True:
        heads, tails = dependencies(topology, routing, in_order(topology, most))
        for count in range(least, most + 1):
            # The first count without a cycle is the fewest, because counts are tried in ascending
            # order.
            if not _has_cycle(*(_kept_below(each, most, count) for each in (heads, tails))):
                return count
        least, most = most + 1, 2 * most


def _kept_below(pairs: Ints, most: int, count: int) -> Ints:
    """Convert channel numbers with `most` classes to `count` classes, merging the last classes."""
    channels, classes = np.divmod(pairs, most)
    return channels * count + np.minimum(classes, count - 1)


def has_dependency_cycle(network: Topology, routing: Routing, classes: ChannelClasses) -> bool:
    """Return whether the channel dependency graph has a cycle (collective)."""
    return _has_cycle(*dependencies(network, routing, classes))


def _has_cycle(heads: Ints, tails: Ints) -> bool:
    """Return whether a directed graph, given by its arcs, has a cycle."""
    order = np.argsort(heads, kind="stable")
    heads, tails = heads[order], tails[order]
    count = 1 + max(heads.max(initial=-1), tails.max(initial=-1))
    offsets = np.searchsorted(heads, np.arange(count + 1))
    return bool(remaining(offsets, tails).any())


class Dependencies(NamedTuple):
    """Results of `note_dependencies`: channels that follow each channel, and an invalid class."""

    classes: int
    follows: ByteRows
    wrong: Ints


@inlined
def note_dependency(visit, header, notes):
    """Mark this hop's port and class as following the channel and class of the previous hop."""
    if visit.group < 0 or visit.group >= notes.classes:
        notes.wrong[0] = max(visit.group, notes.classes)
        return True
    if visit.held >= 0:
        follows = notes.follows
        follows[visit.held, visit.channel % follows.shape[1]] = 1
    return False


note_dependencies = walk.bind(
    "note_dependencies", notes=Dependencies, hop=note_dependency, CLASSED=True
)


def remaining(offsets: Ints, tails: Ints) -> Flags:
    """Return flags: True for each vertex on a cycle, or with a path to a cycle."""
    count = len(offsets) - 1
    heads = np.repeat(np.arange(count), np.diff(offsets))
    # Channels that wait for no remaining channel are peeled off, as in a topological sort. The
    # remaining channels lie on a cycle or before a cycle.
    left = np.ones(count, bool)
    while True:
        waits = np.zeros(count, bool)
        waits[heads[left[tails] & left[heads]]] = True
        if (waits == left).all():
            return left
        left = waits


@kernel
def shortest_cycle(offsets: Ints, tails: Ints, left: Flags, cycle: Ints) -> int:
    """Write a shortest cycle through vertices that are `left`; return its length, or 0."""
    count = offsets.size - 1
    best = 0
    reached_by = np.full(count, -1, np.int64)
    before, depth = np.empty(count, np.int64), np.empty(count, np.int64)
    queue = np.empty(count, np.int64)
    # A breadth-first search from each vertex finds the shortest cycle through it. Ascending origins
    # give the cycle from its lowest channel.
    for origin in range(count):
        if not left[origin] or best == 1:
            continue
        reached_by[origin], depth[origin], queue[0] = origin, 0, origin
        head, end, last = 0, 1, -1
        while head < end and last < 0:
            vertex = queue[head]
            head += 1
            # Further cycles from this origin are no shorter than the best cycle, so the search from
            # this origin ends.
            if best > 0 and depth[vertex] + 1 >= best:
                break
            for e in range(offsets[vertex], offsets[vertex + 1]):
                other = tails[e]
                if other == origin:
                    last = vertex
                    break
                if left[other] and reached_by[other] != origin:
                    reached_by[other], before[other] = origin, vertex
                    depth[other] = depth[vertex] + 1
                    queue[end] = other
                    end += 1
        if last >= 0:
            best = depth[last] + 1
            for i in range(best - 1, -1, -1):
                cycle[i] = last
                last = before[last]
    return best
