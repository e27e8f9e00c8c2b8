"""Routers with delays, queues, matchings, bubbles and faults, against a second program."""

from dataclasses import replace

import numpy as np
import pytest
from mpi.machine import bustraffic
from mpi.machine.adaptive_reference import Bubbles, Grid, Straight, play_all
from mpi.machine.openloop import open_loop, simulate
from mpi.machine.queue_reference import ROUTINGS
from mpi.machine.test_adaptive import crowd
from mpi.machine.test_open_loop_busses import PLAIN, SHAPE, random_trace, run_on_grid

import mpinet
from mpinet import measure
from mpinet.errors import UsageError
from mpinet.machine.faults import Faults
from mpinet.machine.traffic.results import results

BUBBLE = {"classes": "bubble", "switching": "vct", "length": 2}

SETTINGS = [
    ("torus:3x3", {"delay": [1, 3], "router_delay": 2}),
    ("torus:2x4", {"delay": [3, 1], "switching": "vct", "policy": "oldest"}),
    ("mesh:3x4", {"router_delay": 1, "crossbar": 2, "vcs": 3, "policy": "fifo", "eject": "all"}),
    ("mesh:3x4", {"queue": 2, "crossbar": 2, "vcs": 4}),
    ("mesh:3x4", {"queue": 3, "at_once": 2, "crossbar": "all", "vcs": 3, "switching": "vct"}),
    ("torus:3x3", {"queue": 1, "policy": "fifo", "switching": "saf", "delay": 2}),
    ("mesh:3x4", {"policy": "inputfirst", "vcs": 3}),
    ("mesh:3x4", {"policy": "inputfirst", "vcs": 3, "iterations": 2, "crossbar": 2, "queue": 2}),
    ("mesh:3x4", {"policy": "outputfirst", "vcs": 4, "crossbar": 2, "queue": 4, "iterations": 2}),
    ("torus:3x3", {"policy": "islip", "vcs": 4, "iterations": 3, "eject": "all"}),
    ("torus:3x3", {"policy": "islip", "switching": "vct", "vcs": 4, "crossbar": 2}),
    ("torus:3x3", {"policy": "wavefront", "switching": "saf", "crossbar": "all", "delay": [2]}),
    ("hypercube:3", {"policy": "wavefront", "vcs": 4, "queue": 2, "at_once": 2, "crossbar": 3}),
    ("torus:3x3", {**BUBBLE, "vcs": 1}),
    ("torus:2x4", {**BUBBLE, "switching": "saf", "buffer": 7, "length": 3, "delay": 2}),
    ("torus:4x3", {"dead": [4], "cut": [(0, 1)], "policy": "islip", "router_delay": 1}),
]
"""Networks with dimension order, and what differs from `USUAL`; `length`: of all messages."""

USUAL = {
    "buffer": 4,
    "vcs": 2,
    "switching": "wormhole",
    "policy": "rotating",
    "dead": [],
    "cut": [],
}


def rows_for(network, number, length=None):
    """Messages from everybody, more than there is room for."""
    rows = crowd(mpinet.open(network).hosts, number)
    return rows if length is None else [[*row[:3], length] for row in rows]


def played(network, grid, rows, s):
    """What plain Python makes of it."""
    more = {"cut": [set(ends) for ends in s["cut"]], "bubble": getattr(grid, "bubble", False)}
    return play_all(grid, rows, **(s | more))[0]


def made(network, rows, s, routing=None, mapping="blocks", **more):
    """The run of mpinet."""
    s = dict(s)
    faults = Faults(mpinet.open(network), s.pop("dead"), s.pop("cut"))
    usual = {"classes": None, "warmup": 0, "network": network}
    return open_loop(rows, mapping, faults, routing, **(usual | s | more))


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_value_is_that_of_plain_python(number):
    network, changes = SETTINGS[number]
    s = USUAL | changes
    rows = rows_for(network, number, s.pop("length", None))
    known = played(network, Straight(network, s.get("classes") == "bubble"), rows, s)
    assert known["delivered"] > 40 and known["stuck_flits"] == 0
    assert (known["undeliverable"] > 0) == bool(s["dead"])
    found = results(made(network, rows, s, mapping=("blocks", "random")[number % 2]).run())
    assert {name: found[name] for name in known} == known


CHOOSING = [
    ("torus:3x3", "adaptive", Grid, {"vcs": 3, "delay": [1, 2], "policy": "islip"}),
    ("hypercube:3", "adaptive", Grid, {"cut": [(0, 1), (2, 6)], "dead": [5], "queue": 1}),
    ("hyperx:3x3", "omniwar", ROUTINGS["omniwar"], {"vcs": 4, "queue": 3, "crossbar": 2}),
    ("torus:3x3", "adaptive-bubble", Bubbles, {"switching": "vct", "length": 2}),
    (
        "torus:2x5",
        "adaptive-bubble",
        Bubbles,
        {"switching": "saf", "length": 3, "buffer": 6, "delay": [1, 2], "policy": "oldest"},
    ),
]


@pytest.mark.parametrize("number", range(len(CHOOSING)))
def test_so_it_is_where_nodes_choose(number):
    network, name, grid, changes = CHOOSING[number]
    s = USUAL | changes
    rows = rows_for(network, number, s.pop("length", None))
    known = played(network, grid(network), rows, s)
    assert known["stuck_flits"] == 0 and (known["undeliverable"] > 0) == bool(s["dead"])
    found = results(made(network, rows, s, mpinet.open(network).routing(name)).run())
    assert {name: found[name] for name in known} == known


@pytest.mark.parametrize(
    "changes",
    [
        {"switching": "wormhole", "policy": "rotating", "delay": [2], "router_delay": 1},
        {"switching": "vct", "policy": "oldest", "vcs": 4, "crossbar": 2},
    ],
)
def test_busses_have_delays_and_wider_inputs_too(changes):
    trace, s = random_trace(5, [1, 3], 40), PLAIN | changes
    window = {"warmup": 10, "measure": 40, "drain": 400}
    known = bustraffic.play(SHAPE, trace, s | window)
    found = results(run_on_grid(trace, **s, **window).run())
    assert known["delivered"] > 50
    assert {name: found[name] for name in known} == known


def test_a_bubble_keeps_a_ring_moving_that_would_come_to_a_deadlock():
    # Everybody sends half round the ring at once, with the least buffers.
    rows = [[t, u, (u + 3) % 8, 2] for t in range(40) for u in range(8)]
    how = {"network": "ring:8", "switching": "vct", "vcs": 1, "warmup": 0, "policy": "rotating"}
    stopped = simulate(rows, classes="none", buffer=4, **how)
    assert stopped["stuck_flits"] > 0
    moving = simulate(rows, classes="bubble", buffer=4, measure=400, **how)
    assert moving["stuck_flits"] == 0 and moving["delivered"] == len(rows)
    # So it is in tori where nodes choose, as long as rings are entered with room for two.
    routing = mpinet.open("torus:8x3").routing("adaptive-bubble")
    without = replace(routing, bubble=False)
    how |= {"network": "torus:8x3", "classes": "own", "vcs": 2, "buffer": 4, "size": 2, "drain": 0}
    how |= {"rate": 1.0, "measure": 300, "pattern": "tornado"}
    assert simulate(routing=without, **how)["deadlock"]
    assert not simulate(routing=routing, **how)["deadlock"]


def test_rings_with_bubbles_wait_for_rings_of_later_dimensions_alone():
    for network in ("ring:6", "torus:4x5", "torus:3x2x4"):
        assert measure.channel_dependency_cycle(network, classes="none") is not None
        assert measure.channel_dependency_cycle(network, classes="bubble") is None
    for routing in ("updown", "valiant"):  # they turn back to dimensions that they have left
        assert measure.channel_dependency_cycle("torus:4x4", routing, classes="bubble") is not None
    for network in ("torus:4x4", "torus:2x3x4", "torus:3x4,hosts=2"):
        assert measure.channel_dependency_cycle(network, "adaptive-bubble") is None
        without = replace(mpinet.open(network).routing("adaptive-bubble"), bubble=False)
        assert measure.channel_dependency_cycle(network, without) is not None
    pairs = np.array([[0, 5], [5, 0]])
    assert measure.channel_dependency_cycle("torus:4x4", pairs=pairs, classes="bubble") is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"switching": "wormhole"}, "needs room for whole messages"),
        ({"buffer": 3, "size": 2}, "give --buffers 4 or more, not 3"),
        ({"size": 1, "long_size": 2, "long_share": 0.5}, "messages of one length"),
        ({"buffer": 0, "policy": "oldest"}, "needs room for whole messages"),
        ({"classes": "own", "switching": "wormhole"}, "--routing adaptive-bubble needs room"),
    ],
)
def test_what_would_fill_a_ring_is_refused(changes, said):
    s = {"network": "torus:4x4", "classes": "bubble", "switching": "vct"} | changes
    own = mpinet.open("torus:4x4").routing("adaptive-bubble") if s["classes"] == "own" else None
    with pytest.raises(UsageError, match=said):
        open_loop(routing=own, **s)


@pytest.mark.parametrize("changes", [{"queue": 1}, {"policy": "islip"}])
def test_queues_and_matchings_are_for_links(changes):
    with pytest.raises(UsageError, match="has busses: --output-queue"):
        run_on_grid(None, **(PLAIN | changes))
