"""Loads: counts over paths asked node by node."""

from collections import Counter

import pytest
from serial.measure.walked import broken, routes_of, stop_at_five

import mpinet
from mpinet import measure
from mpinet.errors import RoutingError

NETWORKS = """ring:7 gmn:4,32 hypercube:4 mesh:3x4 complete:1 bsn:1,2,4 hdn:2x3,super=0
fattree:2,2 sth:2,2 lens:2,3,3 clens:3,2 busstar:3,2""".split()


@pytest.mark.parametrize("name", NETWORKS)
def test_loads_count_the_hops_of_all_paths(name):
    topology = mpinet.open(name)
    passed, carried = Counter(), Counter()
    routes = routes_of(topology)
    for nodes, ports in routes.values():
        passed.update(nodes[1:-1])
        for node, port in zip(nodes, ports, strict=False):
            carried[(node, port) if topology.links else topology.channel(node, port)] += 1
    found = measure.loads(name)
    assert found.processors.tolist() == [passed[u] for u in range(topology.size)]
    assert (found.messages, found.hops) == (len(routes), sum(carried.values()))
    if topology.links:
        wired = [
            (u, port)
            for u in range(topology.size)
            for port in range(topology.ports)
            if topology.neighbor(u, port) >= 0
        ]
        assert [tuple(row) for row in found.ports.tolist()] == wired
        assert found.channels.tolist() == [carried[channel] for channel in wired]
    else:
        assert len(found.ports) == 0
        assert found.channels.tolist() == [carried[bus] for bus in range(topology.busses)]


def test_a_symmetric_routing_loads_every_channel_alike():
    """e-cube: every channel of the hypercube carries 2^(n-1) messages."""
    assert set(measure.loads("hypercube:5", "bitfixing").channels.tolist()) == {16}


def test_loads_of_some_pairs_are_those_of_their_paths():
    found = measure.loads("ring:6", pairs=[(0, 2), (4, 4), (5, 1)])
    assert found.processors.tolist() == [1, 1, 0, 0, 0, 0]
    assert found.hops == 4 and found.messages == 3


def test_messages_that_do_not_arrive_have_no_loads():
    ring = mpinet.open("ring:8")
    with pytest.raises(RoutingError, match="could not deliver"):
        measure.loads(ring, broken(stop_at_five, ring))
