"""Degrees, links and incidences are those of the reference networks, also after a removal."""

from collections import Counter

import networkx
import numpy as np
import pytest
from serial.measure.samples import BUSSED, LINKED, graph_of, incidence_graph_of

import mpinet
from mpinet import measure
from mpinet.errors import NodeError, UsageError
from mpinet.measure.wiring import incidence_graph
from mpinet.networks.catalogue import to_networkx

NETWORKS = [*LINKED, *BUSSED]


def same(graph, other):
    return {frozenset(e) for e in graph.edges} == {frozenset(e) for e in other.edges}


@pytest.mark.parametrize("name", NETWORKS)
def test_degrees_and_links_are_those_of_the_graph(name):
    graph = graph_of(name)
    histogram = measure.degrees(name)
    assert histogram == dict(Counter(degree for _, degree in graph.degree))
    assert list(histogram) == sorted(histogram)
    assert measure.links(name) == graph.number_of_edges()
    assert measure.edges(name).tolist() == sorted([*map(sorted, graph.edges)])
    assert sorted(map(sorted, measure.to_graph(name).get_edgelist())) == sorted(
        map(sorted, graph.edges)
    )


@pytest.mark.parametrize("name", BUSSED)
def test_incidences_tell_who_is_on_which_bus(name):
    assert measure.incidences(name).tolist() == [list(pair) for pair in BUSSED[name].incidences]
    made, wanted = incidence_graph(name), incidence_graph_of(name)
    assert sorted(made.get_edgelist()) == sorted(map(tuple, map(sorted, wanted.edges)))
    assert made.vs["type"] == [int(kind == "bus") for _, kind in wanted.nodes(data="kind")]


def test_networks_of_links_have_no_incidences():
    with pytest.raises(UsageError, match="ring:5 has links"):
        measure.incidences("ring:5")


@pytest.mark.parametrize("name", ["torus:2x3x5", "debruijn:3", "fattree:2,2", "ccc:3"])
def test_what_is_left_of_a_network_keeps_its_other_links_and_its_contract(name):
    graph = graph_of(name)
    gone, cut = [1, 5], sorted(graph.edges)[-2:]
    left = measure.without(name, gone, cut)
    graph.remove_edges_from(cut)
    graph.remove_nodes_from(gone)
    number = {node: place for place, node in enumerate(left.nodes.tolist())}
    assert list(number) == sorted(graph)
    assert same(to_networkx(left), networkx.relabel_nodes(graph, number))
    assert measure.components(left) == sorted(
        tuple(sorted(number[u] for u in piece)) for piece in networkx.connected_components(graph)
    )
    if networkx.is_connected(graph):
        mpinet.check(left)


def test_busses_and_processors_of_a_bus_network_can_go():
    network = BUSSED["clens:3,3"]
    left = measure.without("clens:3,3", nodes=[4], busses=[0, 7])
    wanted = {(p, b) for p, b in network.incidences if p != 4 and b not in (0, 7)}
    alone = {b for b, n in Counter(b for _, b in wanted).items() if n == 1}
    found = {(int(left.nodes[p]), b) for p, b in measure.incidences(left)}
    assert found == {(p, b) for p, b in wanted if b not in alone}


def test_a_part_is_the_network_between_its_nodes():
    face = measure.part("hypercube:4", [0, 2, 4, 6, 9])
    assert face.nodes.tolist() == [0, 2, 4, 6, 9]
    assert measure.components(face) == [(0, 1, 2, 3), (4,)]
    assert measure.edges(face).tolist() == [[0, 1], [0, 2], [1, 3], [2, 3]]


def test_a_product_without_the_links_of_a_factor_is_copies_of_the_other():
    torus = mpinet.open("ring:3*ring:5")
    ends = measure.edges(torus)
    along_first = ends[ends[:, 0] // 3 == ends[:, 1] // 3]
    left = measure.without(torus, links=map(tuple, along_first.tolist()))
    pieces = measure.components(left)
    assert pieces == [tuple(range(i, 15, 3)) for i in range(3)]
    assert all(measure.isomorphic(measure.part(left, piece), "ring:5") for piece in pieces)


@pytest.mark.parametrize(
    ("name", "what", "sentence"),
    [
        ("ring:4", {"nodes": [4]}, "nodes are 0..3"),
        ("ring:4", {"nodes": range(4)}, "No node of ring:4"),
        ("ring:4", {"links": [(0, 2)]}, "no link 0-2"),
        ("ring:4", {"busses": [0]}, "no busses"),
        ("lens:3,3,2", {"busses": [99]}, "Bus 99"),
        ("lens:3,3,2", {"busses": [-1]}, "Bus -1"),
        ("lens:3,3,2", {"links": [(0, 1)]}, "no link"),
    ],
)
def test_only_what_is_there_can_go(name, what, sentence):
    with pytest.raises((UsageError, NodeError), match=sentence):
        measure.without(name, **what)


def test_a_single_node_can_be_measured():
    alone = measure.part("ring:5", [3])
    assert (measure.degrees(alone), measure.links(alone)) == ({0: 1}, 0)
    assert measure.distance_matrix(alone).tolist() == [[0]]
    assert (measure.diameter(alone), measure.average_distance(alone)) == (0, 0.0)
    assert (measure.connectivity(alone), measure.vertex_transitive(alone)) == (0, True)
    assert np.array_equal(measure.automorphism_group(alone).generators, np.empty((0, 1)))


class Fan(mpinet.Topology):
    """A hub whose ports lead to the others in descending order, and a second link to the first."""

    def __init__(self):
        super().__init__("", size=6, ports=6)

    @mpinet.rule
    def neighbor(node, port, params):
        if node == 0:
            return 5 - port if port < 5 else 1
        return 0 if port == 0 or (port == 1 and node == 1) else -1

    @mpinet.rule
    def reverse_port(node, port, params):
        if node == 0:
            return 0 if port < 5 else 1
        return 5 - node if port == 0 else 5

    @property
    def most_wired(self):
        return 12

    def port_counts(self, nodes):
        return np.array([6, 2, 1, 1, 1, 1])[nodes]


def test_links_are_sorted_and_counted_once_whatever_the_order_of_ports():
    fan = Fan()
    mpinet.check(fan)
    assert measure.edges(fan).tolist() == [[0, v] for v in range(1, 6)]
    assert measure.degrees(fan) == {1: 5, 5: 1}
    assert mpinet.show(fan).capacities == {"1": 4, "2": 1}
