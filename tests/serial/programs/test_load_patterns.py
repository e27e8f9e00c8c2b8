"""Patterns of open-loop traffic against brute force, networkx and draws of a second program."""

from collections import Counter
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from mpi.machine.adaptive_reference import draw

import mpinet
from mpinet.errors import UsageError
from mpinet.measure.channelload import saturation_bound
from mpinet.networks.routing import path
from mpinet.programs.patterns import pattern_of

STEPS = range(200)


def targets(network, text, source, seed=3):
    """Targets of a source's messages in some steps."""
    pattern = pattern_of(mpinet.open(network), text)
    return [int(pattern.rule(source, seed, 0, step, pattern.params)) for step in STEPS]


@pytest.mark.parametrize("name", ["ring:6", "mesh:2x3", "debruijn:2", "torus:2x3", "stargraph:3"])
def test_no_permutation_is_worse_for_the_first_routing_than_the_adversarial_one(name):
    topology = mpinet.open(name)
    routing, nodes = topology.routing(), range(topology.size)
    used = {}
    for u in nodes:
        for v in nodes:
            way, ports = path(topology, routing, u, v)
            used[u, v] = list(zip(way, ports, strict=False))

    def load(permutation):
        return max(Counter(hop for pair in enumerate(permutation) for hop in used[pair]).values())

    pattern = pattern_of(topology, "adversarial")
    found = [targets(name, "adversarial", source)[0] for source in nodes]
    assert sorted(found) == list(nodes)
    worst = max(load(each) for each in permutations(nodes) if list(each) != list(nodes))
    assert load(found) == worst
    assert saturation_bound(topology, routing, pattern) == pytest.approx(1 / worst)


def test_the_adversary_of_a_dragonfly_sends_every_group_to_the_next():
    width, hosts = 2 * 4, mpinet.open("dragonfly:2,4,2").hosts
    for source in (0, 9, hosts - 1):
        group = (source // width + 1) % (hosts // width)
        found = set(targets("dragonfly:2,4,2", "adversarial", source))
        assert found == set(range(group * width, (group + 1) * width))
    topology = mpinet.open("dragonfly:2,4,2")
    pattern = pattern_of(topology, "adversarial")
    assert saturation_bound(topology, topology.routing(), pattern) == pytest.approx(1 / width)


@pytest.mark.parametrize("name", ["mesh:3x3", "debruijn:3", "torus:3x3,hosts=2", "dragonfly:1,2,2"])
def test_nearby_processors_are_those_at_the_routers_around(name):
    topology = mpinet.open(name)
    graph = nx.Graph(topology.to_networkx())
    graph.remove_edges_from(nx.selfloop_edges(graph))
    for source in range(topology.hosts):
        routers = [source] if topology.hosts == topology.size else [*graph[source]]
        around = {n for router in routers for n in graph[router] if n >= topology.hosts}
        near = {n for router in around for n in graph[router] if n < topology.hosts}
        near = near - {source} if around else set(graph[source])
        assert set(targets(name, "nearby", source)) == near


def test_a_mix_takes_its_first_pattern_for_its_share():
    for source in (0, 7):
        one, other, both = (
            targets("torus:4x4", text, source)
            for text in ("neighbour", "uniform", "mix:neighbour@0.8+uniform")
        )
        first = [draw(3, source, step, 23) < round(0.8 * 2**32) for step in STEPS]
        assert both == [
            a if is_first else b for a, b, is_first in zip(one, other, first, strict=True)
        ]
        assert 0.7 < sum(first) / len(first) < 0.9
        parts = [
            targets("torus:4x4", text, source) for text in ("tornado", "groups:uniform@4+uniform")
        ]
        every = targets(
            "torus:4x4", "mix:neighbour@0.5+tornado@1e-1+groups:uniform@4+uniform", source
        )
        words = [draw(3, source, step, 23) / 2**32 for step in STEPS]
        assert every == [
            row[0 if word < 0.5 else 1 if word < 0.6 else 2]
            for row, word in zip(zip(one, *parts, strict=True), words, strict=True)
        ]
    # Each of 16 processors' two links ahead carries 0.8, and its part of uniform traffic.
    topology = mpinet.open("torus:4x4")
    routing = topology.routing("parity")
    alone = 1 / saturation_bound(topology, routing, pattern_of(topology, "uniform"), 0, False)
    mixed = pattern_of(topology, "mix:neighbour@0.8+uniform")
    bound = saturation_bound(topology, routing, mixed, 0, False)
    assert bound == pytest.approx(1 / (0.8 + 0.2 * alone))
    thrice = pattern_of(topology, "mix:neighbour@0.5+uniform@0.2+neighbour")
    assert saturation_bound(topology, routing, thrice, 0, False) == pytest.approx(bound)


def test_a_product_of_groups_takes_one_pattern_among_them_and_another_within():
    text = "groups:uniform@4+uniform"
    for source in (0, 6, 11):
        group, place = divmod(source, 4)
        shifted = targets("mesh:3x4", "groups:neighbour@4+bitreversal", source)
        assert set(shifted) == {(group + 1) % 3 * 4 + [0, 2, 1, 3][place]}
        drawn = targets("mesh:3x4", text, source)
        seeds = [(draw(3, source, t, 24), draw(3, source, t, 25)) for t in STEPS]
        assert drawn == [
            (draw(one, group, t, 17) * 3 >> 32) * 4 + (draw(other, place, t, 17) * 4 >> 32)
            for t, (one, other) in zip(STEPS, seeds, strict=True)
        ]
    compiled = pattern_of(mpinet.open("mesh:3x4"), text).targets(np.arange(12), seed=3)
    assert compiled.tolist() == [targets("mesh:3x4", text, node)[0] for node in range(12)]
    # Of a ring of 8 each group of 2 sends all to the next one: 2 channels' worth, and half of it
    # by the way from the first to the second place, or back.
    topology = mpinet.open("ring:8")
    pattern = pattern_of(topology, "groups:neighbour@2+uniform")
    load = Counter()
    for source in range(8):
        for target in ((source // 2 * 2 + 2) % 8, (source // 2 * 2 + 3) % 8):
            way, ports = path(topology, topology.routing(), source, target)
            load.update(dict.fromkeys(zip(way, ports, strict=False), 0.5))
    bound = saturation_bound(topology, topology.routing(), pattern, 0, False)
    assert bound == pytest.approx(1 / max(load.values()))


def test_a_file_names_the_target_of_everybody(tmp_path):
    file = tmp_path / "turned.csv"
    file.write_text("source,target\n" + "".join(f"{s},{(3 * s + 1) % 8}\n" for s in range(8)))
    for source in range(8):
        assert set(targets("ring:8", str(file), source)) == {(3 * source + 1) % 8}
    file.write_text("0,1\n1,0\n")
    with pytest.raises(UsageError, match="the target of each of the 8 processors"):
        pattern_of(mpinet.open("ring:8"), str(file))


@pytest.mark.parametrize(
    ("network", "text", "said"),
    [
        ("fattree:2,3", "nearby", "has none"),
        ("ring:1000", "adversarial", "at most 512 processors"),
        ("ring:8", "mix:uniform@1.5+neighbour", "between 0 and 1"),
        ("ring:8", "mix:uniform+neighbour", "give mix:P@SHARE"),
        ("ring:8", "mix:uniform@0.5+nobody", "no traffic pattern"),
        ("ring:8", "groups:uniform@3+uniform", "SIZE divides the 8 processors"),
        ("ring:8", "groups:nearby@2+uniform", "groups use uniform"),
        ("ring:6", "groups:complement@2+uniform", "needs 2\\^n processors"),
    ],
)
def test_patterns_that_are_not_defined_are_refused(network, text, said):
    with pytest.raises(UsageError, match=said):
        pattern_of(mpinet.open(network), text)
