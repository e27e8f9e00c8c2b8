"""Bisection widths: trying all halves of small networks, closed forms of large ones."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from serial.measure.walked import graph_of

import mpinet
from mpinet import measure
from mpinet.errors import NodeError, OutOfReach, UsageError
from mpinet.measure import frontier
from mpinet.measure.bisection import Bisection, cuts_of, flow_bound, solve, spectral_bound
from mpinet.measure.frontier import exact_cut
from mpinet.networks.graph import from_networkx

SMALL = """complete:2 complete:7 ring:3 ring:9 mesh:3x3 mesh:2x5 hypercube:3 petersen torus:3x4
debruijn:3 fattree:2,2 lens:3,3,2 lens:2,3,3 clens:3,2 busstar:3,2 dualcube:2""".split()

LARGE = {
    "ring:101": 2,
    "complete:31": 15 * 16,
    "hypercube:7": 64,
    "mesh:8x8": 8,
    "mesh:7x7": 8,
    "torus:8x8": 16,
    "torus:4x12": 8,
    "complete:6*ring:12": 12,
    "fattree:2,4": 8,
    "ccc:4": 8,
    "hexcell:6": 12,
    "hexcell:7": 14,
}
"""Closed forms: n^2/4 for K_n, 2^(n-1) for the hypercube, n (even) or n + 1 (odd) for the n x n
mesh, twice the shorter side for the torus, half of the processors for the fat tree, 2^(n-1) for the
CCC. Two links a level of the Hex-Cell: CaDiCaL finds a cut of 12 (14) links for six (seven) levels
and refutes 11 (13)."""


def channels_of(topology):
    """The members of every link or bus."""
    if topology.links:
        return [set(ends) for ends in graph_of(topology).edges]
    return [set(topology.bus_members(bus)) for bus in range(topology.busses)]


def parted(channels, inside):
    """Width of a cut, counted link by link or bus by bus."""
    return sum(bool(members & inside) and bool(members - inside) for members in channels)


def by_trying(topology):
    """The narrowest of all cuts into halves, switches on all sides."""
    channels = channels_of(topology)
    switches = range(topology.hosts, topology.size)
    choices = [c for k in range(len(switches) + 1) for c in combinations(switches, k)]
    halves = combinations(range(topology.hosts), topology.hosts // 2)
    return min(parted(channels, {*half, *moved}) for half in halves for moved in choices)


def is_a_half(topology, side):
    hosts = sum(node < topology.hosts for node in side)
    return hosts in (topology.hosts // 2, (topology.hosts + 1) // 2) and 0 not in side


@pytest.mark.costly
@pytest.mark.parametrize("name", SMALL)
def test_the_width_of_a_small_network_is_the_least_of_all_cuts(name):
    topology = mpinet.open(name)
    found = measure.bisection_width(name)
    assert found.exact and found.lower == found.upper == by_trying(topology)
    assert is_a_half(topology, found.side)
    assert (
        parted(channels_of(topology), set(found.side))
        == measure.cut_width(name, found.side)
        == found.upper
    )


@pytest.mark.costly
@pytest.mark.parametrize(("name", "width"), LARGE.items())
def test_large_networks_have_the_widths_of_the_closed_forms(name, width):
    found = measure.bisection_width(name)
    assert (found.lower, found.upper, found.exact) == (width, width, True)
    assert is_a_half(mpinet.open(name), found.side)
    assert parted(channels_of(mpinet.open(name)), set(found.side)) == width


@pytest.mark.parametrize("seed", range(8))
def test_every_way_of_proof_agrees_on_random_graphs(seed):
    graph = nx.random_regular_graph(3, 10, seed) if seed % 2 else nx.gnm_random_graph(9, 16, seed)
    graph.add_edges_from(nx.path_graph(len(graph)).edges)
    topology = from_networkx(graph)
    least, cuts = by_trying(topology), cuts_of(topology)
    found = exact_cut(cuts, 10)
    assert found.width == cuts.width(found.inside) == least
    worst = np.arange(topology.size) % 2 == 1
    bound, inside = solve(cuts, 0, worst, 10)
    assert bound == cuts.width(inside) == least
    assert max(spectral_bound(topology, cuts), flow_bound(topology)) <= least


def test_a_width_is_exact_also_where_the_cut_cannot_be_remembered(monkeypatch):
    cuts = cuts_of(mpinet.open("hexcell:3"))
    width = exact_cut(cuts, 10).width
    monkeypatch.setattr(frontier, "LARGEST_MEMORY", 1 << 14)
    found = exact_cut(cuts, 10)
    assert (found.width, found.inside) == (width, None)
    monkeypatch.setattr(frontier, "LARGEST_MEMORY", 1 << 12)
    assert exact_cut(cuts, 10) is None


@pytest.mark.parametrize("name", ["lens:3,3,2", "clens:3,2", "busstar:3,2"])
def test_the_solver_parts_busses(name):
    topology = mpinet.open(name)
    cuts = cuts_of(topology)
    bound, inside = solve(cuts, 0, np.arange(topology.size) % 2 == 1, 10)
    assert bound == cuts.width(inside) == by_trying(topology)
    assert spectral_bound(topology, cuts) <= bound


def test_what_the_effort_does_not_decide_is_a_bound_and_not_called_exact():
    found = measure.bisection_width("debruijn:5", seconds=1e-6)
    assert found.lower < found.upper and not found.exact
    assert measure.cut_width("debruijn:5", found.side) == found.upper
    assert found == measure.bisection_width("debruijn:5", seconds=1e-6)
    known = measure.bisection_width("debruijn:5")
    assert known.exact and found.lower <= known.upper <= found.upper


def test_a_cut_may_be_any_set_of_nodes():
    assert measure.cut_width("ring:6", [0, 1]) == 2
    assert measure.cut_width("ring:6", [0, 3]) == 4
    assert measure.cut_width("ring:6", []) == measure.cut_width("ring:6", range(6)) == 0
    with pytest.raises(NodeError, match="Node 6"):
        measure.cut_width("ring:6", [6])


def test_a_network_in_pieces_is_cut_between_them():
    pieces = measure.without("ring:8", nodes=[0, 4])
    found = measure.bisection_width(pieces)
    assert (found.lower, found.upper, found.side) == (0, 0, (3, 4, 5))
    uneven = measure.without("ring:8", nodes=[0, 3])  # two nodes and four
    assert measure.bisection_width(uneven).upper == by_trying(uneven) == 1


def test_more_flow_gives_a_better_bound_that_holds():
    network = mpinet.open("debruijn:5")
    width = measure.bisection_width(network).upper
    assert flow_bound(network) < flow_bound(network, rounds=20) <= width


def test_one_processor_has_no_halves():
    with pytest.raises(UsageError, match="one processor"):
        measure.bisection_width("complete:1")


def test_a_width_compares_with_numbers_as_far_as_its_bounds_agree():
    exact, known = Bisection(4, 4, True, ()), Bisection(4, 8, False, ())
    assert exact == 4 and exact != 5 and exact >= 4 and exact < 4.5 and not exact > 4
    assert known >= 4 and known <= 8 and known > 3 and known < 9 and known != 3 and not known < 4
    assert len({exact, 4}) == 1
    for undecided in (
        lambda: known >= 5,
        lambda: known <= 7,
        lambda: known == 6,
        lambda: known > 5,
    ):
        with pytest.raises(OutOfReach, match=r"4 to 8.*compare .lower or .upper"):
            undecided()
    with pytest.raises(TypeError):
        assert known < "5"


@pytest.mark.parametrize("seconds", ["10", 0, -1, float("nan"), float("inf"), None])
def test_an_effort_that_is_none_is_refused_before_anything_is_measured(seconds):
    with pytest.raises(UsageError, match="the effort must be a number above 0"):
        measure.bisection_width("ring:1000000", seconds=seconds)
