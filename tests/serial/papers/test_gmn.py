"""The claims of the paper on G(m,N) against networkx, the reference and the printed numbers."""

from dataclasses import replace
from functools import partial
from itertools import permutations, product
from pathlib import Path

import networkx as nx
import pytest
from serial.gmn import reference
from serial.gmn.reference import Arbitrary, Loops, m_of, size_range, sizes

import mpinet
from mpinet.claims.finding import find
from mpinet.claims.ledger import claims_of, paper
from mpinet.claims.verify import verify
from mpinet.compiled import rule
from mpinet.machine.transport import Local
from mpinet.measure.distance import distance_matrix
from mpinet.measure.wiring import edges, without
from mpinet.networks.routing import stateless
from mpinet.papers.gmn import census, floods, grids, routing, structure
from mpinet.papers.gmn.numbers import digits

IDS = Path(__file__).parents[1] / "claims" / "ids.txt"
CLAIMS = {claim.id: claim for claim in claims_of("gmn")}


def judged(claim, **at):
    """The verdict of a claim at a point."""
    claim = CLAIMS[claim] if isinstance(claim, str) else claim
    (row,) = verify([claim], "quick", Local(), at={key: str(value) for key, value in at.items()})
    return row


def measured(claim, **at):
    return judged(claim, **at).measured


def graph_of(loops):
    return nx.Graph([(u, v) for u, row in enumerate(loops.wiring()) for v in row])


def jumps(N, *steps):
    return nx.circulant_graph(N, steps)


def chordal(N, w):
    ring = nx.cycle_graph(N)
    ring.add_edges_from((u, (u + w) % N) for u in range(1, N, 2))
    return ring


def test_the_claims_are_those_of_the_specification():
    assert sorted(CLAIMS) == sorted(i for i in IDS.read_text().split() if i.startswith("GMN-"))


def test_every_claim_has_a_quick_point_and_a_text():
    for claim in CLAIMS.values():
        assert claim.grid.points("quick"), claim.id
        assert claim.statement and claim.place, claim.id


def test_the_table_names_claims_that_exist():
    (table,) = paper("gmn").tables
    named = [claim for _, claims in table.rows for claim in claims]
    assert len(named) == 30
    assert set(named) <= set(CLAIMS)


def test_grids_hold_the_sizes_of_the_specification():
    for m in range(3, 13):
        assert (grids.smallest_above(m), grids.largest_size(m)) == size_range(m)
        assert list(grids.sizes(m)) == sizes(m)
        assert all(m_of(N) == m for N in sizes(m))


@pytest.mark.parametrize(("m", "N"), [(3, 12), (4, 24), (4, 32), (5, 40), (6, 84)])
def test_wiring_and_diameter_are_those_of_networkx(m, N):
    graph = graph_of(Loops(m, N))
    at = {"topology": f"gmn:{m},{N}"}
    assert measured("GMN-T1-D", **at) == nx.diameter(graph)
    assert measured("GMN-S-links-dl", **at) == graph.number_of_edges()
    assert measured("GMN-FT-bicon", **at) == nx.is_biconnected(graph)
    assert measured("GMN-S-gap-log", **at) == 2 * m
    if N <= 40:
        worst = max(nx.diameter(graph.subgraph(set(graph) - {dead})) for dead in graph)
        assert measured("GMN-FT-diam", **at) == worst - nx.diameter(graph)
    sectors = nx.quotient_graph(graph, lambda u, v: u // m == v // m, relabel=True)
    powers = [2**i for i in range((N // m).bit_length() - 1)]
    small = nx.is_isomorphic(sectors, jumps(N // m, *powers))
    assert measured("GMN-S-super-eq", **at) is small


@pytest.mark.parametrize("name", ["3,12", "4,16", "4,32", "5,40"])
def test_routes_are_those_of_the_reference(name):
    m, N = map(int, name.split(","))
    loops = Loops(m, N)
    pairs = product(range(N), repeat=2)
    longest = max(len(reference.route(loops, s, d)) for s, d in pairs)
    assert measured("GMN-X-len-printed", topology=f"gmn:{name}") == longest


@pytest.mark.parametrize("name", ["3,12", "4,32", "5,40", "6,60"])
def test_the_best_order_is_that_of_a_search_over_all_orders(name):
    loops = Loops(*map(int, name.split(",")))
    pairs = product(range(loops.m), range(loops.N))  # sectors are alike
    longest = max(reference.shortest_order(loops, s, d) for s, d in pairs)
    assert measured("GMN-R-len", topology=f"gmn:{name}") == longest


def test_no_order_of_the_hops_is_short_enough_in_the_network_that_refutes_it():
    row = judged("GMN-R-len", topology="gmn:7,112")
    where = row.witness["where"]
    assert (row.verdict, row.measured, row.claimed) == ("refuted", 10, 9)
    assert reference.shortest_order(Loops(7, 112), where["source"], where["target"]) == 10


def test_repaired_routes_are_those_of_the_reference():
    found = find(CLAIMS["GMN-X-FT-online"], {"topology": "gmn:6,96"})
    where = found.where
    path = reference.online(Loops(6, 96), where["source"], where["target"], where["dead"])
    assert (found.holds, found.claimed, found.measured) == (True, 16, 15)
    assert len(path) - 1 == 15


def test_planned_routes_are_those_of_the_reference():
    loops = Loops(4, 16)
    pairs = [(s, d, f) for f in range(4) for s, d in permutations(range(16), 2) if f not in (s, d)]
    lengths = [len(reference.planned(loops, *pair)) - 1 for pair in pairs]
    assert measured("GMN-FT-route", topology="gmn:4,16") == max(lengths)


def test_the_best_chordal_rings_and_double_loops_are_those_of_networkx():
    chords = {w: nx.diameter(chordal(48, w)) for w in range(3, 25, 2)}
    row = judged("GMN-I-superior", topology="gmn:6,48")
    there = row.witness["where"]
    assert there["chordal ring"] == min(chords.values()) == chords[there["w"]]
    steps = {s: nx.diameter(jumps(48, 1, s)) for s in range(2, 24)}
    assert there["double loop"] == min(steps.values()) == steps[there["s"]]
    assert there["diameter"] == nx.diameter(graph_of(Loops(6, 48)))


def test_a_chordal_ring_is_better_than_table_1_says():
    row = judged("GMN-TB1-256-ch-diam")
    assert (row.verdict, row.witness["where"]["w"]) == ("refuted", 39)
    found = nx.diameter(chordal(256, row.witness["where"]["w"]))
    assert row.measured == {"chordal ring: diameter": found} == {"chordal ring: diameter": 14}


def test_restricted_redundant_binary_is_that_of_the_reference():
    for number in range(-300, 300):
        wanted = tuple(reference.rrb(number)[::-1]) or (0,)
        assert digits(number) == wanted


def test_impossible_numbers_are_those_of_the_reference():
    found = CLAIMS["GMN-C-exists"].measured().where["impossible N"]
    assert found == [*range(1, 8), 17]
    assert not Arbitrary(17).possible
    assert all(Arbitrary(N).possible for N in range(8, 60) if N != 17)


def test_the_diameter_for_any_number_of_nodes_is_that_of_networkx():
    loops = Arbitrary(37)
    difference = nx.diameter(graph_of(loops)) - nx.diameter(graph_of(Loops(5, 40)))
    assert measured("GMN-C-diam", N=37) == difference


OUTCOMES = {
    "GMN-S-gap": ({"N": 12, "m": 3, "next_m": 4}, [6, 8], 4),
    "GMN-S-avgdeg-even": ({"topology": "gmn:4,16"}, 3.25, 3.0),
    "GMN-S-super-eq": ({"topology": "gmn:4,16"}, False, True),
    "GMN-S-rcdeg": ({"n": 3}, 3, 5),
    "GMN-D-diag-printed": ({"topology": "gmn:3,12"}, 0, 0),
    "GMN-R-hoptypes": ({"topology": "gmn:3,12"}, 3, 2),
    "GMN-A-q": ({"topology": "gmn:4,16"}, 5, 4),
    "GMN-A-print-p0": ({"topology": "gmn:4,32"}, True, False),
    "GMN-A-print-bit": ({"topology": "gmn:8,256"}, True, False),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_what_is_refuted_is_refuted_at_its_smallest_witness(name):
    row = judged(name)
    point, claimed, found = OUTCOMES[name]
    assert row.verdict == "refuted"
    assert (row.witness["point"], row.claimed, row.measured) == (point, claimed, found)


@pytest.mark.parametrize("name", ["GMN-F1a", "GMN-F1b", "GMN-F2", "GMN-R-ex4", "GMN-R-ex5b"])
def test_printed_examples_come_out_as_printed(name):
    row = judged(name)
    assert (row.verdict, row.measured) == ("holds", row.claimed)


def test_a_formula_off_by_one_turns_the_verdict():
    right = CLAIMS["GMN-T1-mod"]
    at = {"topology": "gmn:6,96"}
    slack = right.claimed_at(at) - measured(right, **at)
    assert judged(right, **at).verdict == "holds"
    wrong = replace(right, claimed=lambda topology: right.claimed(topology) - slack - 1)
    assert judged(wrong, **at).verdict == "refuted"


def test_a_removed_link_turns_verdicts(monkeypatch):
    monkeypatch.setattr(structure, "edges", lambda name: edges(without(name, links=[(0, 20)])))
    row = judged("GMN-F2")
    assert (row.verdict, row.witness["where"]["fields"]) == ("refuted", ["links", "0-20"])
    across = [(u, v) for u, v in edges("gmn:4,16").tolist() if v - u not in (1, 15)]
    holed = partial(distance_matrix, cut=across)
    monkeypatch.setattr("mpinet.papers.measured.distance_matrix", holed)
    row = judged("GMN-T1-D", topology="gmn:4,16")
    assert (row.verdict, row.measured) == ("refuted", 8)


@rule
def all_the_way_round(node, header, params):
    """Along the ring, however far it is."""
    return -1 if node == header[0] else 0


def test_longer_routes_turn_the_verdict(monkeypatch):
    at = {"topology": "gmn:10,300"}
    assert judged("GMN-X-len-printed", **at).verdict == "holds"
    longer = stateless("round", all_the_way_round, mpinet.open("gmn:10,300"), shortest=False)
    census.census.cache_clear()
    monkeypatch.setattr(type(mpinet.open("gmn:10,300")), "routing", lambda self, name: longer)
    row = judged("GMN-X-len-printed", **at)
    assert (row.verdict, row.measured) == ("refuted", 299)


def test_lost_messages_turn_the_verdict(monkeypatch):
    assert judged("GMN-R-deliver", topology="gmn:4,16").verdict == "holds"
    census.census.cache_clear()
    monkeypatch.setattr(
        type(mpinet.open("gmn:4,16")),
        "routing",
        lambda self, name: stateless("stuck", never, self, shortest=False),
    )
    row = judged("GMN-R-deliver", topology="gmn:4,16")
    assert (row.verdict, row.witness["where"]["lost"]) == ("refuted", 16 * 15)


@rule
def never(node, header, params):
    """Stay where it is."""
    return -1


def test_a_longer_path_turns_an_examples_verdict(monkeypatch):
    nodes = [13, 12, 13, 21, 20, 19, 18, 17, 81]
    monkeypatch.setattr(routing, "walk", lambda *route: nodes)
    assert judged("GMN-R-ex5b").verdict == "refuted"


def test_sectors_that_do_not_look_alike_are_all_flooded(monkeypatch):
    wanted = floods.diameter("gmn:6,48").value
    floods.sector_distances.cache_clear()
    floods.diameter.cache_clear()
    monkeypatch.setattr(floods, "looks_alike", lambda network, by: False)
    assert floods.sector_distances("gmn:6,48").shape == (48, 48)
    assert floods.diameter("gmn:6,48").value == wanted
