"""Routing tables of users: read from files, checked as a whole, used as any routing is."""

import random

import networkx
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import MpinetError
from mpinet.measure.deadlock import channel_dependency_cycle
from mpinet.networks.routing import path

CLOCKWISE = [(u, d, (u + 1) % 5) for u in range(5) for d in range(5) if u != d]


def written(file, rows, heading="node,destination,next"):
    lines = [heading, "# a comment", *(",".join(map(str, row)) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    return f"table:{file}"


@pytest.mark.parametrize("name", ["petersen", "mesh:3x4", "fattree:2,3", "twistedtorus:4x2x2"])
def test_messages_take_the_ways_that_the_table_says_by_nodes_and_by_ports(name, tmp_path):
    topology, draw = mpinet.open(name), random.Random(7)
    graph = networkx.Graph(topology.to_networkx())
    rows = []
    for destination in range(topology.hosts):
        far = networkx.single_source_shortest_path_length(graph, destination)
        for node in set(graph) - {destination}:
            nearer = [other for other in graph[node] if far[other] < far[node]]
            rows.append((node, destination, draw.choice(sorted(nearer))))
    following = {row[:2]: row[2] for row in rows}
    by_port = [
        (u, d, next(p for p in range(topology.ports) if topology.neighbor(u, p) == v))
        for u, d, v in rows
    ]
    tables = [
        topology.routing(written(tmp_path / "next.csv", rows)),
        topology.routing(written(tmp_path / "port.csv", by_port, "node,destination,port")),
    ]
    for source, destination in draw.sample([*following], 20):
        if source < topology.hosts:
            way = [source]
            while way[-1] != destination:
                way.append(following[way[-1], destination])
            assert all(path(topology, table, source, destination)[0] == way for table in tables)


def test_a_table_routes_and_loads_and_its_deadlock_is_found(tmp_path, capsys):
    name = written(tmp_path / "clockwise.csv", CLOCKWISE)
    ring = mpinet.open("ring:5")
    found = mpinet.route(ring, pairs="all", routing=name)
    assert (found.hops_max, found.hops_total) == (4, 5 * (1 + 2 + 3 + 4))
    assert found.routing == "table:clockwise.csv"
    cycle = channel_dependency_cycle(ring, ring.routing(name), classes="none")
    assert cycle is not None
    words = ["load", "ring:5", "--routing", f"{name},shortest", "--rate", "0.1", "--steps", "50"]
    assert CommandSession([*words, "--classes", "none"]).run() == 0
    shown = capsys.readouterr()
    assert "table:clockwise.csv" in shown.out and "deadlock" in shown.err


def replaced(row):
    return [row if each[:2] == row[:2] else each for each in CLOCKWISE]


WRONG = {
    "circle": (replaced((2, 4, 1)), "messages from 0 to 4 go in a circle: 1, 2, 1."),
    "missing": (
        [row for row in CLOCKWISE if row[:2] != (2, 4)],
        "node 2 has no line for destination 4",
    ),
    "no link": (replaced((0, 1, 2)), "'0,1,2': nodes 0 and 2 have no link between them"),
    "twice": ([*CLOCKWISE, (0, 1, 1)], "'0,1,1': a message to 1 has another line at node 0"),
    "itself": ([*CLOCKWISE, (1, 1, 2)], "'1,1,2': a message to 1 has arrived at node 1"),
    "no node": ([(0, 9, 1)], "the line '0,9,1': Node 9 is not in ring:5"),
    "fields": ([(0, 1)], "'0,1' does not have the three fields"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_table_ends_with_one_sentence(fault, tmp_path, capsys):
    rows, sentence = WRONG[fault]
    name = written(tmp_path / "table.csv", rows)
    assert CommandSession(["route", "ring:5", "--routing", name]).run() == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_headings_ports_and_sizes_are_refused_in_a_sentence(tmp_path):
    ring = mpinet.open("ring:5")
    for rows, heading, sentence in [
        (CLOCKWISE, "a,b,c", "the first line of a routing table is node,destination,next or"),
        ([(0, 1, 2)], "node,destination,port", "node 0 has no port '2' with a link"),
    ]:
        with pytest.raises(MpinetError, match=sentence):
            ring.routing(written(tmp_path / "table.csv", rows, heading))
    with pytest.raises(MpinetError, match="at most 33554432 are possible"):
        mpinet.open("ring:6000").routing("table:none.csv")
