"""Hamiltonian cycles: following the local rule leads through every processor and back."""

import numpy as np
import pytest

import mpinet

CYCLES = """ring:3 ring:8 complete:2 complete:7 hypercube:1 hypercube:2 hypercube:7 ccc:4 ccc:6
torus:2 torus:5 torus:2x2 torus:3x2 torus:3x3 torus:3x5 torus:7x4 torus:5x2x4 torus:3x5x7
torus:3x3x3x3 circulant:12,jumps=1-4 circulant:10,jumps=3-4 rcirculant:16,4 chordalring:16,5
doubleloop:12,5 gmn:3,12 gmn:8,256 gmnany:8 gmnany:100""".split()

NONE = """ccc:3 ccc:5 mesh:3x4 debruijn:4 fattree:2,2 circulant:10,jumps=2-5 ring:4*ring:4
hdn:2x3,super=0 lens:2,2,2""".split()


@pytest.mark.parametrize("name", CYCLES)
def test_the_cycle_leads_through_every_processor_and_back(name):
    topology = mpinet.open(name)
    nodes = np.arange(topology.size)
    following = topology.neighbor(nodes, topology.cycle().successor(nodes)).tolist()
    visited, node = [], 0
    while not visited or node != 0:
        visited.append(node)
        node = following[node]
        assert len(visited) <= topology.size
    assert sorted(visited) == nodes.tolist()


@pytest.mark.parametrize("name", NONE)
def test_networks_without_a_local_cycle_say_so(name):
    assert mpinet.open(name).cycle() is None


def test_the_hypercube_s_cycle_is_the_reflected_gray_code():
    cube = mpinet.open("hypercube:3")
    code, node = [], 0
    for _ in range(8):
        code.append(format(node, "03b"))
        node = cube.neighbor(node, int(cube.cycle().successor(np.array([node]))[0]))
    assert code == ["000", "001", "011", "010", "110", "111", "101", "100"]
