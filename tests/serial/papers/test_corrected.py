"""Corrected statements hold where the papers' do not, by networkx too, and would fail elsewhere."""

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from mpinet import measure
from mpinet.claims.finding import find
from mpinet.claims.grid import point_text
from mpinet.claims.ledger import PAPERS, claims_of
from mpinet.networks.catalogue import open_topology
from mpinet.papers.gbsn import untested

CLAIMS = {claim.id: claim for room in PAPERS for claim in claims_of(room)}
CORRECTED = [claim.id for claim in CLAIMS.values() if claim.corrects]


def graph(topology):
    network = open_topology(topology)
    found = nx.Graph()
    found.add_nodes_from(range(network.size))
    found.add_edges_from(measure.edges(network).tolist())
    return found


def cut_by_trying(topology):
    """The least width of a bisection, node 0 on one side."""
    found = graph(topology)
    half = len(found) // 2
    return min(
        nx.cut_size(found, {0, *others}) for others in combinations(range(1, len(found)), half - 1)
    )


def test_a_corrected_statement_is_measured_where_the_refuted_one_was():
    for id in CORRECTED:
        own, was = CLAIMS[id], CLAIMS[CLAIMS[id].corrects]
        tested = {point_text(point) for point in own.grid.points("full")}
        assert {point_text(point) for point in was.grid.points("full")} <= tested, id


def test_a_refuted_statement_has_an_error_and_its_correction_none():
    for id in CORRECTED:
        assert CLAIMS[CLAIMS[id].corrects].cause, id
        assert not CLAIMS[id].cause, id


INDEPENDENT = {
    "HDN-C-diameter": ("hdn:2,super=0/-", nx.diameter),
    "HDN-C-nodes": ("hdn:2x2,super=0.1/0", len),
    "STH-C-tq-diameter": ("tq:5", nx.diameter),
    "STH-C-sth-diameter-tq": ("sth:2,5", nx.diameter),
    "STH-C-lst-average": ("lst:3", nx.average_shortest_path_length),
    "STH-C-tq-average": ("tq:5", nx.average_shortest_path_length),
    "STH-C-sth-average-tq": ("sth:3,3", nx.average_shortest_path_length),
    "STH-C-nodes-hx": ("hexcell:4", len),
    "STH-C-diameter-hx": ("hexcell:4", nx.diameter),
    "LENS-X-diameter-completed": ("clens:3,4", nx.diameter),
    "GMN-C-avgdeg-even": ("gmn:4,16", lambda found: 2 * found.size() / len(found)),
}


@pytest.mark.parametrize("id", INDEPENDENT)
def test_corrected_values_are_those_of_networkx(id):
    topology, value = INDEPENDENT[id]
    found = find(CLAIMS[id], {"topology": topology})
    assert found.holds and not found.error
    assert found.claimed == pytest.approx(value(graph(topology)))
    assert not find(CLAIMS[CLAIMS[id].corrects], {"topology": topology}).holds


@pytest.mark.parametrize("topology", ["lst:2"])
def test_the_loops_width_is_that_of_all_cuts(topology):
    assert find(CLAIMS["STH-C-lst-width"], {"topology": topology}).claimed == cut_by_trying(
        topology
    )


OTHERS = {
    "HDN-C-diameter": ("hdn:2,super=0", "hdn:2,super=-"),
    "HDN-C-nodes": ("hdn:2x2,super=0", "hdn:2x2,super=-"),
    "HDN-C-symmetric": ("hdn:2,super=-/-", "hdn:2,super=-/0"),
    "HDN-C-printed-broadcast": ("hdn:2x2,super=0.1/0.1", "hdn:2,super=0/0"),
    "HDN-C-ccc": ("ccc:4", "ccc:3"),
    "STH-C-lst-width": ("lst:2", "lst:3"),
    "STH-C-lst-average": ("lst:2", "lst:3"),
    "STH-C-tq-diameter": ("tq:5", "cq:5"),
    "STH-C-tq-transitive-tq": ("tq:3", "tq:4"),
    "STH-C-dlh-width": ("dlh:2,0", "dlh:2,1"),
    "LENS-C-diameter-A": ("lens:3,3,2", "lens:3,3,3"),
    "GMN-C-avgdeg-even": ("gmn:4,16", "gmn:4,24"),
    "GBSN-C-degree-bsn": ("bsn:1,1,3", "bsn:3,3,4"),
}


@pytest.mark.parametrize("id", OTHERS)
def test_a_wrong_network_refutes_a_corrected_statement(id):
    claim, (topology, other) = CLAIMS[id], OTHERS[id]
    assert find(claim, {"topology": topology}).holds
    planted = replace(claim, measured=lambda topology: claim.measurement(topology=other))
    assert not find(planted, {"topology": topology}).holds


def test_a_deadlock_that_channels_do_not_prevent_is_seen():
    ring = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
    assert untested.has_cycle(ring)
    assert not untested.has_cycle(ring[:, :3])
    found = find(CLAIMS["GBSN-S4-deadlock"], {"topology": "gbsn:1,m=4-4-4-2,a=1"})
    assert found.holds and len(found.where["cycle without them"]) == 5


def test_the_least_stretch_is_that_of_some_mapping():
    point = {"topology": "gbsn:2,m=3-2-3,a=2-1-2", "a": 1}
    same = find(CLAIMS["GBSN-S4-three-steps-same"], point)
    best = find(CLAIMS["GBSN-S4-three-steps-mapped"], point)
    host, guest = graph(point["topology"]), graph("bsn:1,2,3")
    far = dict(nx.all_pairs_shortest_path_length(host))
    assert same.measured == max(far[u][v] for u, v in guest.edges)
    images = best.where["images"]
    assert best.measured == max(far[images[u]][images[v]] for u, v in guest.edges) <= 3
