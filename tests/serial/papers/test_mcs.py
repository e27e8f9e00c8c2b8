"""The claims of the chapter on switching networks: its tables, and wirings that are wrong."""

from itertools import permutations, product

import networkx as nx
import pytest

from mpinet.claims.ledger import PAPERS, claims_of, select
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local
from mpinet.papers.mcs import congestion, wirings

CLAIMS = {claim.id: claim for claim in claims_of("mcs")}
REFUTED = (
    "MCS-tree-switch-size MCS-tree-most-3x3 MCS-array-worse-than-tree MCS-butterfly-fewer-switches"
    " MCS-benes-doubled-switches MCS-benes-doubled-diameter MCS-reasoner-short"
).split()


def verdict(id, **at):
    (row,) = verify([CLAIMS[id]], "quick", Local(), at={key: str(at[key]) for key in at})
    return row.verdict


def test_the_room_has_forty_statements_and_is_judged_where_it_is_named():
    stated = [claim for claim in CLAIMS.values() if not claim.ours]
    assert len(stated) >= 40
    assert not [claim for claim in select([]) if claim.paper not in PAPERS]
    assert select(["mcs"]) == claims_of("mcs")
    assert [claim.id for claim in select(["MCS-tree-1024", "GMN-I-superior"])] == [
        "GMN-I-superior",
        "MCS-tree-1024",
    ]


def test_the_verdicts():
    rows = verify(list(CLAIMS.values()), "quick", Local())
    assert {row.id for row in rows if row.verdict == "refuted"} == set(REFUTED)
    assert {row.verdict for row in rows} == {"holds", "refuted"}
    assert all(CLAIMS[id].corrected for id in REFUTED)


def graph_of(name, inputs):
    """A network with its terminals, as a directed graph of networkx."""
    made = wirings.NETWORKS[name](inputs)
    graph = nx.DiGraph(made.arcs)
    graph.add_edges_from((("in", i), switch) for i, switch in enumerate(made.inputs))
    graph.add_edges_from(
        (switch, ("out", j)) for j, ends in enumerate(made.outputs) for switch in ends
    )
    return graph


@pytest.mark.parametrize("name", wirings.NETWORKS)
def test_ways_are_the_simple_paths_of_networkx(name):
    graph = graph_of(name, 4)
    for start, end in product(range(4), repeat=2):
        simple = nx.all_simple_paths(graph, ("in", start), ("out", end))
        assert sorted(congestion.ways(name, 4)[start, end]) == sorted(
            tuple(p[1:-1]) for p in simple
        )


@pytest.mark.parametrize("name", ["tree", "array", "butterfly", "benes", "reasoner"])
def test_the_congestion_is_what_brute_force_finds(name):
    found = congestion.ways(name, 4)
    worst = 0
    for problem in permutations(range(4)):
        chosen = product(*(found[start, end] for start, end in enumerate(problem)))
        worst = max(worst, min(busiest(walks) for walks in chosen))
    assert congestion.congestion(name, 4).value == worst
    if name in ("tree", "butterfly"):
        assert congestion.unique_congestion(name, 4).value == worst


def busiest(walks):
    passed = [switch for walk in walks for switch in walk]
    return max(map(passed.count, passed))


def test_the_proof_routes_what_a_search_finds_routable():
    for problem in list(congestion.problems(8))[:50]:
        assert busiest(congestion.looped(8, problem)) == 1
        assert congestion.least(congestion.ways("benes", 8), problem) == 1


def test_other_wirings_are_found_out(monkeypatch):
    at = {"N": 8}
    assert verdict("MCS-benes-congestion", **at) == "holds"
    monkeypatch.setitem(wirings.NETWORKS, "benes", wirings.butterfly)
    congestion.ways.cache_clear()
    assert verdict("MCS-benes-congestion", **at) == "refuted"
    assert verdict("MCS-benes-diameter", **at) == "refuted"
    monkeypatch.setitem(wirings.NETWORKS, "butterfly", wirings.tree)
    congestion.ways.cache_clear()
    congestion.unique_congestion.cache_clear()
    for id in ("congestion", "switches", "less-than-tree"):
        assert verdict(f"MCS-butterfly-{id}", **at) == "refuted"
