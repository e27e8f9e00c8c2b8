"""A cycle of dependencies is shown to be a deadlock: the traffic found stops the machine."""

import csv
import json
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serial.measure.walked import routes_of
from serial.networks.families import REFERENCES
from shares import some

import mpinet
from mpinet import measure
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.run import OpenLoop
from mpinet.measure import deadlocksearch
from mpinet.networks.catalogue import FAMILIES
from mpinet.networks.classchoice import open_classes
from mpinet.programs.patterns import in_order, pattern_of


def dependency_graph(topology, routing, pairs=None):
    """Ports that messages leave by one after the other, walked in plain Python."""
    graph = nx.DiGraph()
    for pair, (nodes, ports) in routes_of(topology, routing).items():
        if pairs is None or pair in pairs:
            graph.add_edges_from(pairwise(list(zip(nodes, ports, strict=False))))
    return graph


def stopped(topology, rows, vcs=1, buffers=4):
    """The cycle in which a trace stops with one class of channels."""
    routing, pattern = topology.routing(), pattern_of(topology, "uniform")
    classes = open_classes(topology, routing, "none")
    generation = Generation(pattern.rule, pattern.params, rows=in_order(np.array(rows, np.int64)))
    run = OpenLoop(
        Machine(topology), routing, classes, Buffering(vcs=vcs, buffers=buffers), generation,
        Window(0, 1, 10**6),
    )  # fmt: skip
    return [(each["node"], each["port"], each["vc"]) for each in run.run().cycle()]


@pytest.mark.parametrize(
    "name", ["ring:4", "ring:9", "torus:4x4", "torus:3x5", "torus:4x3x2", "ring:5*ring:4"]
)
def test_rings_and_tori_of_one_class_come_to_a_stop(name):
    topology = mpinet.open(name)
    found = measure.find_deadlock(topology, classes="none")
    assert found.verdict == "deadlock" and found.vcs == 1
    graph = dependency_graph(topology, topology.routing())
    for cycle in (found.cycle, found.dependencies):
        ports = [(node, port) for node, port, _ in cycle]
        assert all(graph.has_edge(a, b) for a, b in pairwise([*ports, ports[0]]))
    rows = [list(message.values()) for message in found.messages]
    assert stopped(topology, rows) == found.cycle
    for i in range(len(rows)):
        assert not stopped(topology, rows[:i] + rows[i + 1 :]), "a message could be left out"


@pytest.mark.costly
@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "graph"])
def test_in_every_family_a_cycle_comes_to_a_stop_and_none_is_free(family):
    topology = mpinet.open(next(iter(REFERENCES[family])))
    for name in topology.routings:
        routing = topology.routing(name)
        found = measure.find_deadlock(topology, routing, classes="none")
        graph = dependency_graph(topology, routing)
        free = nx.is_directed_acyclic_graph(graph)
        assert found.verdict == ("free" if free else "deadlock")
        ports = [(node, port) for node, port, _ in found.cycle]
        assert all(graph.has_edge(a, b) for a, b in pairwise([*ports, *ports[:1]]))


@given(st.data())
@settings(max_examples=len(some(range(60), 3)))
def test_only_messages_whose_ways_depend_on_each_other_in_a_circle_come_to_a_stop(data):
    topology = mpinet.open(data.draw(st.sampled_from(WIRED), "network"))
    node = st.integers(0, topology.size - 1)
    ends = st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])
    message = st.tuples(st.integers(0, 3), ends, st.sampled_from([1, 3, 9]))
    messages = data.draw(st.lists(message, min_size=4, max_size=24), "messages")
    pairs = sorted({pair for _, pair, _ in messages})
    known = measure.channel_dependency_cycle(topology, pairs=pairs, classes="none")
    graph = dependency_graph(topology, topology.routing(), set(pairs))
    assert (known is None) == nx.is_directed_acyclic_graph(graph)
    cycle = stopped(topology, [[step, *pair, flits] for step, pair, flits in messages], buffers=2)
    assert known is not None or not cycle


WIRED = [
    "ring:5",
    "torus:4x3",
    "hypercube:3",
    "randomregular:8,3,seed=1",
    "debruijn:3",
    "gmnany:10",
]


def test_classes_that_leave_no_cycle_need_no_search():
    for classes in ("dateline", "wrap", "hops"):
        assert measure.find_deadlock("torus:4x4", classes=classes).verdict == "free"
    assert measure.find_deadlock("ring:5").verdict == "free"
    assert measure.find_deadlock("ring:5").runs == 0


def test_an_adaptive_routing_without_its_escape_comes_to_a_stop():
    from dataclasses import replace

    torus = mpinet.open("torus:4x4")
    routing = torus.routing("adaptive")
    assert measure.find_deadlock(torus, "adaptive").verdict == "free"
    found = measure.find_deadlock(
        torus, replace(routing, candidates=one_class, classes=1, escape=None)
    )
    assert found.verdict == "deadlock" and len(found.cycle) >= 4


@mpinet.rule
def one_class(node, in_port, in_class, header, candidates, params):
    """Either way round a torus of 4 by 4, all of one class."""
    count = 0
    if node == header[0]:
        return -1
    for axis in range(2):
        stride = 4 if axis == 0 else 1
        here, there = node // stride % 4, header[0] // stride % 4
        if (there - here) % 4 in (1, 2):
            candidates[count, 0], candidates[count, 1] = 2 * axis, 0
            count += 1
        if (there - here) % 4 in (2, 3):
            candidates[count, 0], candidates[count, 1] = 2 * axis + 1, 0
            count += 1
    return count


def test_several_virtual_channels_of_a_class_take_more_messages():
    one = measure.find_deadlock("ring:4", classes="none")
    two = measure.find_deadlock("ring:4", classes="none", vcs=2)
    assert two.verdict == "deadlock" and len(two.messages) > len(one.messages)


def test_what_no_traffic_within_the_bounds_stops_is_said_to_be_so(monkeypatch):
    monkeypatch.setattr(deadlocksearch, "DRAWN_RUNS", 0)
    monkeypatch.setattr(deadlocksearch, "FLOODED_RUNS", 0)
    found = measure.find_deadlock("ring:4", classes="none", vcs=2)
    assert (found.verdict, found.runs, found.messages) == ("none found", 1, [])
    assert len(found.dependencies) == 4 and found.replay is None


def test_the_traffic_found_is_what_load_takes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = "measure torus:4x4 deadlock classes=none --out FILE.csv --json"
    assert CommandSession(words.split()).run() == 0
    value = json.loads(capsys.readouterr().out)["result"]["value"]
    with open("FILE.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("step", "source", "target", "flits")
    assert [{name: int(row[name]) for name in names} for row in rows] == value["messages"]
    assert CommandSession([*value["replay"].split()[1:], "--json"]).run() == 1
    (point,) = json.loads(capsys.readouterr().out)["result"]["curves"][0]["points"]
    assert point["deadlock"] and point["cycle"] == value["cycle"]
    assert point["last_move"] == value["last_move"]


@pytest.mark.parametrize("options", [{"vcs": 3}, {"buffers": 0}])
def test_channels_that_do_not_go_with_the_classes_are_refused(options):
    with pytest.raises(UsageError, match="must be a multiple"):
        measure.find_deadlock("ring:6", classes="dateline", **options)
