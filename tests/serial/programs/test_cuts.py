"""Cuts: what has to enter parts of a network, against networkx and what can be said by hand."""

import networkx
import numpy as np
import pytest

import mpinet
from mpinet.machine.model import PortModel
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.graph import from_networkx
from mpinet.programs.cuts import best_cut
from mpinet.programs.matching import cover

ONE, ALL = PortModel(1, 1), PortModel(None, None)


@pytest.mark.parametrize("seed", range(12))
def test_a_cover_touches_all_arcs_with_as_many_nodes_as_the_largest_matching_has_arcs(seed):
    random = np.random.default_rng(seed)
    graph = networkx.gnp_random_graph(14, 0.1, seed=seed)
    networkx.add_path(graph, range(14))
    lists = Adjacency.of(from_networkx(graph))
    useful = random.random(len(lists.others)) < 0.6
    receivers = np.repeat(np.arange(14), lists.degrees)
    arcs = [
        (f"s{u}", f"r{v}") for u, v in zip(lists.others[useful], receivers[useful], strict=True)
    ]
    sides = networkx.Graph(arcs)
    top = {name for name in sides if name[0] == "s"}
    matching = networkx.bipartite.maximum_matching(sides, top) if arcs else {}
    senders, into = cover(lists, useful)
    assert len(senders) + len(into) == len(matching) // 2
    touched = {f"s{u}" for u in senders} | {f"r{v}" for v in into}
    assert all(touched & set(arc) for arc in arcs)


@pytest.mark.parametrize("leaves", [2, 3, 7])
def test_the_hub_of_a_star_sends_every_leaf_every_other_item(leaves):
    star = from_networkx(networkx.star_graph(leaves))
    cut = best_cut(star, ONE, "gossip")
    assert (cut.steps, cut.senders.tolist()) == (leaves**2, [0])
    # In an exchange the hub sends each leaf what the other leaves and itself have for it.
    assert best_cut(star, ONE, "exchange").steps == leaves**2


@pytest.mark.parametrize("size", [6, 9])
def test_a_node_that_separates_m_pieces_sends_m_n_less_n_minus_1_items(size):
    for seed in range(6):
        tree = networkx.random_labeled_tree(size, seed=seed)
        pieces = max(
            networkx.number_connected_components(tree.subgraph(set(tree) - {u})) for u in tree
        )
        cut = best_cut(from_networkx(tree), ONE, "gossip")
        assert cut.steps >= pieces * size - (size - 1)


def test_an_odd_bipartite_network_cannot_keep_everybody_busy():
    cut = best_cut(mpinet.open("mesh:3x3x3"), ONE, "gossip")
    assert (cut.needed, cut.entering, cut.steps) == (27 * 26, 26, 27)


def test_a_bridge_bounds_gossip_and_exchange_on_all_ports():
    barbell = from_networkx(networkx.barbell_graph(5, 0))
    assert best_cut(barbell, ALL, "gossip").steps == 5
    assert best_cut(barbell, ALL, "exchange").steps == 25


@pytest.mark.parametrize("name", ["mesh:3x4", "debruijn:4", "hypercube:3"])
def test_with_every_processor_a_part_items_enter_as_often_as_they_have_hops_to_go(name):
    topology = mpinet.open(name)
    hops = sum(
        sum(far.values())
        for _, far in networkx.all_pairs_shortest_path_length(mpinet.to_networkx(topology))
    )
    assert best_cut(topology, ONE, "exchange").steps >= -(-hops // topology.size)


def test_no_cut_is_searched_on_half_duplex_links_and_large_networks():
    assert best_cut(mpinet.open("ring:8"), PortModel(1, 1, True), "gossip") is None
    assert best_cut(mpinet.open("ring:8193"), ONE, "gossip").steps == 8192  # single processors'
    assert best_cut(mpinet.open("ring:65537"), ONE, "gossip") is None
    assert best_cut(mpinet.open("ring:8"), PortModel(1, 2), "gossip") is None
