"""Capacities from bandwidths, of graph files and of platforms."""

from math import gcd

import networkx
import pytest

import mpinet
from mpinet.errors import TopologyError

RATES = {
    ("a", "b"): "50GB/s",
    ("b", "c"): "25000000000",
    ("c", "d"): "600Gbit/s",
    ("d", "a"): "0.1TB/s",
}
BYTES = {("a", "b"): 50, ("b", "c"): 25, ("c", "d"): 75, ("d", "a"): 100}


def listed(tmp_path, rates):
    file = tmp_path / "box.edges"
    file.write_text("".join(f"{u} {v} bandwidth={rate}\n" for (u, v), rate in rates.items()))
    return file


def links(name):
    """How many links join the addresses of two nodes."""
    topology, found = mpinet.open(name), {}
    for node in range(topology.size):
        for port in range(topology.ports):
            end = topology.neighbor(node, port)
            if end > node:
                pair = frozenset((topology.address(node), topology.address(end)))
                found[pair] = found.get(pair, 0) + 1
    return found


def test_a_link_is_as_many_links_as_its_bandwidth_has_units(tmp_path):
    file = listed(tmp_path, RATES)
    unit = gcd(*BYTES.values())
    assert links(f"graph:{file},bandwidth") == {
        frozenset(ends): own // unit for ends, own in BYTES.items()
    }
    assert links(f"graph:{file},bandwidth=5GB/s") == {
        frozenset(ends): own // 5 for ends, own in BYTES.items()
    }
    assert set(links(f"graph:{file}").values()) == {1}


def test_graphml_and_platforms_say_bandwidths_too(tmp_path):
    graph = networkx.Graph()
    graph.add_edge(0, 1, bandwidth="3GB/s")
    graph.add_edge(1, 2, bandwidth="2GB/s")
    networkx.write_graphml(graph, tmp_path / "three.graphml")
    wanted = {frozenset("01"): 3, frozenset("12"): 2}
    assert links(f"graph:{tmp_path}/three.graphml,bandwidth") == wanted
    routes = "".join(
        f'<route src="{u}" dst="{u + 1}"><link_ctn id="l{u}"/></route>' for u in range(2)
    )
    hosts = "".join(f'<host id="{u}" speed="1Gf"/>' for u in range(3))
    wires = "".join(f'<link id="l{u}" bandwidth="{3 - u}GBps" latency="1us"/>' for u in range(2))
    file = tmp_path / "three.xml"
    zone = f'<zone id="z" routing="Full">{hosts}{wires}{routes}</zone>'
    file.write_text(f'<?xml version="1.0"?><platform version="4.1">{zone}</platform>')
    network = mpinet.open(f"graph:{file},bandwidth")
    assert links(network.name) == wanted
    assert network.link_costs == {"latency": ("1us",), "time_byte": ("1ns",)}


@pytest.mark.parametrize(
    ("rates", "wish", "sentence"),
    [
        ({}, "=10GB/s", "between a and c carries 2.5e[+]10 bytes a second, which is no multiple"),
        ({}, "=1kB/s", "is a whole number 1..1048576 of messages a step, not '50000000'"),
        ({}, "=3parsec", "'parsec' is not a unit of rates"),
        ({("a", "b"): "0"}, "", "between a and b: '0': a rate must be above 0"),
        ({("a", "b"): "1GB/s capacity=2"}, "", "between a and b: the link also has a capacity"),
        ({("a", "b"): "fast"}, "", "between a and b: 'fast': a rate is bytes a second"),
    ],
)
def test_what_makes_no_capacity_is_refused_in_a_sentence(tmp_path, rates, wish, sentence):
    given = {("a", "b"): "50GB/s", ("b", "c"): "25GB/s", ("a", "c"): "25GB/s"} | rates
    with pytest.raises(TopologyError, match=sentence):
        mpinet.open(f"graph:{listed(tmp_path, given)},bandwidth{wish}")


def test_a_file_without_bandwidths_is_refused(tmp_path):
    for u, v in ("ab", "01"):
        (tmp_path / "no.edges").write_text(f"{u} {v}\n")
        with pytest.raises(TopologyError, match=f"between {u} and {v}.* has no"):
            mpinet.open(f"graph:{tmp_path}/no.edges,bandwidth")


def test_a_graph_without_links_is_refused_as_such(tmp_path):
    for text in ("@\n", "A?\n"):  # one and two nodes
        (tmp_path / "few.g6").write_text(text)
        for more in ("", ",bandwidth", ",bandwidth=1GB/s"):
            with pytest.raises(TopologyError, match=r"the graph has|components"):
                mpinet.open(f"graph:{tmp_path}/few.g6{more}")
