"""Polarized routing: from the source towards the target, by short and by longer ways, hop by hop.

What a hop gains is by how much it leads away from the source, and closer to the target. Hops that
gain something are candidates everywhere; of those that gain nothing, in the first half of a way
those that depart from both ends, in the second half those that approach both (Camarero, Martínez,
Beivide 2021). So all ways end, after at most 4 D - 3 hops at diameter D (2 at 1). The class of a
channel is the number of hops made so far, so that nothing waits in a circle.
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
"""Places in the parameters: the first node that forwards, where the table of distances begins (row
after row, eight to a word), and the network's own.
"""

TARGET, SOURCE = 0, 1
"""Words of the header."""

FAR = 255
"""Entry of two nodes that are not joined."""


def polarized(topology: Wired) -> Routing:
    """Polarized routing by a table of all distances.

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
    # Gains compare distances of neighbours of any node to both ends. So the whole table is needed,
    # on every rank.
    if size * size > MAX_ENTRIES:
        raise UsageError(
            f"The routing polarized takes tables of {MAX_ENTRIES} entries at most, and that of "
            f"{topology.name} would have {size * size}: one for each pair of nodes."
        )
    distances, largest = all_distances(topology)
    if largest >= FAR:
        raise UsageError(
            f"The routing polarized takes diameters below {FAR}, and {topology.name} has more."
        )
    edge = topology.hosts if topology.hosts < size else 0
    routers = distances[edge:, edge:]
    diameter = int(routers[routers < FAR].max(initial=0))
    # Eight distances share a word, because rules read words alone. The last word is filled up.
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
        # A class per hop so far leaves no circle. The number is the longest way that the gains
        # allow (Camarero, Martinez, Beivide 2021).
        classes=max(1, 2 * min(diameter, 1), 4 * diameter - 3),
    )


def all_distances(topology: Wired) -> tuple[ByteRows, int]:
    """The hops between all pairs of nodes, `FAR` if they are not joined, and the largest number."""
    lists, size, largest = Adjacency.of(topology), topology.size, 0
    table, row = np.empty((size, size), np.uint8), np.empty(size, np.int32)
    for source in range(size):
        row[:] = -1
        measure_distances(lists.begin, lists.others, source, row)
        largest = max(largest, int(row.max()))
        table[source] = np.where(row < 0, FAR, np.minimum(row, FAR))
    return table, largest


# The network's wiring, which `bind` gives.
neighbor = open_part


@inlined
def behind(node, port, params):
    """Return the node behind a port, -1 where it is not wired."""
    return neighbor(node, port, params[WIRING_AT : params[TABLE_AT]])


@inlined
def distance(node, other, params):
    """Look up the distance of two nodes."""
    at = node * params[0] + other
    return params[params[TABLE_AT] + (at >> 3)] >> 8 * (at & 7) & 255


@rule
def start(source, target, header, params):
    """Write both ends."""
    header[TARGET], header[SOURCE] = target, source


@rule
def candidates(node, in_port, in_class, header, candidates, params):
    """Offer hops by what they gain, the most first, then by port."""
    target, source, edge, count = header[TARGET], header[SOURCE], params[EDGE], 0
    if node == target:
        return ARRIVED
    # A message that comes from its processor has made no hop between routers yet. Its classes begin
    # again at 0.
    if in_port >= 0 and behind(node, in_port, params) < edge:
        in_class = -1
    far, left = distance(source, node, params), distance(node, target, params)
    # Hops that gain nothing are allowed if they depart from the source early, or approach the
    # target late. Otherwise a message could swing to and fro.
    neutral = 1 if far < left else -1
    # Candidates in the order of gains let ties between equal queues go to the hop that gains most.
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
    """Take the shortest queue of a channel with room; of equals the first."""
    count, best = candidates.shape[0], -1
    for i in range(count):
        if seen[seen.size - count + i] > 0 and (
            best < 0 or seen[candidates[i, PORT]] < seen[candidates[best, PORT]]
        ):
            best = i
    return best
