"""The twisted torus: closing links of short sides also lead half a long side further.

Sides are k or 2k. A hop beyond the end of a side k adds k to every coordinate of a side 2k. The
processors are then the points of a lattice of squares or cubes without a long direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.classic.grid import require_sides
from mpinet.networks.parameters import Parameter, sizes
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.topology import Topology, numbered
from mpinet.networks.waysback import other_of_pair

DIMENSIONS, SHORT, LINES = 2, 3, 4
"""Places in the rules' parameters: the number of dimensions, k, and stride and side of each
dimension.
"""


@rule
def decide(node, header, params):
    """Return the port of the shorter route in its lowest dimension; a tie avoids the twist."""
    target = header[0]
    if node == target:
        return ARRIVED
    # Crossing ends of short sides twice undoes the twist. Only the parity of crossings matters,
    # and two cases cover all routes.
    odd = 1 if hops(node, target, 1, params) < hops(node, target, 0, params) else 0
    changed = closed_dimension(node, target, odd, params)
    dimension = 0
    while way_in(node, target, odd, dimension, changed, params) == 0:
        dimension += 1
    way = way_in(node, target, odd, dimension, changed, params)
    return 2 * dimension + (0 if way > 0 else 1)


class TwistedTorus(Topology):
    """Twisted torus of two or three sides, each k or 2k (Camara et al. 2010).

    Row-major, per dimension a port +1 and a port -1.
    """

    parameters = (Parameter("SIDES", "two or three sides joined by x, k >= 2 and 2k", sizes),)
    example = "twistedtorus:8x4"
    paper = "Camara et al. 2010; Jouppi et al. 2023"

    def __init__(self, SIDES: Sequence[int]):
        require_sides("twistedtorus", SIDES)
        self.sides = self.radices = tuple(SIDES)
        short = min(SIDES)
        name = "x".join(map(str, SIDES))
        if len(SIDES) not in (2, 3) or set(SIDES) != {short, 2 * short}:
            raise TopologyError(
                "twistedtorus: SIDES are two or three, some k and the others 2k, as in 8x4 or "
                f"8x4x4, not {name}."
            )
        self.strides = tuple(prod(self.sides[j + 1 :]) for j in range(len(self.sides)))
        lines = [word for pair in zip(self.strides, self.sides, strict=True) for word in pair]
        super().__init__(
            name,
            size=prod(self.sides),
            ports=2 * len(self.sides),
            params=[len(self.sides), short, *lines],
            stated={"degree": 2 * len(self.sides), "diameter": len(self.sides) * short // 2},
            link_classes=numbered("dimension", len(self.sides)),
        )

    @rule
    def neighbor(node, port, params):
        """Return the next node in the port's dimension, twisted beyond the end of a short side."""
        at = LINES + 2 * (port // 2)
        stride, side = params[at], params[at + 1]
        place = node // stride % side
        moved = (place + 1 - 2 * (port % 2)) % side
        other = node + (moved - place) * stride
        ahead = port % 2 == 0
        if side == params[SHORT] and moved == (0 if ahead else side - 1):
            return twisted(other, params)
        return other

    reverse_port = other_of_pair

    @rule
    def link_class(node, port, params):
        """Return the port's dimension."""
        return port // 2

    routings = shortest_routings(shortest=decide)


@inlined
def twisted(node, params):
    """Return the node half of every long side further."""
    for dimension in range(params[DIMENSIONS]):
        stride, side = params[LINES + 2 * dimension], params[LINES + 2 * dimension + 1]
        if side != params[SHORT]:
            half = params[SHORT]
            node += half * stride if node // stride % side < half else -half * stride
    return node


@inlined
def offset_to(node, target, line, params):
    """Return the target's coordinate in a dimension less the node's."""
    stride, side = params[line], params[line + 1]
    return target // stride % side - node // stride % side


@inlined
def around(offset, half):
    """Return the shorter signed offset round a long side; exactly half of it goes forward."""
    way = offset % (2 * half)
    return way if way <= half else way - 2 * half


@inlined
def other_way(offset, short):
    """Return the signed offset over the other end of a short side."""
    return offset - short if offset > 0 else offset + short


@inlined
def closed_dimension(node, target, odd, params):
    """Return the short side that has to be passed the longer way round, or -1.

    Ends of short sides must be crossed an odd (1) or even (0) number of times. Every short side is
    passed in the shorter direction. If that gives the wrong parity, the side with the least extra
    cost is passed in the other direction.
    """
    short, closings, chosen, least = params[SHORT], 0, -1, 2 * params[SHORT]
    for dimension in range(params[DIMENSIONS]):
        line = LINES + 2 * dimension
        if params[line + 1] != short:
            continue
        offset = offset_to(node, target, line, params)
        over = 2 * abs(offset) > short
        closings += 1 if over else 0
        # The other direction round a side of k costs k - 2|offset| hops more. The cheapest side
        # corrects a wrong parity.
        cost = abs(short - 2 * abs(offset))
        if cost < least:
            chosen, least = dimension, cost
    return -1 if closings % 2 == odd else chosen


@inlined
def way_in(node, target, odd, dimension, changed, params):
    """Return the signed hops in a dimension, with (`odd` = 1) or without a twist."""
    line = LINES + 2 * dimension
    short = params[SHORT]
    offset = offset_to(node, target, line, params)
    if params[line + 1] != short:
        return around(offset + odd * short, short)
    over = 2 * abs(offset) > short
    if dimension == changed:
        over = not over
    return other_way(offset, short) if over else offset


@inlined
def hops(node, target, odd, params):
    """Return the hops of the shortest route with (`odd` = 1) or without a twist."""
    changed = closed_dimension(node, target, odd, params)
    total = 0
    for dimension in range(params[DIMENSIONS]):
        total += abs(way_in(node, target, odd, dimension, changed, params))
    return total
