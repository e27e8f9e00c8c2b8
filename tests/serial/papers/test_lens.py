"""The claims of the lens: all of them are there, and their verdicts follow the network."""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from serial.lens import reference

import mpinet
from mpinet import measure
from mpinet.claims.ledger import claims_of, paper
from mpinet.claims.remembered import forget
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local, alone
from mpinet.networks.lens.wiring import LensNetwork
from mpinet.papers.lens import (
    circle,
    example,
    figure,
    loads,
    measured,
    multistage,
    sweeps,
    walks,
    words,
)
from mpinet.papers.measured import size_of

IDS = Path(__file__).parents[1] / "claims" / "ids.txt"
CLAIMS = {claim.id: claim for claim in claims_of("lens")}


def judged(claim, **at):
    """The verdict of a claim at a point."""
    claim = CLAIMS[claim] if isinstance(claim, str) else claim
    (row,) = verify([claim], "quick", Local(), at={key: str(value) for key, value in at.items()})
    return row


def incidence_graph(network):
    """A reference network's processors (numbers) and busses (pairs with a number)."""
    return nx.Graph([(u, ("bus", bus)) for u, bus in network.incidences])


def neighbour_graph(network):
    return nx.Graph([(u, v) for u, ports in enumerate(network.ports) for _, v in ports])


def test_the_claims_are_those_of_the_specification():
    assert sorted(CLAIMS) == sorted(id for id in IDS.read_text().split() if id.startswith("LENS-"))


def test_every_claim_that_is_measured_has_a_quick_point_and_a_text():
    for claim in CLAIMS.values():
        every, quick = claim.grid.points("full"), claim.grid.points("quick")
        assert quick, claim.id
        assert all(point in every for point in quick), claim.id
        assert claim.statement and claim.place, claim.id


def test_networks_are_tested_from_the_smallest_on():
    for claim in CLAIMS.values():
        names = [point["topology"] for point in claim.grid.points("full") if "topology" in point]
        sizes = [size_of(name) for name in names]
        assert sizes == sorted(sizes) or "algorithm" in claim.grid.points("full")[0], claim.id


def test_the_table_names_claims_that_exist():
    (table,) = paper("lens").tables
    assert {id for _, named in table.rows for id in named} <= set(CLAIMS)


REFUTED = {
    "LENS-S2-star-failure": ({"topology": "busstar:3,1"}, 0, 3),
    "LENS-S2-star-outermost-bus": ({"topology": "busstar:4,3"}, 6 / 64**2, 372 / 64**2),
    "LENS-S4-example-p": (
        {"q": 3},
        dict.fromkeys(example.LISTED, True),
        dict.fromkeys(example.LISTED, False),
    ),
    "LENS-S4-region-borders": ({"topology": "lens:3,2,2"}, True, False),
    "LENS-S4-length-A": ({"topology": "lens:3,2,1"}, 2, "no path"),
    "LENS-S4-diameter-2n": (
        {"topology": "lens:3,2,1"},
        {"pairs without a path": 0, "largest distance": 2},
        {"pairs without a path": 2, "largest distance": 0},
    ),
    "LENS-T1-H-literal": ({"topology": "clens:3,2"}, True, False),
    "LENS-S7-box-lines": ({"topology": "lens:2,3,3"}, [[2, 3]], [[1, 2]]),
    "LENS-S8-diameter-completed": ({"topology": "clens:3,2"}, 3, 2),
    "LENS-S8-diameter-lens": ({"topology": "lens:3,2,1"}, 2, 1),
    "LENS-S8-multiple-minimal": ({"topology": "clens:3,3"}, 1, 1),
}


@pytest.mark.parametrize("name", REFUTED)
def test_what_is_refuted_is_refuted_at_its_smallest_witness(name):
    point, claimed, found = REFUTED[name]
    row = judged(name, **point)
    assert row.verdict == "refuted"
    assert (row.witness["point"], row.claimed, row.measured) == (point, claimed, found)
    every = CLAIMS[name].grid.points("full")
    assert all(not judged(name, **smaller).witness for smaller in every[: every.index(point)])


@pytest.mark.parametrize(("p", "n"), [(3, 1), (3, 2), (4, 2), (3, 3)])
def test_failures_that_split_nothing_are_those_of_every_removal_tried(p, n):
    graph = incidence_graph(reference.star(p, n))
    processors = range(p**n)
    harmless = 0
    for component in list(graph):
        rest = graph.copy()
        rest.remove_node(component)
        left = [u for u in processors if u in rest]
        harmless += set(left) <= nx.node_connected_component(rest, left[0])
    assert judged("LENS-S2-star-failure", topology=f"busstar:{p},{n}").measured == harmless


@pytest.mark.parametrize(
    "name",
    ["LENS-S4-example-AB", "LENS-S4-example-A", "LENS-S4-example-region", "LENS-F1-sizes",
     "LENS-F1-completion-edges", "LENS-F2-differences", "LENS-F2-regions", "LENS-F2-lengths",
     "LENS-F2-path", "LENS-F2-B-saving", "LENS-F4-four-neighbours"],
)  # fmt: skip
def test_the_papers_examples_come_out_as_printed(name):
    row = judged(name)
    assert (row.verdict, row.measured) == ("holds", row.claimed)


CIRCLES = [(3, 2), (3, 3), (4, 2), (2, 6)]


@pytest.mark.parametrize(("p", "n"), CIRCLES)
def test_distances_paths_and_loads_of_the_completed_lens_are_those_of_networkx(p, n):
    network, name = reference.lens(p, p, n, completed=True), f"clens:{p},{n}"
    graph, size = incidence_graph(network), len(network.processors)
    assert judged("LENS-X-diameter-completed", topology=name).measured == nx.diameter(
        neighbour_graph(network)
    )
    with alone():
        assert np.array_equal(measured.path_counts(name), network.path_counts)
        processors = loads.expected_processor_loads(name)
        busses = loads.expected_bus_loads(name)
    assert judged("LENS-X-connectivity", topology=name).measured == nx.node_connectivity(graph)
    through = nx.betweenness_centrality_subset(graph, range(size), range(size))
    assert processors == pytest.approx([2 * through[u] for u in range(size)])
    assert busses == pytest.approx([2 * through["bus", bus] for bus in range(size)])


@pytest.mark.parametrize(("p", "q", "n"), [(3, 3, 3), (2, 4, 3), (4, 3, 2), (2, 2, 3)])
def test_distances_of_the_lens_are_those_of_networkx(p, q, n):
    network, name = reference.lens(p, q, n), f"lens:{p},{q},{n}"
    assert judged("LENS-X-diameter", topology=name).measured == nx.diameter(
        neighbour_graph(network)
    )
    rows = [k for k, _ in network.processors]
    by_a = nx.Graph(
        [(u, v) for u, ports in enumerate(network.ports) for _, v in ports if rows[u] != rows[v]]
    )
    by_a.add_nodes_from(range(len(rows)))
    hops = dict(nx.all_pairs_shortest_path_length(by_a))
    with alone():
        found = measured.distances_a(name)
    for u, v in product(range(len(rows)), repeat=2):
        assert found[u, v] == hops[u].get(v, -1)


@pytest.mark.parametrize(("p", "q", "n"), [(3, 3, 3), (4, 2, 3)])
def test_regions_of_difference_are_those_of_the_specification(p, q, n):
    network = reference.lens(p, q, n)
    first, last = words.regions(f"lens:{p},{q},{n}")
    for (u, (ks, s)), (v, (kt, t)) in product(enumerate(network.processors), repeat=2):
        inside = [i for i in range(1, n + 1) if s[i - 1] != t[i - 1]]
        inside += range(min(ks, kt) + 1, max(ks, kt) + 1)
        assert first[u, v] == min([*inside, min(ks, kt) + 1])
        assert last[u, v] == max([*inside, max(ks, kt)])


@pytest.mark.parametrize(("p", "n"), [(3, 2), (3, 3), (4, 2)])
def test_shortest_pattern_a_paths_are_those_of_networkx(p, n):
    network, name = reference.lens(p, p, n, completed=True), f"clens:{p},{n}"
    on = {bus: {network.number[u] for u in us} for bus, us in network.members.items()}
    owner = {bus: network.number[us[0]] for bus, us in network.members.items()}
    graph = nx.Graph()
    for bus, nodes in on.items():
        hop = ("bus", network.bus_number[bus])
        for node in nodes - {owner[bus]}:
            middle = (*hop, node)  # a hop of pattern A over a bus has its owner at one end
            graph.add_edges_from([(owner[bus], middle), (middle, node)])
    with alone():
        found = walks.shortest_paths(name, 1)
    for target in range(len(network.processors)):
        wanted = set()
        for path in nx.all_shortest_paths(graph, 1, target):
            wanted.add(tuple((path[i][1], path[i + 1]) for i in range(1, len(path), 2)))
        assert found[target] == wanted


def test_a_walk_leaves_only_by_busses_that_are_there():
    with alone():
        right = walks.walk("lens:3,3,2", np.array([0]), np.array([0]), np.array([[1, -1]]))
        outside = walks.walk("lens:3,3,2", np.array([0]), np.array([0]), np.array([[-1, 1]]))
    assert (right.tolist(), outside.tolist()) == ([2], [walks.ASTRAY])
    assert figure.walked((walks.RIGHT,)) == walks.ASTRAY


@pytest.mark.parametrize("ports", ["all", "one"])
def test_the_rows_of_radix_3_are_swept_in_the_order_of_the_dimensions(ports):
    with alone():
        sweep = sweeps.RowSweep("clens:4,3", ports, (1, 2, 3))
        assert sweep.ascend() == (3 if ports == "all" else 9)
    assert sweep.is_right(range(3))
    assert not sweep.is_right(range(2, -1, -1))


def test_multistage_networks_of_another_kind_are_told_apart():
    def butterfly_with_a_wrong_line(n):
        stages, lines = multistage.box_lines(f"lens:3,3,{n}")
        (u, v), (w, x), *others = lines
        assert v != x
        return stages, [(u, x), (w, x), *others]

    lines = multistage.switch_lines("omega", 3)
    assert multistage.alike(lines, multistage.switch_lines("baseline", 3))
    assert not multistage.alike(lines, butterfly_with_a_wrong_line(3))


def test_a_formula_off_by_one_turns_the_verdict():
    for name, topology in (("LENS-S3-N-general", "lens:3,4,2"), ("LENS-X-distance", "lens:3,3,2")):
        right = CLAIMS[name]
        assert judged(right, topology=topology).verdict == "holds"
        wrong = replace(right, claimed=lambda topology, right=right: right.claimed(topology) + 1)
        assert judged(wrong, topology=topology).verdict == "refuted"


def test_pairs_that_do_not_hear_each_other_turn_verdicts(monkeypatch):
    row = judged("LENS-X-distance", topology="lens:3,3,2")
    assert row.verdict == "holds"
    forget()
    deaf = [(4, 0), (0, 4)]
    monkeypatch.setattr(measure, "distance_matrix", partial(measure.distance_matrix, cut=deaf))
    row = judged("LENS-X-distance", topology="lens:3,3,2")
    where = row.witness["where"]
    graph = neighbour_graph(reference.lens(3, 3, 2))
    graph.remove_edge(0, 4)
    assert (row.verdict, row.claimed) == ("refuted", 1)
    assert row.measured == nx.shortest_path_length(graph, 0, 4) > 1
    assert (where["source"], where["target"]) == (0, 4)


def test_a_missing_member_turns_verdicts(monkeypatch):
    rows = measure.incidences("clens:3,3")
    monkeypatch.setattr(measure, "incidences", lambda topology: rows[1:])
    for name in ("LENS-S3-completed-degrees", "LENS-S8-degrees", "LENS-T2-selfdual"):
        assert judged(name, topology="clens:3,3").verdict == "refuted"


def test_longer_routes_turn_the_verdict(monkeypatch):
    at = {"topology": "clens:3,3"}
    assert judged("LENS-X-distance-completed", **at).verdict == "holds"
    by_name = LensNetwork.routing
    monkeypatch.setattr(LensNetwork, "routing", lambda self, name: by_name(self, "patternA"))
    row = judged("LENS-X-distance-completed", **at)
    assert row.verdict == "refuted"
    assert row.measured == {"pattern A": 0, "both patterns": 1}


def test_a_choice_of_digits_that_is_not_fair_turns_the_verdict(monkeypatch):
    at = {"topology": "clens:3,3"}
    row = judged("LENS-S6-note-fair", **at)
    assert row.verdict == "holds"
    network = mpinet.open("clens:3,3")
    zeros = loads.by_plans(network, pattern_b=False, first=[0] * 6)
    with alone():
        unequal = measure.loads(network, zeros)
    monkeypatch.setattr(loads, "routed", lambda topology: unequal)
    row = judged("LENS-S6-note-fair", **at)
    assert (row.verdict, row.measured["processors"]) == (
        "refuted",
        float(np.ptp(unequal.processors)),
    )


def test_paths_that_are_left_out_turn_the_verdict(monkeypatch):
    at = {"topology": "clens:3,3"}
    assert judged("LENS-S5-all-minimal", **at).verdict == "holds"
    every = circle.least_words
    monkeypatch.setattr(circle, "least_words", lambda a, agree: sorted(every(a, agree))[:1])
    assert judged("LENS-S5-all-minimal", **at).verdict == "refuted"
