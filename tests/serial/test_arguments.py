"""What annotations tell of a kernel: its types, and groups of what belongs together."""

from typing import NamedTuple

import numpy as np

from mpinet.arguments import Arguments, PortRule
from mpinet.arrays import Ints
from mpinet.compiled import inlined, kernel
from mpinet.machine import hop
from mpinet.networks import open as network

SCALE = 1


class Wiring(NamedTuple):
    neighbor: PortRule
    params: Ints


@inlined
def scaled(number):
    return SCALE * number


@kernel
def sum_behind(wiring: Wiring, port: int, nodes: Ints) -> int:
    """The sum of the neighbours' numbers."""
    total, neighbor = 0, wiring.neighbor.call
    for i in range(nodes.size):
        total += neighbor(nodes[i], port, wiring.params)
    return scaled(total)


def test_a_group_reaches_a_kernel_as_it_was_given() -> None:
    cube, nodes = network("hypercube:5"), np.arange(7, 20)
    wiring = Wiring(cube.neighbor.native, cube.params)
    assert sum_behind(wiring, 3, nodes) == sum(node ^ 8 for node in range(7, 20))
    assert sum_behind.bind("thrice", SCALE=3)(wiring, 0, nodes) == 3 * sum(nodes ^ 1)


def test_annotations_tell_the_signature() -> None:
    told = Arguments(sum_behind.function).signature
    assert told == "int64(port_rule, int64[::1], int64, int64[::1])"
    assert Arguments(hop.deal.function).signature == (
        "void(int64[:, ::1], int32[::1], int64[::1], int64[:, ::1])"
    )
