"""Fabrics of GPUs, twisted tori and HammingMeshes: distances, rates, and arguments that are wrong.

Their wiring is compared link by link in `test_every_family`.
"""

from collections import Counter

import networkx
import numpy as np
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.networks.routing import path
from mpinet.networks.shortest import neighbor_table


def host_diameter(network):
    graph = mpinet.to_networkx(network)
    hosts = range(network.hosts)
    away = [networkx.single_source_shortest_path_length(graph, node) for node in hosts]
    return max(found[host] for found in away for host in hosts)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_twisted_tori_are_the_same_from_every_node_and_as_wide_as_the_paper_says(k):
    for sides, diameter in (
        ((2 * k, k), k),  # half of a row alone; a torus has k + floor(k/2)
        ((k, 2 * k, k), 3 * k // 2),
        ((2 * k, k, 2 * k), 3 * k // 2),
    ):
        network = mpinet.open("twistedtorus:" + "x".join(map(str, sides)))
        moves = neighbor_table(network).T
        # Moves that are permutations and commute are a group; of a connected network, transitive.
        assert all(len({*move}) == network.size for move in moves.tolist())
        assert all(np.array_equal(one[other], other[one]) for one in moves for other in moves)
        graph = mpinet.to_networkx(network)
        away = networkx.single_source_shortest_path_length(graph, 0)
        assert len(away) == network.size
        assert max(away.values()) == diameter == network.stated["diameter"]
        routing = network.routing()
        found = [len(path(network, routing, 0, node)[1]) for node in range(network.size)]
        assert found == [away[node] for node in range(network.size)]


@pytest.mark.parametrize("sizes", [(1, 1, 2, 2), (2, 2, 2, 3), (3, 4, 3, 2), (5, 1, 2, 4)])
def test_a_hamming_mesh_is_boards_that_lines_join(sizes):
    a, b, x, y = sizes
    network = mpinet.open("hammingmesh:" + ",".join(map(str, sizes)))
    assert (network.hosts, network.size - network.hosts) == (a * b * x * y, a * x + b * y)
    ends = Counter(network.address(v) for row in neighbor_table(network).tolist() for v in row
                   if v >= network.hosts)  # fmt: skip
    assert {name: ends[name] for name in ends if name[0] == "r"} == {
        f"row{r}": 2 * x for r in range(b * y)
    }
    graph = mpinet.to_networkx(network).subgraph(range(network.hosts))
    boards = [graph.subgraph(part) for part in networkx.connected_components(graph)]
    assert len(boards) == x * y
    assert all(networkx.is_isomorphic(board, networkx.grid_2d_graph(a, b)) for board in boards)
    assert host_diameter(network) == 2 * ((a - 1) // 2) + 2 * ((b - 1) // 2) + 4


def test_gpus_of_a_rail_are_two_hops_apart_and_others_meet_at_spines_or_in_boxes():
    for name, across in (("rail:3,4", 4), ("rail:3,4,2", 4)):
        network = mpinet.open(name)
        graph = mpinet.to_networkx(network)
        number = network.node
        away = networkx.single_source_shortest_path_length(graph, number("0:1"))
        assert [away[number(node)] for node in ("0:3", "2:1", "2:3")] == [2, 2, across]
    switches = graph.subgraph(range(network.hosts, network.size))
    assert networkx.number_connected_components(switches) == 1 + 3


def test_rates_of_boxes_are_the_published_ones():
    """Items of a processor in so many steps, at most: what ForestColl's own code finds."""
    for name, rate in (
        ("dgx1", (6, 7)),
        ("dgxa100:1", (12, 7)),
        ("dgxa100:2", (13, 15)),
        ("mi250:1", (3, 7)),
        ("mi250:2", (83, 15)),
    ):
        found = mpinet.gossip(name, ports="all", items=2).bandwidth
        assert tuple(found) == rate, name


def test_a_dgx1_gathers_six_items_in_seven_steps(capsys):
    assert CommandSession(["allgather", "dgx1", "--ports", "all", "--items", "6"]).run() == 0
    assert "steps        7\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("dgx1:3", "dgx1: '3' is too much; it takes no parameters"),
        ("dgxa100:0", "dgxa100: n must be 1..256, not 0"),
        ("dgxh100:x", "dgxh100: n: 'x' is not a whole number"),
        ("mi250:65", "mi250: n must be 1..64, not 65"),
        ("rail:1,4", "rail: boxes must be 2..1024, not 1"),
        ("rail:1024,64,0,64", "rail:1024,64,0,64 would have 4259840 links, more than 1048576"),
        ("twistedtorus:8x3", "SIDES are two or three, some k and the others 2k"),
        ("twistedtorus:8x8", "SIDES are two or three, some k and the others 2k"),
        ("twistedtorus:4x2x2x2", "SIDES are two or three, some k and the others 2k"),
        ("twistedtorus:2x1", "a side must be >= 2, not 1"),
        ("hammingmesh:2,2,1,2", "hammingmesh: x must be 2..256, not 1"),
        ("hammingmesh:64,64,256,256", "would have 268435456 accelerators, more than 524288"),
    ],
)
def test_wrong_arguments_are_one_sentence(capsys, name, sentence):
    assert CommandSession(["show", name]).run() == 2
    told = capsys.readouterr()
    assert sentence in told.err and told.err.count("\n") == 1 and not told.out
