"""Symmetry: groups and orbits by trying all permutations, isomorphism as networkx finds it."""

from itertools import permutations
from math import factorial

import networkx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import GraphMatcher, categorical_node_match
from serial.measure.samples import BUSSED, graph_of, incidence_graph_of, random_graphs

import mpinet
from mpinet import measure
from mpinet.errors import UsageError
from mpinet.networks.graph import from_networkx

SMALL = ["ring:3", "ring:7", "mesh:2x3", "mesh:7", "hypercube:3", "debruijn:3", "fattree:2,1"]


def automorphisms(name):
    """All permutations that keep the links: tried one by one."""
    graph = graph_of(name)
    links = {frozenset(edge) for edge in graph.edges}
    for image in permutations(range(len(graph))):
        if {frozenset((image[u], image[v])) for u, v in graph.edges} == links:
            yield image


@pytest.mark.parametrize("name", SMALL)
def test_the_group_is_that_of_all_permutations_that_keep_the_links(name):
    network = mpinet.open(name)
    wanted = list(automorphisms(name))
    group = measure.automorphism_group(name)
    assert group.order == len(wanted)
    assert generated(group.generators.tolist(), network.size) == set(wanted)
    orbits = {tuple(sorted({image[u] for image in wanted})) for u in range(network.size)}
    assert measure.orbits(name) == sorted(orbits)
    assert measure.vertex_transitive(name) == (len(orbits) == 1)


def generated(generators, size):
    """The group: products until there is nothing new."""
    found = {tuple(range(size))}
    fresh = found
    while fresh:
        fresh = {tuple(g[i] for i in image) for image in fresh for g in generators} - found
        found = found | fresh
    return found


@pytest.mark.parametrize("name", ["lens:3,3,2", "clens:3,3"])
def test_the_group_of_a_bus_network_keeps_processors_and_busses_apart(name):
    graph, size = incidence_graph_of(name), len(BUSSED[name].processors)
    matcher = GraphMatcher(graph, graph, categorical_node_match("kind", None))
    wanted = {tuple(m[v] for v in sorted(graph)) for m in matcher.isomorphisms_iter()}
    group = measure.automorphism_group(name)
    assert group.order == len(wanted)
    both = np.concatenate([group.generators, group.bus_generators + size], axis=1)
    assert generated(both.tolist(), len(graph)) == wanted
    classes = sorted({tuple(sorted({image[v] for image in wanted})) for v in sorted(graph)})
    assert measure.orbits(name) == [c for c in classes if c[0] < size]
    assert measure.bus_orbits(name) == [tuple(v - size for v in c) for c in classes if c[0] >= size]
    assert measure.bus_transitive(name) == (len(measure.bus_orbits(name)) == 1)
    for image, busses in zip(group.generators, group.bus_generators, strict=True):
        assert measure.is_automorphism(name, image)
        assert measure.is_automorphism(name, image, busses)


def test_large_groups_have_their_exact_order():
    assert measure.automorphism_group("complete:40").order == factorial(40)
    assert measure.automorphism_group("hypercube:7").order == 2**7 * factorial(7)


@pytest.mark.parametrize(
    ("image", "verdict"),
    [
        ([1, 2, 3, 4, 0], True),
        ([4, 3, 2, 1, 0], True),
        ([0, 2, 4, 1, 3], False),
        ([0, 0, 0, 0, 0], False),
        ([1, 2, 3, 4, 5], False),
    ],
)
def test_automorphisms_of_a_ring_turn_it_or_turn_it_over(image, verdict):
    assert measure.is_automorphism("ring:5", image) == verdict


def test_a_symmetry_of_a_bus_network_takes_members_to_members():
    group = measure.automorphism_group("clens:3,3")
    image, busses = group.generators[0], group.bus_generators[0]
    assert not np.array_equal(busses, np.arange(len(busses)))
    assert not measure.is_automorphism("clens:3,3", image, np.roll(busses, 1))
    assert not measure.is_automorphism("clens:3,3", image, np.zeros_like(busses))
    swapped = image.copy()
    swapped[[0, 7]] = swapped[[7, 0]]
    assert not measure.is_automorphism("clens:3,3", swapped)


def test_all_members_of_one_bus_are_not_the_same_as_links_between_them():
    # Both have a link between every two of nodes 0..3; the lens's level 1 has two busses there.
    twice = mpinet.open("lens:5,3,1")
    assert measure.edges(twice).tolist() == measure.edges("complete:4").tolist()
    assert measure.automorphism_group(twice).order == 2 * factorial(4)
    with pytest.raises(UsageError, match="complete:4 has links and lens:5,3,1 has busses"):
        measure.isomorphic(twice, "complete:4")


PAIRS = [
    ("hypercube:4", "torus:4x4"),
    ("hypercube:2", "ring:4"),
    ("torus:2x3x5", "torus:5x2x3"),
    ("hypercube:3", "moebius:3"),
    ("ccc:3", "shuffleexchange:6"),
    ("mesh:3x4", "mesh:2x6"),
    ("complete:3", "ring:3"),
    ("ring:3*hypercube:2", "torus:3x2x2"),
]


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_isomorphic_networks_are_those_of_networkx(name, other):
    first, second = mpinet.open(name), mpinet.open(other)
    wanted = networkx.is_isomorphic(
        networkx.Graph(measure.edges(first).tolist()),
        networkx.Graph(measure.edges(second).tolist()),
    )
    assert measure.isomorphic(name, other) == wanted
    image = measure.isomorphism(name, other)
    assert (image is not None) == wanted
    if wanted:
        ends = {frozenset((int(image[u]), int(image[v]))) for u, v in measure.edges(first)}
        assert ends == {frozenset(edge) for edge in measure.edges(second).tolist()}


def test_the_pairs_above_are_of_both_kinds():
    assert {measure.isomorphic(*pair) for pair in PAIRS} == {True, False}


def test_random_graphs_are_recognised_under_other_numbers_and_with_another_link():
    random = np.random.default_rng(3)
    for graph in random_graphs(8, 12, 0.3):
        image = random.permutation(12)
        other = networkx.relabel_nodes(graph, dict(enumerate(image.tolist())))
        first, second = from_networkx(graph), from_networkx(other)
        assert measure.is_isomorphism(first, second, image)
        assert measure.is_isomorphism(first, second, measure.isomorphism(first, second))
        other.add_edge(*next(iter(networkx.non_edges(other))))
        assert not measure.isomorphic(first, from_networkx(other))


@pytest.mark.parametrize("name", ["lens:3,3,2", "clens:3,3", "clens:4,2"])
def test_a_bus_network_is_recognised_by_its_busses(name):
    image = measure.isomorphism(name, name)
    assert measure.is_isomorphism(name, name, image)
    assert not measure.isomorphic(name, "lens:3,4,2")


@pytest.mark.parametrize(
    ("name", "same"),
    [("torus:2x3x5", True), ("mesh:3x4", False), ("clens:3,3", True), ("lens:3,3,2", False)],
)
def test_profiles_tell_the_nodes_of_an_irregular_network_apart(name, same):
    rows = dict(networkx.all_pairs_shortest_path_length(graph_of(name)))
    wanted = {}
    for u in sorted(rows):
        lengths = list(rows[u].values())
        profile = tuple(lengths.count(d) for d in range(max(lengths) + 1))
        wanted.setdefault(profile, []).append(u)
    assert measure.profile_classes(name) == {p: tuple(nodes) for p, nodes in wanted.items()}
    assert measure.same_profiles(name) == same == (len(wanted) == 1)


def test_equal_profiles_are_no_proof_of_transitivity():
    # Two nodes of a 3-regular graph on 10 nodes with equal profiles that no automorphism joins.
    seeds = (networkx.random_regular_graph(3, 10, seed) for seed in range(200))
    networks = [from_networkx(graph) for graph in seeds if networkx.is_connected(graph)]
    finer = [n for n in networks if len(measure.orbits(n)) > len(measure.profile_classes(n))]
    assert finer
    for network in networks[:40]:
        classes = list(measure.profile_classes(network).values())
        assert all(any(set(o) <= set(c) for c in classes) for o in measure.orbits(network))


def test_mappings_of_the_wrong_shape_are_refused():
    with pytest.raises(UsageError, match="ring:5 has 5 nodes"):
        measure.is_automorphism("ring:5", [0, 1, 2, 3])
    with pytest.raises(UsageError, match="ring:5 has links"):
        measure.is_automorphism("ring:5", [0, 1, 2, 3, 4], [0])
    with pytest.raises(UsageError, match="8 busses"):
        measure.is_automorphism("clens:3,2", range(8), range(12))
    with pytest.raises(UsageError, match="orbits of busses"):
        measure.bus_transitive("ring:5")
