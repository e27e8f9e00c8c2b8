"""Local detours around dead nodes, links and busses, for any stateless routing.

A message follows its routing until the next hop is dead. A *detour* begins there: the message
searches for a node that is closer to the target than the detour's first node, and then follows its
routing again. Closeness is the number of hops of the fault-free route, which every node computes by
itself. The search goes depth first. Each node chooses the live neighbour with the shortest rest of
the route among the neighbours that the message has not visited in this detour. If no neighbour is
left, the message goes back.

The header holds the nodes visited in the detour. A node knows its dead channels and its dead
neighbours, and nothing about other faults. The distance at the start of a detour falls from detour
to detour, so a message never moves in circles. A search passes all live nodes that can be reached.
Each message therefore arrives if the live nodes connect its ends and the header has room.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, open_part, rule
from mpinet.networks.routing import STUCK, Routing
from mpinet.networks.wired import Wired

DETOUR = "detour"
"""Name of the routing."""

MOST_VISITED = 64
"""Most nodes that a message remembers. A message that needs more is undeliverable."""

BASE_WORDS, ROOM, DEAD, CUT, FAULTS = range(5)
"""Places in the record of faults: header words of the base routing, number of nodes in the memory,
number of dead nodes, number of dead channels. The dead nodes follow, then pairs of a node and a
channel (see `mpinet.machine.faults`).
"""

# The base routing's decision and the network's wiring, which `bind` inserts.
base_decide = wiring = open_part


def detour_routing(topology: Wired, base: Routing) -> Routing:
    """Return a stateless routing that takes local detours around faults.

    Parameters
    ----------
    topology : Topology
        The network.
    base : Routing
        The routing without faults.

    Examples
    --------
    >>> import mpinet
    >>> from mpinet.networks.routing import path
    >>> ring = mpinet.open("ring:6")
    >>> around = detour_routing(ring, ring.routing()).around(dead=[1])
    >>> path(ring, around, 0, 2)[0]
    [0, 5, 4, 3, 2]
    """

    def repaired(dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
        room = min(topology.size, MOST_VISITED)
        node_bits = max(1, (topology.size - 1).bit_length())
        parts = {"base_decide": base.decide, "wiring": topology.neighbor.rule}
        return replace(
            base,
            name=DETOUR,
            decide=decide.bind(f"{base.decide.name}.{DETOUR}", **parts),
            params=params_of(topology, base, room, dead, cut),
            header_bits=lambda source, target: (
                base.header_bits(source, target) + room * (node_bits + 1) + node_bits
            ),
            words=base.words + 2 + room,
            shortest=False,
            stateless=False,
            repaired=repaired,
            dead=dead,
        )

    return replace(base, name=DETOUR, repaired=repaired)


def params_of(
    topology: Wired,
    base: Routing,
    room: int,
    dead: tuple[int, ...],
    cut: tuple[tuple[int, int], ...],
) -> Ints:
    """Return the base routing's parameters, the network's, the faults, and their two places."""
    faults = [
        base.words,
        room,
        len(dead),
        len(cut),
        *dead,
        *(word for pair in cut for word in pair),
    ]
    first = len(base.params)
    places = [first, first + len(topology.params)]
    return np.concatenate([base.params, topology.params, np.array([*faults, *places], np.int64)])


@inlined
def faults_of(params):
    """Return the record of faults."""
    return params[params[params.size - 1] : params.size - 2]


@inlined
def follow(node, port, params):
    """Return the neighbour behind a port of the network."""
    return wiring(node, port, params[params[params.size - 2] : params[params.size - 1]])


@inlined
def live_neighbor(node, port, params):
    """Return the neighbour behind a live channel, -1 for a dead channel, -2 - v for dead node v."""
    other, faults = follow(node, port, params), faults_of(params)
    first = FAULTS + faults[DEAD]
    for i in range(FAULTS, first):
        if faults[i] == other:
            return -2 - other
    # A bus is dead at each of its ports, a link towards its neighbour.
    for i in range(first, first + 2 * faults[CUT], 2):
        if faults[i] == node and (faults[i + 1] == other or faults[i + 1] == ~port):
            return -1
    return other


@inlined
def rest_of_route(node, header, params):
    """Return the number of hops of the fault-free route to the target."""
    words = faults_of(params)[BASE_WORDS]
    hops = 0
    port = base_decide(node, header[:words], params)
    while port >= 0:
        node = follow(node, port, params)
        hops += 1
        port = base_decide(node, header[:words], params)
    return hops


@rule
def decide(node, header, params):
    """Return the base routing's port if it is live; otherwise begin or continue a detour."""
    words = faults_of(params)[BASE_WORDS]
    port = base_decide(node, header[:words], params)
    if port < 0:
        return port
    # The memory ends as soon as the message is closer than at the start of the detour.
    if header[words] > 0 and rest_of_route(node, header, params) < header[words + 1]:
        header[words] = 0
    if header[words] == 0:
        if live_neighbor(node, port, params) >= 0:
            return port
        header[words] = 1
        header[words + 1] = rest_of_route(node, header, params)
        header[words + 2] = node
    return search(node, header, words, params)


@inlined
def search(node, header, words, params):
    """Return the port to the best neighbour not visited; otherwise the port back, or `STUCK`."""
    first, count = words + 2, header[words]
    best, fewest, chosen = -1, 0, -1
    for port in range(params[1]):
        other = live_neighbor(node, port, params)
        if other < -1 and rest_of_route(-2 - other, header, params) == 0:
            return STUCK  # the target is dead
        if other < 0 or is_visited(other, header, first, count):
            continue
        rest = rest_of_route(other, header, params)
        if best < 0 or rest < fewest:
            best, fewest, chosen = port, rest, other
    if best >= 0:
        if count == faults_of(params)[ROOM]:
            return STUCK
        header[first + count] = chosen
        header[words] = count + 1
        return best
    # A dead end stays in the memory, with all bits inverted. The last other entry is the node from
    # which the message came first.
    place = first + count - 1
    while header[place] != node:
        place -= 1
    header[place] = ~node
    while place >= first and header[place] < 0:
        place -= 1
    if place < first:
        return STUCK
    for port in range(params[1]):
        if live_neighbor(node, port, params) == header[place]:
            return port
    return STUCK


@inlined
def is_visited(node, header, first, count):
    """Return whether the memory contains a node."""
    for place in range(first, first + count):
        if header[place] == node or header[place] == ~node:
            return True
    return False
