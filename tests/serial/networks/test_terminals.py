"""Terminals: processors at the routers of a direct network, against networkx and the network."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import mpinet
from mpinet import measure
from mpinet.errors import TopologyError
from mpinet.measure.deadlock import channel_dependency_cycle, counted_classes
from mpinet.networks import check
from mpinet.networks.routing import path

NAMES = (
    "ring:3,hosts=2",
    "complete:2,hosts=1",
    "mesh:3x3,hosts=2",
    "torus:4x4,hosts=3",
    "petersen:hosts=3",
    "hypercube:3*ring:3,hosts=2",
    "slimfly:5,hosts=4",
    "hyperx:3x4,hosts=3",
    "randomregular:10,3,7,hosts=2",
)


def defined(network, each):
    """The graph by its definition, of the network's own links."""
    hosts = network.size * each
    graph = nx.Graph([(p, hosts + p // each) for p in range(hosts)])
    graph.add_edges_from(
        (hosts + u, hosts + v) for u in range(network.size) for v in network.neighbors(u)
    )
    return graph


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
def test_every_router_has_the_networks_links_and_its_processors(name):
    topology = mpinet.open(name)
    network, each = topology.network, topology.each
    assert (topology.hosts, topology.size) == (network.size * each, network.size * (each + 1))
    assert topology.name == mpinet.open(topology.name).name == name
    check(topology)
    wanted = defined(network, each)
    assert nx.utils.graphs_equal(nx.Graph(measure.edges(topology).tolist()), wanted)
    assert measure.diameter(topology) == nx.diameter(wanted)
    for router in range(network.size):  # its ports first, then a port for each processor
        node = topology.hosts + router
        there = topology.neighbor(node, np.arange(topology.ports)).tolist()
        own = network.neighbor(router, np.arange(network.ports)).tolist()
        assert there[: network.ports] == [v if v < 0 else topology.hosts + v for v in own]
        assert there[network.ports :] == [router * each + i for i in range(each)]


@pytest.mark.parametrize("name", NAMES)
def test_a_route_goes_up_through_the_network_as_its_routing_does_and_down(name):
    topology = mpinet.open(name)
    network, each, hosts = topology.network, topology.each, topology.hosts
    for routing in topology.routings:
        ours, own = topology.routing(routing), network.routing(routing)
        for source in range(0, hosts, max(1, hosts // 12)):
            for target in range(hosts):
                nodes, _ = path(topology, ours, source, target)
                within, _ = path(network, own, source // each, target // each)
                way = [source, *(hosts + u for u in within), target]
                assert nodes == (way if source != target else [source])


@pytest.mark.parametrize("name", NAMES)
def test_addresses_name_router_and_place(name):
    topology = mpinet.open(name)
    for node in range(topology.size):
        address = topology.address(node)
        assert topology.node(address) == node
        assert address.startswith(topology.address(topology.hosts + topology.router_of(node)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lens:2,2,3,hosts=2", "busses"),
        ("fattree:2,3,hosts=2", "has switches"),
        ("torus:4x4,hosts=2,hosts=2", "has switches"),
        ("torus:4x4,hosts=0", "hosts must be >= 1, not 0"),
        ("torus:4x4,hosts=", "whole number"),
        ("torus:4x4,hosts=two", "whole number"),
        ("nosuch:4,hosts=2", "no topology 'nosuch'"),
    ],
)
def test_what_can_have_no_terminals_is_refused_in_a_sentence(text, said):
    with pytest.raises(TopologyError, match=said):
        mpinet.open(text)


@pytest.mark.parametrize("name", NAMES)
def test_default_classes_leave_no_cycle_and_are_no_more_than_the_networks(name):
    topology = mpinet.open(name)
    routing = topology.routing()
    classes = counted_classes(topology, routing)
    assert channel_dependency_cycle(topology, routing, classes=classes.name) is None
    own = counted_classes(topology.network, topology.network.routing())
    assert (classes.name, classes.count) == (own.name, own.count)


def test_a_ring_of_routers_waits_in_a_circle_without_classes():
    assert channel_dependency_cycle("ring:6,hosts=2", classes="none")


def test_a_drawn_waypoint_is_a_router():
    topology = mpinet.open("torus:4x4,hosts=2")
    routing, met = topology.routing("valiant", seed=3), set()
    for source in range(topology.hosts):
        nodes, _ = path(topology, routing, source, (source + 13) % topology.hosts)
        assert all(node >= topology.hosts for node in nodes[1:-1])
        met.add(len(nodes) - 1)
    shortest = topology.routing()
    assert max(met) > 2 + measure.diameter(topology.network)
    assert not routing.shortest and shortest.shortest


def test_channel_loads_are_those_of_all_routes():
    topology = mpinet.open("torus:4x4,hosts=2")
    graph = nx.DiGraph()
    for source in range(topology.hosts):
        for target in range(topology.hosts):
            nodes, _ = path(topology, topology.routing(), source, target)
            for u, v in pairwise(nodes):
                load = graph.get_edge_data(u, v, {"load": 0})["load"]
                graph.add_edge(u, v, load=load + 1)
    most = max(load for _, _, load in graph.edges(data="load"))
    found = mpinet.load("torus:4x4,hosts=2", rate=[0.05], warmup=20, steps=40)
    # Uniform traffic draws among all processors, the source included.
    assert found.curves[0].bound == pytest.approx(topology.hosts / most)


@pytest.mark.parametrize("routing", ["dimensions", "parity", "adaptive", "valiant"])
def test_every_routing_for_traffic_delivers(routing):
    found = mpinet.load("torus:4x4,hosts=2", routing=routing, rate=[0.1], warmup=50, steps=200)
    point = found.curves[0].points[0]
    assert point.throughput == pytest.approx(0.1, rel=0.1)
