"""Trees that fill the links: as many as cuts let through, past switches, beside brute force."""

import random
from collections import Counter
from functools import partial
from itertools import pairwise, product

import networkx
import numpy as np
import pytest
from serial.programs.bruteforce import directed, fewest
from serial.programs.test_capacities import a100

import mpinet
from mpinet import Machine
from mpinet.networks.graph import from_networkx
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.collectives import move_items, plan
from mpinet.programs.pipelines.forest import packed_trees


def network_of(seed, graph=None):
    """A connected graph of three to six nodes, of capacities 1 to 3; some nodes are switches."""
    draw = random.Random(seed)
    while graph is None or not networkx.is_connected(graph):
        graph = networkx.gnp_random_graph(draw.randint(3, 6), 0.6, seed=draw.randrange(10**6))
    networkx.set_edge_attributes(graph, {e: draw.randint(1, 3) for e in graph.edges}, "capacity")
    switches = draw.sample(range(len(graph)), draw.randint(0, len(graph) - 2))
    networkx.set_node_attributes(graph, {node: node in switches for node in graph}, "switch")
    return from_networkx(graph)


def wide_of(topology):
    """Messages a step from each node to each other."""
    return Counter(
        (node, int(topology.neighbor(node, port)))
        for node in range(topology.size)
        for port in range(topology.ports)
        if topology.neighbor(node, port) >= 0
    )


def fewest_loads(topology, weights):
    """Brute force over all sets of nodes that leave a processor out."""
    most, wide = 0, wide_of(topology)
    for inside in product((False, True), repeat=topology.size):
        if all(inside[: topology.hosts]):
            continue
        out = sum(n for (u, v), n in wide.items() if inside[u] and not inside[v])
        items = sum(weight for node, weight in enumerate(weights) if inside[node])
        most = max(most, -(-items // out) if items else 0)
    return most


def atlas():
    """Networks of all connected graphs of at most six nodes, two of each."""
    for graph in networkx.graph_atlas_g():
        if 2 < len(graph) < 7 and networkx.is_connected(graph):
            yield from (network_of(seed, graph.copy()) for seed in range(2))


@pytest.mark.parametrize("rooted", [False, True])
@pytest.mark.parametrize(
    "networks",
    [partial(map, network_of, range(30)), pytest.param(atlas, marks=pytest.mark.long)],
    ids=["some", "all"],
)
def test_trees_are_as_many_as_every_cut_lets_through_and_fill_no_link_over(networks, rooted):
    for seed, topology in enumerate(networks()):
        hosts, wide = topology.hosts, wide_of(topology)
        items = 1 + seed % 4
        weights = [items, *[0 if rooted else items] * (hosts - 1)]
        found = packed_trees(Arcs.of(topology), np.repeat(np.arange(hosts), weights))
        assert found.steps == fewest_loads(topology, weights)
        of_root, between, over = Counter(), Counter(), Counter()
        for root, number, above in zip(found.roots, found.numbers, found.parents, strict=True):
            of_root[int(root)] += int(number)
            tree = networkx.DiGraph((int(u), v) for v, u in enumerate(above) if u >= 0)
            assert networkx.is_arborescence(tree) and len(tree) == hosts
            assert tree.in_degree(int(root)) == 0
            between.update({edge: int(number) for edge in tree.edges})
        assert of_root == {node: weight for node, weight in enumerate(weights) if weight}
        for ends, number in between.items():
            assert number <= sum(part for part, _ in found.ways[ends])
        for ends, parts in found.ways.items():
            for number, way in parts:
                assert (way[0], way[-1]) == ends
                assert all(node >= hosts for node in way[1:-1])
                over.update({hop: number for hop in pairwise(way)})
        assert all(number <= found.steps * wide[hop] for hop, number in over.items())


@pytest.mark.parametrize("collective", ["gossip", "reducescatter", "broadcast", "reduce"])
def test_items_go_down_trees_at_the_rate_that_nothing_beats(collective):
    """A pipeline of many items takes the steps of the cut, and those until links are full."""
    root = 0 if collective in ("broadcast", "reduce") else None
    for seed in range(5):
        machine = Machine(network_of(seed), "all")
        found = [
            move_items(machine, collective, items, root, algorithm="trees") for items in (8, 40)
        ]
        assert all(each.correct and each.lower_bound <= each.steps for each in found)
        beyond = [each.steps - each.lower_bound for each in found]
        assert beyond[1] <= beyond[0] + 12


@pytest.mark.long
def test_no_bound_is_above_and_no_schedule_below_what_brute_force_says_of_all_small_graphs():
    for graph in networkx.graph_atlas_g():
        if not 1 < len(graph) < 4 or not networkx.is_connected(graph):
            continue
        for given in product((1, 2, 3), repeat=graph.number_of_edges()):
            edges = dict(zip(graph.edges, given, strict=True))
            networkx.set_edge_attributes(graph, edges, "capacity")
            network = from_networkx(graph.copy())
            best = fewest(directed(network), range(len(graph)), False)
            for algorithm in ("rarest", "trees"):
                found = plan(Machine(network, "all"), "gossip", 1, algorithm=algorithm)
                assert found.bound <= best <= found.table.last


@pytest.mark.long
def test_a_thousand_gpus_gather_in_six_steps_more_than_their_nics_take():
    topology, _ = a100(128)
    found = plan(Machine(topology, "all"), "gossip", 1, algorithm="paths")
    # Each box gets the items of 1,016 GPUs by eight NICs, the first ones in step 4.
    assert (found.bound, found.table.last) == (127, 133)


def test_large_networks_are_refused_in_a_sentence():
    with pytest.raises(mpinet.errors.TooLarge, match="would take too long to find"):
        mpinet.gossip("hypercube:8", ports="all", items=2, algorithm="trees")
