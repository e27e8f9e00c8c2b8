"""Walking routes by the nodes' decisions: the one loop of all that follows messages on their way.

What is noted on the way is the caller's: it binds `hop` and `ended` of `walk`, and the group of
arrays that both write to, as in::

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
    """The rules of a network, a routing and classes of channels, and their parameters."""

    neighbor: PortRule
    """Rule `neighbor` of the network."""
    start: StartRule
    """Rule `start` of the routing."""
    decide: DecideRule
    """Rule `decide` of the routing."""
    back: PortRule
    """Rule `reverse_port` of the network; it is used only with `CLASSED`."""
    class_rule: ClassRule
    """Rule of the classes; it is used only with `CLASSED`."""
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
    """Return what `walk` takes of a network, a routing and classes, with `spare` more words."""
    neighbor = topology.neighbor.native
    of_one = no_classes(topology.params)
    taken = classes or of_one
    return Rules(
        neighbor,
        routing.start.native,
        routing.decide.native,
        # Where no class is asked for, no message goes back. A rule that is never called is not
        # worth its compilation.
        neighbor if classes is None else topology.reverse_port.native,
        taken.rule.native,
        topology.params,
        routing.params,
        taken.params,
        routing.words + spare,
        taken.count,
    )


class Visit(NamedTuple):
    """A message in a node on its way."""

    pair: int
    """Number of the message's pair."""
    source: int
    """Source of the pair."""
    target: int
    """Target of the pair."""
    hops: int
    """Hops from the source to here."""
    node: int
    """Node that the message is in."""
    port: int
    """Port that the message leaves by; `ARRIVED` or `STUCK` if it stays."""
    following: int
    """Node behind that port; negative for an unwired port."""
    held: int
    """Channel by which the message came, numbered (node * ports + port) * classes + class; -1 at
    the source."""
    group: int
    """Class of the channel by which the message leaves."""
    channel: int
    """Channel by which the message leaves, numbered as in `held`."""


class Notes(NamedTuple):
    """Stand-in for the group of what the caller's `hop` and `ended` read and write."""


CLASSED = False
"""True if channels' classes are asked for; else all are of one."""

BLANK = 0
"""Value of the header's words before the source writes it."""


@inlined
def hop(visit, header, notes):
    """Stand-in for what is noted of every hop; True ends the whole walk."""
    return False


@inlined
def ended(visit, header, notes):
    """Stand-in for what is noted where a route ends; True ends the whole walk."""
    return False


@inlined
def arrived(visit):
    """Tell if a route that has ended leads to its target."""
    return visit.port == ARRIVED and visit.node == visit.target


@kernel
def walk(rules: Rules, sources: Ints, targets: Ints, notes: Notes) -> int:
    """Walk the routes of all pairs; the pair at which `hop` or `ended` ends that, or -1.

    A route ends where a node does not send the message on, where the port is not wired, and after
    as many hops as make it endless.
    """
    # Taken apart here: in the loop every look into the group would count references.
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
    """The port that a message leaves by, and the node behind it; a port < 0 ends the route.

    The node is < 0 where the port is not wired.
    """
    port = decide(node, header, wayfinding)
    if port < 0:
        return port, node
    # A rule may answer any number. The wiring would read behind its parameters for a port that does
    # not exist.
    if port >= wiring[1]:
        return port, np.int64(-1)
    return port, neighbor(node, port, wiring)
