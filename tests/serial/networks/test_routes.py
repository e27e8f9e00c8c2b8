"""Messages arrive over links, on the ways that docs/papers describe."""

from itertools import product

import numpy as np
import pytest
from serial.networks.plain import compiled_and_plain
from serial.networks.reference import EVERYTHING, digits, distances

import mpinet
from mpinet.base.arguments import DecideRule, StartRule
from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.networks.routing import path

ROUTED = {name: wiring for name, wiring in EVERYTHING.items() if len(wiring) <= 64}


def hosts_of(topology):
    return product(range(topology.hosts), repeat=2)


@pytest.mark.costly
@pytest.mark.parametrize("name", ROUTED)
def test_messages_arrive_over_links(name):
    topology, wiring = mpinet.open(name), ROUTED[name]
    distance = distances(wiring)
    for routing in (topology.routing(name) for name in topology.routings):
        for source, target in hosts_of(topology):
            nodes, ports = path(topology, routing, source, target)
            assert (nodes[0], nodes[-1]) == (source, target)
            assert nodes[1:] == [wiring[u][p] for u, p in zip(nodes, ports, strict=False)]
            if routing.shortest:
                assert len(ports) == distance[source][target]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in ROUTED
        if name.split(":")[0]
        in "debruijn shuffleexchange moebius circulant rcirculant doubleloop chordalring".split()
        and "*" not in name
    ],
)
def test_tables_name_the_lowest_port_that_is_one_hop_closer(name):
    topology, wiring = mpinet.open(name), ROUTED[name]
    distance, routing = distances(wiring), topology.routing()
    for source, target in hosts_of(topology):
        closer = [
            p
            for p, v in enumerate(wiring[source])
            if distance[v][target] < distance[source][target]
        ]
        header = np.array([target])
        assert routing.decide(source, header, routing.params) == (closer[0] if closer else -1)


@pytest.mark.parametrize("name", ["kautz:2,2", "kautz:2,4", "kautz:3,3"])
def test_words_of_a_kautz_graph_are_shifted_by_what_the_longest_overlap_leaves(name):
    topology = mpinet.open(name)
    words = [topology.address(u).split("-") for u in range(topology.size)]
    for source, target in hosts_of(topology):
        k = len(words[target])
        common = max(i for i in range(k + 1) if words[source][k - i :] == words[target][:i])
        way = words[source] + words[target][common:]
        nodes, _ = path(topology, topology.routing("shift"), source, target)
        assert [words[u] for u in nodes] == [way[i : i + k] for i in range(k - common + 1)]


def dimension_order(sides, wrap, source, target):
    """The places passed, dimension by dimension, the shorter way, a tie forward."""
    places = [source]
    for j, side in enumerate(sides):
        here = list(places[-1])
        ahead = (target[j] - here[j]) % side
        forward = 2 * ahead <= side if wrap else target[j] > here[j]
        while here[j] != target[j]:
            here[j] = (here[j] + (1 if forward else -1)) % side
            places.append(tuple(here))
    return places


@pytest.mark.parametrize("name", ["mesh:3x2x5", "torus:2x3x5", "torus:4x4", "torus:5x2x4"])
def test_mesh_and_torus_correct_dimension_after_dimension(name):
    topology = mpinet.open(name)
    places = list(product(*map(range, topology.sides)))
    for (u, source), (v, target) in product(enumerate(places), repeat=2):
        expected = dimension_order(topology.sides, name.startswith("torus"), source, target)
        nodes, _ = path(topology, topology.routing(), u, v)
        assert [places[node] for node in nodes] == expected


@pytest.mark.parametrize("n", [3, 4])
def test_ccc_goes_round_the_cycle(n):
    topology = mpinet.open(f"ccc:{n}")
    for source, target in hosts_of(topology):
        (x, y), (to_x, to_y) = divmod(source, n), divmod(target, n)
        expected = [(x, y)]
        while x != to_x:
            if (x ^ to_x) >> y & 1:
                x ^= 1 << y
            else:
                y = (y + 1) % n
            expected.append((x, y))
        forward = 2 * ((to_y - y) % n) <= n
        while y != to_y:
            y = (y + (1 if forward else -1)) % n
            expected.append((x, y))
        nodes, _ = path(topology, topology.routing(), source, target)
        assert [divmod(node, n) for node in nodes] == expected


def switch(m, h, level, place):
    return m**h + level * m ** (h - 1) + sum(d * m**i for i, d in enumerate(place))


@pytest.mark.parametrize("routing", ["dmodk", "updown"])
@pytest.mark.parametrize(("m", "h"), [(2, 1), (2, 3), (3, 2), (3, 3)])
def test_fat_tree_goes_up_to_the_lowest_common_level_and_straight_down(m, h, routing):
    """Up by the digits of the target's number, or of its switch's."""
    topology = mpinet.open(f"fattree:{m},{h}")
    for p, q in hosts_of(topology):
        if p == q:
            continue
        turn = next(level for level in range(h) if p // m ** (level + 1) == q // m ** (level + 1))
        place, goal = digits(p // m, m, h - 1), digits(q // m, m, h - 1)
        upward = digits(q, m, h) if routing == "dmodk" else goal
        up = [switch(m, h, 0, place)]
        for level in range(turn):
            place[level] = upward[level]
            up.append(switch(m, h, level + 1, place))
        down = []
        for level in range(turn - 1, -1, -1):
            place[level] = goal[level]
            down.append(switch(m, h, level, place))
        nodes, _ = path(topology, topology.routing(routing), p, q)
        assert nodes == [p, *up, *down, q]
        assert len(nodes) - 1 == 2 * (turn + 1)


@pytest.mark.parametrize(
    ("name", "levels"), [("fattree:3,2", 2), ("karytree:2,4", 4), ("karytree:4,3", 3)]
)
def test_every_link_down_a_fat_tree_leads_to_one_processor_alone(name, levels):
    """Then no link carries more than a processor takes, whatever is sent (Zahavi 2010)."""
    topology = mpinet.open(name)
    ends = {}
    for p, q in hosts_of(topology):
        nodes, ports = path(topology, topology.routing(), p, q)
        for node, port in zip(nodes, ports, strict=False):
            if node >= topology.hosts and port < topology.ports // 2:
                ends.setdefault((node, port), set()).add(q)
    assert all(len(targets) == 1 for targets in ends.values())
    assert len(ends) == topology.hosts * levels


@pytest.mark.costly
@pytest.mark.parametrize("routing", ["dmodk", "updown"])
@pytest.mark.parametrize("name", ["fattree:3,1", "fattree:2,3", "fattree:3,3", "fattree:2,4"])
def test_fat_tree_reaches_its_switches_on_shortest_paths_too(name, routing):
    topology = mpinet.open(name)
    wiring = [
        [
            v
            for v in topology.neighbor(np.full(topology.ports, u), np.arange(topology.ports))
            if v >= 0
        ]
        for u in range(topology.size)
    ]
    distance = distances(wiring)
    for source, target in product(range(topology.size), repeat=2):
        nodes, _ = path(topology, topology.routing(routing), source, target)
        assert len(nodes) - 1 == distance[source][target]


@pytest.mark.parametrize(("p", "s", "h"), [(2, 2, 2), (3, 4, 1), (4, 2, 2)])
def test_megafly_crosses_its_groups_by_as_many_spines_as_a_leaf_has_processors(p, s, h):
    topology = mpinet.open(f"megafly:{p},{s},{h}")
    for source, target in product(range(p * s), repeat=2):
        if source // p == target // p:
            continue
        leaves = [topology.hosts + processor // p for processor in (source, target)]
        spine = topology.hosts + s + target % s
        nodes, _ = path(topology, topology.routing(), source, target)
        assert nodes == [source, leaves[0], spine, leaves[1], target]


@pytest.mark.parametrize(("c", "m", "h"), [(5, 2, 1), (3, 2, 2), (8, 2, 2)])
def test_roadrunner_is_shortest_between_processors(c, m, h):
    name = f"roadrunner:{c},{m},{h}"
    topology, distance = mpinet.open(name), distances(EVERYTHING[name])
    processors = [i * topology.tree + p for i in range(c) for p in range(m**h)]
    for source, target in product(processors, repeat=2):
        nodes, _ = path(topology, topology.routing(), source, target)
        assert len(nodes) - 1 == distance[source][target]
        if source // topology.tree != target // topology.tree:
            assert len(nodes) - 1 == 2 * h + 1


def test_products_correct_the_first_factor_first():
    topology = mpinet.open("ring:5*hypercube:3")
    nodes, ports = path(
        topology, topology.routing(), topology.node("(0|000)"), topology.node("(3|101)")
    )
    addresses = [topology.address(node) for node in nodes]
    assert addresses == ["(0|000)", "(4|000)", "(3|000)", "(3|001)", "(3|101)"]
    assert ports == [1, 1, 2, 4]


def test_product_of_stateless_routings_needs_the_bits_of_a_number():
    topology = mpinet.open("ring:5*hypercube:3*complete:3")
    routing = topology.routing()
    assert routing.stateless
    assert routing.words == 3
    assert routing.header_bits(0, 1) == 7  # 120 processors
    assert list(topology.routings) == ["shortest+bitfixing+direct", "parity+bitfixing+direct"]


@pytest.mark.parametrize("name", ["debruijn:13", "shuffleexchange:20", "ring:3*debruijn:13"])
def test_tables_that_are_too_large_are_refused_with_the_reason(name):
    with pytest.raises(UsageError, match="no symmetry"):
        mpinet.open(name).routing()


@kernel
def first_ports(
    start: StartRule,
    decide: DecideRule,
    sources: Ints,
    targets: Ints,
    header: Ints,
    params: Ints,
    ports: Ints,
) -> None:
    """The first decision of every message."""
    write, choose = start.call, decide.call
    for i in range(sources.size):
        write(sources[i], targets[i], header, params)
        ports[i] = choose(sources[i], header, params)


@pytest.mark.costly
@pytest.mark.parametrize("name", ROUTED)
def test_compiled_decisions_are_those_of_plain_python(name):
    topology = mpinet.open(name)
    routing = topology.routing()
    pairs = np.array(list(hosts_of(topology)))
    sources, targets = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    header, rules = np.zeros(routing.words, np.int64), (routing.start, routing.decide)
    compiled, plain = compiled_and_plain(
        first_ports, rules, [sources, targets], header, routing.params
    )
    assert compiled == plain
