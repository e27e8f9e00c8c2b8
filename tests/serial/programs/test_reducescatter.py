"""Reduce-scatters beside brute force, gossips, and certificates that claim too much."""

import json

import networkx
import pytest
from serial.programs.bruteforce import told

import mpinet
from mpinet import Machine
from mpinet.cli.session import CommandSession
from mpinet.networks.graph import from_networkx
from mpinet.programs.pipelines.collectives import move_items, plan
from mpinet.programs.playing import perform

SMALL = [networkx.path_graph(2), networkx.path_graph(3)]


def fewest(graph, one_port):
    """Brute force: steps until the sum of each processor's item is there."""
    size = len(graph)
    arcs, full, steps = [(u, v) for u in graph for v in graph[u]], 2**size - 1, 0
    states = {tuple((1 << u,) * size for u in graph)}
    while not any(all(state[node][node] == full for node in graph) for state in states):
        states, steps = told(arcs, states, one_port), steps + 1
    return steps


@pytest.mark.parametrize("ports", ["one", "all"])
def test_small_graphs_take_what_brute_force_takes(ports):
    for graph in SMALL:
        found = move_items(Machine(from_networkx(graph), ports), "reducescatter", 1, operator="sum")
        assert found.correct
        assert found.lower_bound == fewest(graph, ports == "one") == found.steps


@pytest.mark.parametrize(
    "name", ["torus:3x4", "petersen", "debruijn:3", "fattree:2,2", "clens:3,2"]
)
@pytest.mark.parametrize("ports", ["one", "all"])
def test_it_is_a_gossip_backwards(name, ports):
    for items in (1, 3):
        machine = Machine(name, ports)
        found = plan(machine, "reducescatter", items, switches="combine")
        run = perform(machine, found.table)
        assert run.correct and found.bound <= run.steps == found.table.last
        assert run.lower_bound <= run.steps
        gossip = move_items(Machine(name, ports), "gossip", items)
        assert found.bound == gossip.lower_bound
        if mpinet.open(name).links:
            assert run.steps == gossip.steps


@pytest.mark.parametrize(("name", "ports"), [("petersen", "all"), ("torus:3x4", "one")])
def test_its_certificate_is_accepted_and_one_that_claims_a_step_more_is_not(name, ports, tmp_path):
    file = tmp_path / "c.json"
    line = f"optimum reduce_scatter {name} --ports {ports} --items 2 --save {file}"
    assert CommandSession(line.split()).run() == 0
    assert CommandSession(["certify", str(file)]).run() == 0
    document = json.loads(file.read_text())
    assert document["claim"]["collective"] == "reducescatter"
    document["claim"]["more_than"] += 1
    file.write_text(json.dumps(document))
    assert CommandSession(["certify", str(file)]).run() == 1


def test_switches_that_forward_take_more_than_such_that_combine():
    steps = {
        each: mpinet.reducescatter("fattree:2,3", items=2, switches=each).steps
        for each in ("forward", "combine")
    }
    assert steps["combine"] < steps["forward"]
