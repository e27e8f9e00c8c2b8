"""The folded hypercube: a hypercube in which every processor also has a link to its complement."""

from __future__ import annotations

import numpy as np

from mpinet.compiled import rule
from mpinet.networks.arithmetic import count_ones, lowest_one
from mpinet.networks.binary import BinaryLabels
from mpinet.networks.classic.hypercube import next_in_gray_code
from mpinet.networks.cycle import Cycle
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.waysback import same_port


@rule
def decide(node, header, params):
    """Return the port of the lowest wrong bit, or of a right bit on a route by the complement."""
    wrong = node ^ header[0]
    if wrong == 0:
        return ARRIVED
    bits = params[1]
    # If more than half of the n + 1 ports are wrong, the route by the complement is shorter. At a
    # tie port 0 leads closer on either route.
    if 2 * count_ones(wrong) < bits:
        return lowest_one(wrong)
    if 2 * count_ones(wrong) == bits:
        return 0
    # The complement link flips all bits. Right bits are made wrong first, because the link then
    # corrects all bits at once.
    right = params[0] - 1 - wrong
    return lowest_one(right) if right else bits - 1


class FoldedCube(BinaryLabels):
    """Folded hypercube of 2^n processors (El-Amawy, Latifi 1991).

    Port i flips bit i, port n all bits.
    """

    parameters = (whole_number("n", 2, 57),)
    example = "foldedcube:5"
    paper = "El-Amawy, Latifi 1991"
    specification = "papers/sth 8"

    def __init__(self, n: int):
        self.dimensions = n
        super().__init__(
            f"{n}",
            size=2**n,
            ports=n + 1,
            stated={"degree": n + 1, "diameter": (n + 1) // 2},
        )

    @rule
    def neighbor(node, port, params):
        """Return the node with bit `port` flipped, or with all bits flipped."""
        return params[0] - 1 - node if port == params[1] - 1 else node ^ (1 << port)

    reverse_port = same_port

    routings = shortest_routings(shortest=decide)

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: the hypercube's reflected Gray code."""
        return Cycle("gray", next_in_gray_code, np.array([self.size, self.dimensions]))
