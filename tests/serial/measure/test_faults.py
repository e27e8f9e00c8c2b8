"""Fault diameters are those of removing nodes one set after the other with networkx."""

from itertools import combinations
from math import comb, inf

import networkx
import numpy as np
import pytest
from serial.measure.samples import graph_of, random_graphs

from mpinet import measure
from mpinet.errors import UsageError
from mpinet.measure import faults as fault_measures
from mpinet.measure.faults import Tries, subsets
from mpinet.networks.graph import from_networkx


def diameter_without(graph, removed):
    left = graph.subgraph(set(graph) - set(removed))
    return networkx.diameter(left) if networkx.is_connected(left) else inf


def worst(graph, removals):
    """The largest diameter, and the first removal that has it."""
    diameters = {removed: diameter_without(graph, removed) for removed in removals}
    value = max(diameters.values())
    return value, min(removed for removed in diameters if diameters[removed] == value)


CASES = [
    ("ring:8", 1),
    ("ring:8", 2),
    ("hypercube:4", 0),
    ("hypercube:4", 2),
    ("mesh:3x4", 1),
    ("complete:9", 8),
    ("complete:2", 1),
    ("moebius:4", 3),
    ("fattree:2,2", 1),
    ("lens:3,3,2", 2),
    ("clens:3,3", 1),
]


@pytest.mark.parametrize(("name", "faults"), CASES)
def test_the_worst_removal_is_the_one_that_networkx_finds(name, faults):
    graph = graph_of(name)
    removals = list(combinations(range(len(graph)), faults))
    found = measure.fault_diameter(name, faults)
    assert (found.value, found.removed) == worst(graph, removals)
    assert (found.tested, found.exhaustive) == (len(removals), True)


@pytest.mark.costly
@pytest.mark.parametrize("number", range(6))
def test_irregular_networks_too(number):
    graph = random_graphs(6, 12, 0.4)[number]
    found = measure.fault_diameter(from_networkx(graph), 2)
    assert (found.value, found.removed) == worst(graph, combinations(range(12), 2))


@pytest.mark.parametrize("words", [1, 60])
def test_of_equally_bad_removals_the_first_counts_however_many_are_tried_at_once(
    words, monkeypatch
):
    monkeypatch.setattr(fault_measures, "WORDS_AT_ONCE", words)
    found = measure.fault_diameter("ring:8", 2)
    assert (found.value, found.removed) == (inf, (0, 2))
    assert measure.fault_diameter("ring:8", 1).removed == (0,)
    assert measure.fault_diameter("ring:8", 2, sample=20).value == inf


def test_networks_of_more_than_a_word_of_nodes_are_flooded_whole():
    graph = graph_of("ring:3*hypercube:2")
    large = networkx.cartesian_product(graph, networkx.cycle_graph(6))
    large = networkx.convert_node_labels_to_integers(large)
    found = measure.fault_diameter(from_networkx(large))
    assert len(large) == 72
    assert (found.value, found.removed) == worst(large, ((u,) for u in range(72)))


def test_a_sample_is_some_of_the_removals_and_the_same_for_a_seed():
    graph = graph_of("torus:2x3x5")
    whole = measure.fault_diameter("torus:2x3x5", 3)
    found = measure.fault_diameter("torus:2x3x5", 3, sample=50, seed=4)
    assert found == measure.fault_diameter("torus:2x3x5", 3, sample=50, seed=4)
    assert not found.exhaustive
    assert 0 < found.tested <= 50
    assert found.value <= whole.value
    assert diameter_without(graph, found.removed) == found.value
    assert len(set(found.removed)) == 3
    several = {measure.fault_diameter("torus:2x3x5", 3, 5, seed).removed for seed in range(8)}
    assert len(several) > 1


def test_a_sample_of_all_removals_is_exhaustive():
    assert measure.fault_diameter("mesh:3x4", 2, comb(12, 2)) == measure.fault_diameter(
        "mesh:3x4", 2
    )


def test_many_removals_at_once_have_their_own_diameters():
    graph = graph_of("ccc:3")
    removals = subsets(24, 2, 100, 60)
    found = Tries(measure.without("ccc:3")).diameters(removals)
    wanted = [diameter_without(graph, row) for row in removals.tolist()]
    assert found.tolist() == [24 if d == inf else d for d in wanted]


@pytest.mark.parametrize(("size", "members"), [(6, 0), (6, 1), (7, 3), (5, 5), (8, 4)])
def test_subsets_come_in_the_order_of_their_members(size, members):
    wanted = list(combinations(range(size), members))
    for begin in range(len(wanted)):
        rows = subsets(size, members, begin, len(wanted) - begin)
        assert list(map(tuple, rows.tolist())) == wanted[begin:]


def test_far_subsets_are_found_without_counting_up_to_them():
    last = subsets(60, 9, comb(60, 9) - 2, 2)
    assert np.array_equal(last[1], np.arange(51, 60))
    assert np.array_equal(last[0], [50, *range(52, 60)])


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("ring:5", {"faults": 5}, r"0\.\.4 can be removed"),
        ("ring:5", {"faults": -1}, r"0\.\.4 can be removed"),
        ("ring:5", {"faults": 1, "sample": 0}, "at least one removal"),
        ("hypercube:10", {"faults": 4}, "give a sample"),
    ],
)
def test_removals_that_cannot_be_tried_are_refused(name, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        measure.fault_diameter(name, **options)
