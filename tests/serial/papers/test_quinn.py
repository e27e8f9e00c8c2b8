"""The claims of the section on processor organizations: verdicts, and wirings that are wrong."""

import networkx as nx
import pytest

from mpinet import measure
from mpinet.claims.ledger import claims_of
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local
from mpinet.papers.quinn import wirings
from mpinet.papers.quinn.wirings import organization

CLAIMS = {claim.id: claim for claim in claims_of("quinn")}
REFUTED = (
    "QUINN-mesh-bisection QUINN-mesh-most-edges QUINN-pyramid-shorter QUINN-butterfly-bisection "
    "QUINN-butterfly-combined QUINN-ccc-diameter QUINN-ccc-twice QUINN-de-bruijn-bisection"
).split()


def test_the_verdicts():
    assert sum(not claim.ours for claim in CLAIMS.values()) >= 40
    rows = {row.id: row.verdict for row in verify(list(CLAIMS.values()), "quick", Local())}
    assert {id for id, verdict in rows.items() if verdict == "refuted"} == set(REFUTED)
    assert [id for id, verdict in rows.items() if verdict == "open"] == [
        "QUINN-summary-edge-length"
    ]
    assert set(rows.values()) == {"holds", "refuted", "open"}


def graph(kind, k):
    wired = organization(kind, k)
    made = nx.Graph(map(tuple, measure.edges(wired).tolist()))
    made.add_nodes_from(range(wired.size))
    return made


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_tree_is_the_one_of_networkx(k):
    assert nx.is_isomorphic(graph("binary tree", k), nx.balanced_tree(2, k - 1))


@pytest.mark.parametrize("d", [1, 2])
def test_a_hypertree_is_a_tree_from_the_front_and_one_upside_down_from_the_side(d):
    seen = graph("hypertree", d)
    wired = organization("hypertree", d)
    places = [tuple(map(int, wired.address(node)[1:-1].split(","))) for node in range(wired.size)]
    front = {(places[a][:2], places[b][:2]) for a, b in seen.edges}
    side = {(places[a][::2], places[b][::2]) for a, b in seen.edges}
    assert nx.is_isomorphic(nx.Graph(front), nx.balanced_tree(4, d))
    assert nx.is_isomorphic(nx.Graph(side), nx.balanced_tree(2, d))


def test_a_pyramid_is_meshes_with_trees_between_them():
    seen = graph("pyramid", 2)
    for level, side in ((0, 4), (1, 2)):
        first = sum(4 ** (2 - below) for below in range(level))
        base = seen.subgraph(range(first, first + side * side))
        assert nx.is_isomorphic(base, nx.grid_2d_graph(side, side))
    assert sorted(degree for _, degree in seen.degree) == [3] * 4 + [4] * 9 + [5] * 4 + [7] * 4


def test_other_wirings_are_found_out(monkeypatch):
    def broken(height):
        return (link for link in wirings.pyramid(height) if link[0] != (1, 1, 1))

    def verdict(id, k):
        (row,) = verify([CLAIMS[id]], "quick", Local(), at={"k": str(k)})
        return row.verdict

    assert verdict("QUINN-pyramid-interior", 3) == "holds"
    monkeypatch.setitem(wirings.WIRED, "pyramid", broken)
    organization.cache_clear()
    assert verdict("QUINN-pyramid-interior", 3) == "refuted"
    monkeypatch.setitem(wirings.WIRED, "hypertree", wirings.binary_tree)
    for id in ("nodes", "diameter", "leaves"):
        assert verdict(f"QUINN-hypertree-{id}", 3) == "refuted"
