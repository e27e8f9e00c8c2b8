"""Switches forward in reductions: none makes one message of two, unless that is asked for."""

import json
from collections import Counter
from itertools import product

import networkx
import pytest

import mpinet
from mpinet import Machine
from mpinet.cli.session import CommandSession
from mpinet.errors import TooLarge
from mpinet.networks.graph import from_networkx
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


@pytest.mark.parametrize("name", ["karytree:2,5", "fattree:2,5"])
def test_deep_trees_of_switches_are_searched_by_longer_paths(name):
    """Between their farthest processors there are ten hops, more than are looked at first."""
    topology = mpinet.open(name)
    hops = networkx.single_source_shortest_path_length(mpinet.to_networkx(topology), 0)
    assert hops[topology.hosts - 1] == 10 > paths.NEAR
    found = move_items(Machine(topology, "one"), "allreduce", 1, operator="sum")
    assert found.correct and 10 <= found.lower_bound <= found.steps <= 40


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


def fewest_of_spread(edges, hosts, items, one_port, copies):
    """Brute force: who has which items, and what waits in switches, which may copy it or not.

    `items` are bits of each host; all are to have all. A switch that copies has items as hosts do.
    """
    arcs = [*edges, *((v, u) for u, v in edges)]
    size = 1 + max(max(edge) for edge in edges)
    every = [1 << bit for bit in range(max(items).bit_length() if max(items) else 1)]
    full = 0
    for each in items:
        full |= each
    every = [each for each in every if each & full]
    states, steps = {((*items, *[0] * (size - hosts)), ())}, 0
    while not any(all(held[host] == full for host in range(hosts)) for held, _ in states):
        after = set()
        for held, waiting in states:
            sends = [
                [None, *((arc, item) for item in every if held[arc[0]] & item & ~held[arc[1]])]
                for arc in arcs
                if arc[0] < hosts or copies
            ]
            goes = [[None, *(arc for arc in arcs if arc[0] == at)] for at, _ in waiting]
            for sent in product(*sends):
                sent = [each for each in sent if each]
                if one_port and len({u for (u, _), _ in sent}) < len(sent):
                    continue
                for way in product(*goes):
                    moved = sent + [
                        (arc, item) for arc, (_, item) in zip(way, waiting, strict=True) if arc
                    ]
                    over = [arc for arc, _ in moved]
                    ends = [v for _, v in over], [u for u, _ in over]
                    if len(set(over)) < len(over) or (
                        one_port and any(len(set(each)) < len(each) for each in ends)
                    ):
                        continue
                    now = list(held)
                    left = [m for arc, m in zip(way, waiting, strict=True) if not arc]
                    for (_, v), item in moved:
                        if v < hosts or copies:
                            now[v] |= item
                        else:
                            left.append((v, item))
                    after.add((tuple(now), tuple(sorted(left))))
        states, steps = after - states, steps + 1
    return steps


STAR, TWO, BESIDE = (
    [(0, 3), (1, 3), (2, 3)],
    [(0, 2), (1, 2), (0, 3), (3, 1)],
    [(0, 1), (0, 2), (1, 2)],
)
CHAIN = [(0, 2), (2, 3), (3, 1)]


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize(
    "edges", [STAR, TWO, BESIDE, CHAIN], ids=["star", "two", "beside", "chain"]
)
def test_what_is_spread_lies_between_bound_and_optimum_whatever_switches_do(edges, ports):
    hosts = 3 if edges is STAR else 2
    graph = networkx.Graph(edges)
    networkx.set_node_attributes(graph, {node: node >= hosts for node in graph}, "switch")
    machine = Machine(from_networkx(graph), ports)
    best = {}
    for switches in ("forward", "copy"):
        for collective, items in (("broadcast", [1]), ("broadcast", [3]), ("gossip", [1, 2, 4])):
            many = switches == "copy" or ports == "one"
            if collective == "gossip" and edges is STAR and many:
                continue  # too many states
            had = (items + [0] * hosts)[:hosts]
            count = items[0].bit_count()
            root = 0 if collective == "broadcast" else None
            found = move_items(machine, collective, count, root, switches=switches)
            fewest = fewest_of_spread(edges, hosts, had, ports == "one", switches == "copy")
            assert found.correct and found.lower_bound <= fewest <= found.steps <= fewest + 1
            best[switches, collective, count] = fewest
    assert all(
        best.get(("copy", what, count), 0) <= best["forward", what, count]
        for _, what, count in best
    )
    if edges is STAR and ports == "all":
        # Without copies the root sends twice; a switch that copies sends to both at once.
        assert (best["forward", "broadcast", 1], best["copy", "broadcast", 1]) == (3, 2)


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("collective", ["broadcast", "gossip", "allreduce"])
def test_no_switch_that_forwards_makes_two_of_one_message(collective, ports):
    topology = mpinet.open("fattree:2,3")
    root = 1 if collective == "broadcast" else None
    table = plan(Machine(topology, ports), collective, 2, root, switches="forward").table
    rows = list(zip(table.step.tolist(), table.sender.tolist(), table.receiver.tolist(),
                    table.chunk.tolist(), strict=True))  # fmt: skip
    came = Counter((step, to, chunk) for step, _, to, chunk in rows if to >= topology.hosts)
    left = Counter((step - 1, at, chunk) for step, at, _, chunk in rows if at >= topology.hosts)
    assert came == left
    copied = plan(Machine(topology, ports), collective, 2, root).table
    assert copied.last <= table.last


def test_switches_that_forward_are_asked_for_on_the_command_line(capsys):
    for line in ("broadcast fattree:4,1 --ports all", "gossip fattree:2,2 --ports all"):
        steps = []
        for switches in ("forward", "copy"):
            found = CommandSession([*line.split(), "--switches", switches, "--json"]).run()
            assert found == 0
            steps.append(json.loads(capsys.readouterr().out)["result"]["steps"])
        assert steps[0] > steps[1]
    assert (
        CommandSession(["broadcast", "fattree:4,1", "--switches", "forward", "--schedule"]).run()
        == 2
    )
    assert "to switches that copy" in capsys.readouterr().err
    assert CommandSession(["optimum", "scatter", "fattree:4,1", "--switches", "forward"]).run() == 2
    assert "--switches forward does not apply to scatter, only to" in capsys.readouterr().err


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
    assert CommandSession([*line.split(), *out, "--switches", "combine"]).run() == 2
    assert "does not apply to" in capsys.readouterr().err


def test_what_takes_too_long_to_find_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(paths, "MOST_LOOKS", 10)
    monkeypatch.setattr(paths, "MOST_TRIES", 10)
    with pytest.raises(TooLarge, match="or let switches combine"):
        move_items(Machine("fattree:2,2", "one"), "reduce", 1, 0)
    assert CommandSession(["reduce", "fattree:2,2"]).run() == 2
    assert (
        "give fewer items or a smaller network, or let switches combine" in capsys.readouterr().err
    )


def test_a_schedule_through_switches_is_exported_and_runs(tmp_path, capsys):
    file = tmp_path / "s.csv"
    assert (
        CommandSession(["schedule", "export", "reduce", "fattree:2,2", "--out", f"{file}"]).run()
        == 0
    )
    assert CommandSession(["schedule", "run", f"{file}", "--on", "fattree:2,2"]).run() == 0
    added = [line for line in file.read_text().splitlines() if line.endswith(",a")]
    assert added and all(int(line.split(",")[2]) < 4 for line in added)
    capsys.readouterr()
