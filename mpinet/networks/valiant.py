"""Valiant's routing: by a random processor, so that no traffic is worse than uniform traffic.

A message goes to a random processor first, then to its target, both by another routing of the
network (Valiant, Brebner 1981). The two phases have classes of channels of their own, so that the
first never waits for itself by way of the second.
"""

from __future__ import annotations

import numpy as np

from mpinet.compiled import inlined, open_part, rule
from mpinet.draws import draw32, scaled
from mpinet.networks.classes import ChannelClasses
from mpinet.networks.routing import ARRIVED, RoutedTopology, Routing

WORDS, SEED, WAYPOINTS, FIRST_WAYPOINT, CLASSES, WIRING_AT, CLASS_AT, FIRST_AT = range(2, 10)
"""Places in the parameters: the words of the other routing's header, the seed, how many nodes are
drawn from and the first of them, the number of the first phase's classes (for `channel_class`), the
places behind the other routing's own, where the network's are and where `channel_class` has its
rule's, and the other routing's own.
"""

STREAM = 21
"""The stream of the draws."""


def valiant(topology: RoutedTopology, seed: int = 0) -> Routing:
    """Routing by a random processor.

    Parameters
    ----------
    topology : Topology
        The network.
    seed : int
        For the draws, which are keyed by source, target and the message's number.

    Examples
    --------
    >>> import mpinet
    >>> from mpinet.networks.routing import path
    >>> ring = mpinet.open("ring:8")
    >>> path(ring, valiant(ring, seed=4), 0, 1)[0]
    [0, 7, 6, 5, 6, 7, 0, 1]
    """
    base = topology.routing()
    drawn = topology.waypoints
    own = [topology.size, topology.ports, base.words, seed, len(drawn), drawn.start, 0]
    place = FIRST_AT + len(base.params)
    # The base's parameters, the wiring's and a class rule's stand one behind the other. So rules of
    # any base can be bound without knowing their lengths.
    places = [place, place + len(topology.params)]
    point = {} if topology.waypoint is None else {"waypoint": topology.waypoint}
    bits = max(1, (topology.size - 1).bit_length())

    def header_bits(source: int, target: int) -> int:
        """The other routing's header, the target, and the phase."""
        return base.header_bits(source, target) + bits + 1

    parts = {"base_start": base.start, "base_decide": base.decide}
    return Routing(
        name="valiant",
        decide=decide.bind(f"valiant.decide_{base.name}", **parts),
        start=start.bind(f"valiant.start_{base.name}", base_start=base.start, **point),
        params=np.concatenate([[*own, *places], base.params, topology.params]).astype(np.int64),
        header_bits=header_bits,
        words=base.words + 2,
        shortest=False,
        stateless=False,
        numbered=True,
        outcomes=len(drawn),
        diameters=2 * (1 if base.shortest else base.diameters),
        base=base,
    )


def first_classes(topology: RoutedTopology, classes: ChannelClasses) -> int:
    """Return how many of a routing's classes the way to a drawn node needs."""
    # Fewer classes are proved only for the family's own order of channels. Other class rules need
    # all of them for both phases.
    if topology.waypoint_classes is None or classes.name != "ordered":
        return classes.count
    return min(topology.waypoint_classes, classes.count)


def phased(topology: RoutedTopology, routing: Routing, classes: ChannelClasses) -> ChannelClasses:
    """The classes of a routing by a drawn processor: those of one way, for either way its own.

    Parameters
    ----------
    topology : Topology
        The network.
    routing : Routing
        As made by `valiant`.
    classes : ChannelClasses
        The other routing's. Where they are still to be counted, so are these.
    """
    params = np.concatenate([routing.params, classes.params])
    params[CLASSES] = first = first_classes(topology, classes)
    name = f"valiant.class_{classes.rule.name}"
    made = channel_class.bind(name, base_class=classes.rule)
    # A count that is still to be measured is a negative mark. Adding to it would make a wrong
    # number of it.
    count = first + classes.count if classes.count > 0 else classes.count
    return ChannelClasses("own", made, params, count)


# The other routing's rules, and the class rule of a phase, which `bind` puts in their places.
base_start = base_decide = base_class = open_part


@inlined
def waypoint(source, target, drawn, params):
    """The node that a draw leads by, -1 where there is none: by default what is drawn."""
    return drawn


@inlined
def drawn_node(source, target, number, params):
    """The node by which the message of this number goes; -1: straight to its target.

    A number -1 - k stands for the k-th outcome of the draw, whoever sends.
    """
    # A negative number asks for one outcome of the draw. Load measures use this to sum over all
    # outcomes without any randomness.
    outcome = -1 - number
    if number >= 0:
        # The draw depends on the message alone, never on the rank or the order of messages. So any
        # number of ranks finds the same ways.
        pair = draw32(int(params[SEED]), int(source), int(target), STREAM)
        outcome = scaled(draw32(pair, int(number), 0, STREAM), int(params[WAYPOINTS]))
    wiring = params[params[WIRING_AT] : params[CLASS_AT]]
    middle = waypoint(source, target, params[FIRST_WAYPOINT] + outcome, wiring)
    # A way by one of its own ends is the straight way. Two phases there would only use up a class.
    return -1 if source == target or middle in (source, target) else middle


# A header holds the other routing's words, the target, and the phase: 0 on the way to the random
# processor, 1 on the way to the target. Before `start` the message's number stands in the last.
@rule
def start(source, target, header, params):
    """Set out for a random processor; for the target if that is one of the two ends."""
    words = params[WORDS]
    middle = drawn_node(source, target, header[words + 1], params)
    header[words], header[words + 1] = target, 1 if middle < 0 else 0
    goal = target if middle < 0 else middle
    base_start(source, goal, header[:words], params[FIRST_AT : params[WIRING_AT]])


@rule
def decide(node, header, params):
    """Decide as the other routing does; at the random processor, start anew for the target."""
    words, end = params[WORDS], params[WIRING_AT]
    port = base_decide(node, header[:words], params[FIRST_AT:end])
    if port != ARRIVED or header[words + 1] == 1:
        return port
    # The phase is marked before the base starts anew. The class rule reads it for the very next
    # hop.
    header[words + 1] = 1
    # Some bases count in their header. Left-over words of the first phase would lead the second one
    # astray.
    header[:words] = 0
    base_start(node, header[words], header[:words], params[FIRST_AT:end])
    return base_decide(node, header[:words], params[FIRST_AT:end])


@rule
def channel_class(node, port, in_port, in_class, header, params):
    """The class in the phase, to which a message from the other one is new."""
    words, classes = params[WORDS], params[CLASSES]
    first = header[words + 1] * classes
    # At the drawn node the message enters the second set of classes. There it is new: its last
    # channel belongs to the first set, which waits for nothing in the second.
    if in_class < first:
        in_port = in_class = -1
    else:
        in_class -= first
    own = params[params[CLASS_AT] :]
    return first + base_class(node, port, in_port, in_class, header[:words], own)
