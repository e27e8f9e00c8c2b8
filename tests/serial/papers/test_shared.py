"""What the papers' claims share: measures against networkx, extremes by looking at every entry."""

import networkx as nx
import numpy as np
import pytest

from mpinet import measure
from mpinet.claims import Measured
from mpinet.errors import Disconnected
from mpinet.papers import measured, witness

MESH = "mesh:3x4"
GRID = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4), ordering="sorted")


def test_the_distances_of_a_mesh_are_those_of_networkx():
    wanted = dict(nx.all_pairs_shortest_path_length(GRID))
    found = measured.distances(MESH)
    assert all(found[u, v] == wanted[u][v] for u in GRID for v in GRID)
    assert measured.diameter(MESH) == Measured(5, {"source": 0, "target": 11})
    assert measured.informed(MESH) == measured.size_of(MESH) == 12


def test_the_degrees_and_links_of_a_mesh_are_those_of_networkx():
    assert measured.links(MESH) == GRID.number_of_edges()
    of_grid = [degree for _, degree in GRID.degree]
    assert measured.degrees(MESH) == {d: of_grid.count(d) for d in sorted(set(of_grid))}


def test_distances_without_dead_nodes_are_those_of_what_is_left():
    found = measured.checked_distances(MESH, dead=(5,))
    left = GRID.subgraph(set(GRID) - {5})
    for u, row in nx.all_pairs_shortest_path_length(left):
        assert all(found[u, v] == hops for v, hops in row.items())
    assert (found[5] == -1).all()
    assert (found[:, 5] == -1).all()
    assert np.array_equal(measured.checked_distances(MESH, range(2, 7), (5,)), found[2:7])


def test_a_network_in_pieces_has_no_distances(monkeypatch):
    with pytest.raises(Disconnected, match="mesh:3x4 without 1, 4 is not connected"):
        measured.checked_distances(MESH, dead=(1, 4))
    whole = measure.distance_matrix
    monkeypatch.setattr(
        measured, "distance_matrix", lambda *at, dead: whole(*at, cut=[(0, 1), (0, 4)])
    )
    with pytest.raises(Disconnected, match="mesh:3x4 is not connected"):
        measured.diameter(MESH)


def test_nodes_are_alike_where_their_distances_are():
    assert measured.alike("ring:7") == Measured(True)
    found = measured.alike("mesh:2x3")
    where = {"nodes at distance 0, 1, ..": [1, 3, 2, 0], "of node 0": [1, 2, 2, 1]}
    assert found == Measured(False, {"node": 1, **where})


def test_the_common_value_is_printed_alone_and_several_with_their_numbers():
    assert measured.counted([3, 3, 3]) == 3
    assert measured.counted([3, 2, 3]) == "2 (1 times), 3 (2 times)"
    assert measured.common({2: 1, 3: 2}, "{1} of degree {0}") == "1 of degree 2, 2 of degree 3"


def test_extremes_are_found_where_they_are_first():
    row = np.array([4, 7, 2, 7, 2])
    assert witness.largest(row, "node") == Measured(7, {"node": 1})
    assert witness.largest(row, "n", first=10) == Measured(7, {"n": 11})
    assert witness.smallest(row, "node") == Measured(2, {"node": 2})
    matrix = np.array([[0, 3, 1], [3, 0, 3], [-1, 2, -1]])
    assert witness.largest_pair(matrix) == (0, 1)
    assert witness.smallest_pair(matrix) == (2, 0)
    assert witness.farthest(matrix) == Measured(3, {"source": 0, "target": 1})
