"""The crossed cube CQ_n (Efe): crossing a dimension twists the pairs of bits below it."""

from __future__ import annotations

from mpinet.compiled import rule
from mpinet.networks.arithmetic import highest_one
from mpinet.networks.binary import MOST_DIMENSIONS
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED
from mpinet.networks.sth.cube import Cube, fix_highest_bit
from mpinet.networks.waysback import same_port

LOW_BITS = 0x5555555555555555
"""The lower bit of every pair (2i+1, 2i)."""


@rule
def lowest_port(node, header, params):
    """The lowest port that leads closer, noted on Efe's way through the pairs (docs/papers/sth, 4).

    Below the highest pair that differs every pair that does not match costs a hop; what matches
    depends on whether the hops so far are odd. A port leads closer if its own pair matches behind
    it, or if it makes a lower pair match, which then has a closer port itself.
    """
    difference = node ^ header[0]
    if difference == 0:
        return ARRIVED
    place = highest_one(difference) & -2
    pair = difference >> place
    port = place + (pair == 2)
    odd = 1 if pair < 3 else 0
    while place > 0:
        place -= 2
        pair = (difference >> place) & 3
        lower_bit = (node >> place) & 1
        if pair & 1:
            if pair >> 1 == odd & (1 - lower_bit):
                port = place
            odd ^= 1
        elif pair >> 1 != odd & lower_bit:
            port = place + 1
            odd ^= 1
    return port


class CrossedCube(Cube):
    """Crossed cube of 2^n processors (Efe 1992).

    Port i flips bit i, and in lower pairs 01 and 11 change.
    """

    family = "cq"
    parameters = (whole_number("n", 1, MOST_DIMENSIONS),)
    example = "cq:5"
    paper = "Efe 1992"
    specification = "papers/sth 3"

    @rule
    def neighbor(node, port, params):
        """Flip bit `port` and, in every pair below it whose lower bit is set, the upper bit."""
        below = (1 << (port & -2)) - 1
        return node ^ (1 << port) ^ (((node & LOW_BITS) << 1) & below)

    reverse_port = same_port

    shortest_rule = lowest_port
    dimension_rule = fix_highest_bit
