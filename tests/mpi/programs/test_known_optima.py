"""Both sides of known optima of broadcasts meet on any number of ranks, and the schedule is run."""

import json
from pathlib import Path

import networkx
import pytest

import mpinet
from mpinet.networks.graph import from_networkx

KNOWN = json.loads((Path(__file__).parents[2] / "serial/measure/optima.json").read_text())
BROADCASTS = [case for case in KNOWN if case["collective"] == "broadcast"]

QUICK = ["foldedcube:6", "rcirculant:64,4", "lens:3,4,2", "karate"]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, marks=[] if case["network"] in QUICK else [pytest.mark.long], id=case["network"]
        )
        for case in BROADCASTS
    ],
)
def test_a_broadcast_takes_the_known_optimum_on_these_ranks(case):
    if "edges" in case:
        graph = networkx.empty_graph(1 + max(map(max, case["edges"])))
        graph.add_edges_from(case["edges"])
        network = from_networkx(graph)
    else:
        network = mpinet.open(case["network"])
    found = mpinet.optimum(network, root=case["root"], limit=250)
    optimum = case["optimum"]
    assert (found.lower, found.upper, found.correct) == (optimum, optimum, True)
