"""Diameters, eccentricities and mean distances by few floods are those of igraph from all nodes."""

import igraph
import networkx
import numpy as np
import pytest
from serial.cli.test_toolarge import refusal

from mpinet import measure
from mpinet.errors import Disconnected, UsageError, WiringError
from mpinet.measure import nearing
from mpinet.measure.distance import FaultyFloods
from mpinet.measure.sampling import half_width, least_sum
from mpinet.networks.catalogue import open_topology
from mpinet.networks.graph import from_networkx


def tailed():
    """A random graph with long tails, which decide its diameter."""
    graph = networkx.connected_watts_strogatz_graph(600, 4, 0.2, seed=5)
    for start, new in ((3, range(600, 640)), (300, range(640, 690))):
        networkx.add_path(graph, [start, *new])
    return from_networkx(graph)


NETWORKS = {
    "mesh": lambda: open_topology("mesh:23x31"),
    "torus": lambda: open_topology("torus:23x31"),
    "ccc": lambda: open_topology("ccc:7"),
    "fat tree": lambda: open_topology("fattree:2,7"),
    "busses": lambda: open_topology("lens:3,5,5"),
    "regular": lambda: open_topology("randomregular:600,3"),
    "tree": lambda: from_networkx(networkx.random_labeled_tree(700, seed=4)),
    "tails": tailed,
}


@pytest.fixture(scope="module", params=NETWORKS)
def made(request):
    """A network with more nodes than flood at once, and all its distances by igraph."""
    network = NETWORKS[request.param]()
    links = measure.edges(network)
    return network, np.array(igraph.Graph(network.size, links).distances(), int)


def test_few_floods_find_what_all_distances_show(made):
    network, wanted = made
    assert network.size > 512
    assert measure.diameter(network) == wanted.max()
    assert measure.eccentricities(network).tolist() == wanted.max(axis=1).tolist()
    assert measure.distance_sum(network) == wanted.sum()
    found = measure.distance_estimate(network, sources=40, most=60, seed=2)
    assert found.diameter_lower <= wanted.max() <= found.diameter_upper
    assert found.average_lower <= wanted.sum() / (network.size * (network.size - 1))
    assert found.average_upper >= wanted.sum() / (network.size * (network.size - 1))
    whole = measure.distance_estimate(network, sources=network.size, most=None)
    assert (whole.diameter_lower, whole.diameter_upper) == (wanted.max(), wanted.max())
    assert whole.average == wanted.sum() / (network.size * (network.size - 1))
    assert whole.exact == ["diameter", "average"]


@pytest.mark.parametrize(("name", "diameter", "every"), [("mesh", 200, 120), ("tails", 90, 400)])
def test_bounds_save_most_floods(name, diameter, every):
    network = NETWORKS[name]()
    with (bounds := FaultyFloods(network).nearing).state:
        bounds.settle_diameter()
    assert bounds.state.floods < diameter
    with (bounds := FaultyFloods(network).nearing).state:
        bounds.settle_all()
    assert bounds.state.floods < every


def test_dead_nodes_have_no_distances():
    network = NETWORKS["mesh"]()
    left = networkx.grid_2d_graph(23, 31)
    left.remove_nodes_from([(0, 0), (11, 15), (22, 29)])
    dead = [0, 11 * 31 + 15, 22 * 31 + 29]
    assert measure.diameter(network, dead) == networkx.diameter(left)


def test_a_wrong_bound_is_found_out(monkeypatch):
    whole = nearing.tighten

    def too_low(rows, farthest, lower, upper):
        whole(rows, farthest, lower, upper)
        upper -= 1

    monkeypatch.setattr(nearing, "tighten", too_low)
    with pytest.raises(WiringError, match=r"node .* has an eccentricity of .* give .*"):
        measure.diameter(NETWORKS["mesh"]())

    def too_high(rows, farthest, lower, upper):
        whole(rows, farthest, lower, upper)
        lower += 40

    monkeypatch.setattr(nearing, "tighten", too_high)
    with pytest.raises(WiringError, match="links do not lead both ways"):
        measure.eccentricities(NETWORKS["tree"]())


def test_networks_in_pieces_are_told():
    pieces = measure.without("mesh:900", nodes=[300])
    for what in (measure.diameter, measure.eccentricities, measure.distance_estimate):
        with pytest.raises(Disconnected, match="not connected"):
            what(pieces)


def test_intervals_hold_as_often_as_they_say():
    network = NETWORKS["tails"]()
    rows = np.array(igraph.Graph(network.size, measure.edges(network)).distances())
    means = rows.sum(axis=1) / (network.size - 1)
    draws = np.random.default_rng(7).integers(len(means), size=(400, 300))
    off = [abs(means[drawn].mean() - means.mean()) for drawn in draws]
    near = [half_width(means[drawn], np.ptp(means), 0.1) for drawn in draws]
    assert np.mean(np.array(off) <= near) >= 0.9
    # Half a tenth of the standard error holds nothing: such intervals would be found out.
    assert np.mean(np.array(off) <= means.std() / np.sqrt(300) / 20) < 0.9


def test_estimates_depend_on_the_seed_alone():
    first, again, other = (
        measure.distance_estimate("randomregular:600,3", 30, most=0, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.average != other.average


@pytest.mark.parametrize(("nodes", "degree"), [(10, 3), (57, 3), (50, 7), (30, 29)])
def test_the_least_sum_is_that_of_the_fullest_tree(nodes, degree):
    tree, front = networkx.empty_graph(1), [0]
    while len(tree) < nodes:
        parent = front.pop(0)
        for _ in range(degree - (parent != 0)):
            if len(tree) < nodes:
                front.append(len(tree))
                tree.add_edge(parent, len(tree))
    hops = networkx.single_source_shortest_path_length(tree, 0)
    assert least_sum(nodes, degree) == sum(hops.values())
    assert least_sum(10, 3) * 10 == measure.distance_sum("petersen")
    with pytest.raises(UsageError, match="cannot be connected"):
        least_sum(3, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--sample 1", "2 nodes or more"),
        ("--exact", "--exact does not apply without --sample"),
        ("--sample 9 --distances", "give one of the two"),
    ],
)
def test_wrong_options_are_told(options, said, capsys):
    assert said in refusal(f"show mesh:4x4 {options}", capsys)
