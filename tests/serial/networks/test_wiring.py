"""The classic networks are what docs/papers list, port by port."""

import networkx
import pytest
from serial.networks.reference import CLASSICS, EVERYTHING, graph

import mpinet
from mpinet.networks.catalogue import to_networkx

FAMILIES_OF_NETWORKX = {
    "ring:17": networkx.cycle_graph(17),
    "complete:9": networkx.complete_graph(9),
    "hypercube:5": networkx.hypercube_graph(5),
    "mesh:3x4": networkx.grid_graph([4, 3]),
    "torus:4x4": networkx.grid_graph([4, 4], periodic=True),
    "torus:2x3x5": networkx.grid_graph([5, 3, 2], periodic=True),
    "circulant:13,jumps=5-2-6": networkx.circulant_graph(13, [2, 5, 6]),
    "doubleloop:19,8": networkx.circulant_graph(19, [1, 8]),
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_edges_are_those_of_an_independent_graph(name):
    assert networkx.utils.edges_equal(
        to_networkx(mpinet.open(name)).edges, graph(EVERYTHING[name]).edges
    )


@pytest.mark.parametrize("name", FAMILIES_OF_NETWORKX)
def test_networkx_has_the_same_network(name):
    theirs = networkx.convert_node_labels_to_integers(FAMILIES_OF_NETWORKX[name], ordering="sorted")
    theirs = networkx.Graph(theirs)
    assert networkx.utils.edges_equal(to_networkx(mpinet.open(name)).edges, theirs.edges)


@pytest.mark.parametrize("name", CLASSICS)
def test_stated_degree_and_diameter_are_true(name):
    stated, wiring = mpinet.open(name).stated, CLASSICS[name]
    if "degree" in stated:
        assert stated["degree"] == max(map(len, wiring))  # parallel links count
    if "diameter" in stated:
        assert stated["diameter"] == networkx.diameter(graph(wiring))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_ccc_has_the_stated_diameter(n):
    topology = mpinet.open(f"ccc:{n}")
    from_one = networkx.single_source_shortest_path_length(to_networkx(topology), 0)
    assert max(from_one.values()) == topology.stated["diameter"]


def test_large_networks_are_computed_not_stored():
    topology = mpinet.open("torus:1000x1000x1000*ring:1000000")
    u = topology.node("(999,0,5|999999)")
    assert [topology.address(topology.neighbor(u, p)) for p in range(topology.ports)] == [
        "(0,0,5|999999)",
        "(998,0,5|999999)",
        "(999,1,5|999999)",
        "(999,999,5|999999)",
        "(999,0,6|999999)",
        "(999,0,4|999999)",
        "(999,0,5|0)",
        "(999,0,5|999998)",
    ]
