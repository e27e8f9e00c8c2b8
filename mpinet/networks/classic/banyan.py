"""The banyan-hypercube: levels of hypercubes, neighbouring levels joined as in a banyan network."""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.parameters import POWER_OF_TWO, Limit, whole_number
from mpinet.networks.topology import Topology

LEVELS, BITS, CUBE_BITS = 2, 3, 4
"""Places in the rules' parameters: the number h of levels, the bits of a digit, the bits of a
label.
"""


class BanyanHypercube(Topology):
    """Banyan-hypercube of h s^k processors L*s^k + X (Youssef, Narahari 1990).

    The first ports flip the bits of X. The next s ports lead to level L+1 and set base-s digit L of
    X to 0..s-1. The last s ports lead to level L-1 and set digit L-1.
    """

    parameters = (
        whole_number("h", 1, Limit("k+1", lambda given: given["k"] + 1)),
        whole_number("k", 1, 57),
        whole_number("s", 2, 2**57, kind=POWER_OF_TWO),
    )
    example = "bh:3,2,4"
    paper = "Youssef, Narahari 1990"
    specification = "papers/sth 8"
    brackets = ("(", ")")

    def __init__(self, h: int, k: int, s: int):
        bits = s.bit_length() - 1
        self.label_bits = k * bits
        self.radices = (h, 1 << k * bits)
        super().__init__(
            f"{h},{k},{s}",
            size=h << (k * bits),
            ports=k * bits + 2 * s,
            params=[h, bits, k * bits],
        )

    @rule
    def neighbor(node, port, params):
        """Return the neighbour in the level's hypercube, or in a neighbouring level."""
        cube_bits, bits = params[CUBE_BITS], params[BITS]
        if port < cube_bits:
            return node ^ (1 << port)
        level = node >> cube_bits
        port -= cube_bits
        if port < 1 << bits:
            # A banyan network is not closed: the last level has no next level. The unwired ports
            # remain, and port numbers are the same on all levels.
            if level == params[LEVELS] - 1:
                return -1
            return with_digit(node, bits * level, port, params) + (1 << cube_bits)
        if level == 0:
            return -1
        port -= 1 << bits
        return with_digit(node, bits * (level - 1), port, params) - (1 << cube_bits)

    @rule
    def reverse_port(node, port, params):
        """Return the reverse port: the bit's own port, or the port that restores the digit."""
        cube_bits, bits = params[CUBE_BITS], params[BITS]
        if port < cube_bits:
            return port
        level = node >> cube_bits
        # The link overwrites a digit. The old digit determines the port of the other end that leads
        # back.
        if port - cube_bits < 1 << bits:
            return cube_bits + (1 << bits) + digit_at(node, bits * level, params)
        return cube_bits + digit_at(node, bits * (level - 1), params)


@inlined
def digit_at(node, place, params):
    """Return the digit of the label that starts at bit `place`."""
    return (node >> place) & ((1 << params[BITS]) - 1)


@inlined
def with_digit(node, place, digit, params):
    """Return the node with the digit at bit `place` replaced."""
    return node + ((digit - digit_at(node, place, params)) << place)
