"""The exchanged hypercube: each half of the processors has links in some dimensions."""

from __future__ import annotations

from mpinet.compiled import rule
from mpinet.errors import TopologyError
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.binary import BinaryLabels
from mpinet.networks.parameters import Parameter, integer, whole_number
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.waysback import same_port

HIGH, LOW = 2, 3
"""Places in the rules' parameters: s and t."""

MOST_BITS = 56
"""Largest s + t."""


@rule
def decide(node, header, params):
    """Return the port of the lowest wrong bit with a link here, otherwise the port that flips c."""
    wrong = node ^ header[0]
    if wrong == 0:
        return ARRIVED
    low = (2 << params[LOW]) - 2
    # Half of the bits can be corrected here. The other half waits until c is flipped, which happens
    # at most twice on a route.
    mine = wrong & low if node & 1 else wrong & ~low & ~1
    if mine == 0:
        return 0
    return lowest_one(mine) if node & 1 else lowest_one(mine) - params[LOW]


class ExchangedCube(BinaryLabels):
    """Exchanged hypercube EH(s,t) of 2^(s+t+1) processors (Loh, Hsu, Pan 2005).

    Bit 0 is c, bits 1..t are b, bits t+1..t+s are a. Port 0 flips c. The other ports flip the bits
    of b if c = 1, or the bits of a if c = 0.
    """

    parameters = (
        whole_number("s", 1),
        Parameter("t", ">= 1, s + t <= 56", integer, least=1),
    )
    example = "exchangedcube:2,3"
    paper = "Loh, Hsu, Pan 2005"
    most_classes = 2

    def __init__(self, s: int, t: int):
        if s + t > MOST_BITS:
            raise TopologyError(f"exchangedcube: s + t must be at most {MOST_BITS}, not {s + t}.")
        super().__init__(
            f"{s},{t}",
            size=2 ** (s + t + 1),
            ports=1 + max(s, t),
            params=[s, t],
            stated={"diameter": s + t + 2},
        )

    @rule
    def neighbor(node, port, params):
        """Return the node with c flipped, or with a flipped bit of the half that c selects."""
        if port == 0:
            return node ^ 1
        if node & 1:
            return node ^ (1 << port) if port <= params[LOW] else -1
        return node ^ (1 << (port + params[LOW])) if port <= params[HIGH] else -1

    reverse_port = same_port

    @rule
    def channel_order(node, port, params):
        """Return the place in the channel order: links of a, of c, of b, of c."""
        # Routes that begin with a ascend: a, c, b, c. Routes that begin with b descend once, at a,
        # hence two classes.
        half = (node & 1) * params[1]
        return half + (port - 1 if port > 0 else params[1] - 1)

    routings = shortest_routings(halves=decide)
