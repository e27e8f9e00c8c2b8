"""The PolarFly: the points of a projective plane, joined where they are orthogonal."""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.classic.field import require_prime
from mpinet.networks.parameters import Parameter, integer
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.topology import Topology

FIELD, INVERSES = 2, 3
"""Places in the rules' parameters: q, and the inverses of 0..q-1 modulo q (0 for 0)."""

LARGEST = 65521


@rule
def decide(node, header, params):
    """Two points have one that is orthogonal to both: the product of their coordinates' vectors."""
    target = header[0]
    if node == target:
        return ARRIVED
    q = params[FIELD]
    x, y, z = point(node, params)
    u, v, w = point(target, params)
    if (x * u + y * v + z * w) % q == 0:
        return place_of(target, node, params)
    # The cross product is orthogonal to both points. In a projective plane there is exactly one
    # such point, hence diameter 2.
    middle = number_of((y * w - z * v) % q, (z * u - x * w) % q, (x * v - y * u) % q, params)
    return place_of(middle, node, params)


class PolarFly(Topology):
    """PolarFly of q^2 + q + 1 processors, q prime (Lakhotia et al. 2022; Erdos, Renyi, Brown).

    Point (1,a,b) has the number aq + b, (0,1,c) the number q^2 + c, and (0,0,1) is the last one.
    Two points are joined if the sum of their coordinates' products is 0 modulo q. A point's ports
    lead to the points orthogonal to it, in ascending order; a port to itself is not wired.
    """

    family = "polarfly"
    parameters = (Parameter("q", f"a prime <= {LARGEST}", integer, least=2, most=LARGEST),)
    example = "polarfly:5"
    paper = "Lakhotia et al. 2022"
    specification = "networks 3"
    default_classes, longest = "hops", 2

    def __init__(self, q: int):
        self.q = q
        require_prime("polarfly", "q", q)
        inverses = [0, *(pow(number, -1, q) for number in range(1, q))]
        super().__init__(
            f"{q}",
            size=q * q + q + 1,
            ports=q + 1,
            params=[q, *inverses],
            stated={"degree": q + 1, "diameter": 2},
        )

    @rule
    def neighbor(node, port, params):
        """The orthogonal point number `port`."""
        other = orthogonal(node, port, params)
        # Quadrics are orthogonal to themselves. A link to itself is no link, so that these points
        # have a port less.
        return -1 if other == node else other

    @rule
    def reverse_port(node, port, params):
        """This point's place among those orthogonal to the other one."""
        other = orthogonal(node, port, params)
        return -1 if other == node else place_of(node, other, params)

    def address(self, node: int) -> str:
        """The coordinates, the first that is not 0 being 1: ``1,4,2``."""
        self.require_node(node)
        if node < self.q**2:
            return f"1,{node // self.q},{node % self.q}"
        return f"0,1,{node - self.q**2}" if node < self.size - 1 else "0,0,1"

    def read_address(self, address: str) -> int:
        """The number of the point."""
        x, y, z = map(int, address.split(","))
        if not all(0 <= number < self.q for number in (x, y, z)):
            raise ValueError(f"{address} has coordinates that are not 0..{self.q - 1}")
        if x == 1:
            return y * self.q + z
        if (x, y) == (0, 1):
            return self.q**2 + z
        if (x, y, z) == (0, 0, 1):
            return self.size - 1
        raise ValueError(f"in {address} the first coordinate that is not 0 is not 1")

    routings = shortest_routings(shortest=decide)


@inlined
def point(node, params):
    """The three coordinates of a point."""
    q = params[FIELD]
    if node < q * q:
        return 1, node // q, node % q
    if node < q * q + q:
        return 0, 1, node - q * q
    return 0, 0, 1


@inlined
def number_of(x, y, z, params):
    """The number of the point with these coordinates, of which one at least is not 0."""
    q = params[FIELD]
    if x != 0:
        # Points are vectors up to a factor. Dividing by the first coordinate that is not 0 gives
        # each point one number.
        scale = params[INVERSES + x]
        return y * scale % q * q + z * scale % q
    if y != 0:
        return q * q + z * params[INVERSES + y] % q
    return q * q + q


@inlined
def orthogonal(node, port, params):
    """The point number `port` of those that are orthogonal to a point."""
    q = params[FIELD]
    x, y, z = point(node, params)
    if z != 0:
        scale = params[INVERSES + z]
        if port == q:
            return q * q + (q - y) * scale % q
        return port * q + (2 * q * q - x - y * port) * scale % q
    if port == q:
        return q * q + q
    if y != 0:
        return (q - x) * params[INVERSES + y] % q * q + port
    return q * q + port


@inlined
def place_of(node, other, params):
    """The place of a point among those orthogonal to the other one."""
    q = params[FIELD]
    _, y, z = point(other, params)
    if node >= q * q:
        return node - q * q if z == 0 and y == 0 and node < q * q + q else q
    return node // q if z != 0 else node % q
