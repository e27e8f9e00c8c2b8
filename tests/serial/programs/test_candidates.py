"""Candidates of a collective: the fewest steps run, and those that were skipped are named."""

import json

import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.networks.catalogue import FAMILIES
from mpinet.networks.classic import boxes
from mpinet.programs import broadcast, fewest

FABRICS = "dgx1 dgxa100:1 dgxh100:1 rail:2,2 rail:4,1 star:5 karytree:2,2 mi250:1".split()
FABRICS += ["hammingmesh:1,1,2,2"]
LARGE = "rail:2,4 rail:8,1 karytree:2,3 fattree:2,4 dgxa100:2 dgxh100:2 mi250:2 rail:4,4,2".split()
LARGE += ["hammingmesh:1,1,4,4"]
BOTH = [*FABRICS, *(pytest.param(name, marks=pytest.mark.long) for name in LARGE)]


def test_all_families_of_boxes_are_among_the_fabrics():
    tried = {name.partition(":")[0] for name in FABRICS}
    assert {name for name, where in FAMILIES.items() if where.startswith(boxes.__name__)} <= tried


@pytest.mark.parametrize("collective", ["gossip", "allreduce"])
@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", BOTH)
def test_one_item_never_takes_more_steps_than_two(name, ports, collective):
    function = getattr(mpinet, collective)
    once, twice = (function(name, ports=ports, items=items) for items in (1, 2))
    assert once.correct and twice.correct
    assert once.lower_bound <= once.steps <= twice.steps
    one, two = (
        mpinet.optimum(name, collective=collective, ports=ports, items=items, limit=0)
        for items in (1, 2)
    )
    assert one.correct and two.correct
    assert one.upper <= min(two.upper, once.steps)


def test_an_allreduce_of_one_item_is_part_of_one_of_two_if_that_is_shorter():
    once, twice = (
        mpinet.allreduce("fattree:2,4", ports="all", items=items, operator="sum")
        for items in (1, 2)
    )
    assert once.correct and once.steps <= twice.steps


@pytest.mark.parametrize("command", ["gossip", "optimum gossip"])
def test_commands_name_the_skipped_candidates(command, monkeypatch, capsys):
    line = [*command.split(), "torus:4x4", "--ports", "all"]
    assert CommandSession([*line, "--json"]).run() == 0
    whole = json.loads(capsys.readouterr().out)
    assert "skipped" not in whole["result"]
    monkeypatch.setattr(fewest, "MOST_WORK", 0)
    assert CommandSession([*line, "--json"]).run() == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert {"translations", "rarest"} <= {*found["skipped"]}
    assert CommandSession(line).run() == 0
    assert "skipped" in (text := capsys.readouterr().out) and "translations rarest" in text


def test_an_allreduce_names_trees_that_take_too_long(capsys):
    line = ["allreduce", "dgxh100:8", "--ports", "all", "--items", "64"]
    assert CommandSession([*line, "--json"]).run() == 0
    found = json.loads(capsys.readouterr().out)["result"]
    assert (found["algorithm"], found["skipped"], found["correct"]) == ("paths", ["trees"], True)


NETWORKS = "hypercube:3 mesh:3x4 petersen gmn:3,12 lens:2,2,2".split()


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_best_broadcast_is_the_shortest_of_all_that_run(name, ports):
    topology, steps = mpinet.open(name), {}
    for algorithm in [*topology.schedules(0), "passes", "tree", "flooding", "floodtree"]:
        try:
            found = mpinet.broadcast(topology, algorithm=algorithm, ports=ports)
        except mpinet.errors.MpinetError:  # made for another port model, or for busses
            continue
        if found.informed == topology.hosts:
            steps[algorithm] = found.steps
    best = mpinet.broadcast(topology, algorithm="best", ports=ports)
    assert best.steps == min(steps.values()) == steps[best.algorithm]
    assert "skipped" not in best.value
    own = mpinet.broadcast(topology, ports=ports)
    general = ("passes", "flooding", "floodtree")
    assert own.algorithm in topology.schedules(0) or own.algorithm in general


def test_a_search_beyond_the_network_is_skipped_by_the_best_broadcast(monkeypatch):
    monkeypatch.setattr(broadcast, "sees_whole", lambda topology: False)
    found = mpinet.broadcast("mesh:3x4", algorithm="best")
    assert found.skipped == ["passes"] and found.informed == 12
