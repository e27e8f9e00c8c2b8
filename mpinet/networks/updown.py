"""Up*/down* routing: on any network, by a tree of shortest paths, without a class too many.

A breadth-first tree has its root at the lowest node that forwards. A hop is *up* to a lower level,
or within a level to a lower number; the others are *down*. A message goes up as often as it likes
and then only down, by the fewest hops that are possible so, and by the lowest port of equals. What
is held on the way down is never waited for on the way up, and either direction has an order: one
class of channels is enough (Schroeder et al. 1991, Autonet).
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
"""Words of the header: the target, and 1 once the message has gone down."""


def updown(topology: Wired) -> Routing:
    """Up*/down* routing, which goes around dead nodes and links by another tree.

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
    By way of 3, on the lowest level of a ring, a message would go down first and then up:

    >>> import mpinet
    >>> from mpinet.networks.routing import path
    >>> ring = mpinet.open("ring:6")
    >>> path(ring, updown(ring), 2, 4)[0]
    [2, 1, 0, 5, 4]
    """
    return _made(topology, (), ())


def _made(topology: Wired, dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
    """The routing by a tree of what is left."""
    size, bits = topology.size, max(1, (topology.size - 1).bit_length())
    if 2 * size * size > MAX_ENTRIES:
        raise UsageError(
            f"The routing updown takes tables of {MAX_ENTRIES} entries at most, and that of "
            f"{topology.name} would have {2 * size * size}: two for each pair of nodes."
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
        # All faults are given at once, so that the tree is made anew from the whole network.
        # Repairs do not pile up.
        repaired=lambda dead, cut: _made(topology, dead, cut),
        dead=dead,
        channel_class=one_class,
    )


def _left(neighbors: Table, dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Table:
    """The neighbours without dead nodes and links, which are -1 as unwired ports are."""
    left = neighbors.copy()
    left[list(dead)] = -1
    left[np.isin(left, dead)] = -1
    # Both directions go. A link that works one way would break the order on which freedom from
    # deadlock rests.
    for u, v in cut:
        left[u, left[u] == v] = -1
        left[v, left[v] == u] = -1
    return left


def _root(topology: Wired, dead: tuple[int, ...]) -> int:
    """The lowest node that forwards and is not dead; 0 if there is none."""
    # A processor forwards nothing where there are switches. With one as the root, no way could pass
    # the root.
    first = topology.hosts if topology.hosts < topology.size else 0
    return next((node for node in range(first, topology.size) if node not in dead), 0)


@kernel
def fill_ways(neighbors: Table, level: Ints, entries: Halves) -> None:
    """Write twice the port that a message leaves by, and 1 more if it goes down by it.

    There is an entry for every node and target: first those of messages that may still go up, then
    those of messages that go down.
    """
    size, ports = neighbors.shape
    rising, falling = np.empty(size, np.int64), np.empty(size, np.int64)
    queue = np.empty(2 * size, np.int64)
    for target in range(size):
        # Backwards from the target: by falling[n] hops down alone, by rising[n] hops in all. A
        # message that has gone down must not ask for the second.
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
            # Ports are tried downwards, so that the lowest one of equal ways is written last and
            # stays.
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
    """Look the pair up in the table of messages that go down, or of those that may still go up."""
    size = params[0]
    way = entry(params, (header[DESCENDS] * size + node) * size + header[TARGET])
    if way < 0:
        return way
    header[DESCENDS] = way & 1
    return way >> 1
