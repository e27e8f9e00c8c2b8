"""HyperX and flattened butterfly: processors that differ in one coordinate are all joined."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from mpinet.compiled import rule
from mpinet.errors import TopologyError
from mpinet.networks.classic.incremental import dimwar, omniwar
from mpinet.networks.clusters import runs_around
from mpinet.networks.parameters import Parameter, require_integer, sizes, whole_number
from mpinet.networks.routing import ARRIVED, Routing, stateless
from mpinet.networks.topology import MAX_SIZE, Topology

DIMENSIONS, SIDES = 2, 3
"""Places in the rules' parameters: the number of sides, and the first side."""


class CompleteGrid(Topology):
    """Base of both networks: processors in row-major order, dimension 0 first among the ports.

    Within a dimension the ports lead to the other coordinates in ascending order.
    """

    sides: tuple[int, ...]
    default_classes = "none"

    def __init__(self, arguments: str, sides: tuple[int, ...]):
        self.sides = self.radices = sides
        super().__init__(
            arguments,
            size=prod(sides),
            ports=sum(sides) - len(sides),
            params=[len(sides), *sides],
        )

    @rule
    def neighbor(node, port, params):
        """Another coordinate in the port's dimension."""
        weight = params[0]
        for j in range(params[DIMENSIONS]):
            side = params[SIDES + j]
            weight //= side
            if port < side - 1:
                here = node // weight % side
                return node + ((port if port < here else port + 1) - here) * weight
            port -= side - 1
        return -1

    @rule
    def reverse_port(node, port, params):
        """This coordinate's place among the others."""
        weight, first = params[0], 0
        for j in range(params[DIMENSIONS]):
            side = params[SIDES + j]
            weight //= side
            if port < side - 1:
                here = node // weight % side
                return first + (here - 1 if port < here else here)
            port -= side - 1
            first += side - 1
        return -1

    @rule
    def link_class(node, port, params):
        """Return the port's dimension."""
        dimension = 0
        while port >= params[SIDES + dimension] - 1:
            port -= params[SIDES + dimension] - 1
            dimension += 1
        return dimension

    @property
    def link_classes(self) -> tuple[str, ...]:
        """The dimensions."""
        return tuple(f"dimension {j}" for j in range(len(self.sides)))

    def clusters(self, position: int) -> list[range]:
        """The blocks that agree in the first coordinates."""
        return runs_around(position, [prod(self.sides[j:]) for j in range(1, len(self.sides))])

    @property
    def stated(self) -> dict[str, int]:
        """Degree: the sum of the sides less one each. Diameter: the number of sides."""
        return {"degree": self.ports, "diameter": len(self.sides)}

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Correct dimension after dimension."""
        return {"dimensions": lambda: stateless("dimensions", decide, self)}

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
        for side in SIDES:
            require_integer("hyperx", "every side", side, 2)
        if not SIDES or prod(SIDES) > MAX_SIZE:
            raise TopologyError("hyperx: give one side or more, of fewer than 2^63 processors.")
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
        self.checked("k", k)
        self.checked("n", n)
        if k ** (n - 1) > MAX_SIZE:
            raise TopologyError(f"flatbutterfly: k^(n-1) must be < 2^63; {k},{n} gives more.")
        super().__init__(f"{k},{n}", (k,) * (n - 1))


@rule
def decide(node, header, params):
    """The first coordinate that is wrong."""
    target = header[0]
    if node == target:
        return ARRIVED
    weight, first = params[0], 0
    for j in range(params[DIMENSIONS]):
        side = params[SIDES + j]
        weight //= side
        here, wanted = node // weight % side, target // weight % side
        if here != wanted:
            return first + (wanted if wanted < here else wanted - 1)
        first += side - 1
    return ARRIVED
