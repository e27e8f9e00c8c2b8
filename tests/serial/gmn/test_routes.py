"""Routes in G(m,N), step by step as docs/papers/gmn, 3, 4, 6 gives them."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from serial.gmn import reference
from serial.gmn.reference import Arbitrary, Loops, distances, largest, rrb

import mpinet
from mpinet.base.arguments import DecideRule, PortRule, StartRule
from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
from mpinet.errors import RoutingError, UsageError
from mpinet.networks.gmn.parameters import NO_TOKEN
from mpinet.networks.gmn.routing import drop_token, next_token
from mpinet.networks.gmn.walk import BOTH, EVEN, ODD, cheaper_class, count_hops
from mpinet.networks.routing import path

SMALL = ["gmn:3,12", "gmn:4,16", "gmn:4,24", "gmn:4,32", "gmn:5,40", "gmn:6,48", "gmn:6,84"]
SMALL += ["gmn:6,96", "gmn:7,98", "gmn:8,128"]
MIDDLE = ["gmn:8,256", "gmn:9,270", "gmn:10,340", "gmn:10,640", "gmn:11,704", "gmn:12,1536"]

CHECK_VALUES = {
    (8, 256, 2, 42): "-c -c -c +h2 -c -c +h0 +h0 -c -c -c",
    (8, 256, 13, 81): "+h0 -c -c -c -c +h3",
    (5, 40, 7, 33): "-c -c d +c +c +c +h0",
    (6, 96, 3, 70): "-c -c -h2 -c -c -c",
    (8, 256, 7, 60): "+c +c +h3 +c +c +c +c -h0 -h0 -c",
    (9, 288, 8, 100): "+c d -c -c -h2 -c -c -h0 -c -c -c -c",
    (10, 640, 2, 333): "-c -c d -c -c -c -c -c +h0 +h0 -c -c",
    (4, 32, 3, 18): "+c d +c +c +c -h0 -c",
    (12, 1536, 4, 700): "-c -h3 -c -c -c d +c +c +c +c +c +h1 -c",
}


def names(codes):
    """Tokens by their codes (4.3)."""
    words = ["+c", "-c", "d"]
    return [words[c] if c < 3 else f"{'+-'[(c - 3) % 2]}h{(c - 3) // 2}" for c in codes]


def token_list(topology, routing, source, target):
    header = np.zeros(routing.words, np.int64)
    routing.start(source, target, header, routing.params)
    codes = []
    while (code := int(next_token(header, routing.params))) != NO_TOKEN:
        codes.append(code)
        drop_token(header, routing.params)
    return names(codes)


@kernel
def route_lengths(
    start: StartRule,
    decide: DecideRule,
    neighbor: PortRule,
    sources: Ints,
    targets: Ints,
    wiring: Ints,
    params: Ints,
    header: Ints,
    lengths: Ints,
) -> None:
    """Hops of every route; -1 for one that leaves the links or ends elsewhere."""
    for i in range(sources.size):
        header[:] = 0
        start.call(sources[i], targets[i], header, params)
        node, lengths[i] = sources[i], 0
        while node >= 0:
            port = decide.call(node, header, params)
            if port < 0:
                break
            node = neighbor.call(node, port, wiring)
            lengths[i] += 1
        if node != targets[i]:
            lengths[i] = -1


def lengths_of(topology, routing, sources, targets):
    lengths = np.empty(len(sources), np.int64)
    rules = routing.start.native, routing.decide.native, topology.neighbor.native
    header = np.zeros(routing.words, np.int64)
    ends = np.ascontiguousarray(sources), np.ascontiguousarray(targets)
    route_lengths(*rules, *ends, topology.params, routing.params, header, lengths)
    return lengths


def all_pairs(size):
    return np.repeat(np.arange(size), size), np.tile(np.arange(size), size)


@pytest.mark.parametrize("case", CHECK_VALUES, ids=str)
def test_check_values(case):
    """Section 4.2."""
    m, N, source, target = case
    topology = mpinet.open(f"gmn:{m},{N}")
    tokens = token_list(topology, topology.routing(), source, target)
    assert " ".join(tokens) == CHECK_VALUES[case]
    assert path(topology, topology.routing(), source, target)[0][-1] == target


def test_check_values_as_nodes():
    """Section 4.2, Examples 5a and 5b."""
    topology = mpinet.open("gmn:8,256")
    nodes, _ = path(topology, topology.routing(), 2, 42)
    assert nodes == [2, 1, 0, 255, 31, 30, 29, 37, 45, 44, 43, 42]
    nodes, _ = path(topology, topology.routing(), 13, 81)
    assert nodes == [13, 21, 20, 19, 18, 17, 81]


def test_the_representation_has_no_two_neighbouring_digits():
    """Section 3, Examples 1-3 and Lemma 2: 59 = 1000(-1)0(-1), 5 = 101."""
    assert rrb(59) == [-1, 0, -1, 0, 0, 0, 1]
    assert rrb(5) == [1, 0, 1]
    for n in range(-700, 700):
        digits = rrb(n)
        assert sum(v * 2**i for i, v in enumerate(digits)) == n
        assert not any(v and w for v, w in pairwise(digits))
    assert [largest(b) for b in range(1, 6)] == [1, 2, 5, 10, 21]
    for b in range(1, 10):
        assert max(n for n in range(1, 2 ** (b + 1)) if len(rrb(n)) <= b) == largest(b)


def test_hop_counts_are_the_converted_digits():
    """Section 3."""
    hops = np.empty(14, np.int64)
    for n in range(-600, 600):
        for kind, letter in ((EVEN, "E"), (ODD, "O"), (BOTH, "B")):
            count_hops(n, kind, hops)
            found = {t: v for t, v in enumerate(hops.tolist()) if v}
            assert found == reference.convert(rrb(n), letter)
        even = sum(1 for i, v in enumerate(rrb(n)) if v and i and i % 2 == 0)
        odd = sum(1 for i, v in enumerate(rrb(n)) if v and i % 2)
        assert cheaper_class(n) == (EVEN if even > odd else ODD)


@pytest.mark.costly
@pytest.mark.parametrize("name", SMALL)
def test_every_route_is_that_of_section_4(name):
    topology = mpinet.open(name)
    loops, routing = Loops(topology.sector, topology.size), topology.routing()
    for source in range(topology.sector):
        for target in range(topology.size):
            tokens = reference.route(loops, source, target)
            assert token_list(topology, routing, source, target) == tokens
            width = int(np.ceil(np.log2(2 * loops.b + 3)))
            assert routing.header_bits(source, target) == width * len(tokens)
            nodes, _ = path(topology, routing, source, target)
            assert nodes == loops.nodes(source, tokens)
            assert len(set(nodes)) == len(nodes)
            assert nodes[-1] == target


@pytest.mark.costly
@pytest.mark.parametrize("name", [*SMALL, *MIDDLE])
def test_all_messages_arrive_over_links_in_the_expected_number_of_hops(name):
    """All pairs; by translation the sources of sector 0 stand for all."""
    topology = mpinet.open(name)
    m, N = topology.sector, topology.size
    loops = Loops(m, N)
    sources, targets = all_pairs(N)
    found = lengths_of(topology, topology.routing(), sources, targets).reshape(N, N)
    expected = [[len(reference.route(loops, s, d)) for d in range(N)] for s in range(m)]
    for j in range(N // m):
        rows = found[j * m : (j + 1) * m]
        assert np.array_equal(np.roll(rows, -j * m, axis=1), expected)


@pytest.mark.parametrize("name", ["gmn:13,1664", "gmn:16,8192", "gmn:21,43008", "gmn:22,90112"])
def test_routes_of_larger_loops(name):
    topology, draw = mpinet.open(name), random.Random(name)
    loops, routing = Loops(topology.sector, topology.size), topology.routing()
    for _ in range(150):
        source, target = draw.randrange(topology.size), draw.randrange(topology.size)
        assert path(topology, routing, source, target)[0] == reference.path(loops, source, target)


@pytest.mark.parametrize("m", [30, 37, 45, 53, 62, 107])
def test_routes_of_the_largest_loops(m):
    draw = random.Random(m)
    lo, hi = reference.size_range(m)
    for N in (lo // (2 * m) * 2 * m + 2 * m, hi // (2 * m) * 2 * m):
        topology, loops = mpinet.open(f"gmn:{m},{N}"), Loops(m, N)
        routing = topology.routing()
        for _ in range(25):
            source, target = draw.randrange(N), draw.randrange(N)
            nodes, _ = path(topology, routing, source, target)
            assert nodes == reference.path(loops, source, target)
        ends = np.array([[draw.randrange(N) for _ in range(2000)] for _ in range(2)])
        assert lengths_of(topology, routing, *ends).min() > 0


@pytest.mark.parametrize("name", SMALL)
def test_the_stateless_variant_takes_the_lowest_port_that_is_closer(name):
    """Section 4.4."""
    topology = mpinet.open(name)
    routing = topology.routing("shortest")
    rows = Loops(topology.sector, topology.size).wiring()
    assert routing.header_bits(0, 1) == (topology.size - 1).bit_length()
    for target in range(topology.size):
        distance = distances(rows, target)
        for node in range(topology.size):
            closer = [p for p, v in enumerate(rows[node]) if distance[v] < distance[node]]
            port = routing.decide(node, np.array([target]), routing.params)
            assert port == (closer[0] if closer else -1)


@pytest.mark.costly
@pytest.mark.parametrize("name", MIDDLE)
def test_the_stateless_variant_is_shortest(name):
    topology = mpinet.open(name)
    m, N = topology.sector, topology.size
    found = lengths_of(topology, topology.routing("shortest"), *all_pairs(N)).reshape(N, N)
    rows = Loops(m, N).wiring()
    assert all(found[s].tolist() == distances(rows, s) for s in range(0, N, 7))


def test_the_stateless_variant_needs_a_table():
    topology = mpinet.open("gmn:22,90112")
    pairs = np.random.default_rng(0).integers(0, topology.size, (2, 1000))
    shorter = lengths_of(topology, topology.routing("shortest"), *pairs)
    assert (shorter >= 0).all()
    assert (shorter <= lengths_of(topology, topology.routing(), *pairs)).all()
    with pytest.raises(UsageError, match="needs a table of 40 x 83886080 entries"):
        mpinet.open("gmn:40,83886080").routing("shortest")


@pytest.mark.parametrize(("node", "code"), [(1, 2), (0, 3), (2, 2), (2, 3), (3, 9), (1, 3), (5, 8)])
def test_a_token_that_names_no_port_of_the_node_is_an_error(node, code):
    """Section 4.3; G(8,256) has its types 3 1 0 2 at positions 1 3 5 7."""
    topology = mpinet.open("gmn:8,256")
    routing = topology.routing()
    header = np.zeros(routing.words, np.int64)
    header[:2] = 64, code + 1
    port = int(routing.decide(node, header, routing.params))
    assert port >= topology.ports or topology.neighbor(node, port) < 0
    assert topology.neighbor.rule(node, port, topology.params) == -1


def test_the_second_name_of_a_link_that_has_two_is_accepted():
    """Section 2, coincidence: -h(b-1) in G(8,128)."""
    topology = mpinet.open("gmn:8,128")
    routing = topology.routing()
    for code in (9, 10):
        header = np.zeros(routing.words, np.int64)
        header[:2] = 64, code + 1
        assert routing.decide(1, header, routing.params) == 2


def test_a_wrong_token_is_reported():
    topology = mpinet.open("gmn:8,256")
    routing = topology.routing()

    def start(source, target, header, params):
        header[:2] = 64, 3

    with pytest.raises(RoutingError, match="which is not wired"):
        path(topology, replace(routing, start=start), 1, 100)


@pytest.mark.costly
@pytest.mark.parametrize("N", [8, 9, 11, 13, 14, 18, 21, 35, 39, 50, 97, 101, 113, 150])
def test_routes_with_nodes_left_out(N):
    """Section 6, all pairs."""
    topology, expected = mpinet.open(f"gmnany:{N}"), Arbitrary(N)
    rows = expected.wiring()
    routing, shortest = topology.routing(), topology.routing("shortest")
    found = lengths_of(topology, shortest, *all_pairs(N)).reshape(N, N)
    for source in range(N):
        assert found[source].tolist() == distances(rows, source)
        for target in range(0, N, 1 + N // 40):
            nodes, _ = path(topology, routing, source, target)
            assert nodes == expected.path(source, target)
            assert reference.is_walk(rows, nodes)
            bits = routing.header_bits(source, target)
            assert bits == int(np.ceil(np.log2(2 * expected.g.b + 3))) * (len(nodes) - 1)


@pytest.mark.costly
@pytest.mark.parametrize("N", [700, 1009, 1300])
def test_all_messages_arrive_with_nodes_left_out(N):
    topology, expected, draw = mpinet.open(f"gmnany:{N}"), Arbitrary(N), random.Random(N)
    found = lengths_of(topology, topology.routing(), *all_pairs(N)).reshape(N, N)
    assert (found >= 0).all()
    for _ in range(1500):
        source, target = draw.randrange(N), draw.randrange(N)
        assert found[source, target] == len(expected.path(source, target)) - 1


@pytest.mark.parametrize("N", [90001, 83886001, 266287972001])
def test_messages_arrive_in_large_loops_of_any_size(N):
    topology = mpinet.open(f"gmnany:{N}")
    ends = np.random.default_rng(N).integers(0, N, (2, 5000))
    assert (lengths_of(topology, topology.routing(), *ends) >= 0).all()


def test_a_product_routes_its_loops():
    topology = mpinet.open("gmn:4,16*ring:3")
    sources, targets = all_pairs(48)
    for name in ("source+shortest", "shortest"):
        assert (lengths_of(topology, topology.routing(name), sources, targets) >= 0).all()
