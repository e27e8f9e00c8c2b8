"""Steps of scripts' messages on a ring, beside a simulation that moves each message by hand."""

import random

import pytest
from mpi.scripts.playing import played

from mpinet.machine import holding

SIZE = 7


def way(node, target):
    """The next node on the shortest way around the ring."""
    ahead = (target - node) % SIZE
    return (node + (1 if ahead <= SIZE // 2 else -1)) % SIZE


def steps(sends, late, ports):
    """Steps until all messages have arrived.

    `sends` are pairs of source and target by source. Node 0 sends `late` to these targets as soon
    as a first message has arrived there. Lower numbers go first.
    """
    moving = {number: list(pair) for number, pair in enumerate(sends)}
    step = 0
    while moving:
        step += 1
        if ports == "one":
            offers, hops = {}, {}
            for number, (node, _) in sorted(moving.items()):
                offers.setdefault(node, number)
            for number in sorted(offers.values()):
                hops.setdefault(way(*moving[number]), number)
        else:
            hops = {}
            for number, (node, target) in sorted(moving.items()):
                hops.setdefault((node, way(node, target)), number)
        came = False
        for number in hops.values():
            node, target = moving[number]
            moving[number][0] = way(node, target)
            if moving[number][0] == target:
                del moving[number]
                came = came or target == 0
        if came and late:
            moving |= {10**6 + number: [0, target] for number, target in enumerate(late)}
            late = ()
    return step


SCRIPT = """
sends, late, expected = {}, {}, {}
for source, target in sends:
    if source == rank:
        comm.isend(None, target)
for number in range(expected[rank]):
    comm.recv()
    if rank == 0 and number == 0:
        for target in late:
            comm.send(None, target)
"""


def far(rng):
    """A target anywhere on the ring."""
    return rng.randrange(SIZE)


def near(rng):
    """A neighbour's distance."""
    return rng.choice([1, SIZE - 1])


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize(
    ("many", "distance", "late"),
    [
        (5, near, ()),
        (40, near, (1, 6, 1)),
        (40, near, (1, 3, 6, 4)),
        (30, far, (2,)),
        (500, far, ()),
    ],
    ids=["neighbours", "later neighbours", "later far ones", "far", "long queues"],
)
def test_messages_take_the_steps_of_a_simulation(
    tmp_path, monkeypatch, ports, many, distance, late
):
    monkeypatch.setattr(holding, "MANY", 50)  # reached on every rank
    rng = random.Random(f"{many} {ports}")
    sends = []
    for source in range(SIZE):
        targets = [(source + distance(rng)) % SIZE for _ in range(many)]
        sends += [(source, target) for target in targets if target != source]
    every = [target for _, target in sends] + list(late)
    expected = [every.count(node) for node in range(SIZE)]
    text = SCRIPT.format(sends, late, expected)
    _, outcome = played(tmp_path, f"ring:{SIZE}", text, ports)
    assert outcome.steps == steps(sends, late, ports)
