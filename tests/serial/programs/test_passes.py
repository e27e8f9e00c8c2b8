"""Passes against brute force, and the order of a tree's children against networkx."""

from functools import partial
from itertools import product

import networkx
import numpy as np
import pytest
from serial.programs.smallgraphs import ROOTED, fewest_steps
from shares import some

import mpinet
from mpinet.base.effort import require_walk
from mpinet.errors import TooLarge, UsageError
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.networks import shortest
from mpinet.networks.graph import Graph
from mpinet.programs import passes
from mpinet.programs.broadcast import broadcast
from mpinet.programs.passes import depths_of, label_tree
from mpinet.programs.passkernels import ported_pass


def test_passes_are_optimal_from_every_root_of_every_graph_of_up_to_6_nodes():
    assert len(ROOTED) == 807
    for graph, root in some(ROOTED, 4):
        found = broadcast(Machine(Graph(graph), "one", Local()), root, "passes")
        assert (found.informed, found.steps) == (len(graph), fewest_steps(graph, root))


def test_a_tree_s_order_takes_the_steps_that_networkx_finds():
    for seed in range(200):
        tree = networkx.random_labeled_tree(2 + seed % 60, seed=seed)
        parent = np.full(len(tree), -1, np.int32)
        for above, below in networkx.bfs_edges(tree, 0):
            parent[below] = above
        upwards = np.array(list(networkx.bfs_tree(tree, 0))[:0:-1], np.int32)
        rest, since = np.empty(len(tree), np.int32), np.empty(len(tree), np.int32)
        steps = label_tree(parent, upwards, len(tree), 0, rest, since)
        assert steps == since.max() == networkx.tree_broadcast_time(tree, 0)


def test_the_hub_of_a_wheel_informs_28_others_in_6_steps():
    wheel = Graph(networkx.wheel_graph(29))
    assert broadcast(Machine(wheel, "one", Local()), 0).steps == 6


@pytest.mark.parametrize(
    ("name", "steps"),
    [("debruijn:7", 9), ("foldedcube:6", 6), ("stargraph:4", 5), ("gmn:6,96", 9), ("ccc:4", 9)],
)
def test_passes_take_the_optimum_of_the_literature_s_networks(name, steps):
    assert broadcast(Machine(name, "one", Local()), 0, "passes").steps == steps


@pytest.mark.parametrize(
    ("name", "steps"),
    [("foldedcube:11", 11), ("rcirculant:512,4", 9), ("exchangedcube:5,4", 11)],
)
def test_what_repeats_by_ports_is_informed_without_a_send_too_many(name, steps):
    topology = mpinet.open(name)
    found = broadcast(Machine(topology, "one", Local()), 0, "passes")
    assert (found.informed, found.steps) == (topology.size, steps)


def test_ports_are_offered_in_turn_to_all_who_are_informed():
    graph = networkx.random_regular_graph(3, 40, seed=5)
    topology = Graph(graph)
    near = [[int(topology.neighbor(u, port)) for port in range(3)] for u in range(40)]
    for order in ([0, 1, 2], [2, 1, 0]):
        expected = {0: 0}
        for step in range(1, 40):
            able, busy = list(expected), set()
            for port in order:
                for node in able:
                    if node not in busy and near[node][port] not in expected:
                        busy.add(node)
                        expected[near[node][port]] = step
        parent, since = np.empty(40, np.int32), np.empty(40, np.int32)
        rule, params = topology.neighbor.native, topology.params
        ported_pass(rule, params, np.array(order), 40, 0, parent, since)
        assert since.tolist() == [expected[node] for node in range(40)]
        assert all(parent[node] in near[node] for node in range(1, 40))


def test_a_network_of_many_ports_is_not_asked_for_all_of_them(monkeypatch):
    steps = broadcast(Machine("rcirculant:512,4", "one", Local()), 0, "passes").steps
    monkeypatch.setattr(passes, "PORT_LOOKS", 512 * 9 * 9 - 1)
    assert broadcast(Machine("rcirculant:512,4", "one", Local()), 0, "passes").steps > steps


@pytest.mark.parametrize("name", ["debruijn:6", "fattree:4,2", "multistage:omega,4"])
def test_with_all_ports_passes_take_as_many_steps_as_the_farthest_processor_is_away(name):
    topology = mpinet.open(name)
    graph = networkx.Graph(
        (u, int(v))
        for u in range(topology.size)
        for v in topology.neighbor(u, np.arange(topology.ports))
        if v >= 0
    )
    distance = networkx.single_source_shortest_path_length(graph, 0)
    farthest = max(distance[u] for u in range(topology.hosts))
    found = broadcast(Machine(topology, "all", Local()), 0, "passes")
    assert (found.informed, found.steps) == (topology.hosts, farthest)


@pytest.mark.parametrize(
    ("name", "steps"), [("plens:3,50", 5), ("lens:2,3,3", 5), ("lens:3,4,2", 3), ("clens:3,4", 5)]
)
def test_passes_over_busses_accept_from_one_bus_only(name, steps):
    found = broadcast(Machine(name, "one", Local()), 0, "passes")
    assert (found.informed, found.steps) == (mpinet.open(name).size, steps)


def test_the_best_is_the_family_s_own_where_that_is_shorter():
    assert broadcast(Machine("cq:8", "one", Local()), 0, "best").algorithm == "dimensions"
    torus = broadcast(Machine("torus:5x5", "one", Local()), 0, "best")
    assert (torus.algorithm, torus.steps) == ("passes", 5)


def test_too_large_a_network_has_no_passes(monkeypatch):
    monkeypatch.setattr(passes, "MOST_PORTS", 15)
    with pytest.raises(UsageError, match="ring:8 is too large for passes"):
        broadcast(Machine("ring:8", "one", Local()), 0, "passes")


def test_passes_go_on_without_the_routing_s_tree_where_its_table_is_too_large(monkeypatch):
    monkeypatch.setattr(shortest, "require_walk", partial(require_walk, most=100))
    wheel = Graph(networkx.wheel_graph(29))
    with pytest.raises(TooLarge):
        wheel.routing()
    assert broadcast(Machine(wheel, "one", Local()), 0).steps == 6


def test_parents_in_a_circle_make_no_tree():
    assert depths_of(np.array([-1, 2, 1], np.int32), 0) is None
    depths = depths_of(np.array([-1, 0, 1], np.int32), 0)
    assert depths is not None and depths.tolist() == [0, 1, 2]


def members_of(topology):
    """Who is on which bus, asked port by port."""
    found = {}
    for node, port in product(range(topology.size), range(topology.ports)):
        if topology.neighbor(node, port) >= 0:
            found.setdefault(int(topology.channel(node, port)), set()).add(node)
    return list(found.values())


def fewest_on_all_busses(busses, size, root):
    """Brute force: in a step any busses with an informed member tell all their members."""
    states, steps = {frozenset([root])}, 0
    while not any(len(informed) == size for informed in states):
        after = set()
        for informed in states:
            able = [bus for bus in busses if bus & informed and bus - informed]
            for chosen in product((False, True), repeat=len(able)):
                told = [bus for bus, tells in zip(able, chosen, strict=True) if tells]
                after.add(informed.union(*told))
        states, steps = after, steps + 1
    return steps


@pytest.mark.parametrize(
    "name",
    "clens:2,3 lens:2,3,2 clens:3,2 lens:2,2,3 plens:3,7 snowflake:2,2 busstar:3,2".split(),
)
def test_with_all_ports_no_broadcast_over_busses_is_faster(name):
    topology = mpinet.open(name)
    busses = members_of(topology)
    for root in range(topology.size):
        best = fewest_on_all_busses(busses, topology.size, root)
        found = broadcast(Machine(topology, "all"), root, "passes")
        assert (found.steps, found.informed) == (best, topology.size)
        assert found.lower_bound == best
        assert mpinet.optimum(topology, root=root, ports="all").exact


def test_a_bus_tells_as_soon_as_one_of_its_members_knows():
    topology = mpinet.open("plens:3,20")
    graph = networkx.Graph(
        (u, v) for bus in members_of(topology) for u, v in product(bus, repeat=2) if u < v
    )
    for root in (0, 7, 18):
        away = networkx.single_source_shortest_path_length(graph, root)
        found = broadcast(Machine(topology, "all"), root)
        assert (found.algorithm, found.steps) == ("passes", max(away.values()))
