"""Routing in the lens room, against docs/papers/lens, 5 and 6, and against brute force."""

from itertools import pairwise, product

import numpy as np
import pytest
from serial.lens import reference
from serial.lens.settings import CIRCLES, LENSES, OTHERS, PARTIALS

import mpinet
from mpinet.base.arguments import DecideRule, PortRule, StartRule
from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.errors import RoutingError, UsageError
from mpinet.networks.lens.routing import by_plans, fair, regular
from mpinet.networks.routing import path

UNREACHED, STRAY = -1, -2


@kernel
def walk_all(
    start_rule: StartRule,
    decide_rule: DecideRule,
    neighbor_rule: PortRule,
    header: Ints,
    wayfinding: Ints,
    wiring: Ints,
    hops: Table,
) -> None:
    """Hops of all pairs; UNREACHED where a message is stuck, STRAY where it goes wrong."""
    start, decide, neighbor = start_rule.call, decide_rule.call, neighbor_rule.call
    for source in range(hops.shape[0]):
        for target in range(hops.shape[0]):
            header[:] = 0
            start(source, target, header, wayfinding)
            node, count = source, 0
            while True:
                port = decide(node, header, wayfinding)
                if port < 0:
                    break
                node = neighbor(node, port, wiring) if port < wiring[1] else -1
                count += 1
                if node < 0 or count > 1000:
                    break
            stopped = port == -1 and node == target
            hops[source, target] = count if stopped else (-1 if port == -2 else -2)


def lengths(topology, routing):
    hops = np.empty((topology.size, topology.size), np.int64)
    walk_all(
        routing.start.native,
        routing.decide.native,
        topology.neighbor.native,
        np.zeros(routing.words, np.int64),
        routing.params,
        topology.params,
        hops,
    )
    return hops


@kernel
def walk_some(
    start_rule: StartRule,
    decide_rule: DecideRule,
    neighbor_rule: PortRule,
    header: Ints,
    wayfinding: Ints,
    wiring: Ints,
    rows: Table,
) -> None:
    """For rows (source, target, 0): a sum over all nodes of the path."""
    start, decide, neighbor = start_rule.call, decide_rule.call, neighbor_rule.call
    for i in range(rows.shape[0]):
        node, hops = rows[i, 0], 0
        start(node, rows[i, 1], header, wayfinding)
        while True:
            rows[i, 2] += (hops + 1) * node
            port = decide(node, header, wayfinding)
            if port < 0:
                break
            node = neighbor(node, port, wiring)
            hops += 1


@pytest.mark.parametrize(
    "name", ["lens:4,3,6", "clens:4,6", "clens:2,9", "plens:3,777", "snowflake:5,5", "busstar:4,6"]
)
def test_compiled_decisions_are_those_of_plain_python(name):
    topology = mpinet.open(name)
    for routing_name in topology.routings:
        routing = topology.routing(routing_name)
        rows = np.random.default_rng(3).integers(0, topology.size, (50, 3))
        rows[:, 2] = 0
        plain = rows.copy()
        header = np.zeros(routing.words, np.int64)
        rules = routing.start, routing.decide, topology.neighbor.rule
        arrays = header, routing.params, topology.params
        walk_some(*(r.native for r in rules), *arrays, rows)
        stand_ins = [type("Plain", (), {"call": staticmethod(r)}) for r in rules]
        walk_some.function(*stand_ins, *arrays, plain)
        assert rows.tolist() == plain.tolist()


def walk(topology, routing, source, target):
    return path(topology, routing, source, target)[0]


LARGER = {
    "lens:3,3,7": reference.lens(3, 3, 7),
    "lens:4,3,5": reference.lens(4, 3, 5),
    "lens:2,4,6": reference.lens(2, 4, 6),
    "clens:3,7": reference.lens(3, 3, 7, completed=True),
    "clens:4,5": reference.lens(4, 4, 5, completed=True),
    "clens:2,31": reference.lens(2, 2, 31, completed=True),
    "clens:7,3": reference.lens(7, 7, 3, completed=True),
    "snowflake:4,4": reference.snowflake(4, 4),
    "snowflake:2,6": reference.snowflake(2, 6),
    "snowflake:6,3": reference.snowflake(6, 3),
    "busstar:3,5": reference.star(3, 5),
    "busstar:4,5": reference.star(4, 5),
}


SMALLER = dict([*LENSES.items()][::3]) | CIRCLES | OTHERS


@pytest.mark.costly
@pytest.mark.parametrize("name", SMALLER | LARGER)
def test_all_pairs_take_shortest_paths(name):
    expected = (SMALLER | LARGER)[name]
    topology = mpinet.open(name)
    for routing_name in topology.routings:
        if routing_name != "patternA":
            routing = topology.routing(routing_name)
            assert routing.shortest
            assert np.array_equal(lengths(topology, routing), expected.distance), routing_name


def test_worked_example_of_section_5():
    lens = mpinet.open("lens:4,4,5")
    source, target = lens.node("021.10"), lens.node("00.220")

    def listing(routing):
        return " ".join(map(lens.address, walk(lens, routing, source, target)))

    both, only_a = by_plans(lens), by_plans(lens, pattern_b=False)
    assert listing(both) == "021.10 0212.0 021.20 02.220 00.220"
    nodes, ports = path(lens, both, source, target)
    busses = [lens.channel(u, port) for u, port in zip(nodes, ports, strict=False)]
    places = [lens.busses_of(u).index(b) for u, b in zip(nodes, busses, strict=False)]
    assert places == [0, 3, 3, 1]
    assert listing(only_a) == "021.10 0212.0 021.20 02.220 0.0220 00.220"
    both, only_a = by_plans(lens, first=[0]), by_plans(lens, pattern_b=False, first=[0, 1])
    assert listing(both) == "021.10 0210.0 021.20 02.220 00.220"
    assert listing(only_a) == "021.10 0210.0 021.20 02.220 0.1220 00.220"


def test_worked_examples_of_section_6():
    circle = mpinet.open("clens:4,10")
    source, target = circle.node("021.0212012"), circle.node("0110010.212")
    assert moves(circle, "patternA", source, target) == "LLRRRRRRRL"
    assert moves(circle, "plans", source, target) == "LBRRRRRRL"
    circle = mpinet.open("clens:3,3")
    nodes = walk(circle, circle.routing(), circle.node("0.00"), circle.node("1.11"))
    assert list(map(circle.address, nodes)) == ["0.00", "100.", "10.1", "1.11"]
    circle = mpinet.open("clens:3,2")
    assert walk(circle, circle.routing(), 0, 7) == [0, 2, 7]
    assert walk(circle, circle.routing("patternA"), 0, 7) == [0, 6, 2, 7]


def moves(lens, name, source, target):
    """The path's moves by its rows."""
    rows = [lens.address(u).index(".") for u in walk(lens, lens.routing(name), source, target)]
    steps = [(b - a) % lens.level for a, b in pairwise(rows)]
    return "".join({0: "B", 1: "R"}.get(step, "L") for step in steps)


def transcribed(network, R, S, n, completed, pattern_b, s, t):
    """The path of sections 5 and 6 from label s to label t, None where there is none."""
    plans = (circle_plans if completed else lens_plans)(n, s, t)
    best = min(plans, key=lambda plan: merged_length(plan, pattern_b))
    return follow(best, R, S, n, completed, pattern_b, s, t)


def lens_plans(n, s, t):
    """Right-first R(k-i) L(k) R(j) if j < i, left-first L(i) R(k) L(k-j) if j > i, or both."""
    if s == t:
        return [[]]
    (ks, sd), (kt, td) = s, t
    region = [i for i in range(1, n + 1) if sd[i - 1] != td[i - 1]]
    region += range(min(ks, kt) + 1, max(ks, kt) + 1)
    lo, hi = min([*region, min(ks, kt) + 1]), max([*region, max(ks, kt)])
    k, i, j = hi - lo + 1, ks - lo + 1, kt - lo + 1
    left_first = [("L", i), ("R", k), ("L", k - j)]
    right_first = [("R", k - i), ("L", k), ("R", j)]
    return [left_first] * (j >= i) + [right_first] * (j <= i)


def circle_plans(n, s, t):
    """The plans of the shorter arc, then those of the longer one, the right arc on a tie."""
    (ks, sd), (kt, td) = s, t
    a = (kt - ks) % n
    right = [(ks + i) % n for i in range(a)]  # digits from 0: position ks+1 is digit ks
    left = [(ks - 1 - i) % n for i in range(n - a)]
    arcs = [("R", "L", right), ("L", "R", left)]
    if len(right) >= len(left):
        arcs.reverse()
    plans = []
    for go, back, arc in arcs:
        agree = "".join("1" if sd[i] == td[i] else "0" for i in arc)
        b = max(map(len, agree.split("0")))
        size = len(arc)
        places = [x for x in range(size - b + 1) if agree[x : x + b] == "1" * b]
        if b == 0:
            places = [0] if go == "R" else [size]
        for x in places:
            y = size - x - b
            plans.append([(go, x), (back, x + n - size + y), (go, y)])
    return plans


def joins(plan):
    """Where an L run is directly followed by an R run: the first such place, or None."""
    runs = [(go, count) for go, count in plan if count]
    return next((i for i in range(len(runs) - 1) if runs[i][0] + runs[i + 1][0] == "LR"), None)


def merged_length(plan, pattern_b):
    return sum(count for _, count in plan) - (pattern_b and joins(plan) is not None)


def tokens(plan, pattern_b):
    """The plan's moves one by one."""
    join = joins(plan) if pattern_b else None
    runs = [go * count for go, count in plan if count]
    if join is not None:
        runs[join], runs[join + 1] = runs[join][:-1] + "B", runs[join + 1][1:]
    return "".join(runs)


def follow(plan, R, S, n, completed, pattern_b, s, t, zero=False):
    (k, d), (_, td) = s, t
    labels, todo = [s], tokens(plan, pattern_b)
    for at, move in enumerate(todo):
        if move == "R":
            k = k + 1 if k < n else 1
            place, radix = k, R
        else:
            place, radix = k, S
        if move == "B":
            d = reference.put(d, k, td[k - 1])
        else:
            final = place not in crossed(k if move == "R" else k - 1, todo[at + 1 :], n)
            digit = td[place - 1] % radix if final or not zero else 0
            d = reference.put(d, place, digit)
        if move == "L":
            k -= 1
            if k == 0 and not completed:
                return None
            k = k or n
        labels.append((k, d))
    return labels


def crossed(k, todo, n):
    """The positions that moves cross, starting with the dot behind position k."""
    places = set()
    for move in todo:
        if move == "R":
            k = k % n + 1
            places.add(k)
        else:
            places.add((k - 1) % n + 1)
            k -= move == "L"
    return places


CANONICAL = ["lens:3,3,3", "lens:4,2,3", "lens:2,4,3", "lens:3,4,2", "lens:4,3,3", "lens:2,2,3",
             "lens:5,5,1", "clens:3,3", "clens:3,4", "clens:4,2", "clens:2,6", "clens:5,2",
             "clens:3,2"]  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("pattern_b", [True, False])
@pytest.mark.parametrize("name", CANONICAL)
def test_canonical_paths_are_those_of_the_text(name, pattern_b):
    network, lens = (LENSES | CIRCLES)[name], mpinet.open(name)
    routing = by_plans(lens, pattern_b=pattern_b)
    completed = name.startswith("clens")
    stuck = 0
    for s, t in product(network.processors, repeat=2):
        ends = network.number[s], network.number[t]
        labels = transcribed(network, *lens.radices, lens.level, completed, pattern_b, s, t)
        if labels is None:
            stuck += 1
            with pytest.raises(RoutingError, match="stopped at node"):
                path(lens, routing, *ends)
        else:
            assert walk(lens, routing, *ends) == [network.number[u] for u in labels]
    assert (stuck > 0) is (not completed and not pattern_b and lens.radices[0] > 1)


@pytest.mark.parametrize("name", CANONICAL)
def test_pattern_a_alone_takes_shortest_paths_of_owners_and_owned(name):
    """Pairs whose region begins with position 1 have no such path in an uncompleted lens."""
    network, lens = (LENSES | CIRCLES)[name], mpinet.open(name)
    n, (R, S) = lens.level, lens.radices
    expected = {}
    for source in network.processors:
        reached, ring, hops = {source: 0}, [source], 0
        while ring:
            hops, found = hops + 1, []
            for k, d in ring:
                right, left = (k + 1 if k < n else 1), (k - 1 or n)
                if k < n or name.startswith("clens"):
                    found += [(right, reference.put(d, right, b)) for b in range(R)]
                if k > 1 or name.startswith("clens"):
                    found += [(left, reference.put(d, k, c)) for c in range(S)]
            ring = [u for u in dict.fromkeys(found) if u not in reached]
            reached |= dict.fromkeys(ring, hops)
        expected |= {(source, u): count for u, count in reached.items()}
    hops = lengths(lens, lens.routing("patternA"))
    for s, t in product(network.processors, repeat=2):
        found = hops[network.number[s], network.number[t]]
        assert found == expected.get((s, t), UNREACHED)


@pytest.mark.parametrize("name", ["lens:3,3,3", "lens:4,3,3", "lens:3,5,2", "lens:2,4,3",
                                  "clens:3,3", "clens:3,4", "clens:4,3", "clens:5,2", "clens:2,6",
                                  "clens:2,3"])  # fmt: skip
def test_stateless_routing_goes_to_the_first_closer_neighbour(name):
    network, lens = (LENSES | CIRCLES)[name], mpinet.open(name)
    routing = lens.routing("stateless")
    for target, source in product(range(lens.size), repeat=2):
        if source != target:
            closer = network.distance[source, target] - 1
            first = next(
                port
                for port, (_, v) in enumerate(network.ports[source])
                if network.distance[v, target] == closer
            )
            assert routing.decide(source, [target], routing.params) == first


def shortest_paths(lens, source):
    """Numbers of shortest paths to all nodes, counted wave by wave; another bus is another path."""
    wave, counts = np.eye(lens.size)[source], np.eye(lens.size)[source]
    behind = lens.neighbor(np.arange(lens.size)[:, np.newaxis], np.arange(lens.ports))
    nodes, ports = np.nonzero(behind >= 0)
    while wave.any():
        reached = np.zeros(lens.size)
        np.add.at(reached, behind[nodes, ports], wave[nodes])
        wave = np.where(counts == 0, reached, 0)
        counts += wave
    return counts


def sampled(make, lens, source, target, count):
    """How often each path (with its busses) is taken, for so many seeds."""
    taken = {}
    for seed in range(count):
        nodes, ports = path(lens, make(lens, seed), source, target)
        busses = [lens.channel(u, port) for u, port in zip(nodes, ports, strict=False)]
        key = (*nodes, *busses)
        taken[key] = taken.get(key, 0) + 1
    return taken


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [("clens:3,3", 0, 7), ("clens:3,4", 3, 12), ("clens:4,2", 0, 15), ("clens:3,3", 8, 15),
     ("lens:3,3,3", 1, 14), ("lens:3,4,2", 0, 9), ("clens:2,4", 0, 2), ("clens:3,2", 0, 3)],
)  # fmt: skip
def test_regular_routing_takes_every_shortest_path_equally_often(name, source, target):
    lens = mpinet.open(name)
    ways = int(shortest_paths(lens, source)[target])
    each = 120
    taken = sampled(regular, lens, source, target, each * ways)
    assert len(taken) == ways
    assert sum((times - each) ** 2 / each for times in taken.values()) < ways + 6 * ways**0.5


def test_fair_routing_draws_among_the_least_plans():
    circle = mpinet.open("clens:2,4")
    taken = sampled(fair, circle, 0, 2, 400)
    assert len(taken) == 2
    assert all(150 < times < 250 for times in taken.values())
    circle = mpinet.open("clens:4,3")
    target = int(np.argmax(shortest_paths(circle, 0)))
    assert len(sampled(fair, circle, 0, target, 200)) > 8


@pytest.mark.parametrize("make", [fair, regular])
def test_random_routing_depends_on_the_seed_alone(make):
    circle = mpinet.open("clens:4,4")
    ends = 0, int(np.argmax(shortest_paths(circle, 0)))
    assert walk(circle, make(circle, 5), *ends) == walk(circle, make(circle, 5), *ends)
    assert len({tuple(walk(circle, make(circle, seed), *ends)) for seed in range(20)}) > 4


def partial_path(network, p, n, size, s, t):
    """Section 9."""
    R, kept = p - 1, set(network.processors)
    plans = enumerate(circle_plans(n, s, t))
    tries = [(merged_length(plan, True), i, zero, plan) for i, plan in plans for zero in (0, 1)]
    for _, _, zero, plan in sorted(tries, key=lambda entry: entry[:3]):
        labels = follow(plan, R, R, n, True, True, s, t, zero=bool(zero))
        if kept.issuperset(labels):
            return labels
    m = size // n
    tail = next(d for d in reference.words(n, n, R, R) if reference.value(d, R) == m)
    k0 = next(i for i, digit in enumerate(tail, 1) if digit)
    lowered = reference.put(tail, k0, 0)
    before = k0 - 1 or n

    def along(k, end):
        step = 1 if (end - k0) % n > (k - k0) % n else -1
        while k != end:
            k = (k - 1 + step) % n + 1
            yield k, tail

    if s[1] == t[1] == tail:
        return [s, *along(s[0], t[0])]
    labels = [s]
    if s[1] == tail:
        labels += [*along(s[0], k0), (before, lowered)]
    goal = (before, lowered) if t[1] == tail else t
    while labels[-1] != goal:
        k, d = labels[-1]
        k = k % n + 1
        larger = any(a > b for a, b in zip(d, goal[1], strict=True))
        digit = goal[1][k - 1] if not larger else min(d[k - 1], goal[1][k - 1])
        labels.append((k, reference.put(d, k, digit)))
    if t[1] == tail:
        labels += [(k0, tail), *along(k0, t[0])]
    return labels


@pytest.mark.costly
@pytest.mark.parametrize("name", [name for name in PARTIALS if "plens:4,8" not in name])
def test_partial_lens_routes_are_those_of_the_text(name):
    network, lens = PARTIALS[name], mpinet.open(name)
    p, routing = lens.radices[0] + 1, lens.routing()
    for s, t in product(network.processors, repeat=2):
        labels = partial_path(network, p, lens.level, lens.size, s, t)
        assert labels[-1] == t
        expected = [network.number[u] for u in labels]
        assert walk(lens, routing, expected[0], expected[-1]) == expected


@pytest.mark.parametrize(("p", "sizes"), [(3, range(2, 65, 3)), (4, range(2, 82, 4))])
def test_partial_lenses_of_every_size_deliver_all_pairs_within_5n_hops(p, sizes):
    """LENS-X-partial."""
    for size in sizes:
        lens = mpinet.open(f"plens:{p},{size}")
        hops = lengths(lens, lens.routing())
        assert hops.min() == 0
        assert hops.max() <= 5 * lens.level


def test_supplied_digits_must_be_digits():
    lens = mpinet.open("lens:4,4,5")
    for wrong in (3, -1, True, "0"):
        with pytest.raises(UsageError, match=r"a digit of first= must be 0\.\.2"):
            by_plans(lens, first=[0, wrong])


def test_header_sizes():
    circle = mpinet.open("clens:4,10")  # 10 digits of 2 bits, the dot, a direction, 3 runs <= 20, B
    assert circle.routing().header_bits(0, 1) == 20 + 4 + 1 + 3 * 5 + 1
    assert circle.routing("stateless").header_bits(0, 1) == 24
    assert circle.routing("stateless").stateless


def test_large_networks_route_far_pairs():
    generator = np.random.default_rng(5)
    for name in ("clens:3,18", "clens:9,12", "lens:3,7,15", "lens:8,3,14", "plens:3,3000000",
                 "snowflake:9,7", "busstar:3,25", "clens:2,101", "lens:2,2,100"):  # fmt: skip
        topology = mpinet.open(name)
        for routing_name in topology.routings:
            if routing_name == "patternA" and name.startswith("lens"):
                continue
            for _ in range(4):
                source, target = map(int, generator.integers(0, topology.size, 2))
                path(topology, topology.routing(routing_name), source, target)
