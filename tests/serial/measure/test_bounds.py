"""Bounds and embedding costs of a network by its name: closed forms of the classics."""

from math import ceil, log2

import pytest
from serial.measure.walked import distances_of

import mpinet
from mpinet import measure
from mpinet.errors import NodeError, UsageError


@pytest.mark.parametrize("name", ["ring:9", "hypercube:4", "ccc:3", "mesh:3x4"])
def test_bounds_with_one_port_are_those_of_the_specification(name):
    far = distances_of(mpinet.open(name))
    size, total = len(far), sum(d for row in far.values() for d in row.values())
    wide = max(far[3].values())
    assert measure.broadcast_bound(name, 3) == max(wide, ceil(log2(size)))
    assert measure.multicast_bound(name, 3, [0, 1, 2]) == max(2, *(far[3][v] for v in range(3)))
    assert measure.gossip_bound(name) == measure.scatter_bound(name) == size - 1
    assert measure.gather_bound(name, 3) == size - 1
    assert measure.exchange_bound(name) == max(size - 1, ceil(total / size))
    diameter = max(d for row in far.values() for d in row.values())
    assert measure.combining_gossip_bound(name) == max(diameter, ceil(log2(size)))


def test_bounds_with_all_ports_count_channels():
    """Hypercube of dimension 4: 15 items over 4 links; 16 * 32 hops over 64 directed links."""
    assert measure.scatter_bound("hypercube:4", ports="all") == ceil(15 / 4)
    assert measure.gossip_bound("hypercube:4", ports="all") == ceil(15 / 4)
    assert measure.exchange_bound("hypercube:4", ports="all") == 8
    assert measure.broadcast_bound("hypercube:4", ports="all") == 4


def test_a_root_that_the_network_does_not_have_is_refused():
    with pytest.raises(NodeError, match="Node 9 is not in ring:9"):
        measure.broadcast_bound("ring:9", 9)
    with pytest.raises(NodeError, match="Node 10"):
        measure.multicast_bound("ring:9", 0, [1, 10])


def test_the_gray_code_embeds_the_ring_in_the_hypercube():
    gray = [x ^ (x >> 1) for x in range(16)]
    found = measure.embedding_cost("ring:16", "hypercube:4", gray)
    assert (found.dilation, found.congestion, found.expansion) == (1, 1, 1.0)
    assert measure.embedding_cost("ring:16", "hypercube:4").dilation == 4
    with pytest.raises(UsageError, match="does not fit"):
        measure.embedding_cost("ring:17", "hypercube:4")
