"""Routings that look at queues, against a second program, on any number of ranks."""

import pytest
from mpi.machine.adaptive_reference import draw, play
from mpi.machine.openloop import simulate
from mpi.machine.queue_reference import ROUTINGS
from mpi.machine.test_adaptive import crowd

import mpinet
from mpinet import measure

SETTINGS = [
    ("dragonfly:1,2,2", "ugal-l", 3, 4, "wormhole", "rotating"),
    ("dragonfly:1,2,2", "ugal-g", 3, 4, "vct", "oldest"),
    ("dragonfly:1,2,2", "par", 4, 2, "wormhole", "rotating"),
    ("hypercube:3", "ugal-l", 4, 2, "wormhole", "rotating"),
    ("hypercube:3", "ugal-g", 2, 4, "saf", "fifo"),
    ("hyperx:3x3", "dimwar", 2, 3, "wormhole", "rotating"),
    ("hyperx:3x3", "omniwar", 4, 4, "vct", "oldest"),
    ("hypercube:3", "polarized", 9, 2, "wormhole", "rotating"),
    ("dragonfly:1,2,2", "polarized", 9, 2, "wormhole", "fifo"),
]


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_message_is_where_a_second_program_has_it(number):
    network, name, vcs, buffer, switching, policy = SETTINGS[number]
    topology = mpinet.open(network)
    rows = crowd(topology.hosts, number, 8)
    times, steps, moves, left = play(
        ROUTINGS[name](network, 5), rows, vcs, buffer, switching, policy
    )
    assert left == 0 and len(times) == len(rows)
    found = simulate(
        rows,
        mapping=("blocks", "random")[number % 2],
        routing=topology.routing(name, 5),
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


@pytest.mark.costly
@pytest.mark.parametrize(
    ("network", "name"),
    sorted({(network, name) for network, name, *_ in SETTINGS} | {("fattree:2,2", "ugal-l")}),
)
def test_whatever_is_drawn_and_chosen_nothing_waits_in_a_circle(network, name):
    assert measure.channel_dependency_cycle(network, name) is None
