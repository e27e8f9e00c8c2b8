"""Links of several messages a step: schedules use all of them, and no bound is passed."""

import csv
import json
import random
from collections import Counter, defaultdict
from itertools import pairwise

import networkx
import pytest
from serial.programs.bruteforce import SMALL, directed, fewest
from serial.programs.schedulefiles import forest

import mpinet
from mpinet import Machine
from mpinet.cli.session import CommandSession
from mpinet.machine.model import PortModel
from mpinet.measure.optimum.pipelined import PipelinedSearch
from mpinet.networks.graph import from_networkx
from mpinet.programs.cuts import best_cut
from mpinet.programs.pipelines.collectives import plan

DGX1 = """
0 1 2  0 2 1  0 3 1  0 4 2  1 2 1  1 3 2  1 5 1  2 3 2  2 6 2  3 7 1  4 5 2  4 6 1  4 7 1
5 6 1  5 7 2  6 7 2
"""
"""Two GPUs and the NVLinks between them, as NVIDIA's papers on the DGX-1 with V100 draw them."""


def dgx1(folder):
    """Its file, and the graph."""
    numbers = [*map(int, DGX1.split())]
    graph = networkx.Graph()
    for u, v, links in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        graph.add_edge(u, v, capacity=links)
    assert {sum(c for *_, c in graph.edges(v, data="capacity")) for v in graph} == {6}
    networkx.write_graphml(graph, folder / "dgx1.graphml")
    return f"graph:{folder}/dgx1.graphml", graph


def steps_of(file, graph, items):
    """The steps of an allgather's file, if every node sends what it has, over links that it has."""
    rows = csv.DictReader(line for line in file.open() if line[0] != "#")
    by_step = defaultdict(list)
    for row in rows:
        by_step[int(row["step"])].append([int(row[n]) for n in ("from", "to", "chunk", "port")])
    held = {node: {node * items + item for item in range(items)} for node in graph}
    for step in sorted(by_step):
        over = Counter((sender, to) for sender, to, _, _ in by_step[step])
        assert all(number <= graph.edges[ends]["capacity"] for ends, number in over.items())
        ports = [(sender, port) for sender, _, _, port in by_step[step]]
        assert len({*ports}) == len(ports)
        assert all(chunk in held[sender] for sender, _, chunk, _ in by_step[step])
        for _, to, chunk, _ in by_step[step]:
            held[to].add(chunk)
    assert all(len(chunks) == items * len(graph) for chunks in held.values())
    return max(by_step)


@pytest.mark.parametrize(("items", "steps"), [*((k, k + 1) for k in range(1, 7)), (60, 70)])
def test_allgathers_of_a_dgx1_take_the_steps_that_nothing_beats(tmp_path, capsys, items, steps):
    network, graph = dgx1(tmp_path)
    out = tmp_path / "s.csv"
    words = ["--ports", "all", "--algorithm", "rarest", "--items", str(items), "--out", str(out)]
    assert CommandSession(["schedule", "export", "gossip", network, *words]).run() == 0
    assert steps_of(out, graph, items) == steps
    assert CommandSession(["schedule", "run", str(out), "--on", network]).run() == 0
    assert f"lower bound  {steps}" in capsys.readouterr().out
    if items < 10:  # more are more steps of a block than the executor takes
        words[-1] = str(tmp_path / "s.xml")
        assert CommandSession(["schedule", "export", "gossip", network, *words]).run() == 0
        words = ["schedule", "run", words[-1], "--on", network, "--ports", "all"]
        capsys.readouterr()
        assert CommandSession(words).run() == 0
        assert f"steps        {steps}\n" in capsys.readouterr().out


def test_rows_that_leave_the_port_open_take_parallel_links_and_no_more(tmp_path, capsys):
    network, _ = dgx1(tmp_path)
    header = '# collective: "broadcast"\n# root: 0\n# chunks: 3\nstep,from,to,chunk\n'
    file = tmp_path / "b.csv"
    file.write_text(header + "1,0,1,0\n1,0,1,1\n")
    words = ["schedule", "check", str(file), "--on", network, "--ports", "all"]
    assert CommandSession(words).run() == 1  # most have nothing, but no channel is used twice
    assert "every row has its channel" in capsys.readouterr().out
    file.write_text(header + "1,0,1,0\n1,0,1,1\n1,0,1,2\n")
    assert CommandSession(words).run() == 2
    assert "line 7: 0 sends to 1 twice in step 1" in capsys.readouterr().err


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_a_tree_of_others_goes_down_parallel_links_two_rounds_a_step(tmp_path, capsys, rounds):
    network, graph = dgx1(tmp_path)
    path = [0, 1, 3, 2, 6, 7, 5, 4]
    hops = [*pairwise(path)]
    assert {graph.edges[hop]["capacity"] for hop in hops} == {2}
    file = tmp_path / "tree.xml"
    file.write_text(forest([(0, 1, hops)]))
    words = f"--on {network} --ports all --collective broadcast --rounds {rounds} --json".split()
    assert CommandSession(["schedule", "run", str(file), *words]).run() == 0
    assert json.loads(capsys.readouterr().out)["result"]["steps"] == 7 + (rounds - 1) // 2


@pytest.mark.parametrize("number", range(len(SMALL)))
def test_no_bound_of_links_with_capacities_is_above_the_optimum(number):
    draw = random.Random(number)
    graph = SMALL[number].copy()
    for ends in graph.edges():
        graph.edges[ends]["capacity"] = draw.randint(1, 3)
    network = from_networkx(graph)
    found = mpinet.gossip(network, ports="all", algorithm="rarest")
    best = fewest(directed(network), range(len(graph)), False)
    assert found.lower_bound <= best <= found.steps
    assert found.steps <= best + (len(graph) > 3)


def a100(boxes):
    """Boxes of eight A100s behind an NVSwitch, each with a NIC, the NICs on two switches."""
    graph = networkx.Graph()
    switch, gpus = 9 * boxes * 2, range(8 * boxes)
    for gpu in gpus:
        nic = 10 * boxes + gpu
        graph.add_edge(gpu, 8 * boxes + gpu // 8, capacity=12)
        graph.add_edge(gpu, nic, capacity=1)
        graph.add_edge(nic, switch + gpu % 2, capacity=1)
    networkx.set_node_attributes(graph, {node: node not in gpus for node in graph}, "switch")
    return from_networkx(graph), graph


def steps_of_paths(topology, collective, items):
    """Steps of an allgather whose switches send on, once, what came to them a step before."""
    table = plan(Machine(topology, "all"), collective, items).table
    columns = (table.step, table.sender, table.receiver, table.chunk, table.port)
    rows = sorted(zip(*(column.tolist() for column in columns), strict=True))
    held = {node: {node * items + item: 0 for item in range(items)} for node in range(16)}
    over, passing = Counter(), Counter()
    for step, sender, to, chunk, port in rows:
        over[step, sender, port] += 1
        assert topology.neighbor(sender, port) == to
        if sender < topology.hosts:
            assert held[sender][chunk] < step
        else:
            passing[step - 1, sender, chunk] -= 1
        if to < topology.hosts:
            held[to].setdefault(chunk, step)
        else:
            passing[step, to, chunk] += 1
    assert not any(passing.values()) and set(over.values()) == {1}
    assert all(len(chunks) == 16 * items for chunks in held.values())
    return rows[-1][0]


def test_two_boxes_of_a100s_gather_26_items_in_the_32_steps_that_nothing_beats(tmp_path, capsys):
    topology, graph = a100(2)
    assert steps_of_paths(topology, "gossip", 26) == 32
    # A GPU accepts 13 messages a step, the first ones of its switch in step 2, of its NIC in 4.
    assert min(t for t in range(99) if 12 * (t - 1) + (t - 3) >= 15 * 26) == 32
    networkx.write_graphml(graph, tmp_path / "two.graphml")
    words = f"optimum gossip graph:{tmp_path}/two.graphml --ports all --items 26 --save".split()
    assert CommandSession([*words, str(tmp_path / "c")]).run() == 0
    assert "32   (proved)" in capsys.readouterr().out
    assert CommandSession(["certify", str(tmp_path / "c")]).run() == 0
    certificate = json.loads((tmp_path / "c").read_text())
    never = [-1] * (topology.size - 1)
    for forged, said in (
        ({"since": [0, *never, -1][: topology.size]}, "the cut proves nothing"),
        ({"since": [0, *[0] * (topology.size - 1)]}, "every processor belongs to the set"),
        ({"claim": certificate["claim"] | {"more_than": 32}}, "the cut proves nothing"),
    ):
        (tmp_path / "f").write_text(json.dumps(certificate | forged))
        assert CommandSession(["certify", str(tmp_path / "f")]).run() == 1
        assert said in "".join(capsys.readouterr())


def test_cuts_between_what_is_joined_by_parallel_links_are_looked_at():
    cut = best_cut(a100(61)[0], PortModel(None, None), "gossip")
    # Each of 61 boxes gets the items of 480 others by eight NICs.
    assert (cut.needed, cut.entering, cut.steps) == (61 * 480, 61 * 8, 60)


def test_what_flows_to_one_processor_through_switches_is_counted_as_it_is_checked():
    counted = 0
    for seed in range(24):
        draw = random.Random(seed)
        graph = networkx.gnp_random_graph(draw.randint(3, 6), 0.6, seed=seed)
        if not networkx.is_connected(graph):
            continue
        networkx.set_edge_attributes(
            graph, {e: draw.randint(1, 3) for e in graph.edges}, "capacity"
        )
        switches = draw.sample(range(len(graph)), draw.randint(1, len(graph) - 2))
        networkx.set_node_attributes(graph, {node: node in switches for node in graph}, "switch")
        network = from_networkx(graph)
        for collective in ("gossip", "reducescatter"):
            found = plan(Machine(network, "all"), collective, 2)
            search = PipelinedSearch(network, collective, None, "all", 2)
            search.run(found.table.last, 1)
            assert search.selfcheck.refused == [] and search.lower == found.bound
            assert found.bound <= found.table.last
            counted += search.lower_by == "flow"
    assert counted > 5
