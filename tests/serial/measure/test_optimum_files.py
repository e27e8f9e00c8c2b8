"""Files and groups of `optimum`: the schedule is the collective's, and ranks number a group."""

import csv

import networkx as nx
import pytest
from serial.programs.smallgraphs import fewest_steps

import mpinet
from mpinet.cli.session import CommandSession


def added(file, hosts):
    """Play a saved reduction on plain sets: what the root has in the end, and the steps."""
    lines = file.read_text().splitlines()
    heads = dict(
        line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line
    )
    rows = [*csv.DictReader(line for line in lines if not line.startswith("#"))]
    assert heads["collective"] == '"reduce"' and {row["op"] for row in rows} == {"a"}
    has = {node: [node] for node in range(hosts)}
    steps = sorted({int(row["step"]) for row in rows})
    for step in steps:
        now = [(int(row["from"]), int(row["to"])) for row in rows if int(row["step"]) == step]
        for ends in zip(*now, strict=True):
            assert len(ends) == len(set(ends))  # one port
        sent = [(to, has.pop(at)) for at, to in now]
        for to, what in sent:
            has[to] += what
    return has, len(steps)


@pytest.mark.parametrize(
    ("name", "graph", "root"),
    [
        ("ring:4", nx.cycle_graph(4), 1),
        ("ring:7", nx.cycle_graph(7), 0),
        ("hypercube:3", nx.convert_node_labels_to_integers(nx.hypercube_graph(3)), 5),
        ("petersen", nx.petersen_graph(), 2),
        ("star:5", nx.star_graph(4), 3),
    ],
)
def test_the_saved_schedule_of_a_reduction_is_a_reduction(name, graph, root, tmp_path):
    file = tmp_path / "r.csv"
    found = mpinet.optimum(name, collective="reduce", root=root, schedule=file)
    has, steps = added(file, len(graph))
    assert {node: sorted(each) for node, each in has.items()} == {root: [*range(len(graph))]}
    assert steps == found.upper == found.lower == fewest_steps(graph, root)


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("name", ["hypercube:4", "gmn:3,12", "hdn:2x3,super=0", "star:5"])
def test_the_saved_schedule_is_the_one_that_ran(name, collective, ports, tmp_path):
    file = tmp_path / "s.csv"
    found = mpinet.optimum(name, collective=collective, ports=ports, schedule=file, limit=0)
    rows = [line for line in file.read_text().splitlines() if line[0].isdigit()]
    assert len(rows) == found.messages
    assert max(int(row.split(",")[0]) for row in rows) == found.upper
    assert f'# collective: "{collective}"' in file.read_text()
    assert CommandSession(["schedule", "run", f"{file}", "--on", name, "--ports", ports]).run() == 0


def test_the_default_root_of_a_group_is_its_first_member(tmp_path):
    file = tmp_path / "g.edges"
    file.write_text("".join(f"{u} {v}\n" for u, v in EDGES))
    assert mpinet.broadcast(f"graph:{file}", group="1-3").informed == 3
    found = mpinet.optimum(f"graph:{file}", group="1-3", schedule=tmp_path / "b.csv")
    assert (found.root, found.lower, found.upper) == (0, 2, 2)


EDGES = [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)]


@pytest.mark.parametrize("collective", ["gossip", "exchange", "allreduce", "reducescatter"])
def test_a_group_of_a_graph_needs_no_root(collective, tmp_path):
    file = tmp_path / "g.edges"
    file.write_text("".join(f"{u} {v}\n" for u, v in EDGES))
    found = mpinet.optimum(f"graph:{file}", collective=collective, group="1-3")
    # Three neighbours of each other: a processor needs something of two others, one a step.
    assert found.correct and found.root is None
    assert found.lower == found.upper == 2
