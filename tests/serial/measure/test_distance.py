"""Distances are those of networkx, on whole networks and on what failures leave of them."""

import networkx
import numpy as np
import pytest
from serial.measure.samples import BUSSED, LINKED, graph_of, random_graphs

from mpinet import measure
from mpinet.errors import Disconnected, NodeError, UsageError
from mpinet.measure import distance
from mpinet.networks.graph import from_networkx

NETWORKS = [*LINKED, *BUSSED]


def distances_of(graph, size):
    matrix = np.full((size, size), -1)
    for u, row in networkx.all_pairs_shortest_path_length(graph):
        for v, hops in row.items():
            matrix[u, v] = hops
    return matrix


@pytest.mark.parametrize("name", NETWORKS)
def test_measures_of_distance_are_those_of_networkx(name):
    graph = graph_of(name)
    size = len(graph)
    wanted = distances_of(graph, size)
    found = measure.distance_matrix(name)
    assert found.dtype == np.int16
    assert np.array_equal(found, wanted)
    assert measure.diameter(name) == wanted.max()
    assert measure.distance_sum(name) == wanted.sum()
    assert measure.average_distance(name) == wanted.sum() / (size * (size - 1))
    assert measure.eccentricities(name).tolist() == wanted.max(axis=1).tolist()
    assert measure.eccentricities(name, [size - 1, 0]).tolist() == [
        wanted[-1].max(),
        wanted[0].max(),
    ]
    assert measure.eccentricity(name, 1) == wanted[1].max()
    assert measure.is_connected(name)


@pytest.mark.parametrize("name", NETWORKS)
def test_profiles_count_the_nodes_at_every_distance(name):
    wanted = distances_of(graph_of(name), len(graph_of(name)))
    counts = [[int((row == d).sum()) for d in range(wanted.max() + 1)] for row in wanted]
    assert measure.distance_profiles(name).tolist() == counts
    assert measure.distance_profile(name, 1) == tuple(n for n in counts[1] if n)


@pytest.mark.costly
@pytest.mark.parametrize("number", range(6))
def test_failed_nodes_and_links_carry_nothing(number):
    whole = random_graphs(6, 24, 0.12)[number]
    network = from_networkx(whole)
    dead, cut = [number, 23], sorted(whole.edges)[5:9]
    left = whole.copy()
    left.remove_edges_from(cut)
    left.remove_nodes_from(dead)
    wanted = distances_of(left, 24)
    assert np.array_equal(measure.distance_matrix(network, dead=dead, cut=cut), wanted)
    some = [7, number, 7, 0]
    assert np.array_equal(measure.distance_matrix(network, some, dead, cut), wanted[some])
    connected = networkx.is_connected(left)
    assert measure.is_connected(network, dead, cut) == connected
    if connected:
        assert measure.diameter(network, dead, cut) == wanted.max()
    else:
        with pytest.raises(Disconnected, match="not connected"):
            measure.diameter(network, dead, cut)


def test_the_failures_above_leave_both_connected_networks_and_pieces():
    left = [
        graph.subgraph(set(graph) - {n, 23}) for n, graph in enumerate(random_graphs(6, 24, 0.12))
    ]
    assert {networkx.is_connected(graph) for graph in left} == {True, False}


def test_processors_of_a_bus_without_one_still_hear_each_other():
    whole = graph_of("clens:3,3")
    whole.remove_node(5)
    assert np.array_equal(
        measure.distance_matrix("clens:3,3", dead=[5]), distances_of(whole, len(whole) + 1)
    )


def test_more_sources_than_flood_together_are_all_there():
    found = measure.distance_matrix("ring:1100")
    nodes = np.arange(1100)
    around = (nodes - nodes[:, np.newaxis]) % 1100
    assert np.array_equal(found, np.minimum(around, 1100 - around))
    assert measure.eccentricities("ring:1100").tolist() == [550] * 1100
    assert measure.distance_profiles("ring:1100").tolist() == [[1] + [2] * 549 + [1]] * 1100


def test_networks_in_pieces_have_no_diameter():
    pieces = measure.without("mesh:5", nodes=[2])
    for what in (measure.diameter, measure.distance_sum, measure.average_distance):
        with pytest.raises(Disconnected):
            what(pieces)
    for nodes in (None, [0]):
        with pytest.raises(Disconnected):
            measure.eccentricities(pieces, nodes)
    assert not measure.is_connected(pieces)
    assert measure.distance_profile(pieces, 0) == (1, 1)
    assert measure.distance_matrix(pieces).tolist() == [
        [0, 1, -1, -1],
        [1, 0, -1, -1],
        [-1, -1, 0, 1],
        [-1, -1, 1, 0],
    ]


def test_what_is_not_there_is_named():
    with pytest.raises(NodeError, match=r"nodes are 0\.\.4"):
        measure.distance_matrix("ring:5", [5])
    with pytest.raises(NodeError, match=r"nodes are 0\.\.4"):
        measure.eccentricity("ring:5", -1)
    with pytest.raises(NodeError, match=r"nodes are 0\.\.4"):
        measure.diameter("ring:5", dead=[7])
    with pytest.raises(UsageError, match="no link 0-2"):
        measure.is_connected("ring:5", cut=[(0, 2)])
    with pytest.raises(UsageError, match="All nodes of ring:5 are dead"):
        measure.diameter("ring:5", dead=range(5))


def test_distances_that_a_matrix_cannot_hold_are_refused(monkeypatch):
    monkeypatch.setattr(distance, "FARTHEST", 10)
    assert measure.distance_matrix("ring:21", [0]).max() == 10
    with pytest.raises(UsageError, match="ring:22 has distances of more than 10 hops"):
        measure.distance_matrix("ring:22", [0])


def test_a_matrix_holds_distances_up_to_its_numbers():
    assert np.iinfo(measure.distance_matrix("ring:3").dtype).max == distance.FARTHEST
