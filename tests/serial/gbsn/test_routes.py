"""TWSR and GBSN routing go as the definitions say (docs/papers/gbsn, 3)."""

from itertools import permutations, product

import numpy as np
import pytest
from serial.gbsn.reference import Gbsn, ceil_lg, rotl, twsr
from serial.gbsn.settings import BSN, GBSN, WIRINGS, drawn, name

import mpinet
from mpinet.base.arguments import DecideRule, PortRule, StartRule
from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.errors import Stuck
from mpinet.networks.routing import ARRIVED, path


@kernel
def walk_all(
    start: StartRule,
    decide: DecideRule,
    neighbor: PortRule,
    params: Ints,
    wiring: Ints,
    header: Ints,
    target_of: Ints,
    ways: Table,
    decisions: Table,
) -> None:
    """For every target of `target_of`, in each row of `ways`: the nodes from 0, 1, .. to it."""
    for row in range(ways.shape[0]):
        source, target = row // target_of.size, target_of[row % target_of.size]
        start.call(source, target, header, params)
        ways[row, 0] = source
        for hop in range(ways.shape[1] - 1):
            port = decide.call(ways[row, hop], header, params)
            decisions[row, hop] = port
            if port < 0:
                break
            ways[row, hop + 1] = neighbor.call(ways[row, hop], port, wiring)


def all_ways(topology, routing, longest):
    """Nodes of all ways, by source and target; -1 behind their ends. And the decisions."""
    targets = np.arange(topology.size)
    ways = np.full((topology.size**2, longest + 2), -1)
    decisions = np.full_like(ways, -9)
    header = np.zeros(routing.words, np.int64)
    rules = routing.start.native, routing.decide.native, topology.neighbor.native
    walk_all(*rules, routing.params, topology.params, header, targets, ways, decisions)
    assert ((decisions == ARRIVED).sum(axis=1) == 1).all()
    return ways


@pytest.mark.costly
@pytest.mark.parametrize(("a", "b", "n"), [*BSN, (1, 2, 9), (4, 4, 9), (1, 4, 10)])
def test_twsr_sets_section_after_section_and_shifts_back(a, b, n):
    """3.1, and the bound ceil(n/a) + 2(p - 1) there."""
    topology = mpinet.open(f"bsn:{a},{b},{n}")
    bound = -(-n // a) + 2 * (-(-n // b) - 1)
    ways = all_ways(topology, topology.routing("twsr"), bound)
    for row, (source, target) in enumerate(product(range(2**n), repeat=2)):
        if n > 8 and row % 97:
            continue
        expected = twsr(a, b, n, source, target)
        assert ways[row, : len(expected)].tolist() == expected
        assert ways[row, len(expected)] == -1
        assert expected[-1] == target and len(expected) - 1 <= bound


@pytest.mark.costly
@pytest.mark.parametrize(("a", "b", "n"), BSN)
def test_gbsn_routing_on_a_bsn_is_that_of_equal_blocks_and_no_longer_than_the_diameter(a, b, n):
    """3.3: in the BSN the shift plan always applies."""
    topology = mpinet.open(f"bsn:{a},{b},{n}")
    network = Gbsn(b, [2**b] * 2 ** (n - b), a)
    diameter = -(-n // a) + -(-n // b) - 1
    ways = all_ways(topology, topology.routing("gbsn"), diameter)
    general = mpinet.open(name(network))
    assert (all_ways(general, general.routing(), diameter) == ways).all()
    for row, (source, target) in enumerate(product(range(2**n), repeat=2)):
        if source != target and (n <= 6 or row % 7 == 0):
            assert ways[row, 1] == network.next_hop(source, target)[0]
            assert network.last_plan != "tree"


@pytest.mark.costly
@pytest.mark.parametrize("network", [*GBSN.values(), *drawn(seed=3, count=40, most=16)], ids=name)
def test_gbsn_routing_goes_as_defined_and_meets_no_node_twice(network):
    """3.3, against exits found by trying all addresses."""
    topology = mpinet.open(name(network))
    ways = all_ways(topology, topology.routing(), topology.size)
    for row, (source, target) in enumerate(product(range(topology.size), repeat=2)):
        if topology.size > 60 and row % 5:
            continue
        expected = network.way(source, target)
        assert ways[row, : len(expected)].tolist() == expected
        assert ways[row, len(expected)] == -1
        assert len(set(expected)) == len(expected)


@pytest.mark.parametrize("network", drawn(seed=4, count=40, most=64), ids=name)
def test_single_decisions_in_larger_blocks(network):
    topology = mpinet.open(name(network))
    routing, draw = topology.routing(), np.random.default_rng(0)
    for source, target in draw.integers(0, topology.size, (150, 2)).tolist():
        expected = network.next_hop(source, target)
        port = routing.decide(source, [target], routing.params.tolist())
        assert port == (ARRIVED if expected is None else expected[1])


def test_both_plans_are_used():
    plans = set()
    for network in GBSN.values():
        for source, target in product(range(0, sum(network.m), 3), repeat=2):
            network.next_hop(source, target)
            plans.add(network.last_plan)
    assert plans == {"inside", "shift", "tree"}


@pytest.mark.parametrize("text", WIRINGS)
def test_messages_arrive_over_links(text):
    topology, wiring = mpinet.open(text), WIRINGS[text]
    draw = np.random.default_rng(1)
    complete = [one for one in topology.routings if text[0] == "b" or one != "twsr"]
    for routing in map(topology.routing, complete):
        assert not routing.shortest
        for source, target in draw.integers(0, topology.size, (60, 2)).tolist():
            nodes, ports = path(topology, routing, source, target)
            assert nodes[1:] == [wiring[u][p] for u, p in zip(nodes, ports, strict=False)]


def two_way(network, source, target):
    """3.4: the nodes of a message by two-way shift routing, up to its target or a missing link."""
    words = [block * 2**network.w + i for block, i in network.nodes]
    number = {word: u for u, word in enumerate(words)}
    b, n, shifts, way = network.b, network.n, 0, [source]
    while True:
        word = words[way[-1]]
        wrong = rotl(word, shifts * b, n) ^ words[target]
        if not wrong and not shifts:
            return way, True
        block = network.nodes[way[-1]][0]
        digits = range(0, b, network.a[block])
        parts = [
            wrong >> shifts * b & (2**b - 1) & (2 ** network.a[block] - 1) << i for i in digits
        ]
        flip = next((part for part in parts if part), 0)
        side = None if flip else "right" if wrong else "left"
        shifts += {None: 0, "right": 1, "left": -1}[side]
        other = word ^ flip if flip else rotl(word, b if side == "left" else -b, n)
        if other == word:
            continue
        if side:
            end = network.shift_ends.get((*network.nodes[way[-1]], side))
            linked = end is not None and network.number[end[:2]] == number.get(other)
        else:
            linked = number.get(other) in network.wiring[way[-1]] and other >> network.w == block
        if other not in number or not linked:
            return way, False
        way.append(number[other])


@pytest.mark.costly
@pytest.mark.parametrize("network", [*GBSN.values(), *drawn(seed=5, count=40, most=16)], ids=name)
def test_twsr_on_a_gbsn_stops_where_a_link_is_missing_and_the_corrected_routing_goes_on(network):
    topology = mpinet.open(name(network))
    routing, corrected = topology.routing("twsr"), topology.routing("twsr-corrected")
    draw = np.random.default_rng(2)
    pairs = draw.integers(0, topology.size, (200, 2)).tolist()
    for source, target in pairs:
        way, arrives = two_way(network, source, target)
        if arrives:
            assert path(topology, routing, source, target)[0] == way
            assert path(topology, corrected, source, target)[0] == way
            continue
        where = f"twsr cannot reach {target} from {source} .* stopped at node {way[-1]}"
        with pytest.raises(Stuck, match=where):
            path(topology, routing, source, target)
        rest = network.way(way[-1], target)
        assert path(topology, corrected, source, target)[0] == way + rest[1:]


@pytest.mark.parametrize(
    ("text", "served"), [("gbsn:1,m=4-4-4-2,a=1", 142), ("gbsn:2,m=4-4-4-3,a=1", 193)]
)
def test_twsr_serves_some_pairs_of_figure_1_b(text, served):
    """Counted by the reference's walks, without mpinet."""
    network = GBSN[text]
    pairs = permutations(range(len(network.nodes)), 2)
    assert sum(two_way(network, *pair)[1] for pair in pairs) == served
    found = mpinet.route(text, pairs="all", routing="twsr")
    assert (found.delivered, found.undeliverable) == (served, found.messages - served)
    assert mpinet.route(text, pairs="all", routing="twsr-corrected").undeliverable == 0


@pytest.mark.parametrize(("a", "b", "n"), BSN)
def test_the_header_of_twsr_is_the_target_and_a_counter(a, b, n):
    """3.1: n + ceil(lg p) bits."""
    routing = mpinet.open(f"bsn:{a},{b},{n}").routing("twsr")
    assert routing.header_bits(0, 1) == n + ceil_lg(-(-n // b))
    assert (routing.words, routing.stateless) == (2, False)


@pytest.mark.parametrize("text", GBSN)
def test_the_header_of_gbsn_routing_is_the_targets_number(text):
    topology = mpinet.open(text)
    routing = topology.routing()
    assert routing.header_bits(0, 1) == ceil_lg(topology.size)
    assert (routing.words, routing.stateless) == (1, True)


def test_the_literal_graph_is_routed_by_tables():
    topology = mpinet.open("gbsn:1,m=4-4-4-2,a=1,completed=no")
    nodes, _ = path(topology, topology.routing(), 0, 13)
    assert nodes[0] == 0 and nodes[-1] == 13


@pytest.mark.parametrize(
    "text",
    [
        "bsn:1,4,22",
        "bsn:2,4,59",
        "gbsn:3,m=1000000-900000-1000000-3-1000000-1000000,a=2",
        "gbsn:20,m=1000000-1000000-900000-700000,a=4",
        "gbsn:4,m=" + "-".join(str(2 + 7919 * i % 20000) for i in range(500)) + ",a=1",
    ],
)
def test_large_networks_are_routed(text):
    topology = mpinet.open(text)
    draw = np.random.default_rng(2)
    complete = [one for one in topology.routings if text[0] == "b" or one != "twsr"]
    for routing in map(topology.routing, complete):
        for source, target in draw.integers(0, topology.size, (20, 2)).tolist():
            nodes, _ = path(topology, routing, source, target)
            assert len(set(nodes)) == len(nodes) or routing.name != "gbsn"
