"""The bound on throughput, once more by adding up fractions along paths asked node by node."""

from collections import Counter
from fractions import Fraction

import pytest

import mpinet
from mpinet.draws import below
from mpinet.measure.channelload import saturation_bound
from mpinet.networks.routing import path
from mpinet.programs.patterns import pattern_of

SPOT = 25


def sent(name, topology):
    """The share of a source's messages that goes to each target."""
    hosts = topology.hosts
    weights = Counter()
    for s in range(hosts):
        if name == "uniform":
            weights |= {(s, t): Fraction(1, hosts) for t in range(hosts)}
        elif name == "alltoall":
            weights |= {(s, t): Fraction(1, hosts - 1) for t in range(hosts) if t != s}
        elif name == "diagonal":
            weights |= {(s, (s + 1) % hosts): Fraction(1, 3), (s, s): Fraction(2, 3)}
        elif name == "tornado":
            ring = topology.sides[-1]
            row, x = divmod(s, ring)
            rows = topology.sides[0]
            target = (row + (rows + 1) // 2 - 1) % rows * ring + (x + (ring + 1) // 2 - 1) % ring
            weights[s, target] = Fraction(1)
        else:
            often = Fraction(below(SPOT / 100), 2**32)
            weights.update({(s, t): (1 - often) / hosts for t in range(hosts)})
            weights[s, 2] += often
    return weights


def busiest(topology, routing, weights, ejects):
    """The flits of the busiest channel, every draw of a processor in between tried."""
    hosts, loads = topology.hosts, Counter()
    base = routing.base or routing

    def cross(source, target, weight):
        nodes, ports = path(topology, base, source, target)
        for channel in zip(nodes, ports, strict=False):
            loads[channel] += weight

    for (s, t), weight in weights.items():
        if ejects:
            loads["taken", t] += weight
        for m in range(hosts) if routing.base else [t]:
            part = weight / hosts if routing.base else weight
            if s == t or m in (s, t):
                cross(s, t, part)
            else:
                cross(s, m, part)
                cross(m, t, part)
    return max(loads.values())


@pytest.mark.costly
@pytest.mark.parametrize("pattern", ["uniform", "alltoall", "diagonal", "tornado", "hotspot"])
@pytest.mark.parametrize("name", ["torus:4x3", "mesh:2x5", "torus:2x4"])
@pytest.mark.parametrize("routing", [None, "valiant"])
@pytest.mark.parametrize("ejects", [True, False])
def test_the_bound_is_one_over_what_the_busiest_channel_carries(name, pattern, routing, ejects):
    topology = mpinet.open(name)
    chosen = topology.routing(routing)
    words = f"hotspot:2,{SPOT}" if pattern == "hotspot" else pattern
    found = saturation_bound(topology, chosen, pattern_of(topology, words), one_ejects=ejects)
    assert found == float(1 / busiest(topology, chosen, sent(pattern, topology), ejects))


def test_drawn_processors_carry_more_tornado_traffic_than_the_bound_of_the_direct_ways():
    direct = mpinet.load("torus:8x8", pattern="tornado", rate=0.1, steps=10).curves[0]
    (drawn,) = mpinet.load(
        "torus:8x8", pattern="tornado", routing="valiant", vcs=16, rate=0.34, warmup=200, steps=400
    ).curves
    assert not drawn.points[0].saturated
    assert direct.bound < 0.34 < drawn.bound


@pytest.mark.parametrize("name", ["karytree:4,3", "karytree:2,4", "fattree:4,3", "megafly:4,4,4"])
def test_trees_carry_all_that_their_processors_send(name):
    topology = mpinet.open(name)
    uniform = pattern_of(topology, "uniform")
    assert saturation_bound(topology, topology.routing(), uniform) == 1
