"""On busses a flood keeps the bus rule and takes the eccentricity; distances are networkx's."""

import networkx
import pytest
from mpi.machine.ranks import everyone, machine_of, mapping_of

import mpinet
from mpinet.errors import UsageError
from mpinet.programs.broadcast import broadcast
from mpinet.programs.flood import distances, flood

NETWORKS = ["clens:3,3", "lens:3,4,3", "lens:2,3,3", "clens:2,5", "snowflake:3,3", "busstar:4,2"]


def adjacent(topology) -> networkx.Graph:
    """Which processors share a bus, asked port by port."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(topology.size))
    for u in range(topology.size):
        for port in range(topology.ports):
            v = topology.neighbor(u, port)
            if v >= 0:
                graph.add_edge(u, v)
    return graph


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_flood_takes_the_eccentricity_with_one_transmission_a_bus(network, mapping):
    topology = mpinet.open(network)
    root = topology.size // 2
    distance = networkx.single_source_shortest_path_length(adjacent(topology), root)
    result = flood(machine_of(topology, mapping=mapping_of(topology, mapping)), root)
    assert (result.informed, result.eccentricity) == (topology.size, max(distance.values()))
    assert result.messages <= topology.busses
    assert len(set(everyone(result))) == 1


@pytest.mark.parametrize("network", NETWORKS)
def test_distances_on_busses_are_those_of_networkx(network):
    topology = mpinet.open(network)
    lengths = dict(networkx.all_pairs_shortest_path_length(adjacent(topology)))
    found = distances(machine_of(topology))
    assert found.diameter == max(max(row.values()) for row in lengths.values())
    assert found.distance_sum == sum(sum(row.values()) for row in lengths.values())


def test_the_tree_broadcast_is_refused_on_busses():
    with pytest.raises(UsageError, match="busses"):
        broadcast(machine_of("clens:3,3", ports="one"), 0, "tree")
