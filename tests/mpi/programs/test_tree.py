"""A tree serves every root of every network: the routing's where it is one, else a flood's."""

from itertools import cycle

import networkx
import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet.compiled import rule
from mpinet.errors import Disconnected
from mpinet.machine import Machine
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.programs import tree
from mpinet.programs.broadcast import broadcast
from mpinet.programs.gather import gather
from mpinet.programs.gossip import gossip
from mpinet.programs.reduce import reduce
from mpinet.programs.scatter import scatter

OF_LINKS = """complete:1 complete:5 ring:7 mesh:3x4 torus:2x3x3 hypercube:4 ccc:3 debruijn:4
shuffleexchange:4 moebius:4 circulant:13,jumps=2-5 rcirculant:10,3 chordalring:14,3 doubleloop:11,3
fattree:2,3 fattree:3,2 roadrunner:2,2,2 bsn:1,2,4 bsn:2,2,4 gbsn:2,m=2-3-4,a=1 gmn:4,16 gmnany:11
lst:4 tq:3 cq:4 hkv:3 sth:2,3 dlh:3,2 hexcell:2 foldedcube:4 hhc:2 stargraph:4 arrangement:4,2
petersen hp:4 fp:1 fpq:1,1 starcube:3,1 hdn:2x3,super=0.1 rdn:C3,1 dualcube:2
ring:3*ring:5""".split()


def graph_of(topology):
    """Who is linked to whom, by the local rule."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(topology.size))
    ports = [(u, p) for u in range(topology.size) for p in range(topology.ports)]
    ends = [(u, topology.neighbor(u, p)) for u, p in ports]
    graph.add_edges_from((u, v) for u, v in ends if v >= 0)
    return graph


@pytest.mark.costly
@pytest.mark.parametrize(("name", "mapping"), list(zip(OF_LINKS, cycle(MAPPINGS), strict=False)))
def test_a_flood_s_tree_leads_each_node_to_the_root_on_a_shortest_way_by_its_lowest_port(
    name, mapping
):
    topology = mpinet.open(name)
    graph, mapped = graph_of(topology), mapping_of(topology, mapping)
    ends = [[topology.neighbor(u, p) for p in range(topology.ports)] for u in graph]
    for root in range(topology.size):
        machine = machine_of(topology, "all", mapping=mapped)
        up = tree.flooded(machine, root)
        distance = networkx.single_source_shortest_path_length(graph, root)
        for node, port in zip(machine.nodes.tolist(), up.tolist(), strict=True):
            nearer = distance[node] - 1
            closer = [p for p, v in enumerate(ends[node]) if v >= 0 and distance[v] == nearer]
            assert port == min(closer, default=tree.NO_PARENT)
        assert machine.steps == max(distance.values())


def linked(topology, node, other):
    """Tell if a port of the node leads to the other, by the local rule."""
    return other in [topology.neighbor(node, p) for p in range(topology.ports)]


@pytest.fixture
def flooded(monkeypatch):
    """No routing serves: as in a network that is too large for its table."""
    monkeypatch.setattr(tree, "routed", lambda machine, root: None)


def check_broadcast(machine, root):
    """One-port, everybody informed once, over links, by one who knew it before."""
    topology = machine.topology
    found = broadcast(machine, root, "tree")
    moves = together(everyone, moves_of(machine))
    since = {root: 0}
    for step, sender, _, receiver, _ in moves:
        assert linked(topology, sender, receiver) and since[sender] < step
        assert receiver not in since
        since[receiver] = step
    assert len({(step, sender) for step, sender, *_ in moves}) == len(moves) == found.messages
    assert found.informed == topology.hosts
    assert set(range(topology.hosts)) <= set(since)
    assert found.steps == max(since[u] for u in range(topology.hosts)) == machine.steps
    assert found.lower_bound <= found.steps
    return since


@pytest.mark.costly
@pytest.mark.usefixtures("flooded")
@pytest.mark.parametrize("name", OF_LINKS)
def test_along_a_flood_s_tree_everybody_is_informed_once_from_every_root(name):
    topology = mpinet.open(name)
    for root in range(0, topology.hosts, max(1, topology.hosts // 6)):
        check_broadcast(machine_of(topology, "one", trace=Trace()), root)


@pytest.mark.costly
@pytest.mark.usefixtures("flooded")
@pytest.mark.parametrize("name", OF_LINKS)
@pytest.mark.parametrize("ports", ["one", "all"])
def test_along_a_flood_s_tree_all_collectives_bring_everybody_what_is_meant_for_it(name, ports):
    topology = mpinet.open(name)
    root = topology.hosts - 1
    for collective in (scatter, gather, reduce):
        found = collective(machine_of(topology, ports), root, algorithm="tree")
        assert found.correct and found.lower_bound <= found.steps
        if ports == "one" and collective is not reduce and topology.hosts == topology.size:
            assert found.steps == topology.hosts - 1
    found = gossip(machine_of(topology, ports), "tree")
    assert found.correct and found.lower_bound <= found.steps


@pytest.mark.costly
@pytest.mark.parametrize(("name", "mapping"), [("gmn:6,96", "random"), ("gmnany:57", "table")])
def test_every_root_of_multiple_loops_broadcasts(name, mapping):
    topology = mpinet.open(name)
    mapped = mapping_of(topology, mapping)
    for root in range(0, topology.size, 5):
        machine = machine_of(topology, "one", mapping=mapped, trace=Trace())
        check_broadcast(machine, root)


@pytest.mark.parametrize("collective", [scatter, gather, reduce])
@pytest.mark.parametrize(("name", "root"), [("bsn:2,2,4", 1), ("bsn:1,1,6", 3), ("gmn:8,256", 5)])
def test_collectives_run_where_the_routing_makes_no_tree(collective, name, root):
    there = collective(machine_of(name, "one"), root)
    assert there.correct and there.lower_bound <= there.steps
    assert set(everyone(there)) == {collective(Machine(name, "one", Local()), root)}


def test_no_table_of_shortest_paths_is_needed_to_broadcast():
    machine = machine_of("debruijn:14", "one")
    found = broadcast(machine, 5)
    assert (found.informed, found.messages) == (2**14, 2**14 - 1)
    assert found.lower_bound == 14 <= found.steps


@pytest.mark.parametrize(("name", "root"), [("mesh:3x4", 5), ("ccc:3", 3), ("fattree:2,3", 2)])
def test_where_the_routing_makes_a_tree_it_is_the_one_that_serves(name, root):
    machine = machine_of(name, "one")
    assert np.array_equal(tree.RoutingTree(machine, root).up, tree.routed(machine, root))


class Islands(Topology):
    """Rings of three processors."""

    family = "islands"
    form = "N"

    def __init__(self, n):
        super().__init__(str(n), size=n, ports=2)

    @rule
    def neighbor(node, port, params):
        return node - node % 3 + (node % 3 + 1 + port) % 3

    @rule
    def reverse_port(node, port, params):
        return 1 - port


def test_a_network_in_pieces_has_no_tree():
    with pytest.raises(Disconnected, match="from node 4, 3 of its 9 nodes are reached"):
        broadcast(machine_of(Islands(9), "one"), 4)


@pytest.mark.parametrize("name", ["hypercube:4", "ring:9", "torus:3x4"])
def test_what_needs_no_tree_needs_no_preparation(name):
    found = broadcast(machine_of(name, "one"), 1).preparation
    assert (found.steps, found.messages) == (0, 0)


def test_preparing_a_broadcast_s_tree_takes_a_message_to_each_parent_for_the_tree_and_its_depth():
    found = broadcast(machine_of("mesh:3x4", "one"), 0, "tree")
    assert (found.preparation.steps, found.preparation.messages) == (1 + 5, 2 * 11)


def test_preparing_a_flood_s_tree_counts_the_flood_too(flooded):
    found = broadcast(machine_of("ring:9", "one"), 0, "tree")
    waves = [2, 4, 4, 4]
    assert (found.preparation.steps, found.preparation.messages) == (
        4 + 1 + 4,
        sum(waves) + 2 * 8,
    )
