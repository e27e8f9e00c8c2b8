"""Which rank hosts what by the mappings that have a name, and what crosses between ranks."""

import re
import tracemalloc
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from mpi.machine.ranks import everyone, machine_of, transport

import mpinet
from mpinet.errors import UsageError
from mpinet.machine.choice import MAPPINGS, crossing_ports, least_crossing, open_mapping
from mpinet.machine.dry import Dry
from mpinet.machine.machine import Machine
from mpinet.machine.placement import Placement, blocks, clustered
from mpinet.machine.transport import Local
from mpinet.networks.catalogue import to_networkx
from mpinet.programs.ascend import run
from mpinet.programs.flood import flood
from mpinet.programs.route import route
from mpinet.programs.traffic import traffic

FIRST_PART, SECOND_PART = r"(\d+),", r",(\d+)\)"
CLUSTERED = {
    "gmn:8,256": FIRST_PART,
    "ccc:5": FIRST_PART,
    "sth:2,3": SECOND_PART,
    "sth:3,3,cq": SECOND_PART,
    "hhc:2": r"\((\d+),",
    "dualcube:3": r"(\d+,\d+),",
    "rdn:2x3,1": r"(\d+,\d+),",
    "hdn:2x2,super=0/0.1": r"(\d+,\d+),",
    "bsn:2,2,8": r"(\d{6})",
    "gbsn:2,m=4-4-4-3-7,a=1": r"(\d{3})",
    "ring:5*mesh:3x3": r"\|(.*)\)",
}
"""Networks, and what of an address names the cluster."""


def cluster_names(topology, part):
    """The cluster of every processor, read from its address."""
    return [re.search(part, topology.address(u)).group(1) for u in range(topology.size)]


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", CLUSTERED)
def test_no_cluster_lies_on_two_ranks(name, ranks):
    topology = mpinet.open(name)
    clusters = cluster_names(topology, CLUSTERED[name])
    hosts: dict[str, set[int]] = {}
    for rank in range(ranks):
        for u in Placement(clustered(topology), rank, ranks).nodes:
            hosts.setdefault(clusters[u], set()).add(rank)
    assert len(hosts) == len(set(clusters)) >= ranks
    assert all(len(those) == 1 for those in hosts.values())


def test_blocks_differ_from_even_ones_by_no_more_than_a_cluster():
    topology = mpinet.open("gmn:8,256")
    for ranks in (3, 5, 7):
        counts = [Placement(clustered(topology), rank, ranks).count for rank in range(ranks)]
        assert sum(counts) == 256 and all(abs(count - 256 / ranks) <= 8 for count in counts)


@pytest.mark.costly
@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 40, 300])
@pytest.mark.parametrize("name", [*CLUSTERED, "fattree:3,3", "torus:4x4", "complete:5*fattree:2,2"])
def test_every_processor_is_on_one_rank_that_all_ranks_agree_on(name, ranks):
    topology = mpinet.open(name)
    placements = [Placement(clustered(topology), rank, ranks) for rank in range(ranks)]
    found = np.concatenate([placement.nodes for placement in placements])
    assert sorted(found.tolist()) == list(range(topology.size))
    owners = placements[-1].owners(np.arange(topology.size))
    for rank, placement in enumerate(placements):
        assert (owners[placement.nodes] == rank).all()
        assert placement.slots(placement.nodes).tolist() == list(range(placement.count))


def test_a_fat_tree_s_switches_stand_with_their_processors():
    topology = mpinet.open("fattree:3,3")
    for rank in range(3):
        nodes = set(Placement(clustered(topology), rank, 3).nodes.tolist())
        processors = [u for u in nodes if u < 27]
        assert sorted(processors) == list(range(9 * rank, 9 * rank + 9))
        edge_switches = {topology.neighbor(u, 0) for u in processors}
        assert edge_switches <= nodes and len(nodes) == topology.size // 3


def test_the_measured_mapping_is_the_one_with_fewer_links_between_ranks():
    def crossing(mapping):
        at = [Placement(mapping, rank, 3) for rank in range(3)]
        owner = {int(u): rank for rank, placement in enumerate(at) for u in placement.nodes}
        return sum(owner[u] != owner[v] for u, v in to_networkx(topology).edges)

    for name in ("fattree:3,3", "gmn:8,256", "sth:2,3", "torus:6x6"):
        topology = mpinet.open(name)
        least = min(crossing(blocks(topology)), crossing(clustered(topology)))
        chosen = {least_crossing_of(topology, rank).name for rank in range(3)}
        assert len(chosen) == 1
        assert crossing(open_mapping(chosen.pop(), topology, Local())) == least


class Rehearsed(Dry):
    """Rank r of several, who are all asked in turn for what they would add."""

    def __init__(self, rank, told):
        super().__init__(rank, len(told[0]))
        self.told = [*told]

    def sum(self, values):
        return np.sum(self.told.pop(0), axis=0)

    def max(self, values):
        return np.max(self.told.pop(0), axis=0)


def least_crossing_of(topology, rank):
    """What a rank of three chooses."""
    return least_crossing(topology, Rehearsed(rank, said_by_three(topology)))


def said_by_three(topology):
    """What three ranks tell one another while they choose, collective by collective."""
    graph = to_networkx(topology)
    rounds = []
    for mapping in (blocks(topology), clustered(topology)):
        at = [Placement(mapping, rank, 3) for rank in range(3)]
        owner = {int(u): rank for rank, placement in enumerate(at) for u in placement.nodes}
        ends = Counter(owner[u] for u, v in graph.to_directed().edges if owner[u] != owner[v])
        rounds.append([np.array([ends[rank]]) for rank in range(3)])
        rounds.append([np.array([placement.count]) for placement in at])
    return rounds


def test_ranks_choose_alike_and_nobody_gets_much_more_than_a_share():
    topology = mpinet.open("complete:16*ring:4")
    mapping = least_crossing(topology, transport())
    assert len(set(everyone(mapping.name))) == 1
    counts = everyone(Placement(mapping, transport().rank, transport().size).count)
    assert max(counts) <= 1.25 * -(-64 // transport().size)


def test_an_unknown_mapping_gets_a_sentence():
    with pytest.raises(UsageError, match="give one of blocks, clusters, measured, random"):
        open_mapping("cluster", mpinet.open("ring:4"), Local())


def owners_of(machine):
    """The rank of every processor, as the ranks themselves tell it."""
    owner = {}
    for rank, nodes in enumerate(everyone(machine.nodes.tolist())):
        owner |= dict.fromkeys(nodes, rank)
    return owner


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("name", ["sth:2,3", "gmn:8,256", "fattree:3,3"])
def test_a_flood_crosses_every_link_between_ranks_from_those_that_send(name, mapping):
    topology = mpinet.open(name)
    machine = machine_of(topology, mapping=open_mapping(mapping, topology, transport(), 3))
    flood(machine, 1)
    graph, owner = to_networkx(topology), owners_of(machine)
    distance = nx.single_source_shortest_path_length(graph, 1)
    farthest = max(distance.values())
    sends = [(u, v) for u, v in graph.to_directed().edges if distance[u] < farthest]
    assert machine.crossing.messages == sum(owner[u] != owner[v] for u, v in sends)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_routed_messages_cross_where_their_paths_do(mapping):
    topology = mpinet.open("hypercube:7")
    machine = machine_of(topology, mapping=open_mapping(mapping, topology, transport(), 3))
    pattern = traffic(topology, "permutation", 5)
    route(machine, pattern)
    owner, crossing = owners_of(machine), 0
    for u, target in zip(*pattern.ends(np.arange(128)), strict=True):
        for bit in range(7):
            if (u ^ target) >> bit & 1:
                crossing += owner[u] != owner[u ^ 1 << bit]
                u ^= 1 << bit
    words = 2 + topology.routing().words
    assert machine.crossing.messages == crossing
    assert machine.crossing.bytes == 8 * words * crossing


def test_all_messages_of_a_pass_cross_in_the_dimensions_between_ranks():
    machine = machine_of("hypercube:6")
    run(machine, "sum")
    owner = owners_of(machine)
    crossing = sum(owner[u] != owner[u ^ 1 << bit] for u in range(64) for bit in range(6))
    assert (machine.crossing.messages, machine.crossing.bytes) == (crossing, 8 * crossing)


def test_nothing_crosses_on_one_rank():
    machine = Machine("torus:4x4", transport=Local())
    flood(machine, 0)
    assert (machine.crossing.messages, machine.crossing.bytes) == (0, 0)


def test_a_network_without_clusters_has_even_blocks_that_swap():
    topology = mpinet.open("hypercube:8")
    for ranks in (3, 4):
        one, other = (Placement(make(topology), 2, ranks) for make in (blocks, clustered))
        assert one.even and other.even
        assert other.split.tolist() == one.split.tolist()
        assert (other.first, other.count) == (one.first, one.count)
    machine = Machine(topology, transport=Dry(2, 4), mapping=clustered(topology))
    assert machine.swap(7, 1 << 7) is not None


def test_one_rank_has_nothing_to_measure():
    assert least_crossing(mpinet.open("complete:200000"), Local()).name == "blocks"


def test_few_processors_stand_for_all_where_they_have_very_many_ports():
    topology = mpinet.open("complete:7000")
    placement = Placement(blocks(topology), 0, 2)
    tracemalloc.start()
    assert crossing_ports(topology, placement) == 3500 * 3500
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**27
