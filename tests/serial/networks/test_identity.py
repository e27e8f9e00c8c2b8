"""Networks are equal if they are the same network, and go to other processes."""

import copy
import pickle
import subprocess
import sys
from itertools import combinations

import networkx
import numpy as np
import pytest

import mpinet
from mpinet import rule
from mpinet.networks.catalogue import FAMILIES, family_of

EXAMPLES = [
    *(family_of(name).example for name in FAMILIES if name != "graph"),
    *("ring:4*ring:3", "torus:4x4,dead=5", "torus:4x4,group=0-3", "torus:4x4,hosts=2"),
]

LINKS = [(0, 1), (1, 2), (2, 0), (2, 3)]


class Cube(mpinet.Topology):
    """A hypercube."""

    def __init__(self, n):
        super().__init__(f"{n}", size=2**n, ports=n)

    @rule
    def neighbor(node, port, params):
        return node ^ (1 << port)


class Twisted(Cube):
    """Another network of the same size."""


def copies(network):
    """The network, copied in three ways."""
    return [copy.copy(network), copy.deepcopy(network), pickle.loads(pickle.dumps(network))]


def wiring(network) -> np.ndarray:
    """The neighbour behind each port of each node."""
    return network.neighbor(np.arange(network.size)[:, np.newaxis], np.arange(network.ports))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_network_equals_its_copies_and_is_wired_as_they_are(name):
    network = mpinet.open(name)
    network.routing()
    for other in [*copies(network), mpinet.open(name)]:
        assert other == network and hash(other) == hash(network)
        assert repr(other) == repr(network) and other.address(0) == network.address(0)
        assert (wiring(other) == wiring(network)).all()
        assert other.routing().name == network.routing().name


def test_a_repr_has_the_name_and_counts():
    assert repr(mpinet.open("torus:4x4")) == "<topology torus:4x4: 16 nodes, 4 ports>"
    counts = "27 nodes (24 processors, 3 switches), 10 ports"
    assert repr(mpinet.open("ring:3,hosts=8")) == f"<topology ring:3,hosts=8: {counts}>"


def test_different_names_are_different_networks():
    assert len({mpinet.open(name) for name in EXAMPLES}) == len(EXAMPLES)
    assert all(mpinet.open(one) != mpinet.open(two) for one, two in combinations(EXAMPLES[:9], 2))
    assert mpinet.open("ring:4") != "ring:4"
    assert {mpinet.open("torus:4x4"): 1}[mpinet.open("torus: 4x4")] == 1


def test_a_class_of_a_user_goes_by_class_and_arguments():
    assert Cube(3) == Cube(3) and Cube(3) != Cube(4) and Cube(3) != Twisted(3)
    for other in copies(Cube(3)):
        assert other == Cube(3) and (wiring(other) == wiring(Cube(3))).all()


def written(path, links):
    """Write an edge list, and open it."""
    path.write_text("".join(f"{u} {v}\n" for u, v in links))
    return mpinet.open(f"graph:{path}")


def test_graphs_are_equal_if_nodes_and_links_are(tmp_path):
    one = written(tmp_path / "one.edges", LINKS)
    two = written(tmp_path / "two.edges", [(v, u) for u, v in reversed(LINKS)])
    other = written(tmp_path / "other.edges", [*LINKS[:3], (1, 3)])
    given = mpinet.open(networkx.Graph(LINKS))
    named = mpinet.open(networkx.relabel_nodes(networkx.Graph(LINKS), dict(enumerate("abcd"))))
    assert one == two == given and len({one, two, given}) == 1
    assert one != other and given != named and given != mpinet.open(networkx.Graph(LINKS[:3]))
    for name in ["{}*ring:3", "{},group=0-2", "{},hosts=2"]:
        first, second, third = (
            mpinet.open(name.format(f"graph:{tmp_path}/{each}.edges"))
            for each in ("one", "two", "other")
        )
        assert first == second and hash(first) == hash(second) and first != third
    for network in (one, given, named):
        assert all(each == network for each in copies(network))


def test_switches_and_capacities_tell_graphs_apart():
    plain, switched = networkx.Graph(LINKS), networkx.Graph(LINKS)
    switched.nodes[3]["switch"] = True
    wide = networkx.Graph(LINKS)
    networkx.set_edge_attributes(wide, 2, "capacity")
    assert len({mpinet.open(graph) for graph in (plain, switched, wide)}) == 3


def test_a_rule_of_a_function_is_copied_and_not_pickled():
    @rule
    def neighbor(node, port, params):
        return node

    assert copy.deepcopy(neighbor) is neighbor
    with pytest.raises(pickle.PicklingError, match="declare its function in a module"):
        pickle.dumps(neighbor)


def test_a_network_of_a_file_goes_to_a_process_that_has_not_read_it(tmp_path):
    (tmp_path / "own.py").write_text(
        "from mpinet import Topology, rule\n"
        "class Ring(Topology):\n"
        "    def __init__(self, n):\n"
        "        super().__init__(f'{n}', size=n, ports=2)\n"
        "    @rule\n"
        "    def neighbor(node, port, params):\n"
        "        return (node + 1 - 2 * port) % params[0]\n"
    )
    network = mpinet.open(f"{tmp_path}/own.py:Ring:5")
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).neighbors(0))"
    sent = pickle.dumps(network)
    out = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert out.stdout == b"[1, 4]\n"
