"""ASCEND on G(m,N): the check values of docs/papers/gmn, 7.4, and of section 6 of the paper."""

import numpy as np
import pytest

from mpinet import open as open_topology
from mpinet.machine import Machine
from mpinet.programs.schedules.gmn import Loops, bit_order, link_types

PAPERS = {32: 4, 256: 8, 8192: 16}
OURS = {16: 4, 128: 8, 4096: 16}


@pytest.mark.parametrize(
    ("size", "met"),
    [
        (32, [2, 1, 0]),
        (128, [2, 3, 1, 0]),
        (256, [2, 4, 3, 1, 0]),
        (8192, [2, 4, 6, 8, 7, 5, 3, 1, 0]),
    ],
)
def test_permutation_is_the_one_of_the_specification(size, met):
    assert bit_order(open_topology(f"gmn:{size}"))[::-1] == met


def test_permutation_of_fig_5():
    assert bit_order(open_topology("gmn:8,256")) == [0, 1, 3, 4, 2]  # of 0, 1, 2, 3, 4


@pytest.mark.parametrize("size", PAPERS)
def test_sizes_of_the_paper_have_a_type_for_every_bit_of_a_cycles_number(size):
    m = PAPERS[size]
    r, q = m.bit_length() - 1, size.bit_length() - 1
    assert q == 2 ** (r - 1) + r + 1
    assert sorted(bit_order(open_topology(f"gmn:{size}"))) == list(range(m // 2 + 1))


@pytest.mark.parametrize("size", [*PAPERS, *OURS])
def test_every_processor_is_the_home_of_one_element(size):
    host = Loops(Machine(f"gmn:{size}"))
    assert sorted(host.index) == list(range(size))


@pytest.mark.parametrize("size", [*PAPERS, *OURS])
def test_lateral_links_flip_the_bit_of_their_type(size):
    m = {**PAPERS, **OURS}[size]
    topology = open_topology(f"gmn:{size}")
    host = Loops(Machine(topology))
    first = min(u for u in range(m) if topology.neighbor(u, 2) == u + m)  # the hop of type 0
    for place, bit in enumerate(link_types(topology)):
        if bit >= 0:
            nodes = (np.arange(size // m) * m + place + first) % size
            flipped = ((np.arange(size // m) ^ (1 << bit)) * m + place + first) % size
            assert host.lateral(nodes).tolist() == flipped.tolist()
            ports = np.arange(topology.ports)
            assert (topology.neighbor(nodes[:, None], ports) == flipped[:, None]).any(axis=1).all()


def test_elements_stand_where_the_paper_puts_them():
    """a_32 on P[64], a_64 on P[128], a_128 on P[32]; P[0] bears the hop of type 0."""
    host = Loops(Machine("gmn:8,256"))
    first = 5
    assert open_topology("gmn:8,256").neighbor(first, 2) == first + 8
    for element, place in ((0, 0), (32, 64), (64, 128), (128, 32), (7, 7)):
        assert host.index[(place + first) % 256] == element


def test_three_shifts_bring_the_first_element_to_the_hop_of_type_1_and_two_more_to_type_3():
    host = Loops(Machine("gmn:8,256"))
    types = link_types(open_topology("gmn:8,256"))
    assert (types[6], host.home(6, 1 + 3)) == (1, 0)
    assert (types[4], host.home(4, 1 + 3 + 2)) == (3, 0)


@pytest.mark.parametrize("size", [*PAPERS, *OURS])
def test_every_element_meets_the_dimensions_in_ascending_order(size):
    host = Loops(Machine(f"gmn:{size}"))
    m, q = host.length, size.bit_length() - 1
    met = {home: [] for home in range(m)}
    for turn in range(1, 2 * m + 1):
        for place, dimension in host.meetings(turn).items():
            met[host.home(place, turn)].append(dimension)
    assert all(order == list(range(m.bit_length() - 1, q)) for order in met.values())
