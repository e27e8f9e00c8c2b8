"""Deadlock freedom by the channel dependency graph (Dally, Seitz 1987).

Its nodes are the channels; an arc leads from a channel to the next one that some message on it
needs: a message that holds a channel and waits for the next makes the one depend on the other. A
routing with one channel a link (no virtual channels) cannot deadlock if no channel depends on
itself by way of others, and a routing whose next channel is determined can if one does. With
classes the nodes are pairs of a channel and a class; of an adaptive routing, those of its escape
(see `escape`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mpinet.arguments import ClassRule, DecideRule, PortRule, StartRule
from mpinet.arrays import ByteRows, Flags, Ints
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine.transport import world
from mpinet.measure.distance import diameter
from mpinet.measure.escape import escape_dependencies
from mpinet.measure.pairs import Pairs, as_routing
from mpinet.measure.routes import longest_route, own_share
from mpinet.measure.wiring import as_topology
from mpinet.memory import require_memory
from mpinet.networks.classes import LONGEST, ChannelClasses, open_classes
from mpinet.networks.routing import Routing, hop_limit, onward, rules
from mpinet.networks.topology import Topology

MOST_PAIRS = 2**22
"""Pairs whose routes are followed to find the longest: a second."""


def channel_dependency_cycle(
    topology: Topology | str,
    routing: Routing | str | None = None,
    pairs: Any = "all",
    classes: str | None = None,
) -> list[tuple[int, ...]] | list[int] | None:
    """The shortest cycle of channels that depend on each other (collective).

    Parameters
    ----------
    topology : Topology or str
        The network; links or busses.
    routing : Routing or str, optional
        Default: the network's first.
    pairs : str or array-like of int, shape (k, 2)
        Whose messages are under way: a traffic pattern (``all``, ..), or rows (source, target).
    classes : str, optional
        A class rule of the network or of the routing (`mpinet.networks.classes`): then what depends
        on each other are pairs of a channel and a class. Networks of links alone.

    Returns
    -------
    list or None
        None if the dependencies have no cycle: the routing is free of deadlock. Else the channels
        of a shortest cycle, each waiting for the next and the last for the first, from the lowest
        channel that is on one: (node, port) of the sender for each direction of a link, numbers
        for busses; with classes (node, port, class). Of an adaptive routing the cycle is
        one of its escape, whose classes it names itself.

    Raises
    ------
    UsageError
        There are no such classes, or they are more than is known.

    Examples
    --------
    Round a ring every channel may wait for the next; in a hypercube, dimension after dimension:

    >>> channel_dependency_cycle("ring:5")
    [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]
    >>> channel_dependency_cycle("hypercube:3") is None
    True
    >>> channel_dependency_cycle("ring:5", classes="dateline") is None
    True
    """
    network = as_topology(topology)
    chosen = as_routing(network, routing)
    if classes is not None or chosen.adaptive:
        return _class_cycle(network, chosen, pairs, classes)
    heads, tails = dependencies(network, chosen, pairs)
    count = network.size * network.ports if network.links else network.busses or 0
    offsets = np.searchsorted(heads, np.arange(count + 1))
    cycle = np.empty(count, np.int64)
    length = shortest_cycle(offsets, tails, remaining(offsets, tails), cycle)
    if length == 0:
        return None
    if network.links:
        return [divmod(channel, network.ports) for channel in cycle[:length].tolist()]
    return cycle[:length].tolist()


def _class_cycle(
    network: Topology, routing: Routing, pairs: Any, name: str | None
) -> list[tuple[int, ...]] | None:
    """The shortest cycle of pairs of a channel and a class (collective)."""
    classes = counted_classes(network, routing, name)
    count = classes.count
    channels = network.size * network.ports * count
    if routing.adaptive:
        arcs = escape_dependencies(network, routing, pairs)
        return _shortest(network, count, arcs[:, 0].copy(), arcs[:, 1].copy())
    require_memory(channels * network.ports * count, f"The dependencies of {network.name}")
    transport = world()
    follows = np.zeros((channels, network.ports * count), np.uint8)
    for sources, targets in Pairs(network, pairs).parts():
        share = own_share(transport, len(sources))
        wrong = note_class_dependencies(
            *rules(network, routing),
            classes.rule.native,
            classes.params,
            count,
            sources[share].copy(),
            targets[share].copy(),
            follows,
        )
        if wrong >= 0:
            transport.fail(
                UsageError(
                    f"The classes {classes.name} of {network.name} are 0..{count - 1}, and a way "
                    f"by routing {routing.name} takes class {wrong}."
                )
            )
    heads, then = np.nonzero(transport.max(follows))
    nodes, ports = np.divmod(heads // count, network.ports)
    tails = network.neighbor(nodes, ports) * network.ports * count + then
    return _shortest(network, count, heads, tails)


def counted_classes(
    topology: Topology, routing: Routing, name: str | None = None
) -> ChannelClasses:
    """A class rule by name, with its count, which may be hops of the longest path (collective).

    Raises
    ------
    UsageError
        There are no such classes, or nobody knows how many hops paths have.
    """
    classes = open_classes(topology, routing, name)
    if classes.count != LONGEST:
        return classes
    times = 1 if routing.shortest else routing.diameters
    if times:
        return replace(classes, count=max(1, times * diameter(topology)))
    if topology.hosts**2 > MOST_PAIRS:
        raise UsageError(
            f"The classes {classes.name} are as many as a path has hops, which is known for "
            f"shortest paths and in small networks; routing {routing.name} of {topology.name} "
            "takes others."
        )
    return replace(classes, count=max(1, longest_route(topology, routing)))


def _shortest(
    network: Topology, count: int, heads: Ints, tails: Ints
) -> list[tuple[int, ...]] | None:
    """The shortest cycle of arcs, ascending, between pairs of a channel and a class."""
    channels = network.size * network.ports * count
    offsets = np.searchsorted(heads, np.arange(channels + 1))
    cycle = np.empty(channels, np.int64)
    length = shortest_cycle(offsets, tails, remaining(offsets, tails), cycle)
    if length == 0:
        return None
    return [
        (*divmod(pair // count, network.ports), pair % count) for pair in cycle[:length].tolist()
    ]


@kernel
def note_class_dependencies(
    neighbor_rule: PortRule,
    start_rule: StartRule,
    decide_rule: DecideRule,
    wiring: Ints,
    wayfinding: Ints,
    words: int,
    class_rule: ClassRule,
    class_params: Ints,
    classes: int,
    sources: Ints,
    targets: Ints,
    follows: ByteRows,
) -> int:
    """Mark, for channel and class of each hop, the port and class of the next; a wrong class."""
    neighbor, start, decide = neighbor_rule.call, start_rule.call, decide_rule.call
    class_of = class_rule.call
    header = np.empty(words, np.int64)
    for i in range(sources.size):
        header[:] = 0
        start(sources[i], targets[i], header, wayfinding)
        node, held = sources[i], np.int64(-1)
        in_port, in_class = np.int64(-1), np.int64(-1)
        for _ in range(hop_limit(wiring[0])):
            port, following = onward(node, header, neighbor, decide, wiring, wayfinding)
            if port < 0 or following < 0:
                break
            group = class_of(node, port, in_port, in_class, header, class_params)
            if group < 0 or group >= classes:
                return max(group, classes)
            if held >= 0:
                follows[held, port * classes + group] = 1
            held = (node * wiring[1] + port) * classes + group
            in_class = group
            in_port = np.int64(-1)
            for back in range(wiring[1]):
                if neighbor(following, back, wiring) == node:
                    in_port = np.int64(back)
                    break
            node = following
    return -1


def dependencies(topology: Topology, routing: Routing, pairs: Any = "all") -> tuple[Ints, Ints]:
    """Return the arcs of the channel dependency graph, each once, ascending (collective)."""
    transport = world()
    ports = topology.ports
    follows = np.zeros((topology.size * ports, ports), np.uint8)
    for sources, targets in Pairs(topology, pairs).parts():
        share = own_share(transport, len(sources))
        note_dependencies(
            *rules(topology, routing), sources[share].copy(), targets[share].copy(), follows
        )
    first, port = np.nonzero(transport.max(follows))
    nodes, ports_before = np.divmod(first, ports)
    following = topology.neighbor(nodes, ports_before)
    if topology.links:
        return first, following * ports + port
    held = topology.channel(nodes, ports_before)
    different = np.unique(np.stack([held, topology.channel(following, port)], axis=1), axis=0)
    return np.ascontiguousarray(different[:, 0]), np.ascontiguousarray(different[:, 1])


@kernel
def note_dependencies(
    neighbor_rule: PortRule,
    start_rule: StartRule,
    decide_rule: DecideRule,
    wiring: Ints,
    wayfinding: Ints,
    words: int,
    sources: Ints,
    targets: Ints,
    follows: ByteRows,
) -> None:
    """Mark, for the channel of each hop, the port that the message leaves by after it."""
    neighbor, start, decide = neighbor_rule.call, start_rule.call, decide_rule.call
    header = np.empty(words, np.int64)
    for i in range(sources.size):
        header[:] = 0
        start(sources[i], targets[i], header, wayfinding)
        node, held = sources[i], np.int64(-1)
        for _ in range(hop_limit(wiring[0])):
            port, following = onward(node, header, neighbor, decide, wiring, wayfinding)
            if port < 0 or following < 0:
                break
            if held >= 0:
                follows[held, port] = 1
            held = node * wiring[1] + port
            node = following


def remaining(offsets: Ints, tails: Ints) -> Flags:
    """The channels that are left when those that wait for none that is left are taken away."""
    count = len(offsets) - 1
    heads = np.repeat(np.arange(count), np.diff(offsets))
    left = np.ones(count, bool)
    while True:
        waits = np.zeros(count, bool)
        waits[heads[left[tails] & left[heads]]] = True
        if (waits == left).all():
            return left
        left = waits


@kernel
def shortest_cycle(offsets: Ints, tails: Ints, left: Flags, cycle: Ints) -> int:
    """Write the shortest cycle through vertices that are `left`; return its length or 0."""
    count = offsets.size - 1
    best = 0
    reached_by = np.full(count, -1, np.int64)
    before, depth = np.empty(count, np.int64), np.empty(count, np.int64)
    queue = np.empty(count, np.int64)
    for origin in range(count):
        if not left[origin] or best == 1:
            continue
        reached_by[origin], depth[origin], queue[0] = origin, 0, origin
        head, end, last = 0, 1, -1
        while head < end and last < 0:
            vertex = queue[head]
            head += 1
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
