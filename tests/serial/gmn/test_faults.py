"""Around one dead node in G(m,N) (docs/papers/gmn, 5)."""

import random
from itertools import product

import numpy as np
import pytest
from serial.gmn import reference
from serial.gmn.reference import Loops

import mpinet
from mpinet.errors import NodeError, Stuck, UsageError
from mpinet.machine import Machine
from mpinet.machine.faults import Faults
from mpinet.networks.gmn.substitutions import substitution
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


@pytest.mark.parametrize("kind", ["online", "discovered", "substituted", "planned"])
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


@pytest.mark.parametrize("kind", ["online", "discovered", "substituted", "planned"])
def test_what_cannot_be_gone_around_is_refused(kind):
    topology = mpinet.open("gmn:8,256")
    routing = topology.routing(kind)
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


class Linked:
    """The wiring of G(m,N), or of a network of any size, with the paths of its source routing."""

    def __init__(self, name):
        self.topology = mpinet.open(name)
        size = self.topology.size
        if name.startswith("gmnany"):
            whole = reference.Arbitrary(size)
            self.ends, self.path = whole.wiring(), whole.path
        else:
            loops = Loops(self.topology.sector, size)
            self.ends = [list(loops.ports(u).values()) for u in range(size)]
            self.path = lambda s, d: reference.path(loops, s, d)


def way_round(ends, source, goal, avoided):
    """The first shortest path that uses no avoided link, in order of ports; None without one."""
    parent, queue = {source: None}, [source]
    for u in queue:
        for v in ends[u]:
            if frozenset((u, v)) not in avoided and v not in parent:
                parent[v] = u
                queue.append(v)
    if goal not in parent:
        return None
    found = [goal]
    while parent[found[-1]] is not None:
        found.append(parent[found[-1]])
    return found[::-1]


def met_on_the_way(network, source, target, dead, cut):
    """Section 5.1 with any faults: the nodes, with the known faults as links to be avoided."""
    ends, rest, travelled, avoided = network.ends, network.path(source, target), [], set()
    while len(rest) > 1:
        node, following = rest[:2]
        link = frozenset((node, following))
        if following in dead or link in cut:
            here = ends[following] if following in dead else [node]
            avoided |= {frozenset((following, v)) for v in here} if following in dead else {link}
            goals = range(2 if following in dead else 1, len(rest))
            ways = ((k, way_round(ends, node, rest[k], avoided)) for k in goals)
            k, way = next((found for found in ways if found[1]), (0, None))
            if way is None:
                return None
            rest = reference.without_loops(way + rest[k + 1 :])
            continue
        travelled.append(node)
        rest = rest[1:]
    return travelled + rest


@pytest.mark.costly
@pytest.mark.parametrize("name", ["gmn:4,32", "gmn:6,96", "gmnany:50", "gmnany:100", "gmn:8,256"])
def test_any_faults_are_gone_around_as_section_5_1_says(name):
    """Up to three dead nodes and two dead links, met one after the other."""
    network, draw = Linked(name), random.Random(7)
    topology, several = network.topology, 0
    for number in range(12):
        dead = draw.sample(range(topology.size), 1 + number % 3)
        links = [(u, draw.choice(network.ends[u])) for u in draw.sample(range(topology.size), 2)]
        cut = {frozenset(link) for link in links[: number % 3]}
        both = [pair for link in links[: number % 3] for pair in (link, link[::-1])]
        routing = topology.routing("online").around(dead, both)
        for _ in range(40):
            source, target = draw.sample([u for u in range(topology.size) if u not in dead], 2)
            expected = met_on_the_way(network, source, target, set(dead), cut)
            if expected is None:  # the faults cut the target off
                with pytest.raises(Stuck):
                    path(topology, routing, source, target)
                continue
            nodes = path(topology, routing, source, target)[0]
            assert nodes == expected
            assert not set(dead) & set(nodes)
            several += len(expected) > len(network.path(source, target))
    assert several > 10


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["online", "discovered", "substituted", "planned"])
@pytest.mark.parametrize("name", ["gmn:4,32", "gmn:6,72", "gmn:8,128"])
def test_all_living_pairs_are_served_around_two_dead_nodes(name, kind):
    topology = mpinet.open(name)
    for dead in ([0, 9], [3, 10], [7, 20]):
        found = mpinet.route(
            name,
            pairs="all",
            routing=kind,
            mode="ideal",
            faults=",".join(f"node:{u}" for u in dead),
        )
        assert found.undeliverable == topology.size * 2 * 2 - 2 * 3


CASES = [
    # Section 5, printed: the links on both sides of the dead node, and the hops instead of it.
    ("gmn:12,1536", 3, "+c", "+h3", [(1, 4)]),
    ("gmn:12,1536", 3, "-h3", "-c", [(3, -3), (5, 1)]),
    ("gmn:12,1536", 5, "-h1", "-c", [(1, -3), (3, 1)]),
    ("gmn:12,1536", 4, "+c", "-c", [(1, -4), (3, 1)]),
    ("gmn:12,1536", 3, "+c", "-c", [(1, -4), (3, -3), (5, 1)]),
    ("gmn:12,1536", 3, "-h3", "+h3", [(3, -6), (5, 2)]),
]


@pytest.mark.parametrize(("name", "dead", "back", "on", "hops"), CASES)
def test_substitutions_are_the_printed_ones(name, dead, back, on, hops):
    """Cases 1, 2, 2, 3a, 3b and the case of two hops; some cases fit hops of both signs."""
    topology = mpinet.open(name)
    loops = Loops(topology.sector, topology.size)
    names = list(loops.ports(dead))
    tokens = substitution(topology, dead, names.index(back), names.index(on))
    made = [((token - 3) // 2, 1 - 2 * ((token - 3) % 2)) for token in tokens if token >= 3]
    expected = [(kind, times // abs(times)) for kind, times in hops for _ in range(abs(times))]
    assert made == expected or made == [(kind, -sign) for kind, sign in expected]
    ends = [loops.follow(dead, back)]
    for token in tokens:
        jump = {0: 1, 1: -1}.get(token)
        if jump is None:
            jump = (1 - 2 * ((token - 3) % 2)) * loops.m * 2 ** ((token - 3) // 2)
        ends.append((ends[-1] + jump) % loops.N)
    assert ends[-1] == loops.follow(dead, on) and dead not in ends
