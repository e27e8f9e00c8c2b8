"""Messages take the ways of docs/papers/sth, 5 and 8."""

from itertools import pairwise, product

import numpy as np
import pytest
from serial.sth import reference
from serial.sth.reference import distances, four_candidates, lst_optimal, table, wired
from serial.sth.walks import hops, walk

import mpinet
from mpinet.errors import UsageError
from mpinet.networks.routing import path

CUBES = [
    *(f"tq:{n}" for n in range(2, 8)),
    *(f"cq:{n}" for n in range(1, 8)),
    *(f"hkv:{n}" for n in (1, 3, 5, 7)),
]

SHORTEST = [
    *(f"{name} shortest" for name in CUBES),
    "tq:10 shortest",
    "cq:10 shortest",
    "hkv:9 shortest",
    *(f"lst:{m} optimal" for m in (2, 3, 4, 5, 8, 100)),
    "sth:2,2 optimal",
    "sth:3,3 optimal",
    "sth:8,4 optimal",
    "sth:3,4,cq optimal",
    "sth:2,5,hkv optimal",
    "sth:2,3,q optimal",
    *(f"{name} shortest" for name in "dlh:2,0 dlh:3,2 dlh:7,3".split()),
    *(f"hexcell:{d} shortest" for d in (1, 2, 3, 4, 7, 9)),
    *(f"foldedcube:{n} shortest" for n in (2, 3, 4, 5, 6, 7, 10)),
    *(f"hhc:{k} shortest" for k in (1, 2, 3)),
    *(f"stargraph:{n} shortest" for n in (2, 3, 4, 5, 6)),
    *(f"arrangement:{name} shortest" for name in ("2,1", "4,2", "5,3", "6,5")),
    *(f"{name} shortest" for name in "petersen hp:3 hp:7 fp:1 fp:2 fp:3 fpq:2,2 fpq:0,1".split()),
    *(
        f"{name} shortest"
        for name in "starcube:4,3 starcube:3,5 arrstar:3,4,2 arrstar:4,3,2".split()
    ),
    *(f"{name} shortest" for name in "hypermesh:1,2,1 hypermesh:3,4,2 hypermesh:5,1,3".split()),
    *(f"bh:{name} shortest" for name in ("1,2,2", "3,2,4", "2,2,8", "4,3,2")),
]
"""Networks with the routings that take shortest paths."""


def lowest_closer_ports(ports: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """For every (node, target) the lowest port behind which the target is one hop closer."""
    result = np.full(distance.shape, -1)
    for p in reversed(range(ports.shape[1])):
        behind = np.where(ports[:, p, np.newaxis] >= 0, distance[ports[:, p]], len(ports))
        result[behind == distance - 1] = p
    return result


def decisions(routing, size: int) -> np.ndarray:
    """For every (node, target) what a stateless rule decides, as plain Python."""
    decide, params = routing.decide.function, routing.params
    targets = [np.array([target]) for target in range(size)]
    return np.array([[decide(u, header, params) for header in targets] for u in range(size)])


@pytest.mark.costly
@pytest.mark.parametrize("case", SHORTEST)
def test_all_pairs_take_shortest_paths_over_links(case):
    name, way = case.split()
    routing, wiring = mpinet.open(name).routing(way), wired(name)
    assert routing.shortest
    assert (hops(routing, table(wiring)) == distances(wiring)).all()


STATELESS = [
    name
    for name, way in map(str.split, SHORTEST)
    if way == "shortest" and mpinet.open(name).routing(way).words == 1 and len(wired(name)) <= 130
]


@pytest.mark.costly
@pytest.mark.parametrize("name", STATELESS)
def test_the_lowest_port_that_leads_closer_is_taken(name):
    wiring = wired(name)
    routing = mpinet.open(name).routing("shortest")
    expected = lowest_closer_ports(table(wiring), distances(wiring))
    assert (decisions(routing, len(wiring)) == expected).all()


@pytest.mark.parametrize("name", ["starcube:3,2", "arrstar:3,3,2", "hypermesh:3,3,2"])
def test_products_take_the_lowest_port_that_leads_closer(name):
    wiring = table(wired(name))
    routing, distance = mpinet.open(name).routing(), distances(wired(name))
    expected = lowest_closer_ports(wiring, distance)
    for u, v in product(range(len(wiring)), repeat=2):
        nodes = walk(routing, wiring, u, v)
        for here, there in pairwise(nodes):
            assert there == wiring[here, expected[here, v]]


@pytest.mark.parametrize("name", CUBES)
def test_closed_forms_of_section_4_are_distances(name):
    kind, n = name.split(":")
    closed = {
        "tq": reference.tq_distance,
        "cq": lambda u, v: reference.cq_distance(u, v, int(n)),
        "hkv": lambda u, v: reference.hkv_distance(u, v, int(n)),
    }[kind]
    size = 2 ** int(n)
    found = [[closed(u, v) for v in range(size)] for u in range(size)]
    assert (distances(wired(name)) == found).all()


@pytest.mark.parametrize("name", ["tq:33", "cq:33", "cq:34", "hkv:33", "cq:57", "hkv:57", "tq:57"])
def test_large_cubes_take_the_lowest_port_by_the_closed_form(name):
    kind, n = name.split(":")[0], int(name.split(":")[1])
    closed = {
        "tq": reference.tq_distance,
        "cq": lambda u, v: reference.cq_distance(u, v, n),
        "hkv": lambda u, v: reference.hkv_distance(u, v, n),
    }[kind]
    topology = mpinet.open(name)
    routing = topology.routing("shortest")
    for u, v in np.random.default_rng(1).integers(0, 2**n, (60, 2)).tolist():
        nodes, ports = path(topology, routing, u, v)
        assert len(ports) == closed(u, v)
        closer = (p for p in range(n) if closed(topology.neighbor(u, p), v) < closed(u, v))
        assert ports[0] == next(closer)
        assert nodes[-1] == v


@pytest.mark.parametrize("name", [*CUBES, "q:1", "q:5"])
def test_dimension_order_corrects_the_highest_bit(name):
    kind, n = name.split(":")
    topology = mpinet.open(name) if kind != "q" else mpinet.open(f"sth:2,{n},q").second
    wiring = table(reference.CUBES[kind](int(n)))
    found = hops(topology.routing("dimension"), wiring)
    assert found.min() == 0
    assert found.max() <= int(n)
    if topology.size <= 64:
        expected = [
            [-1 if u == v else reference.dimension_port(kind, u, v) for v in range(topology.size)]
            for u in range(topology.size)
        ]
        assert (decisions(topology.routing("dimension"), topology.size) == expected).all()


@pytest.mark.costly
@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 7, 8, 11, 16])
def test_the_loops_messages_follow_the_candidate_of_the_paper(m):
    topology, ports = mpinet.open(f"lst:{m}"), table(reference.lst(m))
    routing = topology.routing("paper")
    found = hops(routing, ports)
    for x, y in product(range(8 * m), repeat=2):
        expected, _ = four_candidates(x, y, 8 * m)
        assert walk(routing, ports, x, y) == expected
        assert found[x, y] == len(expected) - 1
        bits = 2 * (len(expected) - 1) + (8 * m - 1).bit_length()  # port list and target
        assert routing.header_bits(x, y) == bits


@pytest.mark.parametrize("m", [999, 1024])
def test_long_loops_follow_the_paper_too(m):
    topology = mpinet.open(f"lst:{m}")
    ports = table(reference.lst(m))
    for x, y in np.random.default_rng(2).integers(0, 8 * m, (60, 2)).tolist():
        expected, _ = four_candidates(x, y, 8 * m)
        assert walk(topology.routing("paper"), ports, x, y) == expected


@pytest.mark.parametrize("m", [2, 3, 4, 7])
def test_the_loops_optimal_rule_is_that_of_section_5_2(m):
    ports, routing = table(reference.lst(m)), mpinet.open(f"lst:{m}").routing("optimal")
    for x, y in product(range(8 * m), repeat=2):
        expected = lst_optimal(x, y, 8 * m)
        assert walk(routing, ports, x, y) == expected
        assert len(expected) - 1 == reference.lst_distance(x, y, 8 * m)


def test_table_3_of_the_paper():
    chosen, rounds = four_candidates(2, 19, 24)
    assert rounds[1:] == [(21, 10, 4, 0), (20, 14, 5, 23), (19, 18, 6, 22)]
    assert chosen == [2, 22, 21, 20, 19]


@pytest.mark.costly
@pytest.mark.parametrize("name", ["sth:2,2", "sth:3,3", "sth:2,3,cq", "sth:2,3,hkv", "sth:3,2,q"])
@pytest.mark.parametrize("way", ["paper", "optimal"])
def test_the_product_goes_round_the_loop_first(name, way):
    topology, ports = mpinet.open(name), table(wired(name))
    routing = topology.routing(way)
    size = topology.first.size
    cube = table(reference.CUBES[name[8:] or "tq"](topology.second.ports))
    lowest = lowest_closer_ports(cube, distances(cube.tolist()))
    found = hops(routing, ports)
    for source, target in product(range(topology.size), repeat=2):
        (v, u), (to_v, to_u) = divmod(source, size), divmod(target, size)
        if way == "paper":
            loop, _ = four_candidates(u, to_u, size)
            bits = 2 * (len(loop) - 1) + topology.second.ports
        else:
            loop = lst_optimal(u, to_u, size)
            bits = (topology.size - 1).bit_length()
        expected = [v * size + place for place in loop]
        while v != to_v:
            v = cube[v, lowest[v, to_v]]
            expected.append(v * size + to_u)
        assert found[source, target] == len(expected) - 1
        if (source + target) % 7 == 0:
            assert walk(routing, ports, source, target) == expected
            assert routing.header_bits(source, target) == bits


@pytest.mark.parametrize("name", ["dlh:2,0", "dlh:3,2", "dlh:4,1"])
def test_the_double_loop_goes_round_the_ring_first(name):
    topology, ports = mpinet.open(name), table(wired(name))
    m = topology.m
    for source, target in product(range(topology.size), repeat=2):
        expected = [source]
        while expected[-1] != target:
            bits, r = divmod(expected[-1], 2 * m)
            to_bits, to_r = divmod(target, 2 * m)
            k = (to_r - r) % (2 * m)
            wrong = [p for p in range(8) if (bits ^ to_bits) >> p & 1]
            port = (0 if k <= m else 1) if k else 2 + wrong[0]
            expected.append(int(ports[expected[-1], port]))
        assert walk(topology.routing(), ports, source, target) == expected


@pytest.mark.parametrize(
    ("name", "way", "nodes"),
    [  # section 5
        ("lst:3", "paper", "2 22 21 20 19"),
        ("lst:3", "optimal", "2 22 18 19"),
        ("lst:2", "paper", "0 4 5 6 7"),
        ("lst:2", "optimal", "0 4 8 7"),
        ("lst:3", "paper", "16 17 18 19 20 21 22 23 0"),
        ("tq:4", "shortest", "0 3 7 15"),
        ("tq:4", "dimension", "0 8 12 14 15"),
        ("tq:4", "shortest", "0 3 1"),
        ("cq:5", "shortest", "0 4 5 31"),
        ("cq:5", "dimension", "0 16 24 28 30 31"),
        ("hkv:5", "shortest", "0 6 30 31"),
        ("hkv:5", "dimension", "0 24 30 31"),
        ("sth:3,3", "paper", "146 166 165 164 163 187 91"),
        ("sth:3,3", "optimal", "146 166 162 163 187 91"),
        ("hexcell:3", "shortest", "24 25 6 7 0 1 2 3 16 15 40"),
        ("dlh:3,2", "shortest", "5 4 3 9 21 45"),
    ],
)
def test_check_paths(name, way, nodes):
    topology = mpinet.open(name)
    expected = [int(text) for text in nodes.split()]
    found, _ = path(topology, topology.routing(way), expected[0], expected[-1])
    assert found == expected


@pytest.mark.parametrize("family", ["lst:3", "sth:2,3", "tq:3", "cq:3", "hkv:3", "hexcell:2"])
def test_the_papers_own_routing_comes_first(family):
    first = "paper" if family[0] in "ls" else "shortest"
    assert mpinet.open(family).routing().name == first


def test_symmetric_tables_reach_further_than_full_ones():
    with pytest.raises(UsageError, match="needs a table of 32"):
        mpinet.open("hhc:5").routing()
    with pytest.raises(UsageError, match="no symmetry"):
        mpinet.open("arrangement:10,7").routing()


@pytest.mark.parametrize(
    "name", ["sth:64,12", "sth:9,15,cq", "sth:9,15,hkv", "stargraph:12", "hexcell:300", "fp:6"]
)
def test_large_networks_route_a_sample(name):
    topology = mpinet.open(name)
    for way in topology.routings:
        routing = topology.routing(way)
        for u, v in np.random.default_rng(3).integers(0, topology.size, (8, 2)).tolist():
            assert path(topology, routing, u, v)[0][-1] == v
