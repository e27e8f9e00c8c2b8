"""Deadlock freedom: the channel dependency graph once more, by networkx on asked paths."""

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import pytest
from serial.measure.walked import routes_of

import mpinet
from mpinet import measure

NETWORKS = """ring:3 ring:8 gmn:4,32 hypercube:4 mesh:3x4 torus:3x4 complete:4 bsn:1,2,4 ccc:3
hdn:2x3,super=0 fattree:2,3 sth:2,2 lens:2,3,3 lens:3,3,2 clens:3,2 busstar:3,2
debruijn:3""".split()

FREE = "mesh:3x4 mesh:3x2x5 hypercube:5 complete:6 fattree:2,3".split()
"""Dimension order, one hop, and up and down (Dally, Seitz 1987)."""


def dependency_graph(topology):
    graph = nx.DiGraph()
    for nodes, ports in routes_of(topology).values():
        graph.add_edges_from(pairwise([(*hop, 0) for hop in zip(nodes, ports, strict=False)]))
    return graph


@pytest.mark.costly
@pytest.mark.parametrize("name", NETWORKS)
def test_the_cycle_is_a_shortest_one_of_the_dependency_graph(name):
    graph = dependency_graph(mpinet.open(name))
    girth = min((len(cycle) for cycle in nx.simple_cycles(graph, 3)), default=None)
    found = measure.channel_dependency_cycle(name, classes="none")
    assert (found is None) == nx.is_directed_acyclic_graph(graph)
    if found is not None:
        assert all(graph.has_edge(a, b) for a, b in pairwise([*found, found[0]]))
        assert len(set(found)) == len(found)
        if girth is not None or len(found) <= 3:
            assert len(found) == girth
            assert found[0] == min(c for cycle in nx.simple_cycles(graph, girth) for c in cycle)


@pytest.mark.parametrize("name", FREE)
def test_routings_known_to_be_free_of_deadlock_have_no_cycle(name):
    assert measure.channel_dependency_cycle(name, classes="none") is None


@pytest.mark.parametrize("name", ["ring:5", "torus:5x4", "kautz:2,3", "dragonfly:1,2,1"])
def test_without_a_name_the_classes_are_those_of_load_for_all_who_ask(name):
    assert measure.channel_dependency_cycle(name) is None
    found = measure.find_deadlock(name)
    (curve,) = mpinet.load(name, rate=0.01, steps=1, warmup=0).curves
    assert (found.verdict, found.classes) == ("free", curve.classes)
    assert measure.channel_dependency_cycle(name, classes="none") is not None
    assert measure.find_deadlock(name, classes="none").verdict == "deadlock"


@pytest.mark.parametrize("size", [4, 5, 9])
def test_the_ring_waits_all_the_way_round(size):
    """Both ways round: the one by port 0 comes first."""
    found = measure.channel_dependency_cycle(f"ring:{size}", classes="none")
    assert found == [(u, 0, 0) for u in range(size)]


def test_messages_that_do_not_meet_do_not_wait():
    for pairs in ([(0, 3), (3, 6)], [(0, 1), (4, 5)]):
        assert measure.channel_dependency_cycle("ring:8", pairs=pairs, classes="none") is None


@pytest.mark.parametrize("name", ["torus:4x4", "mesh:3x3", "hypercube:3"])
def test_adaptive_hops_have_no_cycle_of_dependencies_thanks_to_their_escape(name):
    network = mpinet.open(name)
    routing = network.load_routings["adaptive"](0)
    assert measure.channel_dependency_cycle(network, routing) is None
    without = replace(routing, escape=None)
    found = measure.channel_dependency_cycle(network, without)
    assert found is not None
    for (here, port, _), (there, _, _) in pairwise([*found, found[0]]):
        assert network.neighbor(here, port) == there
