"""Up*/down* routing: deadlock-free with one class of channels on any network.

A breadth-first tree has its root at the lowest node that forwards. A hop is *up* if it leads to a
lower level, or to a lower number within a level; all other hops are *down*. A message makes any
number of up hops, then only down hops. The route is the shortest of this form; the lowest port
breaks ties. A message that holds a down channel never waits for an up channel, and the channels of
each direction are ordered. One class of channels is therefore enough (Schroeder et al. 1991,
Autonet).
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Halves, Ints, Table
from mpinet.compiled import kernel, rule
from mpinet.errors import UsageError
from mpinet.networks.classes import one_class
from mpinet.networks.routing import Routing
from mpinet.networks.shortest import (
    HERE,
    MAX_ENTRIES,
    UNREACHABLE,
    entry,
    levels,
    neighbor_table,
    packed,
)
from mpinet.networks.wired import Wired

TARGET, DESCENDS = 0, 1
"""Words of the header: the target, and 1 after the first hop down."""


def updown(topology: Wired) -> Routing:
    """Return up*/down* routing; around dead nodes and links it uses another tree.

    Parameters
    ----------
    topology : Topology
        The network, of up to 4,096 nodes.

    Raises
    ------
    UsageError
        The network is too large for the table.

    Examples
    --------
    The route through 3, on the lowest level of a ring, would go down first and then up:

    >>> import mpinet
    >>> from mpinet.networks.routing import path
    >>> ring = mpinet.open("ring:6")
    >>> path(ring, updown(ring), 2, 4)[0]
    [2, 1, 0, 5, 4]
    """
    return _made(topology, (), ())


def _made(topology: Wired, dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
    """Return the routing by a tree of the network without faults."""
    size, bits = topology.size, max(1, (topology.size - 1).bit_length())
    if 2 * size * size > MAX_ENTRIES:
        raise UsageError(
            f"The routing updown needs a table of {2 * size * size} entries for {topology.name}, "
            f"two for each pair of nodes; at most {MAX_ENTRIES} are possible."
        )
    # Faults change the tree itself. Any network that is still connected keeps a deadlock-free
    # routing, as in Autonet.
    left = _left(neighbor_table(topology), dead, cut)
    entries = np.full(-(-2 * size * size // 4) * 4, UNREACHABLE, np.uint16)
    fill_ways(left, levels(left, _root(topology, dead)), entries)
    table = packed(entries)
    return Routing(
        name="updown",
        decide=decide,
        params=np.concatenate([np.array([size, topology.ports, 2 * size]), table]),
        header_bits=lambda source, target: bits + 1,
        words=2,
        shortest=False,
        stateless=False,
        # All faults are given at once, and the tree is built from the whole network. Repairs do not
        # accumulate.
        repaired=lambda dead, cut: _made(topology, dead, cut),
        dead=dead,
        channel_class=one_class,
    )


def _left(neighbors: Table, dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Table:
    """Return the neighbours by port, with -1 for dead nodes, dead links and unwired ports."""
    left = neighbors.copy()
    left[list(dead)] = -1
    left[np.isin(left, dead)] = -1
    # Both directions are removed. A one-way link would break the order that prevents deadlocks.
    for u, v in cut:
        if v < 0:  # a port on a dead bus
            left[u, ~v] = -1
            continue
        left[u, left[u] == v] = -1
        left[v, left[v] == u] = -1
    return left


def _root(topology: Wired, dead: tuple[int, ...]) -> int:
    """Return the lowest live node that forwards; 0 if no such node exists."""
    # In a network with switches, processors forward nothing. No route could pass a root that is a
    # processor.
    first = topology.hosts if topology.hosts < topology.size else 0
    return next((node for node in range(first, topology.size) if node not in dead), 0)


@kernel
def fill_ways(neighbors: Table, level: Ints, entries: Halves) -> None:
    """Fill the table of output ports: 2 * port, plus 1 if the hop goes down.

    The table has an entry for every node and target. Entries of messages that may still go up come
    first, entries of messages that go down follow.
    """
    size, ports = neighbors.shape
    rising, falling = np.empty(size, np.int64), np.empty(size, np.int64)
    queue = np.empty(2 * size, np.int64)
    for target in range(size):
        # Hops counted backwards from the target: falling[n] with down hops alone, rising[n] in all.
        # A message that has gone down must not use the second.
        rising[:], falling[:] = -1, -1
        rising[target] = falling[target] = 0
        queue[0], queue[1] = target, size + target
        head, tail = 0, 2
        while head < tail:
            falls, node = queue[head] // size, queue[head] % size
            far = falling[node] if falls else rising[node]
            head += 1
            for port in range(ports):
                other = neighbors[node, port]
                if other < 0:
                    continue
                # The search runs backwards from the target. A hop that is down for the message is
                # up for the search.
                down = (level[other], other) < (level[node], node)
                if down != (falls == 1):
                    continue
                if falls and falling[other] < 0:
                    falling[other] = far + 1
                    queue[tail] = size + other
                    tail += 1
                if rising[other] < 0:
                    rising[other] = far + 1
                    queue[tail] = other
                    tail += 1
        for node in range(size):
            if node == target:
                entries[node * size + target] = entries[(size + node) * size + target] = HERE
                continue
            # Ports are tried in descending order. The lowest port of equal routes is written last
            # and stays.
            for port in range(ports - 1, -1, -1):
                other = neighbors[node, port]
                if other < 0:
                    continue
                down = (level[node], node) < (level[other], other)
                if down and falling[other] >= 0 and falling[other] + 1 == falling[node]:
                    entries[(size + node) * size + target] = 2 * port + 1
                far = falling[other] if down else rising[other]
                if far >= 0 and far + 1 == rising[node]:
                    entries[node * size + target] = 2 * port + down


@rule
def decide(node, header, params):
    """Return the port from the table, for messages that go down or may still go up."""
    size = params[0]
    way = entry(params, (header[DESCENDS] * size + node) * size + header[TARGET])
    if way < 0:
        return way
    header[DESCENDS] = way & 1
    return way >> 1
