"""Floods measure what networkx computes: eccentricities, distances, the number of messages."""

from itertools import cycle
from math import comb

import networkx
import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, transport
from serial.networks.families import reference
from serial.networks.reference import EVERYTHING, graph
from serial.networks.reference import distances as reference_distances

import mpinet
from mpinet import Machine
from mpinet.compiled import rule
from mpinet.errors import NodeError, UsageError
from mpinet.machine.model import PortModel
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.programs import waves
from mpinet.programs.flood import distances, flood

NETWORKS = """ring:3 ring:17 mesh:3x4 torus:2x3x5 hypercube:5 complete:9 ccc:3 debruijn:6
shuffleexchange:3 circulant:13,jumps=5-2-6 chordalring:16,5 fattree:2,3 ring:5*ring:7""".split()


@pytest.mark.parametrize(("network", "mapping"), list(zip(NETWORKS, cycle(MAPPINGS), strict=False)))
def test_flood_takes_the_eccentricity_of_its_root(network, mapping):
    topology, wiring = mpinet.open(network), EVERYTHING[network]
    machine = machine_of(topology, mapping=mapping_of(topology, mapping))
    root = topology.size // 3
    result = flood(machine, root)
    distance = networkx.single_source_shortest_path_length(graph(wiring), root)
    farthest = max(distance.values())
    # Everybody but the last to be informed has sent on all ports.
    sent = sum(graph(wiring).degree(u) for u, d in distance.items() if d < farthest)
    assert (result.steps, result.eccentricity) == (farthest, farthest)
    assert (result.informed, result.messages) == (topology.size, sent)
    assert result.farthest_host == max(distance[u] for u in range(topology.hosts))
    assert machine.steps == farthest
    assert set(everyone(result)) == {flood(Machine(topology, transport=Local()), root)}


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize("network", NETWORKS)
def test_distances_are_those_of_networkx(network, mapping):
    machine = machine_of(network, mapping=mapping_of(mpinet.open(network), mapping))
    measured = distances(machine)
    distance = reference_distances(EVERYTHING[network])
    lengths = [d for u, row in distance.items() for v, d in row.items() if u != v]
    assert (measured.diameter, measured.distance_sum) == (max(lengths), sum(lengths))
    assert measured.average_distance == sum(lengths) / len(lengths)


@pytest.mark.parametrize("network", ["busstar:3,3", "clens:2,3"])
def test_distances_over_busses_are_those_where_their_members_are_linked(network):
    measured = distances(machine_of(network))
    distance = reference_distances(reference(network).wiring)
    lengths = [d for u, row in distance.items() for v, d in row.items() if u != v]
    assert (measured.diameter, measured.distance_sum) == (max(lengths), sum(lengths))


def test_the_sources_done_are_told_after_every_flood_and_all_of_them_at_the_end():
    told, size = [], 4 * 512 + 100
    machine = machine_of(f"ring:{size}")
    distances(machine, told.append)
    assert told[-1] == size and told == sorted(told)
    if transport().size == 1:
        assert told == [512, 1024, 1536, 2048, size]


@pytest.mark.parametrize("most_ports", [0, 2**22])
def test_distances_of_more_sources_than_fit_in_one_flood_add_up(most_ports, monkeypatch):
    monkeypatch.setattr(waves, "MOST_PORTS", most_ports)
    done = []
    measured = distances(machine_of("torus:25x24"), done.append)
    around = [sum(min(d, n - d) for d in range(n)) for n in (25, 24)]
    assert measured.diameter == 12 + 12
    assert measured.distance_sum == 600 * (around[0] * 24 + around[1] * 25)
    assert done == sorted(done) and done[-1] == 600


@pytest.mark.parametrize("most_ports", [0, 2**22])
def test_a_network_in_two_parts_has_no_diameter(most_ports, monkeypatch):
    monkeypatch.setattr(waves, "MOST_PORTS", most_ports)
    with pytest.raises(UsageError, match="not connected"):
        distances(machine_of(TwoRings()))


class TwoRings(Topology):
    """Nodes 0..4 in a ring, and 5..9 in another."""

    family = "tworings"

    def __init__(self):
        super().__init__("", size=10, ports=2)

    @rule
    def neighbor(node, port, params):
        """The one before, or the one behind."""
        return node - node % 5 + (node + 1 + 3 * port) % 5

    @rule
    def reverse_port(node, port, params):
        """The other one."""
        return 1 - port


@pytest.mark.parametrize("shared", [False, True])
def test_sources_are_shared_out_where_a_rank_can_host_the_machine(shared, monkeypatch):
    monkeypatch.setattr(waves, "MOST_PORTS", 32 * 5 * shared)
    machine = machine_of("hypercube:5")
    floods, sources = waves.shared_out(machine, np.arange(32))
    flooded = [node for part in everyone(sources.tolist()) for node in part]
    assert sorted(flooded) == sorted([*range(32)] * (1 if shared else transport().size))
    pairs = np.zeros(6, np.int64)
    for wave in floods.waves(sources):
        pairs[wave.distance] += wave.bits
    assert machine.sum(*pairs) == [32 * comb(5, distance) for distance in range(6)]


def test_flooding_needs_an_all_port_machine_and_a_root():
    with pytest.raises(UsageError, match="all-port"):
        flood(machine_of("ring:5", "one"), 0)
    with pytest.raises(NodeError, match=r"nodes are 0\.\.4"):
        flood(machine_of("ring:5"), 5)


HALF = "ring:3 ring:17 mesh:3x4 torus:2x3x5 hypercube:5 complete:9 ccc:3 debruijn:6".split()


@pytest.mark.parametrize(("network", "mapping"), list(zip(HALF, cycle(MAPPINGS), strict=False)))
def test_a_flood_over_half_duplex_links_sends_once_between_two_of_a_wave(network, mapping):
    topology, wiring = mpinet.open(network), EVERYTHING[network]
    mapped = mapping_of(topology, mapping)
    machine = machine_of(topology, PortModel(half_duplex=True), mapping=mapped)
    root = topology.size // 3
    result = flood(machine, root)
    distance = networkx.single_source_shortest_path_length(graph(wiring), root)
    farthest = max(distance.values())
    links = [(u, v) for u, v in graph(wiring).to_directed().edges if distance[u] < farthest]
    sent = [(u, v) for u, v in links if u < v or distance[u] != distance[v]]
    assert (result.steps, result.informed) == (farthest, topology.size)
    assert result.messages == len(sent)
