"""Networks of diameter 2 from prime fields: PolarFly and Slim Fly.

The nodes of a PolarFly are the points of a projective plane; orthogonal points are joined. Slim
Flies almost reach the largest size possible for diameter 2 (McKay, Miller, Siran).
"""

from __future__ import annotations

from math import isqrt

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.parameters import Parameter, integer
from mpinet.networks.routing import ARRIVED, STUCK, shortest_routings
from mpinet.networks.topology import Topology


def require_prime(family: str, name: str, number: int) -> None:
    """Raise `TopologyError` unless a number is prime."""
    divisor = next((d for d in range(2, number) if d * d <= number and number % d == 0), None)
    if divisor is not None:
        product = f"{number} = {divisor} * {number // divisor}"
        # The message names the nearest primes, because sizes of such networks have gaps. Users
        # choose q for a wanted number of processors.
        near = [
            next(filter(_is_prime, numbers), None)
            for numbers in (range(number - 1, 1, -1), range(number + 1, 2 * number))
        ]
        primes = " and ".join(str(prime) for prime in near if prime is not None)
        raise TopologyError(
            f"{family}: {name} must be prime, and {product}; the nearest primes are {primes}."
        )


def _is_prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, isqrt(number) + 1))


def primitive_root(q: int) -> int:
    """Return the least number whose powers are all of 1..q-1 modulo the prime q."""
    # A number generates the group if no power by a proper divisor of q - 1 is 1 (Lagrange). Few
    # powers have to be tried.
    factors = {d for d in range(2, q) if (q - 1) % d == 0}
    return next(g for g in range(1, q) if all(pow(g, (q - 1) // d, q) != 1 for d in factors))


FIELD, INVERSES = 2, 3
"""Places in the rules' parameters: q, and a PolarFly's inverses of 0..q-1 modulo q (0 for 0)."""

LARGEST_PLANE = 65521


@rule
def decide_polarfly(node, header, params):
    """Return the port to the target, or to the one point orthogonal to node and target."""
    target = header[0]
    if node == target:
        return ARRIVED
    q = params[FIELD]
    x, y, z = point(node, params)
    u, v, w = point(target, params)
    if (x * u + y * v + z * w) % q == 0:
        return place_of(target, node, params)
    # The cross product is orthogonal to both points. In a projective plane exactly one such
    # point exists, hence diameter 2.
    middle = number_of((y * w - z * v) % q, (z * u - x * w) % q, (x * v - y * u) % q, params)
    return place_of(middle, node, params)


class PolarFly(Topology):
    """PolarFly of q^2 + q + 1 processors, q prime (Lakhotia et al. 2022; Erdos, Renyi, Brown).

    Point (1,a,b) has the number aq + b, (0,1,c) the number q^2 + c, and (0,0,1) is the last point.
    Two points are joined if the sum of their coordinates' products is 0 modulo q. A point's ports
    lead to the points orthogonal to it, in ascending order; a port to itself is not wired.
    """

    parameters = (
        Parameter("q", f"a prime <= {LARGEST_PLANE}", integer, least=2, most=LARGEST_PLANE),
    )
    example = "polarfly:5"
    paper = "Lakhotia et al. 2022"
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
        """Return the orthogonal point with index `port`, -1 for the point itself."""
        other = orthogonal(node, port, params)
        # Quadrics are orthogonal to themselves. A self-loop is not a link, and these points
        # have one port less.
        return -1 if other == node else other

    @rule
    def reverse_port(node, port, params):
        """Return this point's place among the points orthogonal to the other one."""
        other = orthogonal(node, port, params)
        return -1 if other == node else place_of(node, other, params)

    def _address(self, node: int) -> str:
        """Return the coordinates, scaled to a leading 1: ``1,4,2``."""
        if node < self.q**2:
            return f"1,{node // self.q},{node % self.q}"
        return f"0,1,{node - self.q**2}" if node < self.size - 1 else "0,0,1"

    def read_address(self, address: str) -> int:
        """Return the number of the point with these coordinates."""
        x, y, z = map(int, address.split(","))
        if not all(0 <= number < self.q for number in (x, y, z)):
            raise ValueError(f"{address} has coordinates that are not 0..{self.q - 1}")
        if x == 1:
            return y * self.q + z
        if (x, y) == (0, 1):
            return self.q**2 + z
        if (x, y, z) == (0, 0, 1):
            return self.size - 1
        raise ValueError(f"the first nonzero coordinate of {address} is not 1")

    routings = shortest_routings(shortest=decide_polarfly)


@inlined
def point(node, params):
    """Return the three coordinates of a point."""
    q = params[FIELD]
    if node < q * q:
        return 1, node // q, node % q
    if node < q * q + q:
        return 0, 1, node - q * q
    return 0, 0, 1


@inlined
def number_of(x, y, z, params):
    """Return the number of the point with these coordinates, at least one of which is not 0."""
    q = params[FIELD]
    if x != 0:
        # Points are vectors up to a factor. Division by the first nonzero coordinate gives
        # each point one number.
        scale = params[INVERSES + x]
        return y * scale % q * q + z * scale % q
    if y != 0:
        return q * q + z * params[INVERSES + y] % q
    return q * q + q


@inlined
def orthogonal(node, port, params):
    """Return the point with index `port` among the points orthogonal to a point."""
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
    """Return the place of a point among the points orthogonal to the other one."""
    q = params[FIELD]
    _, y, z = point(other, params)
    if node >= q * q:
        return node - q * q if z == 0 and y == 0 and node < q * q + q else q
    return node // q if z != 0 else node % q


OFFSETS, TABLES = 3, 4
"""Places in a Slim Fly's parameters after q: the number of offsets in each half, and the tables.

For each half, a table has the offsets in ascending order. Then, for every number 0..q-1, it has the
number's place among the offsets, or -1.
"""

LARGEST = 8191


@rule
def decide_slimfly(node, header, params):
    """Return the port to the target, or to the first neighbour joined to the target."""
    target = header[0]
    if node == target:
        return ARRIVED
    # A direct link is found by arithmetic. Only pairs at distance two need the search over the
    # ports.
    direct = port_to(node, target, params)
    if direct >= 0:
        return direct
    for port in range(params[1]):
        if port_to(field_neighbor(node, port, params), target, params) >= 0:
            return port
    return STUCK


@rule
def field_neighbor(node, port, params):
    """Return the processor behind a port."""
    q, count = params[FIELD], params[OFFSETS]
    half = node // (q * q)
    first, last = node // q % q, node % q
    if port < count:
        return node - last + (last + params[TABLES + half * (count + q) + port]) % q
    other = port - count
    if half == 0:
        return q * q + other * q + (last - other * first) % q
    return other * q + (first * other + last) % q


class SlimFly(Topology):
    """Slim Fly of 2 q^2 processors, q an odd prime (Besta, Hoefler 2014).

    Processor (0,x,y) has the number xq + y, (1,m,c) the number q^2 + mq + c. The first ports add an
    offset of the half to the last coordinate. The last q ports lead to the other half, where
    (0,x,y) and (1,m,c) are joined if y = mx + c.
    """

    parameters = (Parameter("q", f"an odd prime <= {LARGEST}", integer, least=3, most=LARGEST),)
    example = "slimfly:5"
    paper = "Besta, Hoefler 2014; McKay, Miller, Siran 1998"
    default_classes, longest = "hops", 2

    def __init__(self, q: int):
        self.q = q
        require_prime("slimfly", "q", q)
        self.radices, self.cluster_lengths = (2, q, q), [q**2, q]
        halves = offsets_of(q)
        tables = [number for offsets in halves for number in (*offsets, *places(offsets, q))]
        count = len(halves[0])
        super().__init__(
            f"{q}",
            size=2 * q * q,
            ports=count + q,
            params=[q, count, *tables],
            stated={"degree": (3 * q - (1 if q % 4 == 1 else -1)) // 2, "diameter": 2},
        )

    neighbor = field_neighbor

    @rule
    def reverse_port(node, port, params):
        """Return the port of the opposite offset, or of this processor in the other half."""
        q, count = params[FIELD], params[OFFSETS]
        if port >= count:
            return count + node // q % q
        table = TABLES + node // (q * q) * (count + q)
        # The table of places finds the port of the negated offset. A search among the offsets would
        # take q/2 steps.
        return params[table + count + (q - params[table + port]) % q]

    routings = shortest_routings(shortest=decide_slimfly)


def offsets_of(q: int) -> tuple[list[int], list[int]]:
    """Return the offsets of both halves, ascending: powers of a primitive root.

    For q = 4w+1 these are the even powers and the odd powers. For q = 4w-1, -1 is an odd power.
    Then one half has the even powers below 2w and their negatives, the other likewise the odd
    powers.
    """
    root = primitive_root(q)
    # Offsets must be closed under negation, since links go both ways. For q = 4w+1, -1 is an even
    # power, and even powers are closed by themselves.
    if q % 4 == 1:
        halves = [range(0, q - 1, 2), range(1, q - 1, 2)]
        even, odd = ({pow(root, e, q) for e in half} for half in halves)
    else:
        w = (q + 1) // 4
        even, odd = ({pow(root, e, q) for e in range(start, 2 * w, 2)} for start in (0, 1))
        even, odd = (half | {q - number for number in half} for half in (even, odd))
    if len(even) != len(odd):
        raise TopologyError(f"slimfly: there are no offsets for q = {q}.")
    return sorted(even), sorted(odd)


def places(offsets: list[int], q: int) -> list[int]:
    """Return, for every number 0..q-1, its place among the offsets, or -1."""
    found = {offset: place for place, offset in enumerate(offsets)}
    return [found.get(number, -1) for number in range(q)]


@inlined
def port_to(node, target, params):
    """Return the port of a direct link, or -1."""
    q, count = params[FIELD], params[OFFSETS]
    half, other_half = node // (q * q), target // (q * q)
    first, last = node // q % q, node % q
    to_first, to_last = target // q % q, target % q
    if half == other_half:
        if first != to_first:
            return -1
        return params[TABLES + half * (count + q) + count + (to_last - last) % q]
    x, y, m, c = (first, last, to_first, to_last)
    if half == 1:
        x, y, m, c = (to_first, to_last, first, last)
    return count + to_first if (m * x + c - y) % q == 0 else -1
