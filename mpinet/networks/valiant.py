"""Valiant's routing: a route through a random processor, which balances any traffic pattern.

A message goes to a random processor first, then to its target. Another routing of the network (the
base routing) finds both parts (Valiant, Brebner 1981). Each of the two phases has its own classes
of channels, so the phases cannot form a cycle of dependencies. No traffic is then worse than
uniform traffic.
"""

from __future__ import annotations

import numpy as np

from mpinet.compiled import inlined, open_part, rule
from mpinet.draws import draw32, scaled
from mpinet.networks.classes import ChannelClasses
from mpinet.networks.routing import ARRIVED, RoutedTopology, Routing

WORDS, SEED, WAYPOINTS, FIRST_WAYPOINT, CLASSES, WIRING_AT, CLASS_AT, FIRST_AT = range(2, 10)
"""Places in the parameters.

The first places are the number of words of the base routing's header, the seed, the number of nodes
in the draw, and the first of these nodes. Next is the number of the first phase's classes (for
`channel_class`). The last places are the start of the network's parameters, the start of the class
rule's parameters (for `channel_class`), and the first of the base routing's parameters.
"""

STREAM = 21
"""Number of the random stream of the draws."""


def valiant(topology: RoutedTopology, seed: int = 0) -> Routing:
    """Return the routing through a random processor.

    Parameters
    ----------
    topology : Topology
        The network.
    seed : int
        Seed of the draws, which are keyed by source, target and the message's number.

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
    # The parameters of the base routing, the wiring and a class rule are stored consecutively.
    # Rules of any base can be bound without knowing their lengths.
    places = [place, place + len(topology.params)]
    point = {} if topology.waypoint is None else {"waypoint": topology.waypoint}
    bits = max(1, (topology.size - 1).bit_length())

    def header_bits(source: int, target: int) -> int:
        """Return the bits of the base routing's header, the target, and the phase."""
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
    """Return the number of a routing's classes that the route to a drawn node needs."""
    # Fewer classes are proved only for the family's own order of channels. Other class rules need
    # all classes for both phases.
    if topology.waypoint_classes is None or classes.name != "ordered":
        return classes.count
    return min(topology.waypoint_classes, classes.count)


def phased(topology: RoutedTopology, routing: Routing, classes: ChannelClasses) -> ChannelClasses:
    """Return the classes of a routing through a drawn processor: a separate set per phase.

    Parameters
    ----------
    topology : Topology
        The network.
    routing : Routing
        A routing made by `valiant`.
    classes : ChannelClasses
        Classes of the base routing. If their number is still unknown, so is the result's.
    """
    params = np.concatenate([routing.params, classes.params])
    params[CLASSES] = first = first_classes(topology, classes)
    name = f"valiant.class_{classes.rule.name}"
    made = channel_class.bind(name, base_class=classes.rule)
    # An unknown count is a negative mark. Adding to the mark would make a wrong number.
    count = first + classes.count if classes.count > 0 else classes.count
    return ChannelClasses("own", made, params, count)


# Rules of the base routing, and the class rule of a phase; `bind` inserts these.
base_start = base_decide = base_class = open_part


@inlined
def waypoint(source, target, drawn, params):
    """Return the intermediate node for a draw, -1 for none: by default the drawn node."""
    return drawn


@inlined
def drawn_node(source, target, number, params):
    """Return the intermediate node of the message with this number; -1: straight to the target.

    A number -1 - k stands for the k-th outcome of the draw, for every source.
    """
    # A negative number requests one outcome of the draw. Load measures use negative numbers to sum
    # over all outcomes without any randomness.
    outcome = -1 - number
    if number >= 0:
        # The draw depends on the message alone, never on the rank or the order of messages. Any
        # number of ranks finds the same routes.
        pair = draw32(int(params[SEED]), int(source), int(target), STREAM)
        outcome = scaled(draw32(pair, int(number), 0, STREAM), int(params[WAYPOINTS]))
    wiring = params[params[WIRING_AT] : params[CLASS_AT]]
    middle = waypoint(source, target, params[FIRST_WAYPOINT] + outcome, wiring)
    # A route through one of its own ends is the direct route. Two phases would only use up a class.
    return -1 if source == target or middle in (source, target) else middle


# A header holds the words of the base routing, the target, and the phase: 0 on the way to the
# random processor, 1 on the way to the target. Before `start` the last word is the message's
# number.
@rule
def start(source, target, header, params):
    """Write a header towards a random processor, or towards the target if the draw is an end."""
    words = params[WORDS]
    middle = drawn_node(source, target, header[words + 1], params)
    header[words], header[words + 1] = target, 1 if middle < 0 else 0
    goal = target if middle < 0 else middle
    base_start(source, goal, header[:words], params[FIRST_AT : params[WIRING_AT]])


@rule
def decide(node, header, params):
    """Return the base routing's port; at the random processor, start towards the target."""
    words, end = params[WORDS], params[WIRING_AT]
    port = base_decide(node, header[:words], params[FIRST_AT:end])
    if port != ARRIVED or header[words + 1] == 1:
        return port
    # The phase is marked before the base routing starts anew. The class rule reads it for the very
    # next hop.
    header[words + 1] = 1
    # Some base routings count in their header. Words left from the first phase would misroute the
    # second phase.
    header[:words] = 0
    base_start(node, header[words], header[:words], params[FIRST_AT:end])
    return base_decide(node, header[:words], params[FIRST_AT:end])


@rule
def channel_class(node, port, in_port, in_class, header, params):
    """Return the channel class in the current phase; the second phase starts anew."""
    words, classes = params[WORDS], params[CLASSES]
    first = header[words + 1] * classes
    # At the drawn node the message enters the second set of classes as a new message. Its last
    # channel belongs to the first set, which waits for nothing in the second.
    if in_class < first:
        in_port = in_class = -1
    else:
        in_class -= first
    own = params[params[CLASS_AT] :]
    return first + base_class(node, port, in_port, in_class, header[:words], own)
