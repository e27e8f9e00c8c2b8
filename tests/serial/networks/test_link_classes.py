"""Classes of links are those of the families' definitions, and of a graph's own edges."""

import networkx
import numpy as np
import pytest
from independent.links import KINDS

import mpinet
from mpinet.compiled import rule
from mpinet.errors import TopologyError, WiringError
from mpinet.measure.wiring import without
from mpinet.networks.classic.ring import Ring
from mpinet.networks.graph import from_networkx


def arcs(topology):
    """All (node, port, neighbour)."""
    for node in range(topology.size):
        for port in range(topology.ports):
            other = int(topology.neighbor(node, port))
            if other >= 0:
                yield node, port, other


@pytest.mark.parametrize("name", KINDS)
def test_the_class_of_a_link_is_what_the_addresses_of_its_ends_say(name):
    topology, kind = mpinet.open(name), KINDS[name]
    found = {}
    for node, port, other in arcs(topology):
        found[node, port] = int(topology.link_class(node, port))
        assert found[node, port] == kind(topology.address(node), topology.address(other))
    assert set(found.values()) == set(range(len(topology.link_classes)))


def test_a_part_of_a_network_keeps_its_classes():
    whole = mpinet.open("mesh:2x3")
    part = without(whole, nodes=[1])
    assert part.link_classes == whole.link_classes
    for node, port, _ in arcs(part):
        assert part.link_class(node, port) == whole.link_class(part.nodes[node], port)


LINKS = {
    ("a", "b"): {"latency": "500ns", "time_byte": "25GB/s"},
    ("b", "c"): {"latency": "1.5us", "time_byte": "25GB/s"},
    ("a", "c"): {"latency": "500ns", "time_byte": "25GB/s"},
    ("c", "d"): {"latency": "20", "time_byte": "4"},
}


def graph_of(links):
    graph = networkx.Graph()
    graph.add_edges_from((*ends, said) for ends, said in links.items())
    return graph


def write_edges(graph, path):
    lines = [
        f"{u} {v} " + " ".join(f"{name}={value}" for name, value in said.items())
        for u, v, said in graph.edges(data=True)
    ]
    path.write_text("\n".join(lines))


WRITERS = {"edges": write_edges, "graphml": networkx.write_graphml, "gml": networkx.write_gml}


@pytest.mark.parametrize("ending", WRITERS)
def test_edges_with_costs_are_of_classes_that_have_them(tmp_path, ending):
    file, graph = tmp_path / f"wiring.{ending}", graph_of(LINKS)
    WRITERS[ending](graph, file)
    for topology in (mpinet.open(f"graph:{file}"), mpinet.open(graph)):
        assert mpinet.check(topology).exhaustive
        assert len(topology.link_classes) == 3
        for node, port, other in arcs(topology):
            kind = topology.link_class(node, port)
            said = graph.edges[topology.address(node), topology.address(other)]
            assert {name: texts[kind] for name, texts in topology.link_costs.items()} == said
    beside = mpinet.open(f"ring:4*graph:{file}")
    assert mpinet.check(beside).exhaustive
    assert np.unique(beside.link_class(0, np.arange(beside.ports))).tolist() == [0, 1]


def test_edges_with_a_class_are_of_it():
    graph = networkx.cycle_graph(5)
    networkx.set_edge_attributes(graph, 0, "class")
    graph.edges[1, 2]["class"] = 2
    topology = from_networkx(graph)
    assert topology.link_classes == ("class 0", "class 1", "class 2")
    assert {
        (node, other): int(topology.link_class(node, port)) for node, port, other in arcs(topology)
    } == {(u, v): graph.edges[u, v]["class"] for u, v in graph.to_directed().edges}


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"latency": "5 miles"}, "latency of the link between a and b: '5 miles'"),
        ({"time_byte": "0GB/s"}, "time_byte of the link between a and b: .* must be above 0"),
        ({"class": "-1"}, "class of the link between a and b: a class is a whole number 0..65535"),
        ({"class": "2.5"}, "whole number"),
        ({"class": 1, "latency": 3}, "links have a class and a latency; give one of both"),
    ],
)
def test_attributes_that_make_no_class_are_refused_with_the_link(said, sentence):
    with pytest.raises(TopologyError, match=sentence):
        from_networkx(graph_of({("a", "b"): said}))


def test_an_attribute_that_some_links_lack_is_refused():
    with pytest.raises(TopologyError, match="link between c and d has no latency, unlike other"):
        from_networkx(graph_of({("a", "c"): {"latency": 4}, ("c", "d"): {}}))


class Lopsided(Ring):
    """A ring that numbers a link differently at both ends."""

    family = "lopsided"

    @rule
    def link_class(node, port, params):
        return port

    @property
    def link_classes(self):
        return ("forth", "back")


class Uncounted(Ring):
    """A ring with a class that has no name."""

    family = "uncounted"

    @rule
    def link_class(node, port, params):
        return 3


@pytest.mark.parametrize(
    ("family", "sentence"), [(Lopsided, "at the other end"), (Uncounted, "not in the range 0..0")]
)
def test_the_check_refuses_classes_that_do_not_agree(family, sentence):
    with pytest.raises(WiringError, match=sentence):
        mpinet.check(family(5))
