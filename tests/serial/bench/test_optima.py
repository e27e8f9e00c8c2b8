"""The large networks: by their rule, and none is refused; the gaps of small ones are known."""

import pytest

import mpinet
from mpinet.bench.benchmark import BenchSetting
from mpinet.bench.optima import LARGE, OWN, SMALL, gaps, seconds, sides_of

NETWORKS = LARGE.split()


def test_the_large_networks_are_72_of_links_in_three_sizes():
    networks = [mpinet.open(name) for name in NETWORKS]
    assert len(set(NETWORKS)) == 72 and all(network.links for network in networks)
    sizes = [sorted(n.hosts for n in networks[at : at + 3]) for at in range(0, 72, 3)]
    assert all(256 <= least <= 1000 and most <= 20480 for least, _, most in sizes)


def test_the_gaps_of_small_networks_are_those_of_proved_optima():
    proved = {"foldedcube:5": (5, 9), "debruijn:5": (6, 8), "gmn:4,32": (6, 7)}
    assert set(proved) == set(SMALL.split())
    for name, (optimum, own) in proved.items():
        sides = sides_of(name)
        assert (sides.lower, sides.steps, sides.own) == (optimum, optimum, own)
    found, known = gaps(BenchSetting(), 3)
    assert (found(), known[OWN]()) == (0, 7)
    measured, published = seconds(BenchSetting(), 3)
    assert measured() > 0 and published[OWN]() > 0


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_both_sides_of_a_large_network_are_close(name):
    sides = sides_of(name)
    assert sides.lower <= sides.steps <= sides.own
    assert sides.steps - sides.lower <= 4


@pytest.mark.long
def test_the_gaps_of_large_networks_are_small_in_all():
    found = [sides_of(name) for name in NETWORKS]
    gap = sum(sides.steps - sides.lower for sides in found)
    assert gap <= 44 and gap * 10 < sum(sides.own - sides.lower for sides in found)
