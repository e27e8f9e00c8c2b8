"""Alone, a message takes what the closed form says: on every family, for every switching."""

import networkx as nx
import numpy as np
import pytest
from serial.networks.families import REFERENCES, reference

import mpinet
from mpinet.draws import draw32
from mpinet.machine import Machine
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.run import OpenLoop
from mpinet.measure.deadlock import counted_classes
from mpinet.networks.catalogue import FAMILIES
from mpinet.programs.patterns import in_order, pattern_of

MESSAGES, BUFFER = 12, 8


def hops(wiring, routing, source, target):
    """Hops of a way, asking the rule in plain Python and the definition's wiring by turns."""
    header = np.zeros(routing.words, np.int64)
    routing.start(source, target, header, routing.params)
    node, made = source, 0
    while (port := int(routing.decide(node, header, routing.params))) >= 0:
        node, made = wiring[node][port], made + 1
    assert node == target
    return made


def some_pairs(topology):
    """Drawn pairs of processors, the farthest numbers and a message to itself among them."""
    size = topology.hosts
    drawn = [(draw32(1, i, 0, 0) % size, draw32(1, i, 1, 0) % size) for i in range(MESSAGES - 2)]
    return [(0, size - 1), (size - 1, size - 1), *drawn]


def latencies(topology, routing, rows, buffering):
    """How many messages took so many steps, and their hops."""
    pattern, classes = pattern_of(topology, "uniform"), counted_classes(topology, routing)
    generation = Generation(pattern.rule, pattern.params, rows=in_order(np.array(rows, np.int64)))
    window = Window(0, rows[-1][0] + 1, 10**5)
    run = OpenLoop(Machine(topology), routing, classes, buffering, generation, window).run()
    return np.trim_zeros(run.books.latencies[0], "b").tolist()


@pytest.mark.costly
@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "graph"])
def test_a_message_alone_takes_what_the_closed_form_says(family):
    name = next(iter(REFERENCES[family]))
    topology, wiring = mpinet.open(name), reference(name).wiring
    routing = topology.routing()
    graph = nx.Graph((u, v) for u, row in enumerate(wiring) for v in row if v is not None)
    graph.add_nodes_from(range(topology.size))
    pairs = some_pairs(topology)
    lengths = [hops(wiring, routing, *pair) for pair in pairs]
    if routing.shortest:
        assert lengths == [nx.shortest_path_length(graph, *pair) for pair in pairs]
    vcs = counted_classes(topology, routing).count
    for delay in (1, 3):
        for switching, flits in (("wormhole", 5), ("wormhole", 20), ("vct", 4), ("saf", 3)):
            alone = [
                (delay + flits - 1) * h if switching == "saf" and h else delay * h + flits - 1
                for h in lengths
            ]
            apart = max(alone) + 1
            rows = [[i * apart, *pair, flits] for i, pair in enumerate(pairs)]
            buffering = Buffering(switching, vcs, BUFFER, link_delay=delay)
            found = latencies(topology, routing, rows, buffering)
            assert found == np.bincount(alone).tolist()
