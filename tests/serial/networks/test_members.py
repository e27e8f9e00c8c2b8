"""Groups and faults as networks: the wiring that is left, against each family's reference."""

import networkx as nx
import numpy as np
import pytest
from serial.networks.families import REFERENCES, reference

import mpinet
from mpinet import measure
from mpinet.errors import TopologyError
from mpinet.networks import check
from mpinet.networks.members import Members, read_runs, runs

MOST = 64
"""Nodes of the largest network that is taken apart here."""


def smallest(family):
    known = [name for name in REFERENCES[family] if mpinet.open(name).hosts > 2]
    return min(known, key=lambda name: mpinet.open(name).size, default=None)


NAMES = [
    name for name in map(smallest, REFERENCES) if name is not None and mpinet.open(name).size < MOST
]


def left(network, dead):
    """The nodes that are joined to most processors when one is dead, by networkx."""
    graph = nx.Graph(measure.edges(network).tolist())
    graph.remove_node(dead)
    parts = nx.connected_components(graph)
    return max(parts, key=lambda part: sum(u < network.hosts for u in part))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_is_wired_as_the_family_without_the_dead(name):
    network, wiring = mpinet.open(name), reference(name).wiring
    dead = network.size - 1
    alive = left(network, dead)
    group = [u for u in reversed(range(network.hosts)) if u in alive][:5]
    part = mpinet.open(Members(network, group, [dead]).name)
    check(part)
    assert part.origin[: part.hosts].tolist() == group
    assert sorted(part.origin.tolist()) == sorted(alive)
    for node, old in enumerate(part.origin.tolist()):
        there = part.neighbor(node, np.arange(part.ports))
        row = [-1 if v is None or v == dead else v for v in wiring[old]]
        row += [-1] * (part.ports - len(row))
        assert [int(part.origin[v]) if v >= 0 else -1 for v in there] == row
        assert part.address(node) == network.address(old)
        assert part.node(part.address(node)) == node


def test_a_dead_link_is_dead_both_ways_with_all_that_are_parallel():
    part = mpinet.open("dgx1:dead=0-1")
    graph = nx.Graph(measure.edges(mpinet.open("dgx1")).tolist())
    graph.remove_edge(0, 1)
    assert nx.utils.graphs_equal(nx.Graph(measure.edges(part).tolist()), graph)


def test_every_string_leads_back_and_runs_are_read_as_written():
    for name in ("ring:6,group=3+0,dead=5", "petersen:group=0-4", "torus:4x4,dead=5+0-1"):
        assert mpinet.open(name).name == name
    ring, generator = mpinet.open("ring:40"), np.random.default_rng(3)
    for size in range(1, 12):
        numbers = generator.permutation(40)[:size].tolist()
        assert read_runs(ring, "+".join(runs(numbers))) == numbers
    assert read_runs(ring, "0-12:4, 3") == [0, 4, 8, 12, 3]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ring:6,dead=2-3+5-0", "cut processor 3 off from 0"),
        ("ring:6,dead=0-2", "no link 0-2"),
        ("ring:6,dead=6", "no node 6"),
        ("ring:6,dead=x", "'x' cannot be dead"),
        ("ring:6,group=1,dead=1", "no processor of the group is alive"),
        ("ring:6,group=0-6", "no processor 6"),
        ("ring:6,group=4-2", "'4-2' is not part of a group"),
        ("ring:6,group=0-4:0", "is not part of a group"),
        ("ring:6,group=1+0-2", "processor 1 is in the group twice"),
        ("clens:3,3,dead=0-1", "a network of busses has no links"),
        ("hypercube:24,dead=0", "4,194,304 ports"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(name, reason):
    with pytest.raises(TopologyError, match=reason):
        mpinet.open(name)
