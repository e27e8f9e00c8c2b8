"""Floods measure what networkx computes: eccentricities, distances, the number of messages."""

from itertools import cycle

import networkx
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of
from serial.networks.reference import EVERYTHING, graph
from serial.networks.reference import distances as reference_distances

import mpinet
from mpinet import Machine
from mpinet.errors import NodeError, UsageError
from mpinet.machine.transport import Local
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


@pytest.mark.parametrize("network", NETWORKS)
def test_distances_are_those_of_networkx(network):
    machine = machine_of(network, mapping=mapping_of(mpinet.open(network), "random"))
    measured = distances(machine)
    distance = reference_distances(EVERYTHING[network])
    lengths = [d for u, row in distance.items() for v, d in row.items() if u != v]
    assert (measured.diameter, measured.distance_sum) == (max(lengths), sum(lengths))
    assert measured.average_distance == sum(lengths) / len(lengths)


def test_distances_of_more_sources_than_fit_in_one_flood_add_up():
    measured = distances(machine_of("torus:25x24"))
    around = [sum(min(d, n - d) for d in range(n)) for n in (25, 24)]
    assert measured.diameter == 12 + 12
    assert measured.distance_sum == 600 * (around[0] * 24 + around[1] * 25)


def test_flooding_needs_an_all_port_machine_and_a_root():
    with pytest.raises(UsageError, match="all-port"):
        flood(machine_of("ring:5", "one"), 0)
    with pytest.raises(NodeError, match=r"nodes are 0\.\.4"):
        flood(machine_of("ring:5"), 5)
