"""All routes of small networks, asked node by node in plain Python, and broken routings."""

from itertools import permutations

import networkx as nx

import mpinet
from mpinet.networks.routing import Routing, path, stateless


def routes_of(topology, routing=None):
    """(source, target) -> (nodes, ports) of all routes."""
    routing = routing or topology.routing()
    return {pair: path(topology, routing, *pair) for pair in permutations(range(topology.hosts), 2)}


def graph_of(topology):
    """The simple graph, asked port by port."""
    graph = nx.Graph()
    graph.add_nodes_from(range(topology.size))
    for u in range(topology.size):
        for port in range(topology.ports):
            v = topology.neighbor(u, port)
            if v >= 0 and v != u:
                graph.add_edge(u, v)
    return graph


def distances_of(topology):
    return dict(nx.all_pairs_shortest_path_length(graph_of(topology)))


@mpinet.rule
def stop_at_five(node, header, params):
    """Round the ring; whoever comes to node 5 stays there."""
    if node == header[0]:
        return -1
    return -2 if node == 5 else 0


@mpinet.rule
def leave_by_nine(node, header, params):
    """Node 6 has a port of its own invention."""
    if node == header[0]:
        return -1
    return 9 if node == 6 else 0


@mpinet.rule
def never_to_two(node, header, params):
    """Messages to node 2 go round the ring for ever."""
    return -1 if node == header[0] and node != 2 else 0


@mpinet.rule
def back_and_forth(node, header, params):
    """From node 3 to node 5 by 4, 3 and 4."""
    if node == header[1]:
        return -1
    header[0] += 1
    return 1 if node == 4 and header[0] == 2 else 0


@mpinet.rule
def count_from_zero(source, target, header, params):
    """The hops made, and the target."""
    header[0], header[1] = 0, target


def broken(rule, topology):
    return stateless(rule.name, rule, topology, shortest=False)


def detouring(topology):
    return Routing(
        "detouring", back_and_forth, topology.params, lambda u, v: u + v, count_from_zero, words=2
    )
