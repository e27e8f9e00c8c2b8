"""Links and nodes that die at a step under traffic, and come back, against a second program."""

import numpy as np
import pytest
from mpi.machine.adaptive_reference import Grid, Straight, draw, play_all
from mpi.machine.openloop import open_loop, simulate
from mpi.machine.test_adaptive import crowd
from mpi.machine.test_open_loop_checkpoints import relayed

import mpinet
from mpinet.errors import ConservationError, UsageError
from mpinet.machine.faults import Faults, Passing
from mpinet.machine.traffic import run as runs
from mpinet.machine.traffic.results import results

USUAL = {
    "buffer": 4,
    "vcs": 2,
    "switching": "wormhole",
    "policy": "rotating",
    "dead": [],
    "cut": [],
}

BOTH = [((0, 1), 6, 20), ((4,), 9, 24), ((2, 5), 12, None)]

SETTINGS = [
    ("torus:3x3", None, {"passing": BOTH, "buffer": 2}),
    ("mesh:3x4", None, {"passing": BOTH[1:2], "switching": "vct", "policy": "oldest"}),
    ("torus:3x3", None, {"passing": BOTH, "switching": "saf", "delay": 3, "eject": "all"}),
    (
        "mesh:3x4",
        None,
        {
            "passing": [*BOTH[1:2], ((2, 6), 12, None)],
            "router_delay": 2,
            "delay": [1, 3],
            "queue": 2,
        },
    ),
    ("torus:4x3", None, {"passing": [((1,), 5, 7), ((1,), 9, 12)], "dead": [4], "delay": 2}),
    ("hypercube:3", None, {"passing": [((0, 1), 8, 9), ((0, 2), 8, 30)], "crossbar": "all"}),
    ("torus:3x3", "adaptive", {"passing": BOTH, "vcs": 3, "delay": 2}),
    ("hypercube:3", "adaptive", {"passing": [((0, 1), 7, 18), ((5,), 9, None)], "vcs": 2}),
]
"""Networks and routings (None: dimension order), and what differs from `USUAL`."""


def rows_for(network, number):
    """Messages from everybody, more than there is room for, also from nodes that are dead then."""
    return crowd(mpinet.open(network).size, number)


def played(network, routing, rows, s):
    """What plain Python makes of it."""
    cut = [set(ends) for ends in s["cut"]]
    return play_all((Grid if routing else Straight)(network), rows, **(s | {"cut": cut}))[0]


def made(network, routing, rows, s, mapping="blocks", **more):
    """The run of mpinet."""
    s, topology = dict(s), mpinet.open(network)
    passing = [Passing(*each) for each in s.pop("passing")]
    faults = Faults(topology, s.pop("dead"), s.pop("cut"), passing)
    usual = {"classes": "own" if routing else None, "warmup": 0, "network": network}
    return open_loop(rows, mapping, faults, topology.routing(routing), **(usual | s | more))


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_value_is_that_of_plain_python_and_so_it_is_after_cuts(number):
    network, routing, changes = SETTINGS[number]
    s, rows = USUAL | changes, rows_for(network, number)
    known = played(network, routing, rows, s)
    assert known["delivered"] > 15 and known["cut"] > 0 and known["stuck_flits"] == 0
    assert (
        sum(np.array(ends) for ends in list(known["account"].values())[1:]).tolist()
        == (known["account"]["born"])
    )
    found = results(made(network, routing, rows, s, ("blocks", "random")[number % 2]).run())
    assert {name: found[name] for name in known} == known


@pytest.mark.parametrize("number", [2, 3, 6])
def test_a_run_that_is_cut_between_what_dies_and_comes_back_ends_the_same(number, monkeypatch):
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    network, routing, changes = SETTINGS[number]
    s, rows = USUAL | changes, rows_for(network, number)
    known = played(network, routing, rows, s)
    found = relayed((6, 9, 14), lambda ranks, mapping: made(
        network, routing, rows, s, mapping, transport=ranks
    ))  # fmt: skip
    assert {name: found[name] for name in known} == known


def test_draws_of_a_node_that_dies_and_comes_back_are_those_of_its_steps():
    network, size, seed, s = "torus:3x3", 9, 5, {**USUAL, "buffer": 2, "passing": [((4,), 30, 70)]}

    def below(stream, node, step, share):
        return draw(seed, node, step, stream) < round(share * 2**32)

    rows = [
        [t, u, draw(seed, u, t, 17) * size >> 32, 5 if below(18, u, t, 0.25) else 1]
        for t in range(160) for u in range(size) if below(16, u, t, 0.4)
    ]  # fmt: skip
    window = {"warmup": 20, "measure": 80, "drain": 60}
    known = played(network, None, rows, s | window)
    assert known["account"]["cut"][0] > 2 and known["account"]["withdrawn"][0] > 0
    drawn = {"rate": 0.4, "size": 1, "long_size": 5, "long_share": 0.25, "seed": seed}
    found = results(made(network, None, None, s, **drawn, **window).run())
    assert {name: found[name] for name in known} == known


def test_up_down_goes_round_what_dies_by_another_tree_and_back():
    network, rows = (
        "torus:4x4",
        [[t, u, (u + 5) % 16, 3] for t in range(0, 90, 6) for u in range(16)],
    )
    topology = mpinet.open(network)
    routing = topology.routing("updown")
    faults = Faults(topology, passing=[Passing((0, 1), 20, 60), Passing((10, 11), 20, 60)])
    how = {"network": network, "warmup": 0, "classes": "own", "vcs": 2, "measure": 120}
    found = simulate(rows, faults=faults, routing=routing, **how)
    assert found["undeliverable"] == 0 < found["cut"] < 4
    assert found["delivered"] + found["cut"] == len(rows)
    # Dimension order has no other way: what would go over the dead links is drained.
    lost = simulate(rows, faults=faults, **(how | {"classes": "dateline"}))
    assert lost["undeliverable"] > 0


def test_a_deadlock_is_found_and_explained_once_the_link_that_broke_it_is_back():
    # Everybody sends half round a ring that has one class: nothing breaks its circle of channels.
    topology = mpinet.open("ring:8")
    rows = [[t, u, (u + 3) % 8, 2] for t in range(40) for u in range(8)]

    def run(*steps):
        faults = Faults(topology, passing=[Passing((3, 4), *steps)])
        return simulate(
            rows, faults=faults, network="ring:8", classes="none", vcs=1, buffer=4,
            switching="vct", warmup=0, measure=400, policy="rotating",
        )  # fmt: skip

    broken = run(4)
    assert not broken["deadlock"] and broken["undeliverable"] > 0
    again = run(4, 12)
    ports = [port for _, port, _ in again["cycle"]]
    nodes = [node for node, _, _ in again["cycle"]]
    ahead = topology.neighbor(np.array(nodes), np.array(ports)).tolist()
    assert again["deadlock"] and len(nodes) == 8 and ahead == nodes[1:] + nodes[:1]
    law = again["account"]
    assert law["left"][0] > 0
    assert law["born"] == np.sum([law[name] for name in law if name != "born"], axis=0).tolist()


def test_a_law_that_is_broken_is_noticed():
    topology = mpinet.open("mesh:3x3")
    faults = Faults(topology, passing=[Passing((4,), 20, 30)])
    for name, what in (("cut", "messages"), ("cut_flits", "flits")):
        run = open_loop(network="mesh:3x3", rate=0.2, size=3, classes=None, faults=faults)
        setattr(run.ledger, name, 1)
        with pytest.raises(ConservationError, match=f"{what} were generated, but .* cut, "):
            run.run()


@pytest.mark.parametrize(
    ("passing", "changes", "said"),
    [
        ([((4,), 9, 9)], {}, "second step must be later"),
        ([((0, 8), 9)], {}, "has no link 0-8"),
        ([((4,), 9)], {"buffer": 0, "switching": "saf"}, "for --buffers 1 or more"),
    ],
)
def test_what_cannot_die_at_a_step_is_refused(passing, changes, said):
    s = {"network": "mesh:3x3", "classes": None} | changes
    topology = mpinet.open(s["network"])
    with pytest.raises(UsageError, match=said):
        open_loop(faults=Faults(topology, passing=[Passing(*each) for each in passing]), **s)
