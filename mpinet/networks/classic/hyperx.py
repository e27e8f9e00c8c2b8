"""HyperX and flattened butterfly: processors that differ in one coordinate are all joined."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from mpinet.compiled import inlined, rule
from mpinet.networks.classic.grid import require_sides
from mpinet.networks.classic.incremental import SIDES, dimwar, omniwar, straight_port
from mpinet.networks.parameters import Parameter, sizes, whole_number
from mpinet.networks.routing import ARRIVED, Routing, shortest_routings
from mpinet.networks.topology import Topology, numbered


@inlined
def dimension_of(port, params):
    """The dimension that a port is in, its first port, and the weight of its coordinate."""
    j, first, weight = 0, 0, params[0] // params[SIDES]
    # Sides may differ, so that the dimension of a port is found by counting. There are few
    # dimensions.
    while port - first >= params[SIDES + j] - 1:
        first += params[SIDES + j] - 1
        j += 1
        weight //= params[SIDES + j]
    return j, first, weight


@rule
def decide(node, header, params):
    """The first coordinate that is wrong."""
    return ARRIVED if node == header[0] else straight_port(node, header[0], params)[0]


class CompleteGrid(Topology):
    """Base of both networks: processors in row-major order, dimension 0 first among the ports.

    Within a dimension the ports lead to the other coordinates in ascending order.
    """

    sides: tuple[int, ...]
    default_classes = "none"

    def __init__(self, arguments: str, sides: tuple[int, ...]):
        self.sides = self.radices = sides
        self.cluster_lengths = [prod(sides[j:]) for j in range(1, len(sides))]
        degree = sum(sides) - len(sides)
        super().__init__(
            arguments,
            size=prod(sides),
            ports=degree,
            params=[len(sides), *sides],
            stated={"degree": degree, "diameter": len(sides)},
            link_classes=numbered("dimension", len(sides)),
        )

    @rule
    def neighbor(node, port, params):
        """Another coordinate in the port's dimension."""
        j, first, weight = dimension_of(port, params)
        here, port = node // weight % params[SIDES + j], port - first
        return node + ((port if port < here else port + 1) - here) * weight

    @rule
    def reverse_port(node, port, params):
        """This coordinate's place among the others."""
        j, first, weight = dimension_of(port, params)
        here = node // weight % params[SIDES + j]
        return first + (here - 1 if port - first < here else here)

    @rule
    def link_class(node, port, params):
        """Return the port's dimension."""
        j, _, _ = dimension_of(port, params)
        return j

    routings = shortest_routings(dimensions=decide)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Add DimWAR and OmniWAR."""
        return super().load_routings | {
            "dimwar": lambda seed: dimwar(self.routing()),
            "omniwar": lambda seed: omniwar(self.routing(), len(self.sides)),
        }


class HyperX(CompleteGrid):
    """HyperX, regular or not: the product of complete networks (Ahn et al. 2009)."""

    family = "hyperx"
    parameters = (Parameter("SIDES", "sides >= 2 joined by x", sizes),)
    example = "hyperx:4x4x3"
    paper = "Ahn, Binkert, Davis, McLaren, Schreiber 2009"
    specification = "networks 3"

    def __init__(self, SIDES: tuple[int, ...]):
        require_sides("hyperx", SIDES)
        super().__init__("x".join(map(str, SIDES)), tuple(SIDES))


class FlattenedButterfly(CompleteGrid):
    """Flattened butterfly: the routers of a k-ary n-fly, a row each (Kim, Dally, Abts 2007).

    It has k^(n-1) routers in n-1 dimensions; here a router is one processor.
    """

    family = "flatbutterfly"
    parameters = (whole_number("k", 2, 2**20), whole_number("n", 2, 63))
    example = "flatbutterfly:4,3"
    paper = "Kim, Dally, Abts 2007"
    specification = "networks 3"

    def __init__(self, k: int, n: int):
        super().__init__(f"{k},{n}", (k,) * (n - 1))
