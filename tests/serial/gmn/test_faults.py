"""Around one dead node in G(m,N) (docs/papers/gmn, 5)."""

import random
from itertools import product

import numpy as np
import pytest
from serial.gmn import reference
from serial.gmn.reference import Loops

import mpinet
from mpinet.errors import NodeError, UsageError
from mpinet.machine import Machine
from mpinet.machine.faults import Faults
from mpinet.networks.gmn.repairs import detour_tokens
from mpinet.networks.routing import path
from mpinet.programs.route import route
from mpinet.programs.traffic import traffic

SETTINGS = ["gmn:3,12", "gmn:4,16", "gmn:4,32", "gmn:5,40", "gmn:6,72", "gmn:6,96", "gmn:7,98"]
SETTINGS += ["gmn:8,128", "gmn:8,256", "gmn:9,288", "gmn:10,640"]


def ends(topology, dead, count, seed):
    draw = random.Random(seed)
    others = [u for u in range(topology.size) if u != dead]
    return [(draw.choice(others), draw.choice(others)) for _ in range(count)]


def dead_nodes(topology):
    """One at every position of a sector, in different sectors."""
    m = topology.sector
    return [(p * 5 % (topology.size // m)) * m + p for p in range(m)]


@pytest.mark.costly
@pytest.mark.parametrize("name", SETTINGS)
def test_detours_are_found_breadth_first(name):
    """Section 5, detour(a,b,f)."""
    topology = mpinet.open(name)
    loops = Loops(topology.sector, topology.size)
    for dead in dead_nodes(topology):
        others = topology.neighbor(dead, range(4)).tolist()
        for before, behind in product(range(4), repeat=2):
            a, b = others[before], others[behind]
            tokens = detour_tokens(topology, dead, before, behind)
            if a < 0 or b < 0 or a == b:
                assert tokens == []
                continue
            node, nodes = a, [a]
            for token in tokens:
                ports = list(loops.ports(node))
                name_of = ["+c", "-c", "d"][token] if token < 3 else None
                name_of = name_of or f"{'+-'[(token - 3) % 2]}h{(token - 3) // 2}"
                assert name_of in ports
                node = loops.follow(node, name_of)
                nodes.append(node)
            assert nodes == reference.detour(loops, a, b, dead)


@pytest.mark.costly
@pytest.mark.parametrize("name", SETTINGS)
def test_online_repair_is_that_of_section_5_1(name):
    topology = mpinet.open(name)
    loops, repaired = Loops(topology.sector, topology.size), 0
    for dead in dead_nodes(topology):
        routing = topology.routing("online").around([dead])
        for source, target in ends(topology, dead, 120, dead):
            nodes, _ = path(topology, routing, source, target)
            assert nodes == reference.online(loops, source, target, dead)
            assert dead not in nodes
            repaired += dead in reference.path(loops, source, target)
    assert repaired > 10


@pytest.mark.costly
@pytest.mark.parametrize("name", ["gmn:3,12", "gmn:4,16", "gmn:4,24", "gmn:5,40"])
def test_online_repair_of_all_paths(name):
    topology = mpinet.open(name)
    loops, nodes = Loops(topology.sector, topology.size), range(topology.size)
    for dead in range(topology.sector):
        routing = topology.routing("online").around([dead])
        for source, target in product(nodes, repeat=2):
            if dead not in (source, target):
                found, _ = path(topology, routing, source, target)
                assert found == reference.online(loops, source, target, dead)


@pytest.mark.costly
@pytest.mark.parametrize("name", SETTINGS)
def test_planned_routes_are_those_of_section_5_2(name):
    topology = mpinet.open(name)
    loops = Loops(topology.sector, topology.size)
    for dead in dead_nodes(topology):
        routing = topology.routing("planned").around([dead])
        for source, target in ends(topology, dead, 12, dead):
            nodes, _ = path(topology, routing, source, target)
            assert nodes == reference.planned(loops, source, target, dead)
            assert dead not in nodes
            width = int(np.ceil(np.log2(2 * loops.b + 3)))
            assert routing.header_bits(source, target) == width * (len(nodes) - 1)


@pytest.mark.costly
@pytest.mark.parametrize("name", ["gmn:22,90112", "gmn:62,266287972352"])
@pytest.mark.parametrize("kind", ["online", "planned"])
def test_large_loops_go_round_a_node_on_the_path(name, kind):
    topology, draw = mpinet.open(name), random.Random(5)
    loops = Loops(topology.sector, topology.size)
    for _ in range(6):
        source, target = draw.randrange(topology.size), draw.randrange(topology.size)
        dead = draw.choice(reference.path(loops, source, target)[1:-1])
        routing = topology.routing(kind).around([dead])
        found, _ = path(topology, routing, source, target)
        assert found == getattr(reference, kind)(loops, source, target, dead)


@pytest.mark.parametrize("kind", ["online", "planned"])
def test_without_a_fault_the_path_is_the_papers(kind):
    topology = mpinet.open("gmn:6,96")
    routing = topology.routing(kind)
    assert routing.around() is routing
    for source, target in ends(topology, -1, 300, 1):
        expected = path(topology, topology.routing(), source, target)
        assert path(topology, routing, source, target) == expected


def test_variants_that_end_elsewhere_are_no_candidates():
    """Section 5.2 as printed: the first way for w = -1 misses hops between P and Q."""
    loops, astray = Loops(6, 96), 0
    for source, target in ends(mpinet.open("gmn:6,96"), -1, 100, 2):
        for found in reference.variants(loops, source, target):
            astray += found[-1] != target
        assert all(v[-1] == target for v in reference.variants(loops, source, target, "max"))
    assert astray > 10


@pytest.mark.parametrize("kind", ["online", "planned"])
def test_what_cannot_be_gone_around_is_refused(kind):
    topology = mpinet.open("gmn:8,256")
    routing = topology.routing(kind)
    with pytest.raises(UsageError, match="go around one dead node, not around 2 nodes and 0 links"):
        routing.around([1, 2])
    with pytest.raises(UsageError, match="not around 0 nodes and 2 links"):
        routing.around(cut=[(1, 2), (2, 1)])
    with pytest.raises(NodeError, match=r"nodes are 0\.\.255"):
        routing.around([256])
    for pair in ((7, 100), (100, 7)):
        with pytest.raises(UsageError, match="Node 7 is dead"):
            path(topology, routing.around([7]), *pair)


def test_other_routings_do_not_go_around():
    routing = mpinet.open("gmn:8,256").routing()
    assert routing.around([3]) is routing


@pytest.mark.parametrize("kind", ["online", "planned"])
def test_the_router_delivers_around_a_dead_node(kind):
    topology = mpinet.open("gmn:6,72")  # so few messages that no loop is compiled for them
    faults = Faults(topology, nodes=[39])
    pairs = traffic(topology, "all")
    plain = route(Machine(topology), pairs, mode="ideal", faults=faults)
    around = route(Machine(topology), pairs, topology.routing(kind), mode="ideal", faults=faults)
    assert around.undeliverable == 2 * 71  # from and to the dead node
    assert plain.undeliverable > 300
    loops = Loops(6, 72)
    expected = 0
    for source, target in product(range(72), repeat=2):
        if source == target or source == 39:
            continue
        if target == 39:
            expected += len(reference.path(loops, source, target)) - 2
        elif kind == "online":
            expected += len(reference.online(loops, source, target, 39)) - 1
    if kind == "online":
        assert around.hops_total == expected


def test_route_goes_around_faults_by_the_networks_own_detours():
    """Only messages from or to the dead node are lost; other networks keep their first routing."""
    found = mpinet.route("gmn:6,72", pairs="all", faults="node:39", mode="ideal")
    assert (found.routing, found.undeliverable) == ("online", 2 * 71)
    given = mpinet.route("gmn:6,72", pairs="all", faults="node:39", mode="ideal", routing="source")
    assert (given.routing, given.undeliverable > 300) == ("source", True)
    assert mpinet.route("gmn:6,72", pairs="all").routing == "source"
    assert mpinet.route("torus:3x3", pairs="all", faults="node:4").routing == "dimensions"
