"""The binary hypercube, routed by bit fixing."""

from __future__ import annotations

from collections.abc import Callable

from mpinet.compiled import rule
from mpinet.networks.adaptive import CLASS, PORT
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.binary import BinaryLabels
from mpinet.networks.cycle import Cycle
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, Routing, above_escape, shortest_routings
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import EXCHANGE, numbered
from mpinet.networks.waysback import same_port


@rule
def fix_lowest_bit(node, header, params):
    """Return the lowest dimension in which the node differs from the target."""
    difference = node ^ header[0]
    return ARRIVED if difference == 0 else lowest_one(difference)


class Hypercube(BinaryLabels):
    """Hypercube of 2^n processors; port i flips bit i of the number."""

    parameters = (whole_number("n", 1, 57),)
    example = "hypercube:10"
    paper = "textbook"
    specification = "papers/gmn 9"
    default_classes = "none"

    def __init__(self, n: int):
        self.dimensions = n
        super().__init__(
            f"{n}",
            size=2**n,
            ports=n,
            stated={"degree": n, "diameter": n},
            link_classes=numbered("dimension", n),
        )

    @rule
    def neighbor(node, port, params):
        """Return the node with bit `port` flipped."""
        return node ^ (1 << port)

    reverse_port = same_port

    @rule
    def link_class(node, port, params):
        """Return the port's dimension."""
        return port

    routings = shortest_routings(bitfixing=fix_lowest_bit)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Minimal adaptive routing for open-loop traffic, with bit fixing as the escape."""
        return super().load_routings | {
            "adaptive": above_escape(self, "adaptive", any_differing_bit, 2)
        }

    @property
    def coordinates(self) -> tuple[tuple[int, int], ...]:
        """Stride and side of every bit, the lowest bit first."""
        return tuple((1 << bit, 2) for bit in range(self.dimensions))

    ascend_schedules = EXCHANGE

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast along the binomial tree."""
        phases = tuple((f"D{i}", 1) for i in range(self.dimensions))
        return {"binomial": lambda: Schedule("binomial", root, binomial, self.params, phases)}

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: the reflected Gray code."""
        return Cycle("gray", next_in_gray_code, self.params)


@rule
def any_differing_bit(node, in_port, in_class, header, candidates, params):
    """List every differing dimension in class 1, and the lowest in class 0: the escape."""
    difference = node ^ header[0]
    if difference == 0:
        return ARRIVED
    count = 0
    for port in range(params[1]):
        if difference >> port & 1:
            candidates[count, PORT], candidates[count, CLASS] = port, 1
            count += 1
    # Bit fixing in class 0 has acyclic dependencies, which makes it the escape. Class 1 is free in
    # the order of bits.
    candidates[count, PORT], candidates[count, CLASS] = lowest_one(difference), 0
    return count + 1


@rule
def binomial(node, root, since, step, params):
    """Return the port of the binomial broadcast: dimension t-1 in step t."""
    return step - 1 if step <= params[1] else -1


@rule
def next_in_gray_code(node, way, params):
    """Return the bit that changes after this word of the reflected Gray code."""
    place = node
    # A prefix XOR turns a Gray word into its place. Doubling shifts do this in six steps for 64
    # bits.
    for shift in (1, 2, 4, 8, 16, 32):
        place ^= place >> shift
    return min(lowest_one(place + 1), params[1] - 1)
