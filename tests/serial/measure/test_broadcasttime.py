"""Broadcast times are those of trying all schedules; what is typed wrong measures nothing."""

import networkx
import pytest
from serial.measure.samples import graph_of, random_graphs

from mpinet import measure
from mpinet.base.plain import plain
from mpinet.claims import claim, points
from mpinet.claims.finding import find
from mpinet.claims.summary import tally
from mpinet.claims.verdict import judge
from mpinet.errors import ConservationError, NodeError, OutOfReach, UsageError
from mpinet.measure import broadcasttime
from mpinet.networks.graph import from_networkx
from mpinet.programs.holdings import MarkedChunks
from mpinet.report.ledger.terminal import ledger


def by_trying(graph, root):
    """The fewest one-port steps: all sets that can be informed, step by step."""
    reached, steps = {frozenset([root])}, 0
    while not any(len(informed) == len(graph) for informed in reached):
        reached = {after for before in reached for after in following(graph, before)}
        steps += 1
    return steps


def following(graph, informed):
    """Every informed node sends to a neighbour that is not, or to none."""
    found = {informed}
    for node in informed:
        found |= {after | {other} for after in found for other in graph[node] if other not in after}
    return found


@pytest.mark.costly
@pytest.mark.parametrize("number", range(3))
def test_the_time_is_that_of_all_schedules(number):
    graph = random_graphs(3, 7, 0.35)[number]
    topology = from_networkx(graph)
    times = [by_trying(graph, root) for root in graph]
    assert [measure.broadcast_time(topology, root) for root in graph] == times
    assert measure.broadcast_time(topology, None) == max(times)


def test_steps_that_bounds_do_not_decide_are_searched_for():
    found = measure.broadcast_time("debruijn:3")
    assert (found.lower, found.upper, found.lower_by) == (4, 4, "class-lp")
    assert found == by_trying(graph_of("debruijn:3"), 0)
    without = measure.broadcast_time("debruijn:3", limit=0)
    assert (without.lower, without.exact, without.lower_by) == (3, False, "bounds")


@pytest.mark.parametrize("name", ["mesh:3x4", "ccc:3", "lens:3,3,2"])
def test_with_all_ports_nobody_waits(name):
    hops = networkx.eccentricity(graph_of(name))
    assert measure.broadcast_time(name, 0, "all") == hops[0]


def test_a_root_is_a_number_or_an_address():
    by_number, by_address = (measure.broadcast_time("mesh:3x3", root) for root in (4, "1,1"))
    assert by_number == by_address
    assert by_number.root == 4


WRONG = [
    ({"root": 9}, NodeError, r"0\.\.8"),
    ({"root": "3,0"}, NodeError, "'3,0' is not an address"),
    ({"ports": "two"}, UsageError, "no port model 'two'"),
    ({"limit": -1}, UsageError, "limit=-1"),
    ({"limit": float("nan")}, UsageError, "limit=nan"),
    ({"limit": "1"}, UsageError, "limit='1'"),
]


@pytest.mark.parametrize(("options", "error", "sentence"), WRONG)
def test_wrong_arguments_are_refused_before_anything_is_measured(
    options, error, sentence, monkeypatch
):
    monkeypatch.delattr(broadcasttime, "broadcast_timetable")
    with pytest.raises(error, match=sentence):
        measure.broadcast_time("mesh:3x3", **options)


def test_switches_hold_no_message():
    with pytest.raises(UsageError, match="is a switch"):
        measure.broadcast_time("fattree:2,2", 6)


def test_a_schedule_that_leaves_somebody_out_is_not_believed(monkeypatch):
    monkeypatch.setattr(MarkedChunks, "short", lambda self: 5)
    with pytest.raises(ConservationError, match="does not inform every processor"):
        measure.broadcast_time("ring:8")


def judged(stated, beats="X", relation=">="):
    """The verdict of a row on de Bruijn graphs of 8 nodes."""
    row = claim(
        "B",
        statement="no broadcast is quicker",
        relation=relation,
        claimed=stated,
        beats=beats,
        grid=points("one network", [{"topology": "debruijn:3"}]),
        measured=lambda topology: measure.broadcast_time(topology),
    )
    grid = row.grid.points("full")
    return judge(row, grid, [find(row, point) for point in grid], 1, "")


def test_stated_steps_are_beaten_not_refuted_where_fewer_are_enough():
    assert (judged(4).verdict, judged(3).verdict) == ("holds", "holds")
    row = judged(5)
    assert (row.verdict, row.measured, row.claimed, row.failing) == ("beaten", 4, 5, 1)
    assert row.replay == "mpinet verify B --at topology=debruijn:3"
    assert judged(5, beats="").verdict == "refuted"
    text = ledger([plain(row)])
    assert "beaten   B  no broadcast is quicker" in text
    assert "measured 4, claimed >= 5 at topology=debruijn:3" in text
    assert tally([plain(row)]) == "1 claim: 1 beaten"


def test_a_claim_that_bounds_do_not_decide_is_open():
    with pytest.raises(OutOfReach, match="broadcast time is only known to be 3 to 4"):
        bool(measure.broadcast_time("debruijn:3", limit=0) == 4)
