"""A search for places finds what trying all places finds, and no place beats its bound."""

from itertools import islice, permutations
from random import Random

import numpy as np
import pytest
from mpi.machine.timed_reference import Routed, play

import mpinet
from mpinet.errors import UsageError
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.program import Builder
from mpinet.programs.messages.placesearch import bound_of_places
from mpinet.programs.messages.placing import placed
from mpinet.programs.messages.writing import write_goal


def exchanged(pairs, processors, rounds=1, size=100):
    """A program in which pairs exchange messages, round after round."""
    program, before = Builder(processors), [[] for _ in range(processors)]
    for _ in range(rounds):
        ends = [(one, other) for pair in pairs for one, other in (pair, pair[::-1])]
        for one, other in ends:
            program.send(one, other, size, after=before[one])
        waits = [[] for _ in range(processors)]
        for one, other in ends:
            waits[other].append(program.recv(other, one, size, after=before[other]))
        before = waits
    return program.done()


PAIRS = [(0, 3), (3, 1), (1, 4), (4, 2), (0, 2), (2, 3)]


@pytest.mark.parametrize(
    ("network", "byte"), [("mesh:5", 3), ("dragonfly:2,2,1", 2), ("fattree:2,3", 4)]
)
def test_the_best_of_all_places_is_found_and_none_beats_the_bound(network, byte, tmp_path):
    program, topology = exchanged(PAIRS, 5), mpinet.open(network)
    costs = {"o": 4, "O": 0, "g": 0, "G": 0, "S": None}
    times = []
    orders, few = permutations(range(min(6, topology.hosts)), 5), topology.hosts == 5
    for places in orders if few else islice(orders, 0, None, 24):
        with (tmp_path / "all.goal").open("wb") as opened:
            write_goal(placed(program, np.array(places), topology.hosts), opened)
        text = (tmp_path / "all.goal").read_text()
        times.append(play(text, Routed(topology, [7, 40], [byte]), "cut", **costs)["time"])
    setting = {"on": network, "overhead": 4, "latency": "7,40", "time_byte": byte}
    found = mpinet.replay(program, place="search", tries=60, **setting)
    assert found.lower_bound <= found.time <= found.time_before == times[0]
    assert found.lower_bound <= min(times)
    if few:
        assert found.time == min(times)


def test_a_grid_with_mixed_numbers_finds_its_torus():
    numbers = [*range(20)]
    Random(4).shuffle(numbers)
    at = [numbers[5 * i : 5 * i + 5] for i in range(4)]
    pairs = [(at[i][j], at[i][(j + 1) % 5]) for i in range(4) for j in range(5)]
    pairs += [(at[i][j], at[(i + 1) % 4][j]) for i in range(4) for j in range(5)]
    program = exchanged(pairs, 20, rounds=2, size=1000)
    setting = {"on": "torus:4x5", "latency": 20, "time_byte": 1}
    found = mpinet.replay(program, place="search", tries=40, seed=2, **setting)
    order = np.array(at).ravel()
    best = mpinet.replay(placed(program, np.argsort(order), 20), **setting)
    assert best.hops == best.messages < found.messages * 1.2
    assert best.time <= found.time < found.time_before
    assert sorted(found.places) == [*range(20)]
    again = mpinet.replay(program, place="search", tries=40, seed=2, **setting)
    assert again.places == found.places
    assert again.digest == found.digest


def test_bounds_are_those_that_can_be_counted_by_hand():
    # One processor sends 100 bytes to each of 3: a node of a ring has 2 links of 4 a byte.
    star = Builder(4)
    for other in (1, 2, 3):
        star.send(0, other, 100)
        star.recv(other, 0, 100)
    ring, costs = mpinet.open("ring:8"), Costs(latencies=(1,), byte_times=(4,))
    assert bound_of_places(star.done(), ring, costs) == (300 * 4 // 2, "cut")
    # Its CPU sends three messages at 500; alone on one link each would be bound by that.
    assert bound_of_places(star.done(), ring, Costs(overhead=500, byte_times=(1,))) == (
        1500,
        "ends",
    )
    # All of 8 to all: 28 pairs both ways; distances on a ring are 1,1,2,2,3,3,4 over 16 links.
    every = exchanged([(a, b) for a in range(8) for b in range(a)], 8)
    assert bound_of_places(every, ring, costs) == (8 * 16 * 100 * 4 // 16, "growth")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"flat": 5}, "--place does not apply"),
        ({"on": "ring:8", "tries": -1}, "--tries is 0..1048576, not -1"),
    ],
)
def test_a_search_that_cannot_be_is_refused(words, sentence):
    with pytest.raises(UsageError, match=sentence):
        mpinet.replay(exchanged(PAIRS, 5), place="search", **words)
    with pytest.raises(UsageError, match="--tries applies only with --place search"):
        mpinet.replay(exchanged(PAIRS, 5), on="ring:8", tries=5)
    with pytest.raises(UsageError, match="needs a single program: see mpinet replay"):
        mpinet.tune("allreduce", on="ring:8", place="search")
