"""Local detours around dead nodes, links and busses are those of a plain search by the nodes."""

import random
from itertools import product

import networkx as nx
import pytest

import mpinet
from mpinet.errors import Stuck
from mpinet.machine.faults import Faults
from mpinet.networks.routing import path

NETWORKS = ["hdn:2x3,super=0", "hdn:2x2,super=-/0.1", "dualcube:3", "rdn:3,1"]
NETWORKS += ["clens:3,3", "clens:4,2", "lens:3,3,2", "lens:2,3,3", "sth:2,2", "sth:2,2,cq"]


class Wires:
    """The channels of a network, and those that faults leave."""

    def __init__(self, topology, nodes=(), links=(), busses=()):
        self.topology = topology
        self.live = {}
        for node, port in product(range(topology.size), range(topology.ports)):
            other = int(topology.neighbor(node, port))
            dead = other < 0 or {node, other} & {*nodes}
            dead = dead or (node, other) in links or (other, node) in links
            dead = dead or (busses and int(topology.channel(node, port)) in busses)
            if not dead:
                self.live[node, port] = other

    def graph(self, nodes):
        graph = nx.Graph()
        graph.add_nodes_from(set(range(self.topology.size)) - {*nodes})
        graph.add_edges_from((node, other) for (node, _), other in self.live.items())
        return graph


def searched(topology, base, wires, source, target):
    """The walk of a message around faults, or None; a node knows its own live channels only."""
    lengths = {}

    def rest(node):
        if node not in lengths:
            lengths[node] = len(path(topology, base, node, target)[1])
        return lengths[node]

    walk, start, stack, seen = [source], None, [], set()
    while (node := walk[-1]) != target:
        if start is not None and rest(node) < start:
            start = None
        if start is None:
            port = path(topology, base, node, target)[1][0]
            if (node, port) in wires.live:
                walk.append(wires.live[node, port])
                continue
            start, stack, seen = rest(node), [node], {node}
        ways = [
            (rest(other), port, other)
            for port in range(topology.ports)
            if (other := wires.live.get((node, port))) is not None and other not in seen
        ]
        if ways:
            _, _, other = min(ways)
            stack.append(other)
            seen.add(other)
        else:
            stack.pop()
            if not stack:
                return None
            other = stack[-1]
        walk.append(other)
    return walk


def drawn_faults(topology, draw, most):
    nodes = draw.sample(range(topology.size), draw.randint(0, most))
    busses = draw.sample(range(topology.busses), draw.randint(0, 2)) if topology.busses else []
    links = []
    if topology.links:
        for node in draw.sample(range(topology.size), 2):
            links.append((node, int(topology.neighbor(node, draw.randrange(topology.ports - 1)))))
        links = [(u, v) for u, v in links if v >= 0]
    return {"nodes": nodes, "links": links, "busses": busses}


def base_of(topology):
    names = [name for name in ("stateless", "optimal") if name in topology.routings]
    return topology.routing(names[0])


@pytest.mark.costly
@pytest.mark.parametrize("name", NETWORKS)
def test_detours_are_those_of_a_search_by_the_nodes(name):
    topology, draw = mpinet.open(name), random.Random(name)
    base, around, lost = base_of(topology), topology.routing("detour"), 0
    for _ in range(12):
        faults = drawn_faults(topology, draw, topology.ports)
        wires, dead = Wires(topology, **faults), Faults(topology, **faults)
        routing = around.around(*dead.at(-1))
        live = [node for node in range(topology.size) if node not in faults["nodes"]]
        graph = wires.graph(faults["nodes"])
        for source, target in [draw.sample(live, 2) for _ in range(40)]:
            expected = searched(topology, base, wires, source, target)
            assert (expected is not None) == nx.has_path(graph, source, target)
            if expected is None:
                lost += 1
                with pytest.raises(Stuck):
                    path(topology, routing, source, target)
                continue
            nodes, ports = path(topology, routing, source, target)
            assert nodes == expected
            assert all(step in wires.live for step in zip(nodes, ports, strict=False))
    assert lost < 400
