"""Polarized routing: adaptive routing by minimal and longer routes, decided at every hop.

The gain of a hop is the increase of the distance from the source plus the decrease of the distance
to the target. Hops with a positive gain are always candidates. Hops without gain are candidates in
two cases (Camarero, Martínez, Beivide 2021): in the first half of a route if they depart from both
ends, and in the second half if they approach both. All routes end after at most 4 D - 3 hops at
diameter D (2 at diameter 1). The class of a channel is the number of hops made before it, and
dependencies have no cycle.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import ByteRows
from mpinet.compiled import inlined, open_part, rule
from mpinet.errors import UsageError
from mpinet.networks.adaptive import CLASS, PORT, QUEUES
from mpinet.networks.adjacency import Adjacency, measure_distances
from mpinet.networks.routing import ARRIVED, STUCK, Routing, lowest_closer_port
from mpinet.networks.shortest import MAX_ENTRIES
from mpinet.networks.wired import Wired

EDGE, TABLE_AT, WIRING_AT = 2, 3, 4
"""Places in the parameters: the first node that forwards, the start of the table of distances (row
after row, eight to a word), and the start of the network's own parameters.
"""

TARGET, SOURCE = 0, 1
"""Words of the header."""

FAR = 255
"""Entry of two nodes without a path between them."""


def polarized(topology: Wired) -> Routing:
    """Return Polarized routing by a table of all distances.

    Parameters
    ----------
    topology : Topology
        The network, of links, of up to 5,792 nodes and a diameter below 255.

    Raises
    ------
    UsageError
        The network is too large for the table.
    """
    size, bits = topology.size, max(1, (topology.size - 1).bit_length())
    # Gains compare distances of neighbours of any node to both ends. Every rank therefore needs the
    # whole table.
    if size * size > MAX_ENTRIES:
        raise UsageError(
            f"The routing polarized needs a table of {size * size} entries for {topology.name}, "
            f"one for each pair of nodes; at most {MAX_ENTRIES} are possible."
        )
    distances, largest = all_distances(topology)
    if largest >= FAR:
        raise UsageError(
            f"The routing polarized takes diameters below {FAR}, and {topology.name} has more."
        )
    edge = topology.hosts if topology.hosts < size else 0
    routers = distances[edge:, edge:]
    diameter = int(routers[routers < FAR].max(initial=0))
    # Eight distances share a word, because rules read words alone. The last word is padded.
    entries = np.full(-(-size * size // 8) * 8, FAR, np.uint8)
    entries[: size * size] = distances.ravel()
    own = [size, topology.ports, edge, WIRING_AT + len(topology.params), *topology.params]
    table = entries.view("<i8").astype(np.int64, copy=False)
    name = f"polarized.{topology.neighbor.rule.name}"
    wired = {"neighbor": topology.neighbor.rule}
    onward = {"wiring": behind.bind(f"{name}.behind", **wired), "distance": distance}
    return Routing(
        name="polarized",
        decide=lowest_closer_port.bind(f"{name}.decide", **onward),
        start=start,
        candidates=candidates.bind(f"{name}.candidates", **wired),
        choose=shortest_queue,
        sees=QUEUES,
        eager=True,
        params=np.concatenate([np.array(own, np.int64), table]),
        header_bits=lambda source, target: 2 * bits,
        words=2,
        shortest=False,
        stateless=False,
        # One class per hop leaves no cycle. The number is the length of the longest route that the
        # gains allow (Camarero, Martinez, Beivide 2021).
        classes=max(1, 2 * min(diameter, 1), 4 * diameter - 3),
    )


def all_distances(topology: Wired) -> tuple[ByteRows, int]:
    """Return the distances of all pairs of nodes (`FAR`: no path), and the largest."""
    lists, size, largest = Adjacency.of(topology), topology.size, 0
    table, row = np.empty((size, size), np.uint8), np.empty(size, np.int32)
    for source in range(size):
        row[:] = -1
        measure_distances(lists.begin, lists.others, source, row)
        largest = max(largest, int(row.max()))
        table[source] = np.where(row < 0, FAR, np.minimum(row, FAR))
    return table, largest


# The network's wiring, which `bind` inserts.
neighbor = open_part


@inlined
def behind(node, port, params):
    """Return the node behind a port, -1 for an unwired port."""
    return neighbor(node, port, params[WIRING_AT : params[TABLE_AT]])


@inlined
def distance(node, other, params):
    """Look up the distance of two nodes."""
    at = node * params[0] + other
    return params[params[TABLE_AT] + (at >> 3)] >> 8 * (at & 7) & 255


@rule
def start(source, target, header, params):
    """Write the target and the source into the header."""
    header[TARGET], header[SOURCE] = target, source


@rule
def candidates(node, in_port, in_class, header, candidates, params):
    """List the candidate hops by descending gain, then by port."""
    target, source, edge, count = header[TARGET], header[SOURCE], params[EDGE], 0
    if node == target:
        return ARRIVED
    # A message from its processor has made no hop between routers yet. Its classes begin at 0.
    if in_port >= 0 and behind(node, in_port, params) < edge:
        in_class = -1
    far, left = distance(source, node, params), distance(node, target, params)
    # Hops without gain are allowed if they depart from the source early, or approach the
    # target late. Otherwise a message could go back and forth.
    neutral = 1 if far < left else -1
    # With candidates in the order of gains, the hop with the largest gain wins ties between equal
    # queues.
    for gain in range(2, -1, -1):
        for port in range(params[1]):
            other = behind(node, port, params)
            if other < 0 or (other < edge and other != target):
                continue
            away = distance(source, other, params) - far
            gained = away + left - distance(other, target, params)
            if gained != gain or (gain == 0 and away != neutral):
                continue
            candidates[count, PORT] = port
            candidates[count, CLASS] = in_class + 1 if min(node, other) >= edge else 0
            count += 1
    return count if count > 0 else STUCK


@rule
def shortest_queue(node, header, candidates, seen, params):
    """Return the candidate with room and the shortest queue; the first of equals."""
    count, best = candidates.shape[0], -1
    for i in range(count):
        if seen[seen.size - count + i] > 0 and (
            best < 0 or seen[candidates[i, PORT]] < seen[candidates[best, PORT]]
        ):
            best = i
    return best
