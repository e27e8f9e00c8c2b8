"""Broadcast along a tree of shortest paths, whose nodes serve the neediest child first."""

from math import ceil, log2

import networkx
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of
from serial.gmn.reference import Loops, sizes

import mpinet
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.programs.broadcast import broadcast


def steps_needed(children, node):
    """Steps that a subtree needs at least, by all children in falling order of their needs."""
    needs = sorted((steps_needed(children, child) for child in children[node]), reverse=True)
    return max((turn + need for turn, need in enumerate(needs, 1)), default=0)


def best_of_two_trees(ends, root):
    """The fewest steps of the two trees, and the distance of the farthest node."""
    graph = networkx.Graph((u, v) for u, others in enumerate(ends) for v in others if v >= 0)
    away = networkx.single_source_shortest_path_length(graph, root)
    found = []
    for pick in (min, max):
        children = {node: [] for node in graph}
        for node, others in enumerate(ends):
            if node != root:
                near = [p for p, v in enumerate(others) if v >= 0 and away[v] < away[node]]
                children[others[pick(near)]].append(node)
        found.append(steps_needed(children, root))
    return min(found), max(away.values())


def ends_of(topology):
    """The neighbours of all nodes by port."""
    return [[topology.neighbor(u, p) for p in range(topology.ports)] for u in range(topology.size)]


@pytest.mark.costly
@pytest.mark.parametrize("name", ["gmn:3,12", "gmn:4,16", "gmn:6,96", "gmnany:50", "ccc:3"])
def test_the_better_tree_is_served_in_the_fewest_steps(name):
    topology = mpinet.open(name)
    for root in range(0, topology.size, 5):
        machine = machine_of(topology, "one", mapping=mapping_of(topology, MAPPINGS[root % 3]))
        found = broadcast(machine, root, "floodtree")
        steps, away = best_of_two_trees(ends_of(topology), root)
        assert (found.steps, found.informed) == (steps, topology.size)
        assert found.lower_bound == max(away, ceil(log2(topology.size)))
        assert set(everyone(found)) == {
            broadcast(Machine(topology, "one", Local()), root, "floodtree")
        }


def test_the_default_with_one_port_on_the_loops_needs_no_view_of_the_whole_network():
    one = broadcast(machine_of("gmn:6,96", "one"), 3)
    assert (one.algorithm, one.preparation.steps > 0) == ("floodtree", True)
    assert broadcast(machine_of("gmnany:50", "one"), 0).algorithm == "floodtree"
    assert broadcast(machine_of("gmn:6,96", "all"), 3).algorithm == "passes"


def too_long(m, chosen):
    """Sizes and roots whose broadcast takes more than 1.6 times the lower bound."""
    wrong = []
    for N in chosen:
        loops = Loops(m, N)
        ends = [list(loops.ports(u).values()) for u in range(N)]
        for root in range(m):  # sectors are alike
            steps, away = best_of_two_trees(ends, root)
            if steps > 1.6 * max(away, ceil(log2(N))):
                wrong.append((N, root, steps, away))
    return wrong


@pytest.mark.parametrize("m", range(3, 9))
def test_a_broadcast_takes_at_most_1_6_times_its_bound(m):
    """By the reference's loops alone; the test above shows that the machine takes these steps."""
    assert too_long(m, sizes(m)[-2:]) == []


@pytest.mark.long
@pytest.mark.parametrize("m", range(9, 19))
def test_large_loops_keep_the_factor(m):
    assert too_long(m, sizes(m)[:: max(1, len(sizes(m)) // 4)]) == []
