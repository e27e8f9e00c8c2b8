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
from mpinet.cli.session import Session
from mpinet.networks.graph import from_networkx

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
    assert Session(["schedule", "export", "gossip", network, *words]).run() == 0
    assert steps_of(out, graph, items) == steps
    assert Session(["schedule", "run", str(out), "--on", network]).run() == 0
    assert f"lower bound  {steps}" in capsys.readouterr().out
    if items < 10:  # more are more steps of a block than the executor takes
        words[-1] = str(tmp_path / "s.xml")
        assert Session(["schedule", "export", "gossip", network, *words]).run() == 0
        words = ["schedule", "run", words[-1], "--on", network, "--ports", "all"]
        capsys.readouterr()
        assert Session(words).run() == 0
        assert f"steps        {steps}\n" in capsys.readouterr().out


def test_rows_that_leave_the_port_open_take_parallel_links_and_no_more(tmp_path, capsys):
    network, _ = dgx1(tmp_path)
    header = '# collective: "broadcast"\n# root: 0\n# chunks: 3\nstep,from,to,chunk\n'
    file = tmp_path / "b.csv"
    file.write_text(header + "1,0,1,0\n1,0,1,1\n")
    words = ["schedule", "check", str(file), "--on", network, "--ports", "all"]
    assert Session(words).run() == 1  # most have nothing, but no channel is used twice
    assert "every row has its channel" in capsys.readouterr().out
    file.write_text(header + "1,0,1,0\n1,0,1,1\n1,0,1,2\n")
    assert Session(words).run() == 2
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
    assert Session(["schedule", "run", str(file), *words]).run() == 0
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
