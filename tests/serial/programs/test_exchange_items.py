"""Total exchanges of many items: what arrives, and how many steps hops alone take."""

import json

import networkx as nx
import pytest

import mpinet
from mpinet import Machine, measure
from mpinet.certify.certificate import certify
from mpinet.cli.session import CommandSession
from mpinet.errors import CertificateError
from mpinet.programs.pipelines.collectives import move_items, plan
from mpinet.programs.playing import perform


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", ["hypercube:3", "petersen", "torus:3x4", "mesh:2x3", "debruijn:3"])
def test_all_items_come_and_no_bound_is_above_the_steps(name, ports):
    network = mpinet.open(name)
    graph = nx.Graph(measure.edges(network).tolist())
    carriers = network.size if ports == "one" else 2 * graph.number_of_edges()
    for items in (1, 3):
        found = plan(Machine(network, ports), "exchange", items)
        run = perform(Machine(network, ports), found.table)
        assert run.correct
        assert run.messages == 2 * items * nx.wiener_index(graph)
        assert -(-run.messages // carriers) <= found.bound <= run.steps == found.table.last
    assert run.steps <= 3 * plan(Machine(network, ports), "exchange", 1).table.last


def test_a_hypercube_takes_as_many_steps_as_messages_can_go():
    found = mpinet.exchange("hypercube:3", items=4)  # 8 * 12 hops of each of 4 items, 8 a step
    assert (found.steps, found.lower_bound, found.messages) == (48, 48, 384)
    assert found.correct and found["bandwidth"] == [1, 12]


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", ["hypercube:3", "dgx1", "mesh:2x3", "fattree:2,2", "karytree:2,2"])
def test_the_bound_of_many_items_has_a_certificate_which_fewer_items_do_not(name, ports, tmp_path):
    file = tmp_path / "exchange.cert"
    found = mpinet.optimum(name, collective="exchange", items=3, ports=ports, save=file)
    assert found.correct and "refused" not in found.value
    assert found.lower == mpinet.exchange(name, items=3, ports=ports).lower_bound <= found.upper
    claim = certify(file).claim
    assert (claim.collective, claim.items, claim.more_than) == ("exchange", 3, found.lower - 1)
    document = json.loads(file.read_text())
    document["claim"]["items"] = 2
    file.write_text(json.dumps(document))
    with pytest.raises(CertificateError, match="this takes no more than"):
        certify(file)


def test_through_switches_and_in_groups_items_come_too():
    assert move_items(Machine("fattree:2,2", "all"), "exchange", 2).correct
    found = mpinet.exchange("torus:4x4", group="4x1", items=2)
    assert found.correct and found.lower_bound <= found.steps


@pytest.mark.parametrize(
    "line",
    [
        "exchange clens:3,3 --items 2",
        "exchange ring:8 --items 0",
        "exchange ring:8 --items 2 --duplex half",
        "exchange ring:8 --items 2 --algorithm routed",
        "exchange ring:64 --items 1000",
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(line, capsys):
    assert CommandSession(line.split()).run() == 2
    said = capsys.readouterr().err
    assert said.startswith("mpinet: ") and said.count("\n") == 1
