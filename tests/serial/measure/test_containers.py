"""Fault diameters by disjoint paths are those of removing all sets of nodes with networkx."""

from itertools import combinations
from math import inf

import networkx
import numpy as np
import pytest
from serial.measure.samples import graph as linked
from serial.measure.samples import graph_of, random_graphs
from serial.sth.reference import cq

from mpinet import measure
from mpinet.errors import OutOfReach, UsageError
from mpinet.measure import containers
from mpinet.networks.graph import from_networkx

CASES = [
    *(("ring:8", 1), ("ring:8", 2), ("hypercube:4", 0), ("hypercube:4", 3), ("mesh:3x4", 1)),
    *(("complete:9", 6), ("complete:2", 0), ("moebius:4", 2), ("mesh:7", 0), ("ccc:3", 2)),
    *(("fattree:2,2", 1), ("lens:3,3,2", 2), ("clens:3,3", 1), ("chordalring:16,5", 2)),
]


def distance_without(graph, removed, ends):
    return networkx.shortest_path_length(networkx.restricted_view(graph, removed, []), *ends)


def worst(graph, faults):
    """The largest diameter that any removal leaves."""
    found = 0
    for removed in combinations(graph, faults):
        left = networkx.restricted_view(graph, removed, [])
        found = max(found, networkx.diameter(left) if networkx.is_connected(left) else inf)
    return found


def require_witness(graph, faults, found):
    """Its removal does what the value says."""
    assert len(set(found.removed)) == faults
    if found.value == inf:
        assert not networkx.is_connected(networkx.restricted_view(graph, found.removed, []))
    else:
        assert distance_without(graph, found.removed, found.ends) == found.value


@pytest.mark.costly
@pytest.mark.parametrize(("name", "faults"), CASES)
def test_the_value_is_that_of_all_removals(name, faults):
    graph, found = graph_of(name), measure.fault_distance(name, faults)
    assert found.value == worst(graph, faults)
    require_witness(graph, faults, found)


@pytest.mark.costly
@pytest.mark.parametrize("faults", [1, 2, 3])
@pytest.mark.parametrize("number", range(5))
def test_networks_without_symmetry_too(number, faults):
    graph = random_graphs(5, 11, 0.55)[number]
    found = measure.fault_distance(from_networkx(graph), faults)
    assert found.value == worst(graph, faults)
    require_witness(graph, faults, found)


def test_a_pair_for_which_paths_do_not_suffice_is_branched_over():
    graph = linked(cq(4))
    found = measure.fault_distance("cq:4", 3)
    assert found.by_paths == found.pairs - 1
    assert found.value == worst(graph, 3)
    require_witness(graph, 3, found)


def paths_of(graph, source, target, faults, limit):
    """Whether the kernel finds enough short disjoint paths in a network that is whole."""
    topology = from_networkx(graph)
    lists = containers.Adjacency.of(topology)
    decided = np.empty(1, np.int64)
    pairs, dead = np.array([[source, target]]), np.zeros(topology.size, bool)
    containers.decide(lists.begin, lists.others, dead, pairs, faults, limit, decided)
    return decided[0]


@pytest.mark.costly
@pytest.mark.parametrize("number", range(5))
def test_no_disjoint_paths_are_seen_that_a_flow_does_not_have(number):
    graph = random_graphs(5, 14, 0.35)[number]
    for source, target in combinations(graph, 2):
        if graph.has_edge(source, target):
            continue
        most = networkx.node_connectivity(graph, source, target)
        assert paths_of(graph, source, target, most - 1, len(graph)) == 0
        assert paths_of(graph, source, target, most, len(graph)) == containers.UNDECIDED


def test_paths_beyond_the_limit_do_not_count():
    ring = networkx.cycle_graph(9)
    assert paths_of(ring, 0, 4, 1, 5) == 0
    assert paths_of(ring, 0, 4, 1, 4) == containers.UNDECIDED
    assert paths_of(ring, 0, 4, 1, 3) == 4


def test_what_takes_too_many_branches_is_out_of_reach(monkeypatch):
    monkeypatch.setattr(containers, "MOST_BRANCHES", 1)
    with pytest.raises(OutOfReach, match="more than 1 sets of failed nodes"):
        measure.fault_distance("tq:5", 4)


@pytest.mark.parametrize(("name", "faults"), [("ring:5", 4), ("ring:5", -1)])
def test_two_nodes_have_to_stay(name, faults):
    with pytest.raises(UsageError, match=r"two must stay, and 0\.\.3 can be removed"):
        measure.fault_distance(name, faults)
