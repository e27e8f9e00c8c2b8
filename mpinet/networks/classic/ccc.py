"""Cube-connected cycles: every corner of a cube is a cycle."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from mpinet.compiled import inlined, rule
from mpinet.networks.arithmetic import count_ones
from mpinet.networks.classic.ring import way_round
from mpinet.networks.cycle import Cycle
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, longer_routings
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import other_way_round

DIMENSIONS = 2
"""Place in the rules' parameters: n."""

FORWARD, BACKWARD, CROSS = range(3)


@rule
def decide(node, header, params):
    """Return the port: correct bits in the order of the cycle, then go to the target's place."""
    n = params[DIMENSIONS]
    x, target_x = node // n, header[0] // n
    if x == target_x:
        offset = header[0] - node
        if offset == 0:
            return ARRIVED
        return way_round(offset if offset > 0 else offset + n, n)
    # Dimensions are corrected in the order of the cycle. A shorter route may turn round, which
    # would take a search at every node.
    return CROSS if ((x ^ target_x) >> (node - x * n)) & 1 else FORWARD


class CubeConnectedCycles(Topology):
    """Cube-connected cycles of n 2^n processors x*n + y (Preparata, Vuillemin 1981).

    Ports: y+1, y-1 (mod n), and x with bit y flipped.
    """

    parameters = (whole_number("n", 3, 55),)
    example = "ccc:4"
    paper = "Preparata, Vuillemin 1981"
    specification = "papers/gmn 9, papers/hdn 9"
    most_classes = 3

    def __init__(self, n: int):
        self.dimensions = n
        self.radices, self.cluster_lengths = (2**n, n), [n]
        diameter = 6 if n == 3 else 2 * n + n // 2 - 2
        stated = {"degree": 3, "diameter": diameter}
        super().__init__(f"{n}", size=n << n, ports=3, params=[n], stated=stated)

    @rule
    def neighbor(node, port, params):
        """Return the next processor along the cycle, or the one across the cube link."""
        n = params[DIMENSIONS]
        x = node // n
        y = node - x * n
        if port == CROSS:
            return (x ^ (1 << y)) * n + y
        if port == FORWARD:
            return node + 1 if y < n - 1 else node + 1 - n
        return node - 1 if y > 0 else node - 1 + n

    reverse_port = other_way_round

    @rule
    def channel_order(node, port, params):
        """Return the place in the channel order: by place cube and forward links, last backward.

        A route goes forward round the cycle, past its end at most twice (as in Dally, Seitz 1987).
        """
        # The route only goes forward, with the cube link before the cycle link at each place. It
        # passes the cycle's end at most twice, hence `most_classes` of 3.
        n = params[DIMENSIONS]
        y = node % n
        if port == BACKWARD:
            return 3 * n - y
        return 2 * y if port == CROSS else 2 * y + 1

    ascend_schedules = MappingProxyType({"cycles": "mpinet.programs.schedules.cycles:Cycles"})

    routings = longer_routings(cycle=decide)

    def cycle(self) -> Cycle:
        """Hamiltonian cycle that joins the cycles in groups of four, or eight for odd n (ours)."""
        if self.dimensions % 2:
            return Cycle("cycles", next_of_odd_cycles, np.append(self.params, OF_EIGHT_CYCLES))
        return Cycle("cycles", next_of_joined_cycles, self.params)


OF_EIGHT_CYCLES = [int(port) for port in "020112200121112020121200"]
"""Ports of a Hamiltonian cycle of CCC(3), found by search.

The cycle uses the link between places 2 and 0 of every cycle of CCC(3). Further places can be
inserted there.
"""


@inlined
def port_of_joined(x, y, backward):
    """Return the port along the cycle, or across to another cycle (ours).

    Four cycles differ only in bits y and y+1 (y even). They are joined at these places if all lower
    bits are 0: in each of them the two cube links at y and y+1 replace the cycle link between both.
    In groups of four, all cycles become one. Crossing changes the parity of x, and with it the
    direction.
    """
    # The four cycles are joined only where all lower bits are 0. Further links between the same
    # groups of cycles would cut the long cycle again.
    lower = (1 << (y & ~1)) - 1
    if y & 1 == backward and x & lower == 0:
        return CROSS
    return BACKWARD if backward else FORWARD


@rule
def next_of_joined_cycles(node, way, params):
    """Return the next port of a Hamiltonian cycle for even n, with all bits in pairs."""
    n = params[DIMENSIONS]
    x = node // n
    return port_of_joined(x, node - x * n, count_ones(x) & 1)


@rule
def next_of_odd_cycles(node, way, params):
    """Return the next port of a Hamiltonian cycle for odd n, with all but three bits in pairs.

    Eight cycles differ only in the highest three bits. They are joined at the places of these bits.
    The rest of each cycle is inserted between places 2 and 0 of a cycle of CCC(3).
    """
    n = params[DIMENSIONS]
    x = node // n
    y = node - x * n
    pairs = n - 3
    others = x & ((1 << pairs) - 1)
    # Only pairs of bits can be joined, and an odd n leaves one bit without a partner. The
    # highest three bits therefore use a cycle of CCC(3), which was found by search.
    corner = DIMENSIONS + 1 + 3 * (x >> pairs)
    if others == 0 and y >= pairs:
        return params[corner + y - pairs]
    backward = (count_ones(others) + (params[corner + 2] != FORWARD)) & 1
    if y >= pairs:
        return BACKWARD if backward else FORWARD
    return port_of_joined(x, y, backward)
