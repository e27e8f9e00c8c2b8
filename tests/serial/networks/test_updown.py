"""Up*/down* routing against networkx: legal ways, the shortest of them, and no cycle."""

from itertools import pairwise

import networkx as nx
import pytest

import mpinet
from mpinet import measure
from mpinet.errors import Stuck, UsageError
from mpinet.networks.routing import path

NETWORKS = [
    "ring:7",
    "torus:3x4",
    "debruijn:4",
    "dragonfly:1,2,1",
    "fattree:2,2",
    "mesh:2x3,hosts=2",
]


def legal_hops(graph, root):
    """Of every pair, the fewest hops up and then down; whether a hop is down."""
    level = nx.single_source_shortest_path_length(graph, root)
    states = nx.DiGraph()
    for u, v in [*graph.edges, *((v, u) for u, v in graph.edges)]:
        if (level[v], v) < (level[u], u):
            states.add_edge((u, "up"), (v, "up"))
        else:
            states.add_edge((u, "up"), (v, "down"))
            states.add_edge((u, "down"), (v, "down"))
    found = {}
    for source in graph:
        lengths = nx.single_source_shortest_path_length(states, (source, "up"))
        for (node, _), hops in lengths.items():
            found[source, node] = min(hops, found.get((source, node), hops))
    return found, lambda u, v: (level[u], u) < (level[v], v)


def require_legal(topology, routing, graph, root):
    fewest, is_down = legal_hops(graph, root)
    for source in sorted(graph):
        for target in sorted(graph):
            if max(source, target) >= topology.hosts:
                continue
            nodes, _ = path(topology, routing, source, target)
            assert all(graph.has_edge(*hop) for hop in pairwise(nodes))
            downs = [is_down(u, v) for u, v in pairwise(nodes)]
            assert downs == sorted(downs) and len(downs) == fewest[source, target]


@pytest.mark.parametrize("name", NETWORKS)
def test_ways_are_the_shortest_up_and_down_and_wait_in_no_circle(name):
    topology = mpinet.open(name)
    routing = topology.routing("updown")
    root = topology.hosts if topology.hosts < topology.size else 0
    require_legal(topology, routing, nx.Graph(topology.to_networkx()), root)
    assert measure.channel_dependency_cycle(topology, routing) is None


def test_faults_are_gone_around_by_another_tree():
    topology = mpinet.open("torus:3x4")
    graph = nx.Graph(topology.to_networkx())
    graph.remove_node(0)
    graph.remove_edge(1, 2)
    routing = topology.routing("updown").around([0], [(1, 2)])
    require_legal(topology, routing, graph, 1)
    assert measure.channel_dependency_cycle(topology, routing, [(1, 2), (5, 11)]) is None
    apart = topology.routing("updown").around([], [(0, other) for other in topology.neighbors(0)])
    with pytest.raises(Stuck):
        path(topology, apart, 0, 1)


def test_networks_whose_table_is_too_large_are_refused():
    with pytest.raises(UsageError, match="routing updown needs a table"):
        mpinet.open("ring:4097").routing("updown")
