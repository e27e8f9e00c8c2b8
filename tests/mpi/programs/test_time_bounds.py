"""No collective ends before the bound that stands beside it; placements are what they say."""

from itertools import pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest
from mpi.machine.ranks import transport
from mpi.machine.timed_reference import Routed, play

import mpinet
from mpinet.errors import FileError, TopologyError, UsageError
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.scripted import stored
from mpinet.networks.routing import path
from mpinet.programs.messages.bounds import CollectivePromise, lower_bound
from mpinet.programs.messages.goal import program_of
from mpinet.programs.messages.named import program_named
from mpinet.programs.messages.placing import placed, places_of, snake
from mpinet.programs.messages.textbook import ALGORITHMS
from mpinet.programs.messages.writing import write_goal
from mpinet.report.drawing import axes

NETWORKS = (
    "ring:8", "mesh:2x4", "hypercube:3", "torus:3x3", "dragonfly:2,2,1", "fattree:2,3",
    "megafly:2,2,1", "torus:2x2*ring:4", "hyperx:3x3", "mesh:3x3,hosts=1",
)  # fmt: skip


@pytest.mark.parametrize("collective", ALGORITHMS)
def test_no_algorithm_ends_before_the_bound(collective):
    draw = Random(collective)
    for name in ALGORITHMS[collective]:
        topology = mpinet.open(draw.choice(NETWORKS))
        count = min(8, topology.hosts)
        costs = {
            "mode": draw.choice(["cut", "store", "ideal"]),
            "overhead": draw.choice([0, 5, 90]),
            "overhead_byte": draw.choice([0, 2]),
            "gap": draw.choice([0, 7]),
            "gap_byte": draw.choice([0, 1, 4]),
            "latency": draw.choice(["1", "30", "5,70"]),
            "time_byte": draw.choice(["0", "1", "9", "2,5", "3,0"]),
            "duplex": draw.choice(["full", "half"]),
        }
        size, place = draw.choice([8, 200, 3000]), draw.choice(["identity", "random"])
        options = {"processors": count, "on": topology, "place": place, **costs}
        [row] = mpinet.tune(collective, algorithms=name, bytes=size, **options)
        assert 0 < row.lower_bound <= row.time, (name, options)


def test_bounds_are_reached_where_nothing_is_in_the_way():
    one = {"latency": 1, "time_byte": 1}
    assert _both("allgather", "ring", "ring:8", "800kB", **one) == (7 * 100_001, 350_001)
    chain = _both("broadcast", "linear", "complete:2", 1000, overhead=3, **one)
    assert chain == (3 + 1000 + 1 + 3, 1007)
    # The optimal broadcast of LogP with P = 8, L = 6, g = 4, o = 2: 24 (Karp et al. 1993).
    demand = CollectivePromise("broadcast", 1, np.arange(8))
    assert lower_bound(demand, None, Costs(2, gap=4, flat=6)) == (24, "growth")


def _both(collective, name, network, size, **costs):
    [row] = mpinet.tune(collective, on=network, algorithms=name, bytes=size, **costs)
    return row.time, row.lower_bound


@pytest.mark.parametrize("network", ["torus:3x5", "dragonfly:2,2,1", "mesh:2x3x2"])
def test_the_distance_is_that_of_the_lightest_way(network):
    topology = mpinet.open(network)
    graph = nx.Graph()
    for node in range(topology.size):
        for port in range(topology.ports):
            there = int(topology.neighbor(node, port))
            if there >= 0:
                kind = int(topology.link_class(node, port))
                graph.add_edge(node, there, weight=(7, 400)[min(kind, 1)])
    away = nx.single_source_dijkstra_path_length(graph, 0)
    farthest = max(away[host] for host in range(topology.hosts))
    demand = CollectivePromise("broadcast", 1, np.arange(topology.hosts))
    assert lower_bound(demand, topology, Costs(5, latencies=(7, 400))) == (
        10 + farthest,
        "distance",
    )


def test_a_bisection_is_among_the_cuts():
    costs = Costs(latencies=(1,), byte_times=(4,))
    demand = CollectivePromise("alltoall", 6400, np.arange(64))
    # 32 * 32 messages of 100 bytes over the 16 links of one way between halves of a torus of 8x8
    assert lower_bound(demand, mpinet.open("torus:8x8"), costs).time == 1 + 32 * 32 * 100 * 4 // 16


def test_a_placed_program_takes_the_time_of_the_same_one_written_for_its_places(tmp_path):
    topology = mpinet.open("torus:3x4")
    program = program_named("allreduce:ring,90,processors=9")
    places = places_of("random", topology, 9, 4)
    file = tmp_path / "placed.goal"
    with file.open("wb") as opened:
        write_goal(placed(stored(program), places, 12), opened)
    costs = {"o": 4, "O": 0, "g": 0, "G": 0, "S": None}
    known = play(file.read_text(), Routed(topology, [9], [2]), "cut", **costs)
    found = mpinet.replay(
        program, on=topology, place="random", seed=4, overhead=4, latency=9, time_byte=2
    )
    assert (found.time, found.waits, found.hops) == (known["time"], known["waits"], known["hops"])
    assert found.ends == [known["ends"][place] for place in places]


class Weighted(Routed):
    """A graph whose edges have costs of their own."""

    def __init__(self, topology, graph):
        super().__init__(topology, [1], [0])
        self.graph = graph

    def path(self, source, target):
        nodes, ports = path(self.topology, self.routing, source, target)
        said = [self.graph.edges[ends] for ends in pairwise(nodes)]
        ways = zip(nodes, ports, said, strict=False)
        return [((node, port), each["latency"], each["time_byte"]) for node, port, each in ways]


@pytest.mark.parametrize("mode", ["cut", "store", "ideal"])
def test_links_of_a_graph_take_what_their_edges_say(mode, tmp_path):
    graph, draw = nx.connected_watts_strogatz_graph(9, 4, 0.5, seed=3), Random(mode)
    for ends in graph.edges:
        graph.edges[ends].update(latency=draw.randrange(1, 90), time_byte=draw.choice([0, 2, 7]))
    program, file = program_named("alltoall:linear,900,processors=9"), tmp_path / "wires.edges"
    lines = [
        f"{u} {v} latency={d['latency']} time_byte={d['time_byte']}"
        for u, v, d in graph.edges.data()
    ]
    file.write_text("\n".join(lines))
    with (tmp_path / "all.goal").open("wb") as opened:
        write_goal(program, opened)
    topology = mpinet.open(graph)
    costs = {"o": 4, "O": 0, "g": 3, "G": 1, "S": 50}
    known = play((tmp_path / "all.goal").read_text(), Weighted(topology, graph), mode, **costs)
    for on in (graph, f"graph:{file}"):
        found = mpinet.replay(program, on=on, mode=mode, overhead=4, gap=3, gap_byte=1, eager=50)
        assert (found.time, found.waits, found.ends) == (
            known["time"],
            known["waits"],
            known["ends"],
        )
    elsewhere = mpinet.replay(program, on=graph, mode=mode, latency=500, time_byte=2)
    assert elsewhere.busy == 2 * 100 * found.hops


def test_a_ring_along_a_snake_or_a_cycle_waits_for_nobody(tmp_path):
    for network, place in (("torus:4x6", "snake"), ("hypercube:4", "cycle")):
        ring = mpinet.replay("allgather:ring,2400", on=network, place=place, time_byte=1)
        assert (ring.waits, ring.hops) == (0, ring.messages)
        elsewhere = mpinet.replay("allgather:ring,2400", on=network, time_byte=1)
        assert elsewhere.hops > elsewhere.messages
    order = snake(mpinet.open("mesh:3x4x2")).tolist()
    assert sorted(order) == list(range(24))
    file = tmp_path / "places"
    file.write_text("0,1  # an address\n0\n3\n2\n")
    assert places_of(str(file), mpinet.open("mesh:2x2"), 4).tolist() == [1, 0, 3, 2]


def test_stuck_processors_have_the_numbers_of_the_program():
    text = "num_ranks 2\nrank 1 {\nrecv 1b from 0 tag 3\n}\n"
    found = mpinet.replay(program_of(text.encode()), on="ring:7", place="random", seed=2)
    assert found.first_stuck == [1, 0]
    assert found.stuck_operations[0].waits_for == "a message from processor 0 with tag 3"


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("0\n1\n", "the file places 2 processors instead of 3"),
        ("0\n1\n1\n", "'1', in place 2, is taken already"),
        ("0\n1\nx\n", "x"),
    ],
)
def test_a_wrong_file_of_places_is_refused(lines, sentence, tmp_path):
    file = tmp_path / "places"
    file.write_text(lines)
    with pytest.raises((FileError, TopologyError), match=sentence):
        places_of(str(file), mpinet.open("ring:4"), 3)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"on": "ring:4", "bytes": "9..1"}, "is below its beginning"),
        ({"on": "ring:4", "algorithms": "rng"}, "choose from recursive-doubling, .*, not 'rng'"),
        ({"on": "ring:4", "processors": 5}, "for 5 processors, and ring:4 has 4"),
        ({"flat": 5}, "give --processors"),
        ({}, "Give a network, --on TOPO"),
        ({"flat": 5, "processors": 3, "place": "snake"}, "--place does not apply"),
        ({"on": "hypercube:2", "place": "snake"}, "for meshes and tori"),
        ({"on": "ring:4", "place": "nofile"}, "identity, random, snake, cycle or a file"),
    ],
)
def test_what_cannot_be_tuned_is_refused(words, sentence):
    with pytest.raises((UsageError, FileError), match=sentence):
        mpinet.tune("allreduce", **words)


def test_the_picture_has_the_times_of_all_algorithms_and_the_bound(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(axes, "plotted", lambda curves, *how, **more: drawn.append(curves) or b"")
    options = {"on": "ring:4", "bytes": "4,400", "algorithms": "ring,binomial", "time_byte": 1}
    found = [*mpinet.tune("allreduce", plot=tmp_path / "times.svg", **options)]
    if transport().rank == 0:
        [curves] = drawn
        points = {curve.label: [(dot.x, dot.y) for dot in curve.dots] for curve in curves}
        assert points.pop("lower bound") == [(row.bytes, row.lower_bound) for row in found[::2]]
        assert points == {
            name: [(row.bytes, row.time) for row in found if row.algorithm == name]
            for name in ("ring", "binomial")
        }
    with pytest.raises(UsageError, match="a plot's file ends in"):
        mpinet.tune("allreduce", plot="times.gif", **options)


def test_algorithms_for_powers_of_two_are_left_out_elsewhere_unless_they_are_named():
    found = mpinet.tune("allgather", on="ring:6", bytes="6,60", time_byte=0)
    assert [row.algorithm for row in found] == ["ring", "bruck"] * 2
    with pytest.raises(UsageError, match="a power of two"):
        mpinet.tune("allgather", on="ring:6", bytes=6, algorithms="bine", time_byte=0)
