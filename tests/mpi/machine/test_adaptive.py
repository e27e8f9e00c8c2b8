"""Adaptive routing and Valiant's phases under open-loop traffic, on any number of ranks."""

from dataclasses import replace

import numpy as np
import pytest
from mpi.machine.adaptive_reference import Grid, draw, play
from mpi.machine.openloop import open_loop, simulate

import mpinet
from mpinet import rule
from mpinet.errors import RoutingError, UsageError

SETTINGS = [
    ("torus:4x4", 3, 2, "wormhole", "oldest"),
    ("torus:2x5", 6, 3, "wormhole", "rotating"),
    ("mesh:3x4", 4, 2, "wormhole", "fifo"),
    ("hypercube:4", 2, 1, "wormhole", "rotating"),
    ("torus:4x4", 3, 5, "vct", "rotating"),
    ("mesh:4x4", 2, 5, "saf", "oldest"),
    ("hypercube:3", 2, 4, "vct", "fifo"),
]


def crowd(size, seed, count=6):
    """Some messages of 1 to 4 flits from everybody within few steps: more than there is room."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, size, (size * count, 2))
    steps = random.integers(0, 2 * count, size * count)
    flits = random.integers(1, 5, size * count)
    rows = np.column_stack([steps, ends, flits]).tolist()
    return sorted(rows, key=lambda row: row[:2])


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_message_is_where_a_second_program_has_it(number):
    network, vcs, buffer, switching, policy = SETTINGS[number]
    topology = mpinet.open(network)
    rows = crowd(topology.size, number)
    times, steps, moves, left = play(Grid(network), rows, vcs, buffer, switching, policy)
    assert left == 0 and len(times) == len(rows)
    found = simulate(
        rows,
        mapping=("blocks", "random")[number % 2],
        routing=topology.routing("adaptive"),
        network=network,
        classes="own",
        vcs=vcs,
        buffer=buffer,
        switching=switching,
        policy=policy,
        warmup=0,
    )
    assert (found["moves"], found["last_move"]) == (moves, steps - 2)
    assert found["latency_sum"] == sum(done - born for done, born, _, _ in times)
    assert found["seal"] == sum(draw(*time) for time in times) % 2**61


def overloaded(network, routing, pattern, vcs, **changes):
    """Throughput at a flit a processor and step."""
    return simulate(
        network=network,
        routing=mpinet.open(network).routing(routing),
        classes=None,
        pattern=pattern,
        vcs=vcs,
        rate=1.0,
        policy="rotating",
        warmup=100,
        measure=200,
        drain=0,
        **changes,
    )["throughput"]


def test_ways_that_adapt_carry_more_of_a_transposition_than_dimension_order():
    fixed, free = (overloaded("torus:8x8", each, "transpose", 6) for each in ("parity", "adaptive"))
    assert free > 1.1 * fixed


def test_two_random_phases_carry_more_of_a_tornado_than_dimension_order():
    rate = {"network": "torus:8x8", "pattern": "tornado", "rate": 0.34, "classes": None}
    stable = {}
    for name, vcs in (("dimensions", 4), ("valiant", 4)):
        routing = mpinet.open("torus:8x8").routing(name, 1)
        stable[name] = simulate(
            routing=routing, vcs=vcs, policy="rotating", measure=300, drain=300, **rate
        )["throughput"]
    assert stable["valiant"] > 1.2 * stable["dimensions"]


@pytest.mark.parametrize("buffer", [4, 0])
def test_valiant_draws_by_messages_not_by_ranks(buffer):
    routing = mpinet.open("torus:4x4").routing("valiant", 7)
    changes = {
        "network": "torus:4x4",
        "classes": None,
        "vcs": 4,
        "buffer": buffer,
        "switching": "vct",
        "pattern": "neighbour",
        "routing": routing,
    }
    blocks, random = (simulate(mapping=each, **changes) for each in ("blocks", "random"))
    assert blocks == random and blocks["unfinished"] == 0
    # Of its two phases to and from a uniform processor each takes 2 hops on average: a neighbour
    # is 2 hops away in a torus of two dimensions, and one random processor in eight lies at an end.
    assert 3.4 < blocks["hops_mean"] < 4.2


def test_a_faulty_torus_is_gone_around_by_choice():
    from mpinet.machine.faults import Faults

    topology = mpinet.open("hypercube:4")
    faults = Faults(topology, [], [(0, 1)])
    both = [
        simulate(
            network="hypercube:4",
            routing=topology.routing(name),
            faults=faults,
            classes=None,
            rate=0.1,
        )
        for name in ("bitfixing", "adaptive")
    ]
    assert both[1]["undeliverable"] < both[0]["undeliverable"] / 2


@rule
def from_elsewhere(node, header, candidates, credits, params):
    return credits.size


@rule
def of_class_nine(node, in_port, in_class, header, candidates, params):
    candidates[0, 0], candidates[0, 1] = 0, 9
    return 1


@rule
def behind_the_border(node, in_port, in_class, header, candidates, params):
    candidates[0, 0], candidates[0, 1] = 7, 0
    return 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"choose": from_elsewhere}, "outside of processor [0-9]+'s candidates"),
        ({"candidates": of_class_nine}, r"outside of 0\.\.1"),
        ({"candidates": behind_the_border}, "port 7 of processor 2, which is not wired"),
    ],
)
def test_a_wrong_rule_ends_the_run_on_every_rank(wrong, said):
    topology = mpinet.open("mesh:3x4")
    routing = replace(topology.routing("adaptive"), **wrong)
    run = open_loop([[0, 2, 4, 1]], network="mesh:3x4", routing=routing, classes="own")
    with pytest.raises(RoutingError, match=said):
        run.run()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"vcs": 2}, "Routing adaptive divides the virtual channels of a link into 3"),
        ({"vcs": 3, "buffer": 0, "switching": "saf"}, "chooses by credits"),
        ({"classes": "dateline"}, "names the classes of its candidates itself"),
    ],
)
def test_what_does_not_go_with_choices_is_refused(changes, said):
    routing = mpinet.open("torus:4x4").routing("adaptive")
    with pytest.raises(UsageError, match=said):
        open_loop(network="torus:4x4", routing=routing, **({"classes": "own"} | changes))
