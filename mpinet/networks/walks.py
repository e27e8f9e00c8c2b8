"""Walk routes by the nodes' decisions: the common loop of all code that follows messages.

The caller decides what to record on the way. It binds the functions `hop` and `ended` of `walk`,
and the group of arrays that both write to, as in::

    class Loads(NamedTuple):
        flits: Ints
        loads: Ints

    @inlined
    def add_flits(visit, header, notes):
        notes.loads[visit.channel] += notes.flits[visit.pair]
        return False

    add_loads = walk.bind("add_loads", notes=Loads, hop=add_flits)
    add_loads(rules(topology, routing), sources, targets, Loads(flits, loads))
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arguments import ClassRule, DecideRule, PortRule, StartRule
from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, kernel
from mpinet.networks.classes import ChannelClasses, no_classes
from mpinet.networks.routing import ARRIVED, Routing, hop_limit
from mpinet.networks.topology import Topology


class Rules(NamedTuple):
    """Rules of a network, a routing and channel classes, and the parameters of these rules."""

    neighbor: PortRule
    """Rule `neighbor` of the network."""
    start: StartRule
    """Rule `start` of the routing."""
    decide: DecideRule
    """Rule `decide` of the routing."""
    back: PortRule
    """Rule `reverse_port` of the network, used only with `CLASSED`."""
    class_rule: ClassRule
    """Rule of the channel classes, used only with `CLASSED`."""
    wiring: Ints
    """Parameters of the network."""
    wayfinding: Ints
    """Parameters of the routing."""
    class_params: Ints
    """Parameters of the classes."""
    words: int
    """Number of words of the header."""
    classes: int
    """Number of classes."""


def rules(
    topology: Topology, routing: Routing, classes: ChannelClasses | None = None, spare: int = 0
) -> Rules:
    """Return the rules of a network, a routing and classes, with `spare` more header words."""
    neighbor = topology.neighbor.native
    of_one = no_classes(topology.params)
    taken = classes or of_one
    return Rules(
        neighbor,
        routing.start.native,
        routing.decide.native,
        # Without classes, `reverse_port` is never called. An unused rule is not worth its
        # compilation.
        neighbor if classes is None else topology.reverse_port.native,
        taken.rule.native,
        topology.params,
        routing.params,
        taken.params,
        routing.words + spare,
        taken.count,
    )


class Visit(NamedTuple):
    """State of a message in one node of its route."""

    pair: int
    """Number of the message's pair."""
    source: int
    """Source of the pair."""
    target: int
    """Target of the pair."""
    hops: int
    """Number of hops from the source to this node."""
    node: int
    """Current node of the message."""
    port: int
    """Output port of the message; `ARRIVED` or `STUCK` if the message stays."""
    following: int
    """Node behind that port; negative for an unwired port."""
    held: int
    """Channel of the last hop, numbered (node * ports + port) * classes + class; -1 at the
    source.
    """
    group: int
    """Class of the output channel."""
    channel: int
    """Output channel of the message, numbered as in `held`."""


class Notes(NamedTuple):
    """Placeholder for the group of arrays that the caller's `hop` and `ended` read and write."""


CLASSED = False
"""True if channel classes are computed; otherwise all channels have one class."""

BLANK = 0
"""Value of the header's words before the source writes it."""


@inlined
def hop(visit, header, notes):
    """Placeholder for the function that records each hop; a result True ends the whole walk."""
    return False


@inlined
def ended(visit, header, notes):
    """Placeholder for the function that records the end of a route; True ends the walk."""
    return False


@inlined
def arrived(visit):
    """Return whether a finished route leads to its target."""
    return visit.port == ARRIVED and visit.node == visit.target


@kernel
def walk(rules: Rules, sources: Ints, targets: Ints, notes: Notes) -> int:
    """Walk the routes of all pairs; return the pair at which `hop` or `ended` ends the walk, or -1.

    A route ends if the node does not forward the message, if the port is not wired, or if the
    number of hops shows that the route is endless.
    """
    # Unpacked here: in the loop every access to the group would count references.
    neighbor, start, decide = rules.neighbor.call, rules.start.call, rules.decide.call
    back, class_of, class_params = rules.back.call, rules.class_rule.call, rules.class_params
    wiring, wayfinding, classes = rules.wiring, rules.wayfinding, rules.classes
    header = np.empty(rules.words, np.int64)
    limit = hop_limit(wiring[0])
    for i in range(sources.size):
        source, target = sources[i], targets[i]
        header[:] = BLANK
        start(source, target, header, wayfinding)
        node, hops, held, group = source, 0, -1, 0
        in_port, in_class = -1, -1
        while True:
            port, following = onward(node, header, neighbor, decide, wiring, wayfinding)
            # The limit ends routings that never arrive. A check of visited nodes would need memory
            # for every walk.
            if port < 0 or following < 0 or hops == limit:
                end = Visit(i, source, target, hops, node, port, following, held, -1, -1)
                if ended(end, header, notes):
                    return i
                break
            if CLASSED:
                group = class_of(node, port, in_port, in_class, header, class_params)
                in_port, in_class = back(node, port, wiring), group
            channel = (node * wiring[1] + port) * classes + group
            if hop(
                Visit(i, source, target, hops, node, port, following, held, group, channel),
                header,
                notes,
            ):
                return i
            node, held = following, channel
            hops += 1
    return -1


@inlined
def onward(node, header, neighbor, decide, wiring, wayfinding):
    """Return the output port of a message, and the node behind it; a port < 0 ends the route.

    The node is < 0 if the port is not wired.
    """
    port = decide(node, header, wayfinding)
    if port < 0:
        return port, node
    # A rule may return any number. For a port that does not exist, the wiring would read behind its
    # parameters.
    if port >= wiring[1]:
        return port, np.int64(-1)
    return port, neighbor(node, port, wiring)
