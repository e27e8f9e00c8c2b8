"""The twisted cube of Hilbers, Koopman and van de Snepscheut: pairs of bits over one single bit."""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.arithmetic import count_ones, highest_one
from mpinet.networks.binary import MOST_DIMENSIONS
from mpinet.networks.closer import lowest_closer_port
from mpinet.networks.parameters import ODD, whole_number
from mpinet.networks.routing import ARRIVED
from mpinet.networks.sth.cube import Cube
from mpinet.networks.waysback import same_port

LOW_BITS = 0x5555555555555555
"""The lower bit of every pair (2j, 2j-1), moved down by one place."""


@inlined
def parity_below(node, bit):
    """Parity of the bits below bit number `bit`."""
    return count_ones(node & ((1 << bit) - 1)) & 1


@inlined
def hilbers_distance(node, target, params):
    """Hops between two processors of the cube: a hop for every pair that differs, and maybe one.

    The closed form of docs/papers/sth, 4, for all pairs at once: as soon as the way has changed a
    parity, every further pair costs one hop, and the pair that changes it first may cost two.
    """
    difference = node ^ target
    low, high = (difference >> 1) & LOW_BITS, (difference >> 2) & LOW_BITS
    hops = count_ones(low | high)
    if difference & 1:
        return hops + 1
    odd = odd_prefixes(node)
    changing = (high ^ low) | (low & odd)
    first = changing & -changing
    return hops + (1 if first & low & ~(high ^ odd) else 0)


@inlined
def odd_prefixes(word):
    """Set the lower bit of each pair in which an odd number of ones stands up to that bit."""
    word ^= word << 1
    word ^= word << 2
    word ^= word << 4
    word ^= word << 8
    word ^= word << 16
    word ^= word << 32
    return word & LOW_BITS


@rule
def highest_dimension(node, header, params):
    """Correct the pair of the highest wrong bit: its lower bit first."""
    difference = node ^ header[0]
    if difference == 0:
        return ARRIVED
    highest = highest_one(difference)
    if highest == 0:
        return 0
    lower = (highest - 1) | 1
    return lower if (difference >> lower) & 1 else lower + 1


class HilbersCube(Cube):
    """Twisted cube of 2^n processors, n odd (Hilbers, Koopman, van de Snepscheut 1987).

    Port i flips bit i; port 2j-1 flips bit 2j, too, where the parity of the bits 0..2j-2 is even.
    """

    family = "hkv"
    parameters = (whole_number("n", 1, MOST_DIMENSIONS, kind=ODD),)
    example = "hkv:5"
    paper = "Hilbers, Koopman, van de Snepscheut 1987"
    specification = "papers/sth 3"

    @rule
    def neighbor(node, port, params):
        """Flip bit `port`; with a lower bit of a pair maybe also the upper one."""
        if port & 1 and parity_below(node, port) == 0:
            return node ^ (3 << port)
        return node ^ (1 << port)

    reverse_port = same_port

    shortest_rule = lowest_closer_port.bind(
        "HilbersCube.shortest", wiring=neighbor, distance=hilbers_distance
    )
    dimension_rule = highest_dimension
