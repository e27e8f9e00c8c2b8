"""The Slim Fly: graphs of diameter 2, almost as large as can be (McKay, Miller, Siran)."""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.classic.field import primitive_root, require_prime
from mpinet.networks.parameters import Parameter, integer
from mpinet.networks.routing import ARRIVED, STUCK, shortest_routings
from mpinet.networks.topology import Topology

FIELD, OFFSETS, TABLES = 2, 3, 4
"""Places in the rules' parameters: q, the number of offsets in each half, and the tables: for each
half its offsets in ascending order, then for every number 0..q-1 its place among them, or -1.
"""

LARGEST = 8191


@rule
def decide(node, header, params):
    """Reach the target in at most two hops; try its neighbours in the order of the ports."""
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
    """The processor behind a port."""
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
    offset of the half to the last coordinate; then q ports lead to the other half, where
    (0,x,y) and (1,m,c) are joined if y = mx + c.
    """

    family = "slimfly"
    parameters = (Parameter("q", f"an odd prime <= {LARGEST}", integer, least=3, most=LARGEST),)
    example = "slimfly:5"
    paper = "Besta, Hoefler 2014; McKay, Miller, Siran 1998"
    specification = "networks 3"
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
        """The opposite offset; over there the port is this processor's first coordinate."""
        q, count = params[FIELD], params[OFFSETS]
        if port >= count:
            return count + node // q % q
        table = TABLES + node // (q * q) * (count + q)
        # The table of places finds the port of the negated offset. A search among the offsets would
        # take q/2 steps.
        return params[table + count + (q - params[table + port]) % q]

    routings = shortest_routings(shortest=decide)


def offsets_of(q: int) -> tuple[list[int], list[int]]:
    """The offsets of either half, ascending: powers of a primitive root, closed under negation.

    For q = 4w+1 the even powers and the odd ones. For q = 4w-1, where -1 is an odd power, the even
    ones below 2w and their negatives, and likewise the odd ones.
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
    """The port of a direct link, or -1."""
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
