"""BSN and GBSN are wired as their definitions say (docs/papers/gbsn, 1, 2 and 6)."""

from itertools import product

import networkx
import numpy as np
import pytest
from serial.gbsn.reference import Gbsn, ceil_lg, distances, graph
from serial.gbsn.settings import BSN, GBSN, WIRINGS, drawn, name

import mpinet
from mpinet.networks.catalogue import to_networkx
from mpinet.networks.gbsn.general import GeneralizedBlockShift
from mpinet.networks.shortest import neighbor_table


def ports_of(wiring, ports):
    return [[-1 if v is None else v for v in row] + [-1] * (ports - len(row)) for row in wiring]


def edges(wiring):
    return {frozenset(edge) for edge in graph(wiring).edges}


@pytest.mark.costly
@pytest.mark.parametrize("network", drawn(seed=1, count=60, most=40), ids=name)
def test_irregular_networks_are_wired_as_defined(network):
    topology = mpinet.open(name(network))
    assert neighbor_table(topology).tolist() == ports_of(network.wiring, topology.ports)
    assert mpinet.check(topology).exhaustive


@pytest.mark.parametrize(
    "text",
    [
        "bsn:1,3,60",
        "bsn:4,20,37",
        "gbsn:3,m=1000000-900000-1000000-3,a=2",
        "gbsn:1,m=" + "-".join(str(5000 + 37 * i % 4000) for i in range(300)) + ",a=1",
    ],
)
def test_the_contract_is_kept_in_large_networks(text):
    assert not mpinet.check(mpinet.open(text)).exhaustive


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (
            "gbsn:1,m=4-4-4-2,a=1",
            "1-2 1-8 2-4 3-6 3-9 4-8 5-10 6-12 7-11 9-12 11-13",
        ),
        ("gbsn:2,m=4-4-4-3,a=1", "1-4 2-8 3-12 6-9 7-13 11-14"),
    ],
)
def test_figure_1b_has_these_shift_links(text, pairs):
    """docs/papers/gbsn, 2: Figure 1 structures, as pairs of words."""
    topology, network = mpinet.open(text), GBSN[text]
    assert topology.size == {"1": 14, "2": 15}[text[5]]
    assert (topology.bits, topology.place_bits) == (4, 2)
    links = set()
    for u, side in product(range(topology.size), (2, 3)):
        v = topology.neighbor(u, side)
        if v >= 0:
            words = sorted(int(topology.address(node), 2) for node in (u, v))
            links.add("{}-{}".format(*words))
    assert links == set(pairs.split())
    assert not network.any_needy


def test_figure_1a_has_four_blocks_of_four():
    """docs/papers/gbsn, 9: GBSN-F1-a-counts, -circle, -complete."""
    circle, complete = (to_networkx(mpinet.open(text)) for text in ("bsn:1,2,4", "bsn:2,2,4"))
    assert len(circle) == len(complete) == 16
    for block in range(4):
        nodes = range(4 * block, 4 * block + 4)
        assert networkx.is_isomorphic(circle.subgraph(nodes), networkx.cycle_graph(4))
        assert networkx.is_isomorphic(complete.subgraph(nodes), networkx.complete_graph(4))


def test_coinciding_ports_are_one_link():
    """docs/papers/gbsn, 1: n = 2b, and n = 3, b = 2, a = 2."""
    for text, links in (("bsn:2,2,4", 30), ("bsn:2,2,3", 16)):
        topology = mpinet.open(text)
        table = neighbor_table(topology)
        assert (table >= 0).sum() > 2 * links
        assert to_networkx(topology).number_of_edges() == links == len(edges(WIRINGS[text]))


@pytest.mark.parametrize(("a", "b", "n"), BSN)
def test_a_bsn_is_a_gbsn_of_equal_blocks(a, b, n):
    """docs/papers/gbsn, 2: same numbers and same ports."""
    one = mpinet.open(f"bsn:{a},{b},{n}")
    other = GeneralizedBlockShift(b, [2**b] * 2 ** (n - b), a)
    assert (one.size, one.ports) == (other.size, other.ports)
    assert neighbor_table(one).tolist() == neighbor_table(other).tolist()
    nodes, ports = np.nonzero(neighbor_table(one) >= 0)
    assert one.reverse_port(nodes, ports).tolist() == other.reverse_port(nodes, ports).tolist()
    assert [one.address(u) for u in range(one.size)] == [other.address(u) for u in range(one.size)]


@pytest.mark.costly
@pytest.mark.parametrize("n", range(1, 9))
def test_hypercube_shuffle_exchange_and_complete_network_are_instances(n):
    """docs/papers/gbsn, 6."""
    sames = {
        f"hypercube:{n}": (f"bsn:1,{n},{n}", f"gbsn:{n},m={2**n},a=1"),
        f"complete:{2**n}": (f"bsn:{n},{n},{n}", f"gbsn:{n},m={2**n},a={n}"),
    }
    if n >= 2:
        blocks = "-".join(["2"] * 2 ** (n - 1))
        sames[f"shuffleexchange:{n}"] = (f"bsn:1,1,{n}", f"gbsn:1,m={blocks},a=1")
    for text, others in sames.items():
        for other in others:
            assert networkx.utils.edges_equal(
                to_networkx(mpinet.open(text)).edges, to_networkx(mpinet.open(other)).edges
            )


def test_the_hypercube_has_the_same_ports():
    assert (
        neighbor_table(mpinet.open("bsn:1,6,6")).tolist()
        == neighbor_table(mpinet.open("hypercube:6")).tolist()
    )


def small_networks():
    """Up to 10 processors in all, all b, a all 1 and all largest (docs/papers/gbsn, 9)."""

    def vectors(total):
        if total == 0:
            yield []
        for first in range(2, total + 1):
            for rest in vectors(total - first):
                yield [first, *rest]

    for size in range(2, 11):
        for m in vectors(size):
            widths = [ceil_lg(x) for x in m]
            for b in range(1, max(widths) + 1):
                yield m, b, 1
                if max(widths) > 1:
                    yield m, b, widths


def test_every_small_network_is_connected_with_two_shift_links_at_most():
    """docs/papers/gbsn, 2: facts to assert."""
    count = 0
    for m, b, a in small_networks():
        network, topology = Gbsn(b, m, a), GeneralizedBlockShift(b, m, a)
        table = neighbor_table(topology)
        assert table.tolist() == ports_of(network.wiring, topology.ports)
        assert networkx.is_connected(graph(network.wiring))
        literal = GeneralizedBlockShift(b, m, a, completed=False)
        same = (neighbor_table(literal) == table).all()
        assert same or network.any_needy
        for block in range(1, network.k):
            depth, above = 0, block
            while above:
                above, depth = network.uplink(above)[0], depth + 1
            assert depth <= network.c
        count += 1
    assert count > 400


@pytest.mark.parametrize("network", drawn(seed=2, count=25, most=30), ids=name)
def test_the_literal_graph_has_the_papers_links_only(network):
    """docs/papers/gbsn, 2: the subgraph of shifts and partial links between valid words."""
    literal = Gbsn(network.b, network.m, network.a, completed=False)
    topology = mpinet.open(name(network) + ",completed=no")
    assert topology.name == name(network) + ",completed=no"
    assert neighbor_table(topology).tolist() == ports_of(literal.wiring, topology.ports)
    if not network.any_needy:
        assert edges(literal.wiring) == edges(network.wiring)


def test_the_literal_graph_may_be_in_pieces_where_the_completed_one_is_not():
    for completed, pieces in ((True, 1), (False, 2)):
        topology = GeneralizedBlockShift(2, [2, 5], 1, completed)
        assert networkx.number_connected_components(to_networkx(topology)) == pieces


@pytest.mark.parametrize("text", WIRINGS)
def test_addresses_are_the_words(text):
    topology = mpinet.open(text)
    if text in GBSN:
        network = GBSN[text]
        words = [format((block << network.w) + i, f"0{network.n}b") for block, i in network.nodes]
    else:
        words = [format(u, f"0{topology.bits}b") for u in range(topology.size)]
    assert [topology.address(u) for u in range(topology.size)] == words
    assert [topology.node(word) for word in words] == list(range(topology.size))


@pytest.mark.parametrize(("a", "b", "n"), BSN)
def test_the_stated_degree_is_the_formula(a, b, n):
    """III.A; it counts two shift links, which n = b and n = 2b do not have."""
    topology = mpinet.open(f"bsn:{a},{b},{n}")
    assert topology.stated == {"degree": (2**a - 1) * b // a + 2}
    if n not in (b, 2 * b) and (a, b, n) != (2, 2, 3):
        degrees = dict(graph(WIRINGS[topology.name]).degree).values()
        assert topology.stated["degree"] == max(degrees)


def test_the_stated_degree_of_a_gbsn_is_given_where_the_formula_is_whole():
    assert mpinet.open("gbsn:2,m=4-4-4-3,a=1").stated == {"degree": 5}
    assert mpinet.open("gbsn:1,m=4-4-4-2,a=1").stated == {}


@pytest.mark.parametrize(("a", "b", "n"), [s for s in BSN if s[2] <= 8])
def test_the_diameter_of_a_bsn(a, b, n):
    """docs/papers/gbsn, 9: GBSN-X-diameter-bsn."""
    found = distances(WIRINGS[f"bsn:{a},{b},{n}"])
    assert max(max(row.values()) for row in found.values()) == -(-n // a) + -(-n // b) - 1
