"""Classes of channels that nobody has named: no channel waits for itself, and none is too many.

The ways are walked in plain Python, and networkx looks for cycles of channels and classes.
"""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from serial.networks.families import REFERENCES, reference

import mpinet
from mpinet.errors import UsageError
from mpinet.measure.deadlock import counted_classes
from mpinet.networks.catalogue import FAMILIES
from mpinet.networks.classes import in_order, no_classes

SIZE = 32
"""Nodes of the largest network whose ways are walked."""

BETTER = {"ring": "ring:7", "torus": "torus:4x5", "dragonfly": "dragonfly:1,2,1"}
"""Networks of families that need more than a class, where those listed need none or are large."""


def member(family):
    """The largest network of a family that is small, or the smallest."""
    if family in BETTER:
        return BETTER[family]
    sizes = {name: len(reference(name).wiring) for name in REFERENCES[family]}
    small = {name: size for name, size in sizes.items() if size <= SIZE}
    return max(small, key=small.get) if small else min(sizes, key=sizes.get)


def ways(topology, routing, classes):
    """The channels with classes of every way, those of drawn ways as message 0 has them."""
    nodes, ports = np.indices((topology.size, topology.ports))
    beyond = topology.neighbor(nodes, ports)
    wired, back = beyond >= 0, np.full_like(beyond, -1)
    back[wired] = topology.reverse_port(nodes[wired], ports[wired])
    beyond, back = beyond.tolist(), back.tolist()
    for source in range(topology.hosts):
        for target in range(topology.hosts):
            header = np.zeros(routing.words, np.int64)
            routing.start(source, target, header, routing.params)
            yield list(walked(beyond, back, routing, classes, source, header))


def walked(beyond, back, routing, classes, node, header):
    in_port = in_class = -1
    while (port := int(routing.decide(node, header, routing.params))) >= 0:
        own = in_port, in_class, header, classes.params
        in_class = int(classes.rule(node, port, *own))
        assert 0 <= in_class < classes.count
        yield node, port, in_class
        in_port, node = back[node][port], beyond[node][port]


def is_free(found, classes):
    """Whether nothing depends on itself if messages stay in the last of so many classes."""
    graph = nx.DiGraph()
    for way in found:
        graph.add_edges_from(
            pairwise([(node, port, min(group, classes - 1)) for node, port, group in way])
        )
    return nx.is_directed_acyclic_graph(graph)


def names(topology):
    """The routings that load can use and that do not choose on the way."""
    every = [*topology.routings, *topology.random_routings, *topology.load_routings]
    return [name for name in every if not topology.routing(name).adaptive]


@pytest.mark.costly
@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_comes_to_a_deadlock_by_default_nor_has_a_class_too_many(family):
    topology = mpinet.open(member(family))
    for name in names(topology):
        routing = topology.routing(name)
        classes = counted_classes(topology, routing)
        if routing.base is not None:
            # Either way has classes of its own, as few as the ways of the routing itself; to a
            # drawn group of a dragonfly a local and a global hop are in one (Kim et al. 2008).
            count = counted_classes(topology, routing.base).count
            first = 1 if family == "dragonfly" else count
            assert classes.count == first + count
            found = list(ways(topology, routing, classes))
            assert is_free(found, classes.count)
            halves = [[group >= first for _, _, group in way] for way in found]
            assert all(sorted(half) == half for half in halves)
            continue
        found = list(ways(topology, routing, classes))
        assert is_free(found, classes.count)
        assert classes.count == 1 or not is_free(found, classes.count - 1)


def test_in_the_catalogue_there_are_networks_that_need_two_classes_and_more():
    """Else the test above would show little."""
    counts = {
        name: counted_classes(mpinet.open(name), mpinet.open(name).routing()).count
        for name in map(member, FAMILIES)
    }
    assert sum(count == 2 for count in counts.values()) > 20
    assert sum(count > 2 for count in counts.values()) > 2


@pytest.mark.parametrize(
    ("names", "most"),
    [
        (["dragonfly:1,2,1", "dragonfly:2,4,2", "dragonfly:1,4,1"], 2),
        (["ccc:3", "ccc:5", "ccc:6", "ccc:7"], 3),
        (["exchangedcube:2,3", "exchangedcube:4,2", "exchangedcube:1,4"], 2),
        (["butterfly:2", "butterfly:3", "butterfly:4"], 2),
        (["benes:2", "benes:3", "benes:4"], 2),
    ],
)
def test_what_a_family_says_to_be_enough_is_what_its_networks_need(names, most):
    topologies = [mpinet.open(name) for name in names]
    counts = [counted_classes(each, each.routing()).count for each in topologies]
    assert max(counts) == most == topologies[0].most_classes


def test_a_message_of_a_dragonfly_changes_its_class_behind_the_global_link_alone():
    """Kim, Dally, Scott, Abts 2008: local, global and local link on channels 0, 0 and 1."""
    topology = mpinet.open("dragonfly:2,4,2")
    routing = topology.routing()
    classes = in_order(topology, 2)
    for way in ways(topology, routing, classes):
        across = [
            i
            for i, (node, port, _) in enumerate(way)
            if node >= topology.hosts and port >= topology.terminals + topology.routers - 1
        ]
        behind = across[0] + 1 if across else len(way)
        local = [
            (i, group)
            for i, (node, port, group) in enumerate(way)
            if node >= topology.hosts and topology.terminals <= port and i not in across
        ]
        assert all(group == (i >= behind) for i, group in local)
        assert all(way[i][2] == 0 for i in across)


@pytest.mark.parametrize(("name", "enough"), [("debruijn:11", 6), ("randomregular:1500,3", 7)])
def test_of_many_ways_every_second_hop_at_most_begins_a_class(name, enough):
    """Too many to be followed: half the diameter, and one."""
    topology = mpinet.open(name)
    found = counted_classes(topology, topology.routing())
    assert (found.name, found.count) == ("ordered", enough)


def test_ways_that_nobody_can_follow_have_one_class_by_default_and_none_by_name():
    topology = mpinet.open("pancake:7")
    routing = topology.routing()
    assert counted_classes(topology, routing).name == no_classes(topology.params).name == "none"
    with pytest.raises(UsageError, match="classes ordered need the length of the longest route"):
        counted_classes(topology, routing, "ordered")
