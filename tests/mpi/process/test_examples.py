"""The examples do what their algorithms promise, each on two machines, on any number of ranks."""

import inspect
from importlib import import_module
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, mapping_of, transport

import mpinet
from mpinet import examples
from mpinet.machine.transport import Local

MATRICES = np.random.default_rng(1).integers(-9, 9, (2, 4, 4))
KEYS = np.random.default_rng(2).integers(0, 50, 12).tolist()
LETTERS = "the quick brown fox jumps over t"


def wiring(network):
    """The network as networkx knows it, by the rule `neighbor`."""
    topology = mpinet.open(network)
    ends = topology.neighbor(np.arange(topology.size)[:, np.newaxis], np.arange(topology.ports))
    return nx.Graph((u, int(v)) for u, row in enumerate(ends) for v in row if v >= 0)


def check_flood(network, outcome, root=0):
    distance = nx.single_source_shortest_path_length(wiring(network), root)
    assert outcome.values == [distance[node] for node in range(outcome.processors)]
    assert outcome.steps == max(distance.values()) + 1
    assert outcome.messages == 2 * wiring(network).number_of_edges()


def check_election(network, outcome, labels):
    size = outcome.processors
    ranked = [(label, node) for node, label in enumerate(labels)]
    assert outcome.values == [max(ranked)[1]] * size
    assert outcome.steps == 2 * size
    beaten_after = [
        next((d for d in range(1, size) if ranked[(u + d) % size] > ranked[u]), size)
        for u in range(size)
    ]
    assert outcome.messages == sum(beaten_after) + size


def check_spanning_tree(network, outcome, root=0):
    parents = {node: parent for node, parent in enumerate(outcome.values) if node != root}
    tree = nx.Graph(parents.items())
    assert outcome.values[root] is None and nx.is_tree(tree)
    assert len(tree) == outcome.processors
    assert all(wiring(network).has_edge(*link) for link in tree.edges)
    assert outcome.steps == outcome.messages == 2 * wiring(network).number_of_edges()


def check_count(network, outcome):
    assert outcome.values[0] == outcome.processors
    assert min(outcome.values[1:]) >= 1 and max(outcome.values[1:]) < outcome.processors
    assert outcome.messages == 2 * wiring(network).number_of_edges()


def check_token_ring(network, outcome, rounds):
    size = outcome.processors
    assert outcome.values == [list(range(node, rounds * size, size)) for node in range(size)]
    assert outcome.steps == outcome.messages == rounds * size


def check_odd_even_sort(network, outcome, keys):
    assert outcome.values == sorted(keys)
    assert outcome.steps == len(keys)


def check_cannon(network, outcome, a, b):
    product = np.array(a) @ np.array(b)
    assert outcome.values == product.ravel().tolist()
    assert outcome.steps == 4 * (len(a) - 1)


def check_broadcast(network, outcome, value="news", root=0):
    informed = [(node ^ root).bit_length() for node in range(outcome.processors)]
    assert outcome.values == [(value, step) for step in informed]
    assert outcome.messages == outcome.processors - 1
    assert outcome.steps == max(informed)


def check_prefix_sums(network, outcome, items):
    assert outcome.values == [items[: node + 1] for node in range(outcome.processors)]
    assert outcome.steps == outcome.processors.bit_length() - 1


def check_distance_vector(network, outcome):
    graph = wiring(network)
    for u, v in graph.edges:
        graph.edges[u, v]["weight"] = 1 + (u + v) % 3
    distances = dict(nx.all_pairs_dijkstra_path_length(graph))
    for node, table in enumerate(outcome.values):
        assert {target: distance for target, (distance, _) in table.items()} == distances[node]
        for target, (distance, first) in table.items():
            length = graph.edges[node, first]["weight"] if target != node else 0
            assert distance == length + distances[first][target]


def blocks(matrix, side):
    """The square blocks of a matrix."""
    return [np.hsplit(row, side) for row in np.vsplit(matrix, side)]


def check_cannon_blocks(network, outcome, a, b):
    found = [outcome.values[len(a) * row : len(a) * (row + 1)] for row in range(len(a))]
    assert np.array_equal(np.block(found), np.block(a) @ np.block(b))


RUNS = [
    ("flood:flood", "hypercube:5", "all", (), check_flood),
    ("flood:flood", "ccc:3", "all", (7,), check_flood),
    ("election:election", "ring:12", "one", (KEYS,), check_election),
    ("election:election", "circulant:12,jumps=1-5", "all", (KEYS,), check_election),
    ("spanningtree:spanning_tree", "torus:4x3", "one", (), check_spanning_tree),
    ("spanningtree:spanning_tree", "hdn:2x3,super=0.1", "all", (5,), check_spanning_tree),
    ("counting:count", "hypercube:4", "all", (), check_count),
    ("counting:count", "mesh:5x5", "all", (), check_count),
    ("tokenring:token_ring", "ring:7", "one", (3,), check_token_ring),
    ("tokenring:token_ring", "circulant:8,jumps=1-3", "all", (2,), check_token_ring),
    ("oddeven:odd_even_sort", "mesh:12", "one", (KEYS,), check_odd_even_sort),
    ("oddeven:odd_even_sort", "ring:12", "all", (KEYS,), check_odd_even_sort),
    ("cannon:cannon", "torus:4x4", "one", MATRICES.tolist(), check_cannon),
    ("cannon:cannon", "torus:2x2", "all", [blocks(m, 2) for m in MATRICES], check_cannon_blocks),
    ("broadcast:broadcast", "hypercube:5", "one", (), check_broadcast),
    ("broadcast:broadcast", "hypercube:4", "all", ([1, 2], 9), check_broadcast),
    ("prefix:prefix_sums", "hypercube:5", "one", (LETTERS,), check_prefix_sums),
    ("prefix:prefix_sums", "hypercube:3", "all", (LETTERS[:8],), check_prefix_sums),
    ("distancevector:distance_vector", "ring:8", "all", (), check_distance_vector),
    ("distancevector:distance_vector", "mesh:3x4", "all", (), check_distance_vector),
]


def program(name):
    module, function = name.split(":")
    return getattr(import_module(f"mpinet.examples.{module}"), function)


@pytest.mark.parametrize("case", RUNS, ids=[f"{name} on {on}" for name, on, *_ in RUNS])
def test_an_example_does_what_its_algorithm_promises(case):
    name, network, ports, arguments, check = case
    topology = mpinet.open(network)
    mapping = mapping_of(topology, MAPPINGS[RUNS.index(case) % len(MAPPINGS)])
    machine = mpinet.Machine(topology, ports, transport(), mapping)
    outcome = machine.run(program(name), *arguments)
    assert (machine.steps, machine.messages) == (outcome.steps, outcome.messages)
    assert outcome.unreceived == 0
    alone = mpinet.Machine(topology, ports, Local()).run(program(name), *arguments)
    assert outcome.digest == alone.digest
    if transport().rank > 0:
        assert outcome.values == []
    else:
        check(network, outcome, *arguments)


def test_the_examples_are_ten_short_programs_each_run_on_two_machines():
    files = [path for path in Path(examples.__file__).parent.glob("*.py") if path.stem[0] != "_"]
    assert sorted(path.stem for path in files) == sorted({run[0].split(":")[0] for run in RUNS})
    assert len(files) == 10
    for path in files:
        assert len(path.read_text().splitlines()) < 40
    for name in {run[0] for run in RUNS}:
        assert inspect.isgeneratorfunction(program(name))
        assert len({run[1] for run in RUNS if run[0] == name}) == 2
