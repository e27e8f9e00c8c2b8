"""The rows of all networks' rules leave out no family and no routing."""

import numpy as np
import pytest

from mpinet.bench.benchmark import BenchSetting
from mpinet.bench.wayfinding import (
    AROUND,
    BENCHMARKS,
    NETWORKS,
    TRAFFIC,
    Course,
    against_hypercube,
    nearest_dimension,
    random_graph,
)
from mpinet.networks import shortest
from mpinet.networks.catalogue import FAMILIES, to_networkx


def test_every_family_of_the_catalogue_has_rows():
    assert set(NETWORKS) == set(FAMILIES)


@pytest.mark.parametrize("family", NETWORKS)
def test_every_routing_of_a_family_has_a_row_on_a_network_of_some_thousand_processors(family):
    full, small, routings = NETWORKS[family]
    topology = Course(full, routings[0]).open()
    assert type(Course(small, routings[0]).open()) is type(topology)
    assert sorted(routings) == sorted([*topology.routings, *topology.random_routings])
    assert (family in TRAFFIC) != (4000 <= topology.size <= 65536)


@pytest.mark.parametrize("family", NETWORKS)
def test_routings_that_go_around_dead_processors_have_a_row_more(family):
    _, small, routings = NETWORKS[family]
    topology = Course(small, routings[0]).open()
    around = [name for name in topology.routings if topology.routing(name).repaired]
    assert around == list(AROUND.get(family, ()))
    rows = {row.name for row in BENCHMARKS if row.name.startswith(f"rules-{family}-")}
    expected = {f"rules-{family}-{name}" for name in routings}
    assert rows == expected | {f"rules-{family}-{name}-around" for name in around}


@pytest.mark.parametrize("family", NETWORKS)
def test_no_shortest_path_table_of_a_row_exceeds_its_limits(family, monkeypatch):
    filled = []

    def unfilled(topology, rows):
        filled.append(rows * topology.size * topology.ports)
        return np.zeros(1, np.int64)

    monkeypatch.setattr(shortest, "first_port_table", unfilled)
    full, _, routings = NETWORKS[family]
    if "shortest" in routings:
        Course(full, "shortest").open().routing("shortest")
    assert all(looks <= 2**34 for looks in filled)


def test_no_row_may_be_slower_than_a_64th_of_the_hypercube_and_planned_ways_than_a_32nd():
    for row in BENCHMARKS:
        (baseline,) = row.baselines
        least = 1 / 32 if row.name == "rules-gmn-planned-around" else 1 / 64
        assert baseline.name == "hypercube" and baseline.goal.value == least


def test_the_hypercube_is_the_one_that_is_nearest_in_size():
    assert [nearest_dimension(size) for size in (2, 10, 12, 5792, 5793, 16380)] == [
        1, 3, 4, 12, 13, 14,
    ]  # fmt: skip


def test_the_random_graph_is_a_ring_with_a_chord_from_every_node():
    graph = to_networkx(random_graph(64))
    ring = {frozenset((u, (u + 1) % 64)) for u in range(64)}
    chords = {frozenset(edge) for edge in graph.edges} - ring
    assert ring < {frozenset(edge) for edge in graph.edges} and 32 <= len(chords) <= 64
    assert min(degree for _, degree in graph.degree) >= 3


def test_hops_of_both_contenders_are_counted_by_their_own_machines(monkeypatch):
    ticks = iter([0.0, 1e-6, 0.0, 1e-6])
    setting = BenchSetting("small", clock=lambda: next(ticks))
    contenders = against_hypercube(setting, Course("complete:16", "direct"))
    hops, others = (round(one()) for one in (contenders.mpinet, *contenders.baselines.values()))
    assert 14 <= hops <= 16 < others
