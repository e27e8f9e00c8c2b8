"""Switches forward in reductions: none makes one message of two, unless that is asked for."""

from collections import Counter
from itertools import product

import pytest

import mpinet
from mpinet import Machine
from mpinet.cli.session import Session
from mpinet.errors import TooLarge
from mpinet.programs.pipelines import paths
from mpinet.programs.pipelines.collectives import move_items, plan


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", ["fattree:2,3", "karytree:3,2", "dragonfly:2,2,1"])
def test_what_leaves_a_switch_is_what_came_a_step_before(name, ports):
    topology = mpinet.open(name)
    machine = Machine(topology, ports)
    for items in (1, 3):
        table = plan(machine, "reduce", items, 1).table
        columns = (table.step, table.sender, table.receiver, table.chunk, table.add)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        came = Counter((step, to, chunk) for step, _, to, chunk, _ in rows if to >= topology.hosts)
        left = Counter(
            (step - 1, at, chunk) for step, at, _, chunk, _ in rows if at >= topology.hosts
        )
        assert came == left and set(came.values()) == {1}
        assert all(adds == (to < topology.hosts) for _, _, to, _, adds in rows)
        found = move_items(machine, "reduce", items, 1, operator="sum")
        assert found.correct and found.lower_bound <= found.steps
        assert found.messages == len(rows)
        everywhere = move_items(machine, "allreduce", items, operator="sum")
        assert everywhere.correct and everywhere.lower_bound <= everywhere.steps


def fewest_through_one_switch(hosts, root, everywhere, one_port):
    """Brute force: hosts hold sets of contributions, the switch messages that it sends on once."""
    full = 2**hosts - 1
    states, steps = {(tuple(1 << host for host in range(hosts)), ())}, 0
    wanted = range(hosts) if everywhere else [root]
    while not any(all(held[host] == full for host in wanted) for held, _ in states):
        after = set()
        for held, waiting in states:
            for sent, goes in product(_into(hosts, one_port), _out_of(hosts, waiting, one_port)):
                now, left = list(held), list(waiting)
                for host, message in goes:
                    now[host] |= message
                    left.remove(message)
                left += [held[host] for host in sent]
                after.add((tuple(now), tuple(sorted(left))))
        states, steps = after, steps + 1
    return steps


def _into(hosts, one_port):
    """Which hosts send to the switch."""
    chosen = [[h for h, on in enumerate(bits) if on] for bits in product((0, 1), repeat=hosts)]
    return [each for each in chosen if len(each) <= 1 or not one_port]


def _out_of(hosts, waiting, one_port):
    """Which messages leave the switch, and to whom."""
    found = []
    for to in product([None, *range(hosts)], repeat=len(waiting)):
        goes = [(host, m) for host, m in zip(to, waiting, strict=True) if host is not None]
        most = 1 if one_port else hosts
        if len(goes) <= most and len({host for host, _ in goes}) == len(goes):
            found.append(goes)
    return found


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("hosts", [2, 3])
def test_a_reduction_through_one_switch_lies_between_bound_and_optimum(hosts, ports):
    name = f"fattree:{hosts},1"
    topology = mpinet.open(name)
    assert (topology.hosts, topology.size) == (hosts, hosts + 1)
    best = fewest_through_one_switch(hosts, 0, False, ports == "one")
    found = move_items(Machine(topology, ports), "reduce", 1, 0)
    assert found.lower_bound <= best == found.steps
    assert mpinet.optimum(name, collective="reduce", ports=ports).upper == best
    best = fewest_through_one_switch(hosts, 0, True, ports == "one")
    everywhere = move_items(Machine(topology, ports), "allreduce", 1)
    assert everywhere.lower_bound <= best


def test_switches_combine_where_that_is_asked_for():
    forwarded = mpinet.reduce("fattree:2,3")
    combined = mpinet.reduce("fattree:2,3", switches="combine")
    assert forwarded.value["value"] is not None and forwarded.correct and combined.correct
    assert combined.messages < forwarded.messages
    for items in (1, 3):
        found = mpinet.allreduce("fattree:2,2", items=items, switches="combine")
        assert found.correct and found.steps <= mpinet.allreduce("fattree:2,2", items=items).steps


def test_networks_without_switches_know_no_difference():
    for name in ("ring:6", "hypercube:3", "lens:2,3,2"):
        runs = [mpinet.reduce(name, switches=switches) for switches in ("forward", "combine")]
        assert runs[0].document()["digest"] == runs[1].document()["digest"]


@pytest.mark.parametrize("line", ["optimum gossip ring:4", "schedule export scatter ring:4"])
def test_where_nothing_is_combined_switches_have_no_choice(line, tmp_path, capsys):
    out = ["--out", f"{tmp_path / 's.csv'}"] if "export" in line else []
    assert Session([*line.split(), *out, "--switches", "combine"]).run() == 2
    assert "--switches does not apply to" in capsys.readouterr().err


def test_what_takes_too_long_to_find_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(paths, "MOST_LOOKS", 10)
    monkeypatch.setattr(paths, "MOST_TRIES", 10)
    with pytest.raises(TooLarge, match="or let switches combine"):
        move_items(Machine("fattree:2,2", "one"), "reduce", 1, 0)
    assert Session(["reduce", "fattree:2,2"]).run() == 2
    assert (
        "give fewer items or a smaller network, or let switches combine" in capsys.readouterr().err
    )


def test_a_schedule_through_switches_is_exported_and_runs(tmp_path, capsys):
    file = tmp_path / "s.csv"
    assert Session(["schedule", "export", "reduce", "fattree:2,2", "--out", f"{file}"]).run() == 0
    assert Session(["schedule", "run", f"{file}", "--on", "fattree:2,2"]).run() == 0
    added = [line for line in file.read_text().splitlines() if line.endswith(",a")]
    assert added and all(int(line.split(",")[2]) < 4 for line in added)
    capsys.readouterr()
