"""Lower bounds: the formulas of docs/papers/hdn, 8, on networkx' distances."""

from math import ceil, log2

import numpy as np
import pytest
from mpi.machine.ranks import machine_of
from serial.networks.reference import EVERYTHING, distances, graph

import mpinet
from mpinet.machine.model import PortModel
from mpinet.programs.bounds import (
    broadcast_bound,
    combining_gossip_bound,
    exchange_bound,
    gather_bound,
    gossip_bound,
    host_distances,
    multicast_bound,
    scatter_bound,
)

NETWORKS = "complete:2 mesh:3x2x5 hypercube:5 ccc:3 debruijn:3 torus:2x3x5 ring:5*ring:7".split()


def reference(name):
    """Distances, degrees, number of nodes."""
    return distances(EVERYTHING[name]), dict(graph(EVERYTHING[name]).degree), len(EVERYTHING[name])


@pytest.mark.parametrize("name", NETWORKS)
def test_bounds_with_one_port_are_those_of_the_specification(name):
    far, _, size = reference(name)
    total = sum(far[u][v] for u in range(size) for v in range(size))
    diameter = max(far[u][v] for u in range(size) for v in range(size))
    root = size // 2
    eccentricity = max(far[root][v] for v in range(size))
    machine = machine_of(name, "one")
    assert broadcast_bound(machine, root) == max(eccentricity, ceil(log2(size)))
    assert gossip_bound(machine) == size - 1
    assert combining_gossip_bound(machine) == max(diameter, ceil(log2(size)))
    assert exchange_bound(machine) == max(size - 1, ceil(total / size))
    assert scatter_bound(machine, root) == gather_bound(machine, root) == size - 1
    assert machine.steps == 0


@pytest.mark.parametrize("name", NETWORKS)
def test_bounds_with_all_ports_count_links(name):
    far, degree, size = reference(name)
    total = sum(far[u][v] for u in range(size) for v in range(size))
    diameter = max(far[u][v] for u in range(size) for v in range(size))
    root, narrow = size - 1, min(degree.values())
    eccentricity = max(far[root][v] for v in range(size))
    machine = machine_of(name, "all")
    served = max(ceil((size - 1) / degree[root]), eccentricity)
    assert scatter_bound(machine, root) == gather_bound(machine, root) == served
    received = ceil((size - 1) / narrow)
    assert gossip_bound(machine) == max(received, diameter)
    assert exchange_bound(machine) == max(received, ceil(total / sum(degree.values())), diameter)
    half = machine_of(name, PortModel(None, None, True))
    links = sum(degree.values()) // 2
    assert exchange_bound(half) == max(received, ceil(total / links), diameter)
    assert gossip_bound(half) == max(received, ceil(size * (size - 1) / links), diameter)


def test_a_multicast_reaches_its_farthest_target_and_doubles():
    machine = machine_of("ring:16", "one")
    assert multicast_bound(machine, 3, np.array([4, 9, 2])) == 6
    assert multicast_bound(machine, 3, np.array([2, 4, 5, 1, 3, 0])) == 3  # 6 to know: 3 doublings
    assert multicast_bound(machine, 3, np.array([3])) == 0
    assert multicast_bound(machine_of("complete:9", "one"), 0, np.arange(1, 9)) == 4


@pytest.mark.parametrize("name", ["fattree:2,3", "fattree:3,3", "roadrunner:3,2,2"])
def test_switches_are_passed_but_not_counted(name):
    far, hosts = distances(EVERYTHING[name]), mpinet.open(name).hosts
    pairs = [far[u][v] for u in range(hosts) for v in range(hosts)]
    measured = host_distances(machine_of(name, "all"))
    assert (measured.diameter, measured.total) == (max(pairs), sum(pairs))


def test_a_bus_counts_as_one_channel_of_its_members():
    lens = mpinet.open("lens:3,2,3")
    nodes = np.arange(lens.size)
    busses = [len(set(lens.incidences(np.array([u]))[:, 1].tolist())) for u in nodes]
    others = lens.size - 1
    machine = machine_of(lens, "all")
    diameter = host_distances(machine).diameter
    assert scatter_bound(machine, 0) == max(ceil(others / busses[0]), _farthest(lens, 0))
    assert gossip_bound(machine) == max(ceil(others / min(busses)), diameter)
    assert gossip_bound(machine_of(lens, "one")) == others


def _farthest(topology, root):
    """Hops from the root to the farthest processor, by breadth-first search."""
    seen, fresh, hops = {root}, {root}, -1
    while fresh:
        hops += 1
        ahead = {topology.neighbor(u, p) for u in fresh for p in range(topology.ports)}
        fresh = {v for v in ahead if v >= 0} - seen
        seen |= fresh
    return hops


def test_a_lone_processor_needs_no_step():
    for ports in ("one", "all"):
        machine = machine_of("complete:1", ports)
        assert gossip_bound(machine) == exchange_bound(machine) == combining_gossip_bound(machine)
        assert scatter_bound(machine, 0) == gather_bound(machine, 0) == exchange_bound(machine) == 0
