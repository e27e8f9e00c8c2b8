"""The paper's claims come out as is known from elsewhere, and errors that are planted are found."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pytest
from serial.hdn.reference import Network
from serial.hdn.settings import ring

import mpinet
from mpinet.claims.finding import find
from mpinet.claims.ledger import claims_of, paper
from mpinet.claims.remembered import forget
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local
from mpinet.measure.wiring import edges, without
from mpinet.networks.hdn.wiring import DualNet
from mpinet.networks.shortest import table_routing
from mpinet.papers import sweeps
from mpinet.papers.hdn import built, grids, runs

IDS = (Path(__file__).parents[1] / "claims" / "ids.txt").read_text().split()
CLAIMS = {claim.id: claim for claim in claims_of("hdn")}
SQUARE, TWISTED = "hdn:2x2,super=0/0", "hdn:2x2,super=0/1"


def judged(claim, **at):
    """The verdict on a claim, given or by its id, at some points of its full grid."""
    found = CLAIMS[claim] if isinstance(claim, str) else claim
    return verify([found], "quick", Local(), at={name: str(value) for name, value in at.items()})[0]


def graph_of(reference):
    return networkx.Graph(
        (reference.number(x), reference.number(y))
        for x in reference.nodes
        for y in reference.wiring(x)
    )


def test_there_are_the_claims_of_the_specification():
    assert sorted(CLAIMS) == sorted(id for id in IDS if id.startswith("HDN-"))


def test_every_claim_has_quick_points_that_are_points_of_its_full_grid():
    for claim in CLAIMS.values():
        if claim.measured is not None:
            quick, full = (claim.grid.points(budget) for budget in ("quick", "full"))
            assert quick
            assert all(point in full for point in quick)


def test_the_tables_name_claims():
    assert all(
        claim in CLAIMS for table in paper("hdn").tables for _, row in table.rows for claim in row
    )


def test_the_ranges_have_the_networks_of_the_specification():
    names = grids.r1()
    assert len(set(names)) == len(names) == 123
    assert all(mpinet.open(name).size == grids.size_of(name) <= 1100 for name in names)
    assert all(mpinet.open(name).name == name for name in (*names, *grids.R2_NAMES))
    assert max(map(grids.size_of, grids.R2_NAMES)) == 17280


@pytest.mark.parametrize(
    "claim",
    [
        "HDN-Tab1-k1", "HDN-Tab1-k2-s30", "HDN-Tab3-1-1", "HDN-EX-fig10", "HDN-EX-uprime",
        "HDN-EX-path-labels", "HDN-Tab4-r1", "HDN-Tab4-r2", "HDN-Tab4-r3", "HDN-Tab4-r4",
        "HDN-EX-reindex", "HDN-S5-T-sum", "HDN-Tab2-dualcube",
        "HDN-Fig6", "HDN-S4-snid-20", "HDN-S2-product-copies",
    ],
)  # fmt: skip
def test_what_the_paper_prints_rightly_holds(claim):
    assert judged(claim).verdict == "holds"


@pytest.mark.parametrize(
    ("claim", "at", "claimed", "measured"),
    [
        ("HDN-Th1-nodes", {"topology": "hdn:2,super=0/0"}, 2**7 // 4, 2 * (2 * 2) ** 2 // 2),
        ("HDN-Th1-diameter", {"topology": "hdn:2,super=0"}, 2 - 1 + 2, 2),
        ("HDN-Tab2-ccc", {"topology": "ccc:6"}, 12, 12 + 3 - 2),
        ("HDN-S3-dualcube-base", {"n": 2}, 2**3, 2 * 4**2),
        ("HDN-EX-length", {}, 17, 9),
        ("HDN-S5-T-product", {"topology": "hdn:2x3"}, 1 * 2, 1 + 2),
        ("HDN-S3-degree-235", {"topology": "hdn:2x3x5,super=0.1.2"}, 7, 1 + 2 + 2 + 1),
        ("HDN-A2-complete", {"topology": "hdn:2,super=0/-"}, 32, 16),
        ("HDN-EX-path-links", {}, 17, 15),
    ],
)
def test_what_it_prints_wrongly_is_refuted(claim, at, claimed, measured):
    found = judged(claim, **at)
    assert found.verdict == "refuted"
    assert (last_cell(found.claimed), last_cell(found.measured)) == (claimed, measured)


def last_cell(value):
    """A single number, or the last one of a row."""
    return list(value.values())[-1] if isinstance(value, dict) else value


def test_reindexing_moves_coordinates_and_not_serial_numbers():
    # C3 x C5 keeps (0, 2) and (2, 2): 0*5 + 2 and 2*5 + 2 instead of the printed 0 and 14
    found = judged("HDN-Tab4-serial-equal")
    assert found.verdict == "refuted" and "(19,2) and (0,12)" in found.reading
    network = mpinet.open(grids.FIG11)
    labels = [network.level_address(node, 1) for node in range(300)]
    moved = [labels.index(label) for label in ((1, 4, 2, 3), (0, 0, 2, 2))]
    assert [network.level_address(node, 2)[2:] for node in moved] == [(19, 2), (0, 12)]


def test_algorithm_1_is_longer_than_theorem_2_allows():
    reference = Network([ring(2)] * 2, [(), (0, 1)])
    found = judged("HDN-Th2-bound", topology="hdn:2x2,super=-/0.1")
    where = found.witness["where"]
    path = reference.route("algorithm1", where["source"], where["target"])
    assert (found.claimed, found.measured) == (4 * 2 - 2 - 0 + 6, len(path) - 1) == (12, 14)


def test_two_networks_of_the_same_sizes_differ():
    graphs = [graph_of(Network([ring(2)] * 2, [(0,), (j,)])) for j in (0, 1)]
    classes = [
        {
            tuple(
                sorted(Counter(networkx.single_source_shortest_path_length(g, v).values()).items())
            )
            for v in g
        }
        for g in graphs
    ]
    where = find(CLAIMS["HDN-X-sizes"], {}).where
    for name, graph, profiles in zip((SQUARE, TWISTED), graphs, classes, strict=True):
        assert where[f"diameter of {name}"] == networkx.diameter(graph)
        assert where[f"different distance profiles in {name}"] == len(profiles)


@pytest.mark.parametrize(
    ("name", "classes"), [(SQUARE, 1), (TWISTED, 4), ("hdn:4,super=0/-", 1), ("torus:4x5", 1)]
)
def test_nodes_that_look_alike_have_the_same_distances(name, classes):
    network = mpinet.open(name)
    graph = networkx.Graph(edges(network).tolist())
    roots = sweeps.representatives(network).tolist()
    assert len(roots) == classes
    assert sweeps.reach(name).diameter == networkx.diameter(graph)
    assert sweeps.reached(name) == len(graph)
    source, target = sweeps.reach(name).ends
    assert networkx.shortest_path_length(graph, source, target) == networkx.diameter(graph)


def test_nothing_looks_alike_where_a_link_is_missing(monkeypatch):
    part = without(TWISTED, links=[(0, 1)])
    assert len(sweeps.representatives(part)) == part.size
    monkeypatch.setattr(sweeps, "open_topology", lambda topology: part)
    graph = networkx.Graph(edges(part).tolist())
    assert sweeps.reach(TWISTED).diameter == networkx.diameter(graph)


def test_the_dual_construction_of_a_ring_is_the_rdn():
    links = built.dual_construction(edges("ring:5"), 5)
    literal = networkx.Graph()
    for c, j, i in np.ndindex(2, 5, 5):
        literal.add_edge((c * 5 + j) * 5 + i, (c * 5 + j) * 5 + (i + 1) % 5)
        literal.add_edge(j * 5 + i, (5 + i) * 5 + j)
    assert {tuple(sorted(link)) for link in literal.edges} == {tuple(row) for row in links.tolist()}


@pytest.mark.parametrize("name", ["hdn:4,super=0/0", "hdn:2x2,super=0"])
def test_broadcasts_send_what_the_specification_says(name):
    base, _, levels = name.partition(",super=")
    sides = [ring(int(side)) for side in base.removeprefix("hdn:").split("x")]
    reference = Network(sides, [(int(level),) for level in levels.split("/")])
    network = mpinet.open(name)
    for root in range(0, network.size, 5):
        counts, since, steps = runs.broadcast_from(network, root, runs.MENDED)
        sends = reference.broadcast(root)
        assert counts[runs.MESSAGES] == len(sends)
        assert {(int(since[v]), v) for v in range(network.size) if v != root} == {
            (step, receiver) for step, _, receiver in sends
        }
        assert steps == max(since)


PLANTED = {
    "HDN-Th1-degree": "hdn:2x2,super=0",
    "HDN-S3-recurrence-N": "hdn:2x2,super=0",
    "HDN-Th1-diameter": "hdn:2,super=-",
    "HDN-S2-clusters": "hdn:2x2,super=0",
    "HDN-S3-bisection-aligned": "hdn:2,super=-",
    "HDN-X-connectivity": "hdn:2x2,super=0",
    "HDN-X-bipartite": "hdn:2x2,super=0",
    "HDN-X-gossip": "hdn:2x2,super=0",
    "HDN-X-bcast-exact": "hdn:2x2,super=0",
}


def off_by_one(value):
    if isinstance(value, dict):
        return {name: off_by_one(part) for name, part in value.items()}
    return not value if isinstance(value, bool) else value + 1


@pytest.mark.parametrize(("claim", "name"), PLANTED.items())
def test_a_formula_off_by_one_is_refuted(claim, name):
    right = CLAIMS[claim]
    wrong = replace(right, claimed=lambda **point: off_by_one(right.claimed(**point)))
    assert judged(right, topology=name).verdict == "holds"
    assert judged(wrong, topology=name).verdict == "refuted"


@pytest.mark.parametrize(
    "claim", ["HDN-Th1-degree", "HDN-Th1-diameter", "HDN-X-connectivity", "HDN-S2-cross-count"]
)
def test_a_missing_link_is_found(monkeypatch, claim):
    ring_of_8 = "hdn:2,super=-"
    assert judged(claim, topology=ring_of_8).verdict == "holds"
    forget()
    holed = without(mpinet.open(ring_of_8), links=[(0, 1)])
    for room in ("wiring", "distance"):
        monkeypatch.setattr(f"mpinet.measure.{room}.open_topology", lambda name: holed)
    assert judged(claim, topology=ring_of_8).verdict == "refuted"


def test_longer_routes_are_found(monkeypatch):
    at = {"topology": "hdn:2x2,super=0"}
    claims = ("HDN-X-alg1-shortest-k1", "HDN-Th2-bound")
    assert [judged(claim, **at).verdict for claim in claims] == ["holds"] * 2
    forget()
    avoiding = table_routing(without(at["topology"], links=[(0, 1), (0, 2)]))
    monkeypatch.setattr(DualNet, "routings", {"algorithm1": lambda: avoiding})
    assert [judged(claim, **at).verdict for claim in claims] == ["refuted"] * 2
