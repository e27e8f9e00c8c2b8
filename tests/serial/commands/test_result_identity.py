"""Results are equal if command, network, model, seed and digest are, and go to other processes."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import networkx
import pytest

import mpinet

RUNS = {
    "broadcast": lambda: mpinet.broadcast("ring:4"),
    "graph": lambda: mpinet.broadcast(networkx.petersen_graph()),
    "product": lambda: mpinet.flood(mpinet.open("ring:4*ring:3")),
    "route": lambda: mpinet.route("torus:4x4", pairs=[(0, 1)]),
    "load": lambda: mpinet.load("ring:8", rate=[0.1, 0.2], warmup=20, steps=50),
    "compare": lambda: mpinet.compare("ring:4", "ring:6", only="diameter"),
    "optimum": lambda: mpinet.optimum("gossip", "ring:4"),
    "bisection": lambda: mpinet.optimum("bisection", "ring:4"),
    "find": lambda: mpinet.find(processors=8, best=2),
    "sweep": lambda: mpinet.sweep({"command": "broadcast", "topology": ["ring:4", "ring:6"]}),
    "replay": lambda: mpinet.replay("allreduce:ring,1kB", on="ring:4", latency=3, time_byte=2),
    "several": lambda: mpinet.replay(
        "allreduce:ring,1kB", on="ring:4", time_byte=2, vary="latency=1,3"
    ),
    "tune": lambda: mpinet.tune("allreduce", on="ring:4", bytes="1kB", latency=3, time_byte=2),
    "pareto": lambda: mpinet.pareto("gossip", "ring:4", chunks=1),
    "embed": lambda: mpinet.embed("ring:4", "hypercube:2"),
    "show": lambda: mpinet.show("torus:4x4"),
    "ascend": lambda: mpinet.ascend("hypercube:3", operator="sum"),
    "predict": lambda: mpinet.predict("broadcast", topology="ring:8", ranks=2),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_result_equals_its_copies_and_shows_what_they_show(name):
    found = RUNS[name]()
    sent = pickle.loads(pickle.dumps(found))
    copies = [sent, pickle.loads(pickle.dumps(sent)), copy.copy(found), copy.deepcopy(found)]
    assert len({found, *copies}) == 1
    for other in copies:
        assert type(other) is type(found) and other == found
        assert str(other) == str(found) and repr(other) == repr(found)
        assert other.document() == found.document() and other.records() == found.records()
        assert other.shortfall == found.shortfall and other.planned == found.planned


@pytest.mark.parametrize("name", ["broadcast", "graph"])
def test_a_run_is_drawn_from_a_copy(name):
    found = pickle.loads(pickle.dumps(RUNS[name]()))
    assert found.draw().startswith("<svg") and "digest" in found._repr_html_()


@pytest.mark.parametrize("name", ["load", "several", "tune"])
def test_curves_are_drawn_from_a_copy(name):
    assert pickle.loads(pickle.dumps(RUNS[name]())).plot().startswith("<svg")


def test_results_are_told_apart_by_what_was_run():
    found = mpinet.broadcast("ring:8")
    others = [
        mpinet.broadcast("ring:9"),
        mpinet.broadcast("ring:8", ports="all"),
        mpinet.broadcast("ring:8", seed=1),
        mpinet.broadcast("ring:8", root=1),
        mpinet.flood("ring:8"),
    ]
    assert found == mpinet.broadcast(mpinet.open("ring:8")) and found not in others
    assert found != found.document()


def test_results_on_graphs_without_names_go_by_the_links():
    ring = networkx.cycle_graph(6)
    again = networkx.Graph(reversed([*ring.edges]))
    turned = networkx.relabel_nodes(ring, {0: 1, 1: 3, 2: 5, 3: 0, 4: 2, 5: 4})
    found = mpinet.broadcast(ring)
    assert found == mpinet.broadcast(again) and hash(found) == hash(mpinet.broadcast(again))
    assert mpinet.compare(ring, only="diameter") != mpinet.compare(turned, only="diameter")
    assert mpinet.compare([ring, again], only="diameter") != mpinet.compare(
        [ring, turned], only="diameter"
    )
    assert found.digest == mpinet.broadcast(turned).digest and found != mpinet.broadcast(turned)


def test_a_repr_has_the_command_and_numbers():
    found = mpinet.broadcast("ring:4")
    assert repr(found).startswith("<mpinet broadcast ring:4: steps 2, messages 3, ")
    assert repr(found).endswith(f"digest {found.digest[:8]}>")
    rows = mpinet.compare("ring:4", "ring:6", only="diameter")
    assert "--only diameter: 2 rows; digest" in repr(rows)
    long = mpinet.route("ring:9", pairs=[(u, v) for u in range(9) for v in range(9)])
    assert len(repr(long)) < 300


def test_processes_send_results_and_take_networks():
    networks = ["ring:4", mpinet.open("ring:4*ring:3"), mpinet.open(networkx.petersen_graph())]
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        found = [*processes.map(mpinet.broadcast, networks)]
    assert found == [mpinet.broadcast(network) for network in networks]
