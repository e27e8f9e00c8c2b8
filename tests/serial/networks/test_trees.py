"""Trees: the shape that networkx gives them, and broadcasts by the recursion over subtrees."""

import networkx
import pytest

import mpinet
from mpinet.report.layout import layout

TREES = ["tree:2,1", "tree:2,4", "tree:3,3", "tree:4,2", "star:2", "star:7", "path:2", "path:8"]


def named(name):
    """The tree of a name as networkx makes it, numbered level by level, or along the path."""
    family, _, numbers = name.partition(":")
    if family == "tree":
        return networkx.balanced_tree(*map(int, numbers.split(",")))
    size = int(numbers)
    return networkx.path_graph(size) if family == "path" else networkx.star_graph(size - 1)


def fewest_steps(graph, node, parent=None):
    """Steps from a node to all that lie behind it: it serves the slowest subtree first."""
    behind = sorted(
        (fewest_steps(graph, v, node) for v in graph[node] if v != parent), reverse=True
    )
    return max((turn + steps for turn, steps in enumerate(behind, 1)), default=0)


@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_that_of_networkx(name):
    found, expected = mpinet.to_networkx(name), named(name)
    assert {frozenset(e) for e in found.edges} == {frozenset(e) for e in expected.edges}
    assert mpinet.open(name).stated.get("diameter") == networkx.diameter(expected)


@pytest.mark.parametrize("name", TREES)
def test_a_broadcast_from_any_root_takes_the_fewest_steps(name):
    network, graph = mpinet.open(name), named(name)
    for root in graph:
        found = mpinet.broadcast(network, root=root)
        assert found.informed == len(graph)
        assert found.steps == fewest_steps(graph, root)


def test_the_largest_trees_that_can_be_numbered_are_wired():
    for name in ("tree:2,60", "tree:1000000,2", "star:3000000000"):
        network = mpinet.open(name)
        last = network.size - 1
        parent = network.neighbor(last, 0)
        assert parent == (last - 1) // int(network.params[2])
        assert network.neighbor(parent, network.reverse_port(last, 0)) == last
        assert network.neighbor(last, 1) == -1


def test_the_picture_of_a_tree_has_its_root_above_and_that_of_a_star_its_centre_inside():
    points = layout("tree:2,3")
    graph = named("tree:2,3")
    for level in networkx.bfs_layers(graph, 0):
        heights = {round(points[node, 1], 6) for node in level}
        assert len(heights) == 1
    assert all(points[(v - 1) // 2, 1] > points[v, 1] for v in range(1, len(graph)))
    rays = layout("star:7")
    around = ((rays[1:] - rays[0]) ** 2).sum(axis=1)
    assert around.min() == pytest.approx(around.max())
