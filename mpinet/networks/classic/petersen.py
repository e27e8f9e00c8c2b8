"""The Petersen graph, its products with itself and with the hypercube, and generalized ones.

The Petersen graph has an outer ring 0..4, an inner star 5..9 with steps of 2, and five spokes. A
node of a folded Petersen cube has k such digits, digit 0 fastest, and above these a cube's label.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.classic.chordalring import decide as decide_by_parity
from mpinet.networks.parameters import Limit, whole_number
from mpinet.networks.routing import ARRIVED, made_routings, shortest_routings
from mpinet.networks.shortest import table_routing
from mpinet.networks.topology import Topology, numbered
from mpinet.networks.waysback import other_way_round

FORWARD, BACKWARD, SPOKE = 0, 1, 2

DIGITS, POWERS = 2, 3
"""Places in the rules' parameters: k, and the powers 10^0 .. 10^k."""


@inlined
def petersen_neighbor(node, port):
    """Return the neighbour on the ring or star (ports 0 and 1) or across the spoke (port 2)."""
    if port == SPOKE:
        return node + 5 if node < 5 else node - 5
    step = 1 if node < 5 else 2
    if port == BACKWARD:
        step = 5 - step
    return (node + step) % 5 + (0 if node < 5 else 5)


@inlined
def petersen_port(node, target):
    """Return the port towards another processor; all shortest paths begin with this port.

    The offset counts steps of the node's own ring or star.
    """
    offset = (target - node) % 5
    if node >= 5:
        # The star steps by two, and 3 is the inverse of 2 modulo 5. In these units the star is a
        # ring.
        offset = 3 * offset % 5
    if (node < 5) == (target < 5):
        return FORWARD if offset <= 2 else BACKWARD
    if offset == 1:
        return FORWARD
    return BACKWARD if offset == 4 else SPOKE


@rule
def decide(node, header, params):
    """Return the port that corrects the lowest wrong digit, or else the lowest wrong bit."""
    target, digits = header[0], params[DIGITS]
    if node == target:
        return ARRIVED
    # Digits and bits are independent factors. Correcting them in a fixed order is shortest, and
    # causes no cycle of dependencies between factors.
    for index in range(digits):
        power = params[POWERS + index]
        here, there = node // power % 10, target // power % 10
        if here != there:
            return 3 * index + petersen_port(here, there)
    power = params[POWERS + digits]
    return 3 * digits + lowest_one(node // power ^ target // power)


class PetersenCube(Topology):
    """Base of Petersen networks: k Petersen digits below n bits; digits have 3 ports, bits 1."""

    def __init__(self, arguments: str, n: int, k: int):
        super().__init__(
            arguments,
            size=10**k << n,
            ports=3 * k + n,
            params=[k, *(10**j for j in range(k + 1))],
            stated={"degree": 3 * k + n, "diameter": 2 * k + n},
            link_classes=(*numbered("digit", k), *numbered("bit", n)),
        )

    @rule
    def neighbor(node, port, params):
        """Return the neighbour in the port's digit, or the node with the port's bit flipped."""
        digits = params[DIGITS]
        if port >= 3 * digits:
            power = params[POWERS + digits]
            label = node // power
            return node + ((label ^ (1 << (port - 3 * digits))) - label) * power
        power = params[POWERS + port // 3]
        digit = node // power % 10
        return node + (petersen_neighbor(digit, port % 3) - digit) * power

    @rule
    def reverse_port(node, port, params):
        """Return the opposite direction on a ring or star; for spokes and bits the same port."""
        if port >= 3 * params[DIGITS] or port % 3 == SPOKE:
            return port
        return port + 1 - 2 * (port % 3)

    @rule
    def link_class(node, port, params):
        """Return the port's factor: a digit, or a bit after the digits."""
        digits = params[DIGITS]
        return port // 3 if port < 3 * digits else port - 2 * digits

    routings = shortest_routings(shortest=decide)


class Petersen(PetersenCube):
    """Petersen graph; ports along the ring of 0..4 or the star of 5..9, then the spoke."""

    parameters = ()
    example = "petersen"
    paper = "textbook"
    specification = "papers/sth 8"

    def __init__(self) -> None:
        super().__init__("", 0, 1)


class HyperPetersen(PetersenCube):
    """Hyper Petersen network of 10 2^(n-3) processors (Das, Banerjee 1992).

    The Petersen graph times a hypercube.
    """

    parameters = (whole_number("n", 3, 56),)
    example = "hp:5"
    paper = "Das, Banerjee 1992"
    specification = "papers/sth 8"

    def __init__(self, n: int):
        super().__init__(f"{n}", n - 3, 1)


class FoldedPetersenCube(PetersenCube):
    """Folded Petersen cube FPQ(n,k) of 10^k 2^n processors (Öhring, Das 1996).

    Ports: 3j..3j+2 for digit j, then one port per bit.
    """

    parameters = (whole_number("n", 0, 53), whole_number("k", 1, 17))
    example = "fpq:2,2"
    paper = "Öhring, Das 1996"
    specification = "papers/sth 8"

    def __init__(self, n: int, k: int):
        super().__init__(f"{n},{k}", n, k)


class FoldedPetersen(PetersenCube):
    """Folded Petersen network FP(k) of 10^k processors (Öhring, Das 1996).

    Port 3j+i is port i of digit j.
    """

    parameters = (whole_number("k", 1, 17),)
    example = "fp:2"
    paper = "Öhring, Das 1996"
    specification = "papers/sth 8"

    def __init__(self, k: int):
        super().__init__(f"{k}", 0, k)


JUMP = 2
"""Place in the rules' parameters: k."""


class GeneralizedPetersen(Topology):
    """Generalized Petersen graph GP(n,k): a ring, spokes, and a star polygon (Watkins 1969).

    Ports of the ring's node 2i lead to 2(i+1), 2(i-1), 2i+1. Ports of the polygon's node 2i+1 lead
    to 2(i+k)+1, 2(i-k)+1, 2i. Sums are modulo n.
    """

    parameters = (
        whole_number("n", 3, 2**20),
        whole_number("k", 1, Limit("(n-1)/2", lambda given: (given["n"] - 1) // 2)),
    )
    example = "gpetersen:8,3"
    paper = "Watkins 1969"

    def __init__(self, n: int, k: int):
        super().__init__(f"{n},{k}", size=2 * n, ports=3, params=[k], stated={"degree": 3})

    @rule
    def neighbor(node, port, params):
        """Return the next node of the ring or polygon, or the node at the spoke's other end."""
        if port == SPOKE:
            return node ^ 1
        # Even numbers are the ring, odd ones the polygon. A spoke therefore flips the last bit, and
        # both cycles use one formula.
        jump = 2 * params[JUMP] if node & 1 else 2
        return (node + jump - 2 * jump * port) % params[0]

    reverse_port = other_way_round

    routings = made_routings(shortest=lambda self: table_routing(self, decide_by_parity, 2))
    """Shortest paths by two tables: nodes of the ring are equivalent, and so are nodes of the
    polygon.
    """
