"""The claims of the GBSN paper against networkx and the reference, and against planted errors."""

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import networkx as nx
import pytest
from networkx.algorithms.isomorphism import GraphMatcher
from serial.gbsn import reference
from serial.gbsn.reference import Gbsn, graph

import mpinet
from mpinet import measure
from mpinet.claims.finding import find
from mpinet.claims.ledger import claims_of
from mpinet.claims.remembered import forget
from mpinet.claims.verify import verify
from mpinet.compiled import rule
from mpinet.machine.transport import Local
from mpinet.networks.gbsn.regular import BlockShift
from mpinet.networks.gbsn.regular import decide as gbsn_decide
from mpinet.networks.routing import stateless
from mpinet.papers.gbsn import grids, measured, routing
from mpinet.papers.gbsn.construction import is_excluded

IDS = Path(__file__).parents[1] / "claims" / "ids.txt"
CLAIMS = {claim.id.removeprefix("GBSN-"): claim for claim in claims_of("gbsn")}
SMALL = [topology for topology in grids.every() if grids.blocks(topology).size <= 7]
HOSTS = [
    (topology, a)
    for m in grids.vectors(8)
    if len(m) > 1
    for topology in grids.of_vector(m, maximal_only=True)
    for a in grids.guests(topology)
]


def at(id, **point):
    found = find(CLAIMS[id], point)
    assert not found.error, found.error
    return found


def judged(claim, **point):
    (row,) = verify([claim], "quick", Local(), {key: str(part) for key, part in point.items()})
    return row


@cache
def of(topology, completed=True):
    b, m, a = grids.blocks(topology)
    return Gbsn(b, m, list(a), completed)


def spread(lengths):
    """The largest of all distances, and their mean with the nodes themselves."""
    every = [hops for row in lengths.values() for hops in row.values()]
    return max(every), sum(every) / len(every)


def literal_graph(topology):
    return graph(of(topology, completed=False).wiring)


def test_every_claim_of_the_paper_is_there():
    listed = [id for id in IDS.read_text().split() if id.startswith("GBSN-")]
    assert sorted(claim.id for claim in CLAIMS.values()) == sorted(listed)


def test_every_claim_has_quick_points():
    for claim in CLAIMS.values():
        every, quick = claim.grid.points("full"), claim.grid.points("quick")
        assert quick, claim.id
        assert all(point in every for point in quick), claim.id


def test_the_range_f_has_every_small_network_once_and_irregular_ones():
    names = grids.every()
    assert len(set(names)) == len(names)
    assert [len(grids.vectors(N)) for N in range(2, 11)] == [1, 1, 2, 3, 5, 8, 13, 21, 34]
    sizes = [mpinet.open(name).size for name in names]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 246
    assert [mpinet.open(name).name for name in names] == names
    assert {"gbsn:2,m=3-3-3-3,a=2", "gbsn:1,m=2-2,a=1"} < set(names)


def test_step_2_is_fulfilled_where_every_node_of_the_reference_has_two_partial_links():
    outcomes = Counter()
    for topology in grids.every()[:-40]:
        here = of(topology)
        least = min(
            sum((block, place ^ flip) in here.number for flip in here.partial_ports(block))
            for block, place in here.nodes
        )
        assert grids.blocks(topology).fulfils_step_2 is (least >= 2), topology
        assert is_excluded(topology) >= (least < 2)
        outcomes[least >= 2] += 1
    assert min(outcomes.values()) > 100


def test_the_small_networks_measure_as_the_reference_does():
    for topology in SMALL:
        here = of(topology)
        whole, lit = graph(here.wiring), literal_graph(topology)
        assert at("S2-literal-connected", topology=topology).measured is nx.is_connected(lit)
        assert at("S2-any-size", topology=topology).measured is True
        degrees = [degree for _, degree in whole.degree]
        assert at("S3-degree-gbsn-max", topology=topology).measured == max(degrees)
        assert at("S3-degree-gbsn-min", topology=topology).measured == min(degrees)
        farthest, mean = spread(reference.distances(here.wiring))
        assert at("P31-upper-sum", topology=topology).measured == farthest
        assert at("E3-lower-graph", topology=topology).measured == mean
        N = whole.number_of_nodes()
        hops = [len(here.way(u, v)) - 1 for u in range(N) for v in range(N)]
        assert at("E4-upper-route", topology=topology).measured == sum(hops) / N**2
        pairs = [(B, D) for B in range(here.k) for D in range(here.k) if B != D]
        by_shifts = all(here.exits(*pair) for pair in pairs)
        assert at("S4-right-shift-suffices", topology=topology).measured is by_shifts


def test_the_small_networks_have_the_shift_links_of_the_reference():
    for topology in SMALL:
        for id, completed in (
            ("S2-complementary-canonical", True),
            ("S2-complementary-literal", False),
        ):
            here = of(topology, completed)
            shifting = {(block, place & 1) for block, place, _ in here.shift_ends}
            both = all((block, bit) in shifting for block in range(here.k) for bit in (0, 1))
            assert at(id, topology=topology).measured is both, (id, topology)
        ends = Counter(node for node in of(topology).shift_ends)
        assert max(ends.values(), default=0) <= 1
        found = at("S2-two-partial-links", topology=topology).measured
        here = of(topology)
        partial = [
            sum((block, place ^ flip) in here.number for flip in here.partial_ports(block))
            for block, place in here.nodes
        ]
        assert found == min(partial)


@pytest.mark.parametrize(
    "point",
    [
        {"topology": "gbsn:1,m=2-2,a=1", "a": 1},
        {"topology": "gbsn:2,m=3-5,a=2-3", "a": 2},
        {"topology": "gbsn:1,m=5-3,a=3-2", "a": 1},
    ],
)
def test_a_mapping_keeps_both_bounds_where_one_is_found_by_trying(point):
    here, a = of(point["topology"]), point["a"]
    size = sum(here.m)
    distance = reference.distances(here.wiring)
    block = [block for block, _ in here.nodes]
    rows = reference.bsn(a, here.b, size.bit_length() - 1)
    shifts = 2 if here.b < size.bit_length() - 1 else 0
    links = [
        (u, v, port >= len(ports) - shifts)
        for u, ports in enumerate(rows)
        for port, v in enumerate(ports)
        if v not in (None, u)
    ]

    def keeps(images):
        images = dict(enumerate(images))
        ends = [(images[u], images[v]) for u, v, shift in links if shift]
        steps = [-(-(block[u] ^ block[v]).bit_count() // here.b) for u, v in ends]
        most = sum(sorted(here.m)[::-1][: max([1, *steps])]) / 2
        return all(
            distance[images[u]][images[v]] <= (most if shift else a) for u, v, shift in links
        )

    found = at("P42-dilation", **point).measured
    assert found is any(map(keeps, permutations(range(size))))
    assert found is (point["topology"] != "gbsn:2,m=3-5,a=2-3")


def test_two_way_shift_routing_serves_the_pairs_of_figure_1b_that_a_referee_counted():
    caption, text = (point["topology"] for point in grids.FIGURE_1B.points("full"))
    assert find(CLAIMS["S4-twsr-on-gbsn"], {"topology": caption}).where["served"].startswith("142 ")
    assert find(CLAIMS["S4-twsr-on-gbsn"], {"topology": text}).where["served"].startswith("193 ")
    for whole in ("gbsn:1,m=4-4-4-4,a=1", "gbsn:2,m=4-4-4-4,a=2", "gbsn:3,m=8-8,a=3"):
        assert at("S4-twsr-on-gbsn", topology=whole).measured is True


def test_blocks_without_partial_links_leave_the_rightmost_bit_alone(monkeypatch):
    assert at("S4-rightmost-bit", topology="gbsn:1,m=2-3,a=1").holds
    alone = {"gbsn:1,m=2-3,a=1": [(0,), (1,), (2, 3, 4)]}
    monkeypatch.setattr(routing, "in_blocks", alone.get)
    assert not at("S4-rightmost-bit", topology="gbsn:1,m=2-3,a=1").holds


def test_the_bounds_on_the_slowdown_are_those_of_networkx():
    for topology, a in HOSTS:
        host, guest = graph(of(topology).wiring), graph(reference.bsn(a, of(topology).b, 3))
        farthest, means = zip(
            *(spread(dict(nx.all_pairs_shortest_path_length(one))) for one in (host, guest)),
            strict=True,
        )
        bounds = [farthest[0] / farthest[1], means[0] / means[1]]
        if not GraphMatcher(host, guest).subgraph_is_monomorphic():
            bounds.append(2)
        found = at("P41-slowdown", topology=topology, a=a).measured
        assert found == pytest.approx(max(bounds)), (topology, a)


def test_two_circles_are_found_where_networkx_finds_them():
    circles = nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(4))
    outcomes = set()
    for point in CLAIMS["P42-partial-existential"].grid.points("full"):
        host = graph(of(point["topology"]).wiring)
        expected = GraphMatcher(host, circles).subgraph_is_monomorphic()
        assert at("P42-partial-existential", **point).measured is expected
        outcomes.add(expected)
    assert outcomes == {True, False}


def test_a_gbsn_of_16_nodes_is_more_than_b_times_as_wide_as_the_bsn():
    topology = "gbsn:2,m=9-4-3,a=1"
    assert nx.diameter(graph(of(topology).wiring)) == 7
    assert nx.diameter(graph(reference.bsn(2, 2, 4))) == 3
    row = judged(CLAIMS["S3-diameter-factor-b-advice"], topology=topology, a=2)
    assert (row.verdict, row.measured, row.claimed) == ("refuted", 7 / 3, 2)


@pytest.mark.parametrize(
    ("id", "topology", "claimed", "value"),
    [
        ("S3-degree-bsn", "bsn:1,1,2", 3, 2),
        ("S3-degree-bsn", "bsn:2,4,8", 8, 7),
        ("S3-degree-bsn-generic", "bsn:3,6,8", 16, 16),
        ("X-diameter-bsn", "bsn:2,4,6", 4, 4),
        ("X-diameter-bsn-large", "bsn:5,5,10", 3, 3),
        ("E1-graph", "bsn:1,1,2", 2.5, 1.25),
        ("S3-degree-bsn-links", "bsn:1,1,2", 3, 3),
        ("S3-degree-bsn-links", "bsn:2,4,8", 8, 8),
    ],
)
def test_values_known_by_hand(id, topology, claimed, value):
    found = at(id, topology=topology)
    assert (found.claimed, found.measured) == (claimed, value)


def test_the_collectives_of_bsn_2_2_4_take_the_steps_counted_by_hand():
    found = at("X-collectives", topology="bsn:2,2,4")
    assert found.holds
    steps = list(found.measured.values())
    assert steps == [6, 6, 5, 5, 3, 1, 3, 7 + 2, 15 + 4 + 2]


def test_formulas_that_are_off_by_one_are_refuted():
    for id in ("S2-bsn-size", "S3-size", "S3-degree-bsn-generic", "X-diameter-bsn"):
        right = CLAIMS[id]
        assert judged(right).verdict == "holds"
        off = replace(right, claimed=lambda topology, right=right: right.claimed(topology) - 1)
        assert judged(off).verdict == "refuted"


def test_a_removed_link_is_the_witness(monkeypatch):
    whole = mpinet.open("bsn:2,2,4")
    holed = measure.without(whole, links=[(1, 4)])
    monkeypatch.setattr(measured, "network", lambda topology: holed)
    row = judged(CLAIMS["S2-bsn-links"], topology="bsn:2,2,4")
    assert row.verdict == "refuted"
    assert row.witness["where"] == {"link": [1, 4], "measured": False}


def test_networks_that_lack_the_completion_are_in_pieces(monkeypatch):
    monkeypatch.setattr(measured, "network", lambda name: mpinet.open(grids.literal(name)))
    row = judged(CLAIMS["S2-any-size"])
    assert row.witness["point"] == {"topology": "gbsn:2,m=2-5,a=1"}
    assert not nx.is_connected(literal_graph("gbsn:2,m=2-5,a=1"))


@rule
def set_bit_by_bit(node, header, params):
    """The routing's way, but a subsection is set one bit at a time."""
    port = gbsn_decide(node, header, params)
    patterns = (1 << params[2]) - 1
    if port < 0 or port >= params[5]:
        return port
    pattern = port % patterns + 1
    return port - pattern + (pattern & -pattern)


def test_longer_routes_are_refuted(monkeypatch):
    claim = CLAIMS["S4-gbsn-routing-on-bsn"]
    assert judged(claim, topology="bsn:2,2,4").verdict == "holds"
    slow = property(lambda bsn: {"gbsn": lambda: stateless("gbsn", set_bit_by_bit, bsn)})
    monkeypatch.setattr(BlockShift, "routings", slow)
    forget()
    row = judged(claim, topology="bsn:2,2,4")
    assert row.verdict == "refuted"
    assert row.witness["where"]["hops"] == 5
