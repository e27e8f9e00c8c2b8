"""Hex-Cell HC(d), a network compared in the STH paper: hexagons in d levels round a central one.

Level X is a ring of 6(2X-1) processors in six sextants. Processors at even places of a sextant have
a link outwards, processors at odd places a link inwards.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import lowest_closer_port, shortest_routings
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import other_way_round

DEPTH = 2
"""Place in the rules' parameters: the number d of levels."""

FORWARD, ACROSS = 0, 2


@inlined
def floor_sqrt(number):
    """Return the largest whole number whose square is at most `number`, for 0 <= number < 2^62."""
    # Floating point is exact to 53 bits only. The two loops correct the last unit for larger
    # numbers.
    root = int(number**0.5)
    while root * root > number:
        root -= 1
    while (root + 1) * (root + 1) <= number:
        root += 1
    return root


@inlined
def level_and_place(node):
    """Return the level X of a processor, and its place Y in the level's ring."""
    inside = floor_sqrt(node // 6)
    return inside + 1, node - 6 * inside * inside


@inlined
def coordinates(node):
    """Return the place in the plane as three coordinates; every link changes one of them by 1."""
    level, place = level_and_place(node)
    side = 2 * level - 1
    sextant = place // side
    place -= sextant * side
    up, down = (place + 1) // 2, place // 2
    # Pairs of sextants are rotations of one another. Two are computed, and the others exchange
    # coordinates.
    if sextant % 2 == 0:
        x, y, z = level, 1 - level + up, -down
    else:
        x, y, z = level - up, 1 + down, 1 - level
    if sextant < 2:
        return x, y, z
    return (z, x, y) if sextant < 4 else (y, z, x)


@inlined
def cell_distance(node, target, params):
    """Return the distance in hops: the sum of the coordinates' differences (docs/papers/sth, 4)."""
    x, y, z = coordinates(node)
    a, b, c = coordinates(target)
    return abs(x - a) + abs(y - b) + abs(z - c)


class HexCell(Topology):
    """Hex-Cell of 6 d^2 processors, level after level (Sharieh et al. 2008).

    Ports: forward and backward in the ring, across.
    """

    parameters = (whole_number("d", 1),)
    example = "hexcell:3"
    paper = "Sharieh et al. 2008; STH (table 4)"
    specification = "papers/sth 2, 3"

    def __init__(self, d: int):
        self.depth = d
        stated = {"degree": 3, "diameter": 4 * d - 1}
        super().__init__(f"{d}", size=6 * d * d, ports=3, params=[d], stated=stated)

    @rule
    def neighbor(node, port, params):
        """Return the next processor along the ring, outwards or inwards.

        Links lead outwards from even places, inwards from odd places.
        """
        level, place = level_and_place(node)
        side = 2 * level - 1
        if port != ACROSS:
            if port == FORWARD:
                return node + 1 if place < 6 * side - 1 else node - place
            return node - 1 if place > 0 else node + 6 * side - 1
        sextant = place // side
        place -= sextant * side
        if place % 2 == 1:
            return 6 * (level - 2) * (level - 2) + sextant * (side - 2) + place - 1
        if level == params[DEPTH]:
            return -1
        return 6 * level * level + sextant * (side + 2) + place + 1

    reverse_port = other_way_round

    def _address(self, node: int) -> str:
        """Return the address ``(X,Y+1)``: the level and the place in it, both from 1."""
        level, place = level_and_place(node)
        return f"({level},{place + 1})"

    def read_address(self, address: str) -> int:
        """Return the processor with this level and place."""
        level, place = map(int, address.strip("()").split(","))
        return 6 * (level - 1) ** 2 + place - 1

    routings = shortest_routings(
        shortest=lowest_closer_port.bind(
            "HexCell.shortest", wiring=neighbor, distance=cell_distance
        )
    )
