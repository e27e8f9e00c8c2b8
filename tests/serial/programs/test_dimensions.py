"""Allreduces along dimensions, followed by sets in plain Python, beside what nobody beats."""

from dataclasses import replace
from itertools import combinations
from math import ceil, log2

import networkx
import numpy as np
import pytest
from serial.programs.bruteforce import SMALL, fewest_to_combine

import mpinet
from mpinet import Machine
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.machine.model import PortModel
from mpinet.networks.graph import from_networkx
from mpinet.networks.members import Members
from mpinet.programs import ascend
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.collectives import move_items, plan
from mpinet.programs.pipelines.dimensions import exchanged
from mpinet.programs.playing import perform
from mpinet.programs.playing import play_rows as play

OPTIMA = {
    **{f"hypercube:{d}": (d, d) for d in (2, 3, 5)},
    **{f"complete:{n}": (ceil(log2(n)), 1) for n in (3, 5, 6, 7, 8, 9, 11, 12, 17)},
    **{f"ring:{n}": (n // 2, n // 2) for n in (4, 6, 8, 14)},
    **{f"ring:{n}": (n - 1, n // 2) for n in (5, 9)},
    "torus:8x8": (8, 8),
    "torus:4x5": (2 + 4, 2 + 2),
    "torus:2x3x4": (1 + 2 + 2, 1 + 1 + 2),
    "mesh:4x6": (3 + 5, 3 + 5),
    "mesh:3x5": (3 + 5, 2 + 4),  # with one port an odd path waits once
    "cq:4": (4, 4),
    "ring:4*complete:5": (2 + 3, 2 + 1),
    "petersen": (None, 2),
    "hypercube:4,group=0-7": (3, 3),
    "hypercube:4,group=1+9+5+13": (2, 2),
    "torus:4x6,group=0-18:6": (2, 2),
    "torus:5x4,group=4-7": (2, 2),
    "torus:6x6,group=7-9+13-15": (1 + 3, 1 + 2),
    "ring:9,group=2-5": (3, 3),
}
"""Steps with one port and with all; None: no dimensions."""


def followed(table, one_port, size):
    """Who is in everybody's sum in the end; no message may bring anybody a second time."""
    came = [[(0, node, {node})] for node in range(size)]
    rows = list(zip(table.step, table.sender, table.receiver, strict=True))
    since = np.full(len(rows), -1) if table.since is None else table.since
    for step in range(1, table.last + 1):
        now, new = [at for at, row in enumerate(rows) if row[0] == step], []
        for end in (1, 2) if one_port else ():
            ends = [rows[at][end] for at in now]
            assert len(set(ends)) == len(ends)
        for at in now:
            _, u, v = rows[at]
            from_others = [w for s, giver, w in came[u] if s >= since[at] and giver != v]
            sent = [who for _, _, who in came[u]] if since[at] < 0 else from_others
            new.append((v, (step, u, set().union(*sent))))
        for v, arrival in new:
            assert arrival[2] and not any(arrival[2] & who for _, _, who in came[v])
            came[v].append(arrival)
    return [set().union(*(who for _, _, who in each)) for each in came]


@pytest.mark.costly
@pytest.mark.parametrize("name", OPTIMA)
def test_one_item_takes_the_steps_of_the_known_algorithms(name):
    topology = mpinet.open(name)
    for ports, steps in zip(("one", "all"), OPTIMA[name], strict=True):
        machine = Machine(topology, ports)
        if steps is None:
            with pytest.raises(UsageError, match="petersen has no dimensions"):
                plan(machine, "allreduce", 1, algorithm="dimensions")
            continue
        found = plan(machine, "allreduce", 1, algorithm="dimensions")
        assert found.table.last == steps >= found.bound
        everybody = set(range(topology.hosts))
        held = followed(found.table, ports == "one", topology.hosts)
        assert all(who == everybody for who in held)
        assert move_items(machine, "allreduce", 1, operator="sum").correct


@pytest.mark.parametrize("ports", ["one", "all"])
def test_dimensions_are_optimal_on_small_graphs_where_there_are_any(ports):
    model, met = PortModel.named(ports), []
    for graph in SMALL:
        topology = from_networkx(graph)
        found = exchanged(topology, Arcs.of(topology), model, 0)
        if found is not None:
            met.append(found.steps == fewest_to_combine(graph, 1, ports == "one"))
    assert len(met) >= 5 and all(met)


@pytest.mark.parametrize("ports", ["one", "all"])
def test_groups_of_small_graphs_have_the_dimensions_of_what_joins_them(ports):
    model, met = PortModel.named(ports), []
    for graph in [graph for graph in SMALL if len(graph) > 3]:
        groups = [each for size in (3, 4) for each in combinations(graph, size)]
        for group in groups:
            inner = networkx.convert_node_labels_to_integers(graph.subgraph(group))
            if not networkx.is_connected(inner):
                continue
            part = Members(from_networkx(graph), group)
            found = exchanged(part, Arcs.of(part), model, 0)
            if found is not None:
                met.append(found.steps == fewest_to_combine(inner, 1, ports == "one"))
    assert len(met) >= 5 and all(met)


@pytest.mark.parametrize(
    ("name", "algorithm", "steps"),
    [
        ("hypercube:4,group=0-7", "exchange", 3),
        ("hypercube:4,group=10+8+2+0", "exchange", 2),
        ("complete:9,group=8+2+4+6", "exchange", 2),
        ("hypercube:4,group=0+1+3+2", "routed", None),
    ],
)
def test_groups_that_are_subcubes_exchange_with_their_neighbours(name, algorithm, steps):
    found = ascend.run(Machine(name, "one"), "sum")
    assert (found.algorithm, found.correct) == (algorithm, True)
    assert steps in (None, found.steps)


@pytest.mark.parametrize("name", ["torus:4x4", "complete:6", "hypercube:3"])
def test_several_items_go_through_each_step_one_after_the_other(name):
    machine = Machine(name, "one")
    single = plan(machine, "allreduce", 1, algorithm="dimensions").table.last
    found = plan(machine, "allreduce", 3, algorithm="dimensions")
    assert found.table.last == 3 * single
    assert perform(Machine(name, "one"), found.table).correct


def test_what_counts_somebody_twice_is_refused():
    table = plan(Machine("ring:8", "one"), "allreduce", 1, algorithm="dimensions").table
    assert play(Machine("ring:8", "one"), table)[1].short() == 0
    with pytest.raises(UsageError, match="adds to chunk 0 a second time the contribution"):
        play(Machine("ring:8", "one"), replace(table, since=None))
    late = replace(table, since=np.where(table.since > 0, table.since + 2, table.since))
    assert play(Machine("ring:8", "one"), late)[1].short() == 8


def test_a_graph_of_two_triangles_has_no_dimensions_for_one_port():
    barbell = from_networkx(networkx.barbell_graph(3, 0))
    with pytest.raises(UsageError, match="no dimensions"):
        plan(Machine(barbell, "one"), "allreduce", 1, algorithm="dimensions")
    with pytest.raises(UsageError, match="has no pipeline 'dimensions'"):
        plan(Machine("fattree:2,2", "one"), "allreduce", 1, algorithm="dimensions")


def test_parts_of_sums_are_written_and_read_and_checked(tmp_path, capsys):
    file = tmp_path / "s.csv"
    for ending in ("csv", "npz"):
        other = file.with_suffix(f".{ending}")
        line = f"schedule export allreduce torus:6x6 --out {other}"
        assert CommandSession(line.split()).run() == 0
        assert (
            CommandSession(["schedule", "run", str(other), "--on", "torus:6x6", "--json"]).run()
            == 0
        )
        assert '"steps": 6' in capsys.readouterr().out
    lines = file.read_text().splitlines()
    header = next(line for line in lines if line.startswith("step,"))
    assert header == "step,from,to,chunk,port,since,op"
    wrong = [line.replace(",1,a", ",2,a") if line.startswith("2,") else line for line in lines]
    wrong = wrong if wrong != lines else [*lines[:-1], lines[-1].rsplit(",", 2)[0] + ",9,a"]
    file.write_text("\n".join(wrong))
    assert CommandSession(["schedule", "check", str(file), "--on", "torus:6x6"]).run() == 2
    assert "since needs a row with op a" in capsys.readouterr().err
    line = f"schedule export allreduce torus:6x6 --out {tmp_path / 's.xml'}"
    assert CommandSession(line.split()).run() == 0
    assert CommandSession([*line.split(), "--algorithm", "dimensions"]).run() == 2
    assert "parts of their sums" in capsys.readouterr().err
