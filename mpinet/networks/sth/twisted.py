"""The twisted hypercube TQ_n of the paper (definition 8): one 4-cycle of the hypercube is twisted.

In the 4-cycle {0,1,2,3} the links 0-1 and 2-3 are replaced by the diagonals 0-3 and 1-2.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.arithmetic import count_ones, highest_one
from mpinet.networks.binary import MOST_DIMENSIONS
from mpinet.networks.closer import lowest_closer_port
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED
from mpinet.networks.sth.cube import Cube
from mpinet.networks.waysback import same_port


@inlined
def twisted_distance(node, target, params):
    """Hops between two processors of the cube (docs/papers/sth, 4).

    The twist saves a hop where the low bits differ by 3, if the way leads through the 4-cycle, and
    costs one where they differ by 1, if it does not lead out of it.
    """
    low = (node ^ target) & 3
    hops = count_ones((node ^ target) >> 2)
    if low == 0:
        return hops
    if low == 2:
        return hops + 1
    if low == 3:
        return hops + (1 if (node >> 2) & (target >> 2) == 0 else 2)
    return hops + (2 if node < 4 and target < 4 else 1)


@rule
def highest_dimension(node, header, params):
    """Correct the highest wrong bit; inside the 4-cycle 3 is one hop, 1 and 2 go over port 1."""
    difference = node ^ header[0]
    if difference == 0:
        return ARRIVED
    highest = highest_one(difference)
    if highest >= 2 or node >= 4:
        return highest
    return 0 if difference == 3 else 1


class TwistedCube(Cube):
    """Twisted hypercube of 2^n processors (STH, definition 8, after Abuelrub 2007).

    Port i flips bit i, but port 0 flips 0..3 to 3..0.
    """

    family = "tq"
    parameters = (whole_number("n", 2, MOST_DIMENSIONS),)
    example = "tq:4"
    paper = "STH (definition 8)"
    specification = "papers/sth 3"

    @rule
    def neighbor(node, port, params):
        """Flip bit `port`; two bits along the diagonals of the twisted 4-cycle."""
        return node ^ 3 if port == 0 and node < 4 else node ^ (1 << port)

    reverse_port = same_port

    shortest_rule = lowest_closer_port.bind(
        "TwistedCube.shortest", wiring=neighbor, distance=twisted_distance
    )
    dimension_rule = highest_dimension

    @classmethod
    def stated_diameter(cls, n: int) -> int:
        """Return n-1 (definition 8; lemma 3 has another one)."""
        return n - 1
