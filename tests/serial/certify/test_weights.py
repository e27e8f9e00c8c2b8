"""Cuts with weights: bounds of gossips of one port, beside brute force and closed forms."""

import json

import networkx as nx
import pytest
from serial.programs.bruteforce import SMALL, fewest

import mpinet
from mpinet.certify.claims import BoundClaim
from mpinet.certify.network import Network
from mpinet.certify.weights import require_weighted_cuts
from mpinet.cli.session import CommandSession
from mpinet.errors import CertificateError
from mpinet.measure.optimum.weights import weighted_cuts
from mpinet.networks.graph import from_networkx


def steps_of(topology):
    needed, entering, body = weighted_cuts(topology)
    steps = -(-needed // entering)
    require_weighted_cuts(BoundClaim("gossip", "one", None, steps - 1), Network.of(topology), body)
    return steps


def test_no_bound_is_above_what_brute_force_takes():
    met = 0
    for graph in SMALL[-3:]:
        best = fewest(nx.DiGraph(graph), [*graph], True)
        bound = steps_of(from_networkx(graph))
        assert bound <= best
        met += bound == best
    assert met > 1


@pytest.mark.parametrize(
    ("graph", "steps"),
    [
        (nx.star_graph(5), 25),  # the hub sends each of 5 leaves 5 items
        (nx.complete_graph(6), 5),
        (nx.complete_bipartite_graph(3, 9), 33),  # three accept all for twelve, 11 at a time
    ],
)
def test_closed_forms_are_met(graph, steps):
    assert steps_of(from_networkx(graph)) == steps


def test_a_certificate_is_accepted_and_whatever_it_changes_is_not(tmp_path):
    file = tmp_path / "c.json"
    edges = tmp_path / "k.edges"
    nx.write_edgelist(nx.complete_bipartite_graph(3, 5), edges, data=False)
    line = f"optimum gossip graph:{edges} --save {file}"
    assert CommandSession(line.split()).run() == 0
    document = json.loads(file.read_text())
    assert document["kind"] == "cuts"
    name = f"graph:{edges}"
    assert CommandSession(["certify", str(file), "--on", name]).run() == 0
    claim, cut = document["claim"], document["cuts"][0]
    for change in (
        {"claim": claim | {"more_than": claim["more_than"] + 1}},
        {"claim": claim | {"ports": "all"}},
        {"claim": claim | {"collective": "exchange"}},
        {"cuts": [cut | {"weight": 2**30}, *document["cuts"][1:]]},
        {"cuts": [cut | {"weight": -1}]},
        {"cuts": [{"nodes": [9], "weight": 1}]},
        {"cuts": []},
        {"sends": [0] * 8, "accepts": [0] * 8},
        {"sends": document["sends"][1:]},
        {"sends": None},
    ):
        file.write_text(json.dumps(document | change))
        assert CommandSession(["certify", str(file), "--on", name]).run() == 1, change


def test_neither_busses_nor_large_networks_are_looked_at():
    assert weighted_cuts(mpinet.open("clens:3,2")) is None
    assert weighted_cuts(mpinet.open("torus:16x16")) is None
    network = Network.of(mpinet.open("clens:3,2"))
    with pytest.raises(CertificateError, match="one-port gossips on links"):
        require_weighted_cuts(BoundClaim("gossip", "one", None, 1), network, {})


def test_a_reduce_scatter_of_items_has_them_too():
    graph = nx.complete_bipartite_graph(3, 5)
    found = mpinet.optimum(graph, collective="reducescatter", items=2)
    assert found.lower_by == "cuts"
    needed, entering, _ = weighted_cuts(from_networkx(graph))
    assert found.lower == -(-2 * needed // entering)
