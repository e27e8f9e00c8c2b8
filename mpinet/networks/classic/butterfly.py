"""Butterfly and Benes networks: rows of processors, with one free bit of the row between levels.

Between levels i and i+1 a link keeps the row number or flips one bit of it. A message has to pass
between two such levels for every wrong bit. Its route walks to one end of the range of levels with
wrong bits, then to the other end, then to the target's level.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import lowest_closer_port, shortest_routings
from mpinet.networks.topology import Topology

BITS, LEVELS = 2, 3
"""Places in the rules' parameters: n, and the last level."""

ON, ACROSS, BACK, BACK_ACROSS = range(4)
"""The ports: straight and across to the next level, straight and across to the previous level."""


@inlined
def free_bit(level, params):
    """Return the free bit between a level and the next one."""
    return level if level < params[BITS] else 2 * params[BITS] - 1 - level


@rule
def level_neighbor(node, port, params):
    """Return the processor behind a port, -1 for an unwired port."""
    rows = 1 << params[BITS]
    level = node >> params[BITS]
    if port < BACK:
        if level == params[LEVELS]:
            return -1
        # Port 0 is straight and port 1 is across. The port number itself is the bit to flip.
        return (node + rows) ^ (port << free_bit(level, params))
    if level == 0:
        return -1
    return (node - rows) ^ ((port - BACK) << free_bit(level - 1, params))


@inlined
def level_distance(node, target, params):
    """Return the hops of a shortest walk over the levels that corrects all wrong bits.

    For every lowest level of the walk, the last wrong bit determines the least highest level.
    """
    n, last = params[BITS], params[LEVELS]
    start, end = node >> n, target >> n
    wrong = (node ^ target) & ((1 << n) - 1)
    low, high = min(start, end), max(start, end)
    best = 4 * last + 1
    # Every shortest walk turns at one lowest and one highest level. For each lowest level, one
    # highest level remains.
    for bottom in range(low + 1):
        top = high
        for bit in range(n):
            if wrong >> bit & 1:
                # In a Benes network each bit is free at two levels. The upper one is used if the
                # walk does not go down far enough.
                place = bit if bit >= bottom else 2 * n - 1 - bit
                if place >= last or place < bottom:
                    top = 2 * last  # the walk never passes a free level of this bit
                elif place >= top:
                    top = place + 1
        if top <= last:
            walk = (top - bottom) + min(
                start - bottom + top - end,
                top - start + end - bottom,
            )
            best = min(best, walk)
    return best


decide = lowest_closer_port.bind("levels", wiring=level_neighbor, distance=level_distance)


class Leveled(Topology):
    """Base of butterfly and Benes networks; processor (i,w) has the number i 2^n + w."""

    rows: int
    most_classes = 2  # a shortest walk turns at most twice, once from down to up

    def __init__(self, n: int, last: int, stated: dict[str, int] | None = None):
        self.rows = 2**n
        self.radices, self.cluster_lengths = (last + 1, self.rows), [self.rows]
        size = (last + 1) * self.rows
        super().__init__(f"{n}", size=size, ports=4, params=[n, last], stated=stated)

    neighbor = level_neighbor

    @rule
    def reverse_port(node, port, params):
        """Return the port in the opposite direction, straight or across as `port`."""
        return port ^ 2

    routings = shortest_routings(shortest=decide)


class Butterfly(Leveled):
    """Butterfly of (n+1) 2^n processors; bit i is free between levels i and i+1."""

    parameters = (whole_number("n", 1, 56),)
    example = "butterfly:3"
    paper = "textbook (Leighton 1992)"

    def __init__(self, n: int):
        super().__init__(n, n, {"diameter": 2 * n})


class Benes(Leveled):
    """Benes network of (2n+1) 2^n processors: two butterflies back to back.

    Between levels i and i+1, bit i is free for i < n, and bit 2n-1-i for i >= n.
    """

    parameters = (whole_number("n", 1, 55),)
    example = "benes:3"
    paper = "Benes 1965; Leighton 1992"

    def __init__(self, n: int):
        super().__init__(n, 2 * n)
