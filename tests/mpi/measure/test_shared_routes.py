"""Routes, loads and dependencies shared among ranks: each the same as asked node by node."""

from collections import Counter

import numpy as np
import pytest
from mpi.machine.ranks import everyone
from serial.measure.walked import (
    broken,
    distances_of,
    never_to_two,
    routes_of,
    stop_at_five,
)

import mpinet
from mpinet import measure
from mpinet.errors import RoutingError
from mpinet.machine.transport import alone, world

NETWORKS = "gmn:4,32 bsn:1,2,4 complete:1 lens:2,3,3 fattree:2,2".split()


@pytest.mark.parametrize("name", NETWORKS)
def test_all_ranks_get_the_measures_of_all_pairs(name):
    topology = mpinet.open(name)
    routes = routes_of(topology)
    hops = {pair: len(ports) for pair, (_, ports) in routes.items()}
    far = distances_of(topology)
    stretch = {(u, v): h / far[u][v] for (u, v), h in hops.items()}
    widest = max(stretch.values(), default=None)
    found = measure.route_lengths(topology)
    assert found.total == sum(hops.values()) and found.delivered == len(hops)
    assert found.longest_pair == max(hops, key=lambda p: (hops[p], -p[0], -p[1]), default=None)
    assert found.stretch_max == widest
    assert found.stretch_pair == min((p for p in hops if stretch[p] == widest), default=None)
    assert set(everyone(found)) == {found}
    matrix = measure.length_matrix(topology)
    assert {(u, v): int(matrix[u, v]) for u, v in hops} == hops
    twice = (pair for pair, (nodes, _) in routes.items() if len(set(nodes)) < len(nodes))
    assert measure.repeats(topology) == min(twice, default=None)
    bits = (topology.routing().header_bits(*pair) for pair in hops)
    assert measure.header_bits(topology) == max(bits, default=0)


@pytest.mark.parametrize("name", NETWORKS)
def test_all_ranks_get_the_loads_of_the_whole_network(name):
    topology = mpinet.open(name)
    passed = Counter(u for nodes, _ in routes_of(topology).values() for u in nodes[1:-1])
    found = measure.loads(topology)
    assert found.processors.tolist() == [passed[u] for u in range(topology.size)]
    assert found.channels.sum() == sum(len(ports) for _, ports in routes_of(topology).values())
    mine = found.channels.tobytes(), found.ports.tobytes()
    assert set(everyone(mine)) == {mine}


def measured(name):
    return (
        measure.route_lengths(name),
        measure.channel_dependency_cycle(name),
        measure.repeats(name),
        measure.exchange_bound(name),
        measure.loads(name).processors.tolist(),
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_a_rank_alone_measures_the_same_as_all_together(name):
    together = measured(name)
    with alone():
        assert measured(name) == together


def test_all_ranks_find_the_same_deadlock():
    found = measure.find_deadlock("torus:4x4", classes="none", vcs=2)
    assert found.verdict == "deadlock" and found.runs > 1
    assert set(everyone(repr(found))) == {repr(found)}
    with alone():
        assert measure.find_deadlock("torus:4x4", classes="none", vcs=2) == found


def test_a_rank_alone_waits_for_no_other():
    rank = world().rank
    with alone():
        found = [measured(name) for name in NETWORKS[: rank + 1]]
    assert all(part[0] == found[0] for part in everyone(found))


def test_a_pair_that_is_not_served_is_found_on_every_rank():
    ring = mpinet.open("ring:8")
    found = measure.route_lengths(ring, broken(never_to_two, ring))
    assert found.undelivered_pair == (0, 2) and found.pairs - found.delivered == 7
    assert set(everyone(found)) == {found}
    assert not measure.terminates(ring, broken(never_to_two, ring))
    assert np.argwhere(measure.length_matrix(ring, broken(never_to_two, ring)) < 0).tolist() == [
        [u, 2] for u in range(8) if u != 2
    ]
    with pytest.raises(RoutingError, match="could not deliver"):
        measure.loads(ring, broken(stop_at_five, ring))


@pytest.mark.parametrize("name", ["gmn:3,12", "hypercube:4"])
def test_every_rank_finds_the_same_cut_and_the_same_cycle(name):
    found = measure.bisection_width(name), tuple(measure.hamiltonian_cycle(name) or ())
    assert set(everyone(found)) == {found}
