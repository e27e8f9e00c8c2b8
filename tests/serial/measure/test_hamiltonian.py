"""Hamiltonian cycles: certificates checked on networkx graphs, absence by trying all orders."""

from itertools import pairwise, permutations

import networkx as nx
import pytest
from serial.measure.walked import graph_of

import mpinet
from mpinet import measure
from mpinet.errors import OutOfReach, WiringError
from mpinet.networks.graph import from_networkx

WITH = """ring:5 complete:3 complete:8 hypercube:5 mesh:3x4 torus:3x5 ccc:3 ccc:5 gmn:4,32
debruijn:5 hdn:2x3x5,super=0.1.2 cq:5 stargraph:4 lens:3,3,2 clens:3,2 petersen*ring:3""".split()

WITHOUT = {
    "complete:1": "one node",
    "complete:2": "two nodes",
    "mesh:7": "a line",
    "mesh:3x5": "sides of 8 and 7 nodes",
    "petersen": "known, exhausted",
    "fattree:2,2": "processors of degree 1",
}


@pytest.mark.parametrize("name", WITH)
def test_the_cycle_is_its_own_certificate(name):
    graph = graph_of(mpinet.open(name))
    nodes = measure.hamiltonian_cycle(name)
    assert nodes[0] == 0 and sorted(nodes) == sorted(graph)
    assert all(graph.has_edge(u, v) for u, v in pairwise([*nodes, nodes[0]]))
    assert measure.is_hamiltonian_cycle(name, nodes)


@pytest.mark.parametrize("name", WITHOUT)
def test_absence_is_shown(name):
    assert measure.hamiltonian_cycle(name) is None


@pytest.mark.parametrize("seed", range(12))
def test_small_random_graphs_agree_with_trying_all_orders(seed):
    graph = nx.gnm_random_graph(7, 9 + seed % 4, seed)
    graph.add_edges_from(nx.path_graph(7).edges if seed % 2 else nx.star_graph(6).edges)
    orders = ([0, *rest] for rest in permutations(range(1, 7)))
    exists = any(all(graph.has_edge(u, v) for u, v in pairwise([*o, 0])) for o in orders)
    assert (measure.hamiltonian_cycle(from_networkx(graph)) is not None) == exists


@pytest.mark.parametrize(
    "nodes",
    [[0, 1, 2, 3], [0, 2, 1, 3, 4], [0, 1, 2, 3, 3], [0, 1, 2, 3, 4, 0], [0, 1, 2, 3, 7], []],
)
def test_what_is_no_cycle_of_the_ring_is_told(nodes):
    assert not measure.is_hamiltonian_cycle("ring:5", nodes)
    assert measure.is_hamiltonian_cycle("ring:5", [2, 1, 0, 4, 3])


def test_there_and_back_over_one_link_is_no_cycle():
    assert not measure.is_hamiltonian_cycle("complete:2", [0, 1])


def test_too_little_effort_is_no_proof():
    with pytest.raises(OutOfReach, match="petersen"):
        measure.hamiltonian_cycle("petersen", seconds=1e-9)


def test_a_false_offer_is_refused():
    torus = mpinet.open("torus:4x4")
    torus.cycle = mpinet.open("ring:16").cycle  # port 0 leads round a row of four only
    with pytest.raises(WiringError, match="not Hamiltonian"):
        measure.hamiltonian_cycle(torus)
