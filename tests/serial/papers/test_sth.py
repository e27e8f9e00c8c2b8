"""The claims of the STH paper: all of them are there, and their verdicts follow the network."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from serial.sth import reference
from shares import some

import mpinet
from mpinet import measure
from mpinet.claims.finding import find
from mpinet.claims.ledger import claims_of, paper
from mpinet.claims.remembered import forget
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local, alone
from mpinet.networks.sth.loop import ChordedLoop
from mpinet.papers.sth import discussion, measured, table8
from mpinet.papers.sth.printed import TABLE_8

CLAIMS = {claim.id: claim for claim in claims_of("sth")}


def at(id: str, topology: str):
    return find(CLAIMS[id], {"topology": topology})


def verdict(claim, **where: str):
    return verify([claim], "quick", Local(), where or None)[0]


def graph(name: str) -> nx.Graph:
    wiring = reference.wired(name)
    return nx.Graph([(u, v) for u, row in enumerate(wiring) for v in row if v is not None])


def test_every_claim_of_the_paper_is_there():
    listed = (Path(__file__).parents[1] / "claims" / "ids.txt").read_text().split()
    assert sorted(CLAIMS) == sorted(id for id in listed if id.startswith("STH-"))


def test_the_tables_are_made_of_claims():
    named = [id for table in paper("sth").tables for id in table.claims()]
    assert len(named) == len(set(named))
    assert set(named) <= set(CLAIMS)


def test_every_claim_has_quick_points_from_the_smallest_on():
    for claim in CLAIMS.values():
        every, quick = claim.grid.points("full"), claim.grid.points("quick")
        assert quick, claim.id
        assert all(point in every for point in quick), claim.id


def test_the_narrowest_cut_of_lst_2_is_that_of_all_halves():
    ends = np.array(graph("lst:2").edges)
    widths = []
    for half in combinations(range(1, 16), 8):
        inside = np.isin(np.arange(16), half)
        widths.append((inside[ends[:, 0]] != inside[ends[:, 1]]).sum())
    found = verdict(CLAIMS["STH-T1-m2"])
    assert (found.verdict, found.measured) == ("refuted", {"N": 16, "width": min(widths)})


@pytest.mark.parametrize(
    ("id", "topology"),
    [
        ("STH-D8-diameter", "tq:5"),
        ("STH-L3-tq-diameter-tq", "tq:5"),
        ("STH-L3-tq-diameter-cq", "cq:5"),
        ("STH-L3-sth-diameter-hkv", "sth:2,3,hkv"),
        ("STH-L3-lst-diameter", "lst:5"),
        ("STH-I-hx-diameter", "hexcell:4"),
    ],
)
def test_diameters_are_those_of_networkx(id, topology):
    found, diameter = at(id, topology), nx.diameter(graph(topology))
    assert found.measured == diameter
    assert found.holds == (found.claimed == diameter)
    ends = found.where["source"], found.where["target"]
    assert nx.shortest_path_length(graph(topology), *ends) == diameter


def test_the_twisted_cube_refutes_lemma_3_from_five_dimensions_on():
    found = verdict(CLAIMS["STH-L3-tq-diameter-tq"])
    assert (found.verdict, found.claimed, found.measured) == ("refuted", 3, 4)
    assert found.witness["point"] == {"topology": "tq:5"}
    assert found.replay == "mpinet verify STH-L3-tq-diameter-tq --at topology=tq:5"


@pytest.mark.parametrize(("id", "topology"), [("STH-L7-tq-fault-diameter-cq", "cq:3")])
def test_fault_diameters_are_those_of_all_removals(id, topology):
    whole = graph(topology)
    left = [nx.diameter(nx.restricted_view(whole, gone, [])) for gone in combinations(whole, 2)]
    assert at(id, topology).measured == max(left)


def test_averages_are_those_of_networkx():
    network = graph("sth:2,3,cq")
    found = at("STH-L6-sth-average-cq", "sth:2,3,cq")
    assert found.measured == pytest.approx(nx.average_shortest_path_length(network))
    assert not found.holds


@pytest.mark.parametrize(("family", "first"), [("tq", 2), ("tq-link", 1)])
def test_table_8_counts_sizes_one_by_one(family, first):
    sizes = [2**n for n in range(first, 17)]
    count = sum(
        any(100 * abs(wanted - size) < 2 * wanted for size in sizes) for wanted in range(1, 50001)
    )
    assert table8.available(family, 2) == count == 2628 - first


def test_table_8_is_that_of_a_single_link_for_the_cube_of_one_dimension():
    by_letter = {psi: table8.available("sth", psi) for psi in TABLE_8}
    assert list(by_letter.values()) == [49600, 49839, 49895, 49913, 49937, 49946]
    printed = [row[2][0] for row in TABLE_8.values()]
    assert [table8.available("sth-link", psi) for psi in TABLE_8] == printed


def test_figures_hold_for_the_cube_of_the_formulas_only():
    for figure in some((5, 6, 10, 9, 3), 3):
        verdicts = [verdict(CLAIMS[f"STH-F{figure}-{kind}"]).verdict for kind in ("tq", "cq")]
        assert verdicts == ["refuted", "holds"]


def test_table_3_comes_out_as_printed():
    for row in (1, 2, 3):
        assert verdict(CLAIMS[f"STH-T3-row{row}"]).verdict == "holds"


@pytest.mark.parametrize("name", ["sth:2,7", "sth:3,7,cq", "dlh:4,7", "hypercube:11"])
def test_floods_from_a_node_of_each_class_find_all_distances(name):
    found = measured.extent(name)
    assert (found.diameter, found.total) == (measure.diameter(name), measure.distance_sum(name))
    assert len(np.unique(measured.classes(mpinet.open(name)))) < 8


def test_a_network_that_lacks_a_link_has_fewer_symmetries():
    whole = mpinet.open("lst:4")
    broken = measure.without(whole, links=[(0, 1)])
    images = [image for image in measured.supposed(whole)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "supposed", lambda network: images)
        assert len(np.unique(measured.classes(whole))) == 1
        assert len(np.unique(measured.classes(broken))) > 1


@pytest.mark.parametrize("name", ["sth:2,2", "sth:2,3", "sth:2,3,cq"])
def test_the_products_cuts_are_no_narrower_than_their_bound(name):
    found = measure.bisection_width(name)
    assert found.exact
    assert discussion.product_bound(name) <= found.upper


def test_a_formula_that_is_off_by_one_is_refuted():
    claim = CLAIMS["STH-L3-lst-diameter"]
    wrong = replace(claim, claimed=lambda topology: claim.claimed(topology) + 1)
    assert verdict(claim, topology="lst:2").verdict == "holds"
    assert verdict(wrong, topology="lst:2").verdict == "refuted"


def test_links_that_are_missing_are_found(monkeypatch):
    cut = measure.without("lst:3", links=[(0, 1), (0, 4), (0, 20)])
    claim = CLAIMS["STH-L3-lst-diameter"]
    assert verdict(claim, topology="lst:3").verdict == "holds"
    forget()
    monkeypatch.setattr(measured, "open_topology", lambda name: cut)
    found = verdict(claim, topology="lst:3")
    assert (found.verdict, found.measured) == ("refuted", 5)


def test_a_routing_that_takes_longer_ways_is_found(monkeypatch):
    claim = CLAIMS["STH-X-lst-optimal-route"]
    assert verdict(claim, topology="lst:2").verdict == "holds"
    longer = ChordedLoop(2).routings["paper"]
    monkeypatch.setattr(ChordedLoop, "routings", property(lambda self: {"optimal": longer}))
    with alone():
        assert measure.walk("lst:2", 4, 15, "optimal") == [4, 3, 2, 1, 0, 15]
    found = verdict(claim, topology="lst:2")
    assert found.verdict == "refuted"
    assert found.measured > 0
