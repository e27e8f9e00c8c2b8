"""Rows on two readings of one sentence, and on proofs, against networkx and counts by hand."""

from itertools import permutations, product
from math import log2

import networkx as nx
import pytest

import mpinet
from mpinet import measure
from mpinet.claims.finding import find
from mpinet.claims.ledger import PAPERS, claims_of
from mpinet.papers.lens import definition
from mpinet.papers.lens.measured import incidences

CLAIMS = {claim.id: claim for room in PAPERS for claim in claims_of(room)}


def at(id, **point):
    found = find(CLAIMS[id], point)
    assert not found.error, found.error
    return found


def graph(topology):
    return mpinet.open(topology).to_networkx()


READ_TWICE = [
    ("GBSN-S3-degree-bsn", "GBSN-S3-degree-bsn-links", {"topology": "bsn:1,2,4"}),
    ("HDN-S3-degree-235", "HDN-S3-degree-235-links", {"topology": "hdn:2x3x5,super=0"}),
    ("HDN-Tab3-d", "HDN-Tab3-d-links", {}),
    ("HDN-S1-better", "HDN-S1-better-cr", {"topology": "hdn:2x3x5,super=0"}),
    ("HDN-Th2-bound", "HDN-Th2-can", {"topology": "hdn:2x2,super=-/0.1"}),
    ("STH-R-optimal", "STH-R-order", {"topology": "lst:3"}),
    ("STH-S-degree-largest-hc", "STH-S-degree-largest", {"topology": "sth:4,7"}),
    ("STH-S-average-hc", "STH-S-average-dlh", {"topology": "sth:4,7"}),
]


@pytest.mark.parametrize(("strict", "kind", "point"), READ_TWICE)
def test_the_strict_reading_fails_where_the_kind_one_holds(strict, kind, point):
    assert CLAIMS[strict].reading or CLAIMS[strict].note
    assert not at(strict, **point).holds
    assert at(kind, **point).holds


def test_degrees_by_links_count_both_shifts_and_both_directions_of_a_side_of_two():
    assert max(degree for _, degree in graph("bsn:1,2,4").degree) == 3
    assert at("GBSN-S3-degree-bsn-links", topology="bsn:1,2,4").measured == 4
    base = nx.cartesian_product(nx.cycle_graph(3), nx.cycle_graph(5))
    base = nx.cartesian_product(nx.path_graph(2), base)
    assert {degree for _, degree in base.degree} == {5}
    assert at("HDN-S3-degree-235-links", topology="hdn:2x3x5,super=0").measured == 5 + 1 + 1


@pytest.mark.parametrize(("name", "m", "N"), [("gmn:7,112", 7, 112), ("gmn:6,48", 6, 48)])
def test_traversal_1_is_counted_along_the_ring(name, m, N):
    network = mpinet.open(name)
    hops = [p for p in range(1, m) if network.neighbor(p, 2) >= 0]
    types = {p: (network.neighbor(p, 2) - p) % N // m for p in hops}
    middle = next(p for p in hops if types[p] == 1)
    found = []
    for s, d in product(range(middle + 1), range(middle, max(hops))):
        if s + d < m:
            back = [v % N for v in range(s, middle - m - 1, -1)]  # to the last sector's middle
            on = list(range(middle, d + 1))
            assert network.neighbor(back[-1], 2) == on[0]
            found.append(len(back) - 1 + 1 + len(on) - 1)
    assert at("GMN-D-traversal-1", topology=name).measured == max(found)


def test_the_expanded_sums_of_table_2_have_summands_too_many():
    for m, printed in ((2, "1111222222223333"), (3, "11112222222222333333334444")):
        found = at(f"STH-T2-m{m}-sum")
        hops = nx.single_source_shortest_path_length(graph(f"lst:{m}"), 0).values()
        for counts, listed in ((found.claimed, list(map(int, printed))), (found.measured, hops)):
            wanted = [list(listed).count(d) for d in range(1, m + 2)]
            assert counts == ", ".join(map(str, wanted))
        assert not found.holds and at(f"STH-T2-m{m}").holds


def test_the_selected_list_is_longer_than_the_distance():
    found = at("STH-R-lst-example-shortest")
    assert found.where["K1"] == [2, 22, 21, 20, 19]
    assert len(found.where["K1"]) - 1 - nx.shortest_path_length(graph("lst:3"), 2, 19) == 1
    assert found.measured == 1


def test_an_exchange_of_two_nodes_is_no_automorphism():
    loop = graph("lst:2")
    exchanged = nx.relabel_nodes(loop, {0: 1, 1: 0})
    same = {frozenset(edge) for edge in loop.edges} == {frozenset(edge) for edge in exchanged.edges}
    assert at("STH-L4-permutation", topology="lst:2").measured is same is False


def test_the_printed_bound_on_broadcasts_is_that_of_a_calculator():
    found = at("STH-T6-one-to-all-printed", nodes=1024)
    assert found.measured == pytest.approx(7.18, abs=0.01)  # (sqrt(0.1024) - 3)^2
    assert found.claimed == 11022.4 and not found.holds


def test_every_choice_of_busses_completes_the_smallest_lens():
    before = incidences("lens:3,3,2").tolist()
    members = {}
    for processor, bus in before:
        members.setdefault(bus, set()).add(processor)
    address = mpinet.open("lens:3,3,2").address
    node = {address(number): number for number in range(8)}
    completed = definition.incidence_graph(incidences("clens:3,2"))
    choices = []
    for w in "01":
        busses = [b for b, on in members.items() if node[f"0.{w}"] in on and len(on) < 3]
        assert len(busses) == 2
        outer = node[f"0{w}."], node[f"1{w}."]
        choices.append([list(zip(outer, order, strict=True)) for order in permutations(busses)])
    for first, second in product(*choices):
        made = definition.incidence_graph([*before, *first, *second])
        assert nx.is_isomorphic(made, completed)
    wrong = definition.incidence_graph([*before, *choices[0][0], *choices[0][0]])
    assert not nx.is_isomorphic(wrong, completed)
    assert at("LENS-S3-any-bus", topology="clens:3,2").holds


def test_clusters_of_a_class_are_joined_where_a_link_is_added(monkeypatch):
    claim, name = CLAIMS["HDN-S4-case-2"], "hdn:2,super=-"
    assert claim.measured(name) == 0 and not find(claim, {"topology": name}).holds
    added = {"links within a class": 3}
    monkeypatch.setattr("mpinet.papers.hdn.measured.dissection", lambda topology: added)
    assert find(claim, {"topology": name}).holds


@pytest.mark.parametrize("name", ["hdn:2x2,super=0/0", "hdn:2x3,super=1"])
def test_the_row_of_table_2_is_that_of_networkx(name):
    found = at("HDN-Tab2-hdn-size", topology=name)
    degrees = {degree for _, degree in graph(name).degree}
    assert found.measured == {"n": len(graph(name)), "d": degrees.pop()} and not degrees
    assert found.holds == (name == "hdn:2x3,super=1")


@pytest.mark.parametrize(("family", "size"), [("moebius", 16), ("debruijn", 16), ("ccc", 64)])
def test_compared_graphs_have_the_degrees_and_diameters_of_networkx(family, size):
    found, made = at("GMN-I-fixed-degree", family=family, n=4), graph(f"{family}:4")
    assert found.holds and len(made) == size
    assert found.measured["degree"] == max(degree for _, degree in made.degree)
    assert found.measured["diameter / log2 N"] == nx.diameter(made) / log2(size)


@pytest.mark.parametrize(("name", "named"), [("hexcell:5", "hx"), ("ccc:4", "ccc")])
def test_large_diameters_are_those_of_networkx(name, named):
    assert at(f"STH-I-{named}-large", topology=name).measured == nx.diameter(graph(name))


def test_shortest_paths_between_processors_without_a_common_bus_are_counted_by_networkx():
    name, found = "clens:3,2", graph("clens:3,2")
    ways = measure.incidences(name).tolist()
    busses = {u: {b for v, b in ways if v == u} for u in found}
    counts = [
        sum(len(busses[u] & busses[w]) * len(busses[w] & busses[v]) for w in found)
        for u, v in permutations(found, 2)
        if nx.shortest_path_length(found, u, v) == 2
    ]
    assert at("LENS-S8-multiple-minimal", topology=name).measured == min(counts) > 1
