"""Connectivity is what networkx computes, and a least separating set really separates."""

import networkx
import pytest
from serial.measure.samples import BUSSED, LINKED, graph_of, incidence_graph_of, random_graphs

from mpinet import measure
from mpinet.errors import UsageError
from mpinet.networks.graph import from_networkx

NETWORKS = [(name, graph_of(name)) for name in [*LINKED, *BUSSED]] + [
    (from_networkx(graph), graph) for graph in random_graphs(12, 11, 0.35)
]


def name_of(value):
    return value if isinstance(value, str) else "random"


@pytest.mark.parametrize(("network", "graph"), NETWORKS, ids=name_of)
def test_connectivity_is_that_of_networkx(network, graph):
    assert measure.connectivity(network) == networkx.node_connectivity(graph)
    assert measure.edge_connectivity(network) == networkx.edge_connectivity(graph)
    assert measure.biconnected(network) == networkx.is_biconnected(graph)


@pytest.mark.parametrize(("network", "graph"), NETWORKS, ids=name_of)
def test_a_least_separating_set_leaves_the_network_in_pieces(network, graph):
    separating = measure.separating_nodes(network)
    if separating is None:
        assert graph.number_of_edges() == len(graph) * (len(graph) - 1) // 2
        return
    assert list(separating) == sorted(set(separating))
    assert len(separating) == networkx.node_connectivity(graph)
    assert not measure.is_connected(network, dead=separating)


def test_separating_sets_may_be_smaller_than_every_degree():
    graph = networkx.barbell_graph(5, 1)
    network = from_networkx(graph)
    assert measure.connectivity(network) == measure.edge_connectivity(network) == 1
    assert measure.separating_nodes(network) in [(4,), (5,), (6,)]
    wheels = networkx.union(networkx.complete_graph(6), networkx.complete_graph(6), ("a", "b"))
    wheels.add_edges_from([("a0", "b0"), ("a0", "b1"), ("a1", "b1"), ("a1", "b2"), ("a2", "b2")])
    assert measure.connectivity(from_networkx(wheels)) == networkx.node_connectivity(wheels) == 3


def test_the_only_separating_node_may_be_one_of_least_degree():
    graph = networkx.Graph([(0, 1), (0, 2), (0, 6), (0, 7)])
    graph.update(networkx.complete_graph(range(1, 6)))
    graph.update(networkx.complete_graph(range(6, 11)))
    network = from_networkx(graph)
    assert graph.degree(0) == min(degree for _, degree in graph.degree)
    assert (measure.connectivity(network), measure.edge_connectivity(network)) == (1, 2)
    assert measure.separating_nodes(network) == (0,)


@pytest.mark.parametrize("name", BUSSED)
def test_processors_and_busses_may_both_fail(name):
    assert measure.incidence_connectivity(name) == networkx.node_connectivity(
        incidence_graph_of(name)
    )


def test_networks_of_links_have_no_busses_that_fail():
    with pytest.raises(UsageError, match="ring:5 has links"):
        measure.incidence_connectivity("ring:5")


def test_pieces_are_not_connected():
    pieces = measure.without("ring:6", nodes=[1, 4])
    assert (measure.connectivity(pieces), measure.edge_connectivity(pieces)) == (0, 0)
    assert measure.separating_nodes(pieces) == ()
    assert not measure.biconnected(pieces)
