"""Measures of routes: those of paths asked node by node, and of networkx' distances."""

import numpy as np
import pytest
from serial.measure.walked import (
    broken,
    detouring,
    distances_of,
    leave_by_nine,
    never_to_two,
    routes_of,
    stop_at_five,
)

import mpinet
from mpinet import measure
from mpinet.errors import NodeError, RoutingError, UsageError

NETWORKS = """ring:7 gmn:4,32 hypercube:4 mesh:3x4 complete:2 complete:1 bsn:1,2,4
hdn:2x3,super=0 lens:2,3,3 clens:3,2 fattree:2,2 sth:2,2 ring:3*complete:4""".split()


@pytest.mark.costly
@pytest.mark.parametrize("name", NETWORKS)
def test_routes_have_the_lengths_of_the_paths(name):
    topology = mpinet.open(name)
    hops = {pair: len(ports) for pair, (_, ports) in routes_of(topology).items()}
    far = distances_of(topology)
    stretch = {(u, v): h / far[u][v] for (u, v), h in hops.items()}
    longest, widest = max(hops.values(), default=0), max(stretch.values(), default=None)
    found = measure.route_lengths(name)
    assert (found.pairs, found.delivered) == (len(hops), len(hops))
    assert (found.longest, found.total) == (longest, sum(hops.values()))
    assert found.longest_pair == min((p for p in hops if hops[p] == longest), default=None)
    assert found.stretch_max == widest
    assert found.stretch_pair == min((p for p in hops if stretch[p] == widest), default=None)
    assert found.undelivered_pair is None and found.reason is None
    assert measure.terminates(name)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_matrix_has_every_length(name):
    topology = mpinet.open(name)
    wanted = np.zeros((topology.hosts, topology.hosts), int)
    for pair, (_, ports) in routes_of(topology).items():
        wanted[pair] = len(ports)
    found = measure.length_matrix(name)
    assert found.dtype == np.int16 and (found == wanted).all()


@pytest.mark.costly
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("last", [True, False])
def test_every_routing_of_a_network_is_measured_by_its_name(name, last):
    topology = mpinet.open(name)
    chosen = [*topology.routings][-last]
    routing = topology.routing(chosen)
    routes = routes_of(topology, routing)
    twice = (pair for pair, (nodes, _) in routes.items() if len(set(nodes)) < len(nodes))
    assert measure.repeats(name, chosen) == min(twice, default=None)
    assert measure.route_lengths(name, chosen).total == sum(len(p) for _, p in routes.values())
    bits = (routing.header_bits(*pair) for pair in routes)
    assert measure.header_bits(name, chosen) == max(bits, default=0)


def test_a_walk_is_the_path():
    assert measure.walk("hypercube:3", 1, 6) == [1, 0, 2, 6]
    assert measure.walk("ring:5", 2, 2) == [2]
    with pytest.raises(NodeError, match="Node 5 is not in ring:5"):
        measure.walk("ring:5", 0, 5)


@pytest.mark.parametrize(
    ("rule", "pair", "said"),
    [
        (stop_at_five, (0, 6), "stopped at node 5"),
        (leave_by_nine, (0, 7), "chose port 9 of node 6"),
        (never_to_two, (0, 2), "does not come to an end"),
    ],
)
def test_a_broken_routing_is_shown_by_its_smallest_pair(rule, pair, said):
    """On the ring of 8 a message passes node k from each u to each v with k strictly between."""
    ring = mpinet.open("ring:8")
    routing = broken(rule, ring)
    found = measure.route_lengths(ring, routing)
    assert found.undelivered_pair == pair and said in found.reason
    assert found.pairs - found.delivered == sum(
        not delivered(rule, u, v) for u in range(8) for v in range(8) if u != v
    )
    assert not measure.terminates(ring, routing)
    matrix = measure.length_matrix(ring, routing)
    assert next(tuple(p) for p in np.argwhere(matrix == -1)) == pair
    assert matrix[0, 1] == 1


def delivered(rule, source, target):
    """Whether a message round the ring of 8 comes to its target."""
    way = [(source + i) % 8 for i in range((target - source) % 8)]
    if rule is never_to_two:
        return target != 2
    return (5 if rule is stop_at_five else 6) not in way


def test_a_route_that_comes_back_is_found():
    ring = mpinet.open("ring:6")
    assert measure.walk(ring, 3, 5, detouring(ring)) == [3, 4, 3, 4, 5]
    assert measure.repeats(ring, detouring(ring), [(5, 0), (3, 5), (4, 0)]) == (3, 5)
    assert measure.repeats(ring, detouring(ring), [(5, 0), (0, 1)]) is None
    assert measure.header_bits(ring, detouring(ring)) == 9


def test_pairs_may_be_listed_or_drawn():
    found = measure.route_lengths("ring:9", pairs=[(8, 4), (0, 3), (7, 7), (0, 3)])
    assert (found.pairs, found.longest, found.longest_pair, found.total) == (4, 4, (8, 4), 10)
    drawn = measure.route_lengths("torus:20x20", pairs="random:50", seed=4)
    assert drawn.pairs == drawn.delivered == 50 and drawn.stretch_max == 1.0
    assert drawn == measure.route_lengths("torus:20x20", pairs="random:50", seed=4)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(0, 9)], "ring:9 has no processor 9"),
        ([(-1, 0)], "no processor -1"),
        ([0, 1], r"rows \(source, target\)"),
        ("all:3", "no traffic pattern"),
    ],
)
def test_what_are_no_pairs_is_refused(pairs, said):
    with pytest.raises(UsageError, match=said):
        measure.route_lengths("ring:9", pairs=pairs)


def test_switches_are_no_ends():
    with pytest.raises(UsageError, match="fattree:2,2 has no processor 4"):
        measure.route_lengths("fattree:2,2", pairs=[(0, 4)])


def test_a_matrix_of_a_large_network_is_refused():
    with pytest.raises(UsageError, match="at most 8000"):
        measure.length_matrix("hypercube:13")


def test_a_broken_walk_raises():
    ring = mpinet.open("ring:8")
    with pytest.raises(RoutingError, match="stopped at node 5"):
        measure.walk(ring, 3, 7, broken(stop_at_five, ring))
