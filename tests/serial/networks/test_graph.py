"""Graphs of networkx and of files as networks, and back."""

from collections import Counter

import networkx
import pytest

import mpinet
from mpinet.errors import TopologyError
from mpinet.networks.catalogue import to_networkx
from mpinet.networks.graph import from_networkx
from mpinet.networks.routing import path

PETERSEN = networkx.petersen_graph()


def write_edges(graph, path):
    networkx.write_edgelist(graph, path, data=False)


def write_g6(graph, path):
    networkx.write_graph6(graph, path)


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        ("edges", write_edges),
        ("edgelist", write_edges),
        ("txt", write_edges),
        ("graphml", networkx.write_graphml),
        ("gml", networkx.write_gml),
        ("g6", write_g6),
    ],
)
def test_files_of_every_format_are_networks(tmp_path, ending, write):
    file = tmp_path / f"some,wiring=1.{ending}"
    write(PETERSEN, file)
    topology = mpinet.open(f"graph:{file}")
    assert topology.name == f"graph:{file}" == mpinet.open(topology.name).name
    assert networkx.utils.edges_equal(to_networkx(topology).edges, PETERSEN.edges)
    assert mpinet.check(topology).exhaustive


def test_whole_numbers_are_numbered_in_ascending_order():
    topology = from_networkx(networkx.Graph([(10, 9), (9, 100), (10, 100), (100, 1000)]))
    assert [topology.address(u) for u in range(4)] == ["9", "10", "100", "1000"]
    assert [topology.neighbor(2, p) for p in range(3)] == [0, 1, 3]
    assert topology.neighbor(3, 1) == -1
    assert topology.node("1000") == 3


def test_other_labels_are_numbered_in_the_order_of_their_texts():
    topology = from_networkx(networkx.Graph([("b|", "a"), ("a", "(10"), ("b|", "9\\")]))
    assert [topology.address(u) for u in range(4)] == ["(10", "9\\", "a", "b|"]
    assert mpinet.check(topology).exhaustive


def test_awkward_labels_stay_unambiguous_in_products():
    from mpinet.networks.product import Product

    awkward = from_networkx(networkx.path_graph(["a|b", "a", "b)", "|", "\\", "a\\|b"]))
    assert mpinet.check(Product(Product(awkward, awkward), awkward)).addresses == 216


@pytest.mark.parametrize("name", ["torus:2x3x5", "ccc:3", "debruijn:4", "ring:3*mesh:3x2"])
def test_networks_go_to_networkx_and_back(name):
    topology = mpinet.open(name)
    graph = to_networkx(topology)
    back = from_networkx(graph)
    assert graph.name == name
    for u in graph:
        assert graph.nodes[u]["address"] == topology.address(u)
        around = {back.neighbor(u, p) for p in range(back.ports)} - {-1}
        assert around == set(graph[u])
    for u, v, ports in graph.edges(data="ports"):
        (here,), (there,) = ports
        low, high = min(u, v), max(u, v)
        assert topology.neighbor(low, here) == high
        assert topology.neighbor(high, there) == low


def test_graphs_are_routed_by_tables_on_shortest_paths():
    graph = networkx.connected_watts_strogatz_graph(40, 4, 0.5, seed=1)
    topology = from_networkx(graph)
    for source, lengths in networkx.all_pairs_shortest_path_length(graph):
        for target, length in lengths.items():
            assert len(path(topology, topology.routing(), source, target)[1]) == length


@pytest.mark.parametrize(
    ("graph", "sentence"),
    [
        (networkx.Graph(), "0 nodes; a network has two or more"),
        (networkx.empty_graph(1), "1 nodes"),
        (networkx.Graph([(0, 1), (1, 1)]), "node 1 has a link to itself"),
        (networkx.DiGraph([(0, 1)]), "directed"),
        (networkx.Graph([(0, 1), (2, 3)]), "not connected, but has 2 components"),
        (networkx.Graph([(0, "0")]), "same label"),
    ],
)
def test_graphs_that_are_no_networks_are_refused(graph, sentence):
    with pytest.raises(TopologyError, match=sentence):
        from_networkx(graph)


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("a.edges", "0 1\n1 2 3\n", "line 2 has 3 words"),
        (
            "a.edges",
            "0 1\n1 2 capacty=2\n",
            "line 2: capacty is not one of bandwidth, capacity, class,",
        ),
        ("a.edges", "0 1 capacity=0\n", "capacity of the link between 0 and 1 is .* not '0'"),
        ("a.edges", "0 1 capacity=600000\n1 2 capacity=600000\n", "add up to 1200000 links"),
        ("a.edges", "0 1\n1 1\n", "link to itself"),
        ("a.edges", "# nothing\n\n", "0 nodes"),
        ("a.edges", "0 1\n2 3 # apart\n", "not connected"),
        ("a.gml", "gibberish", "not a readable gml"),
        ("a.graphml", "<gibberish", "not a readable graphml"),
        ("a.g6", "C~\nC~\n", "2 graphs"),
    ],
)
def test_wrong_files_get_a_sentence(tmp_path, monkeypatch, file, text, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(TopologyError, match=sentence):
        mpinet.open(f"graph:{file}")


def test_a_large_star_is_checked_quickly():
    assert mpinet.check(from_networkx(networkx.star_graph(100_000)), sample=100).exhaustive is False


def links_of(topology):
    """How many links lead from one node to another, asked port by port; every one leads back."""
    found = Counter()
    for node in range(topology.size):
        for port in range(topology.ports):
            other = topology.neighbor(node, port)
            if other >= 0:
                back = topology.reverse_port(node, port)
                assert topology.neighbor(other, back) == node
                assert topology.reverse_port(other, back) == port
                found[node, other] += 1
    return found


@pytest.mark.parametrize(
    ("ending", "write"), [("graphml", networkx.write_graphml), ("gml", networkx.write_gml)]
)
def test_capacities_are_parallel_links_and_switches_come_last(tmp_path, ending, write):
    graph, file = networkx.random_regular_graph(4, 10, seed=1), tmp_path / f"box.{ending}"
    capacities = {(u, v): 1 + (u + v) % 3 for u, v in graph.edges()}
    networkx.set_edge_attributes(graph, {k: float(c) for k, c in capacities.items()}, "capacity")
    networkx.set_node_attributes(graph, {2: "true", 5: "true", 7: "false"}, "switch")
    write(graph, file)
    topology = mpinet.open(f"graph:{file}")
    assert (topology.size, topology.hosts) == (10, 8)
    addresses = [topology.address(node) for node in range(10)]
    assert addresses == [*"01346789", "2", "5"]
    expected = Counter()
    for (u, v), capacity in capacities.items():
        u, v = addresses.index(str(u)), addresses.index(str(v))
        expected[u, v] = expected[v, u] = capacity
    assert links_of(topology) == expected
    shown = mpinet.show(topology)["capacities"]
    assert {int(c): n for c, n in shown.items()} == Counter(capacities.values())


@pytest.mark.parametrize("capacity", [0.5, "fast", -1, "nan", 2**40])
def test_capacities_that_are_none_name_the_file_and_the_link(tmp_path, capacity):
    graph, file = networkx.cycle_graph(4), tmp_path / "ring.graphml"
    graph.edges[1, 2]["capacity"] = capacity
    networkx.write_graphml(graph, file)
    with pytest.raises(TopologyError) as error:
        mpinet.open(f"graph:{file}")
    assert f"graph:{file}: the capacity of the link between 1 and 2 is" in str(error.value)


def test_switches_that_are_none_are_a_sentence():
    graph = networkx.cycle_graph(3)
    graph.nodes[1]["switch"] = "perhaps"
    with pytest.raises(TopologyError, match="switch of node 1 is true or false, not 'perhaps'"):
        from_networkx(graph)
    networkx.set_node_attributes(graph, True, "switch")
    with pytest.raises(TopologyError, match="all nodes are switches"):
        from_networkx(graph)


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        ("edges", write_edges),
        ("graphml", networkx.write_graphml),
        ("gml", networkx.write_gml),
    ],
)
def test_doubled_links_are_parallel_links(tmp_path, ending, write):
    graph, file = networkx.MultiGraph(networkx.cycle_graph(4)), tmp_path / f"ring.{ending}"
    graph.add_edge(2, 1)
    write(graph, file)
    expected = Counter({(u, v): graph.number_of_edges(u, v) for u in graph for v in graph[u]})
    assert links_of(mpinet.open(f"graph:{file}")) == expected


def test_doubled_links_of_a_plain_gml_are_refused(tmp_path):
    file = tmp_path / "two.gml"
    nodes = "".join(f'node [ id {u} label "{u}" ] ' for u in range(3))
    edges = "".join(f"edge [ source {u} target {v} ] " for u, v in [(0, 1), (1, 2), (2, 1)])
    file.write_text(f"graph [ {nodes}{edges}]")
    with pytest.raises(TopologyError, match=r"two.gml is not a readable gml: .*duplicated"):
        mpinet.open(f"graph:{file}")
