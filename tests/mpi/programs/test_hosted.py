"""Schedules of a guest on hosts whose processors act for several nodes of the guest."""

from itertools import pairwise

import pytest
from mpi.machine.ranks import everyone, machine_of, mapping_of
from serial.gbsn.reference import rotl
from serial.gbsn.settings import GBSN
from serial.gmn.reference import Arbitrary

import mpinet
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.programs import ascend
from mpinet.programs.circulate import circulate

IRREGULAR = ["gbsn:1,m=4-4-4-2,a=1", "gbsn:2,m=4-4-4-3,a=1", "gbsn:2,m=2-2-2-2-9,a=1"]
LOOPS = {"gmnany:30": 4, "gmnany:31": 4, "gmnany:250": 8}


def home_of(network, word):
    """4.1: the word without its top bit, first in the block, then in the place, where missing."""
    block, place = divmod(word, 2**network.w)
    if block >= network.k:
        block -= 2 ** (network.c - 1)
    width = network.w_of[block]
    place %= 2**width
    return network.number[block, place if place < network.m[block] else place - 2 ** (width - 1)]


def makespan(network, moves):
    """Steps until all messages have arrived: per link, direction and step the lowest number."""
    ways = []
    for source, target in moves:
        linked = target in network.wiring[source]
        way = [source, target] if linked else network.way(source, target)
        ways.append(list(pairwise(way)) if source != target else [])
    steps = 0
    while any(ways):
        taken = set()
        for way in ways:
            if way and way[0] not in taken:
                taken.add(way[0])
                way[:1] = [None]
        ways = [[hop for hop in way if hop] for way in ways]
        steps += 1
    return steps


def pass_steps(network):
    """Steps of ASCEND: section after section, each with its exchanges, and the shifts between."""
    n, b = network.n, network.b
    sections = -(-n // b)
    rotations = next(t for t in range(1, n + 1) if t * b % n == 0)

    def move(to):
        words = range(2**n)
        pairs = [(word, to(word)) for word in words if to(word) != word]
        return makespan(network, [(home_of(network, u), home_of(network, v)) for u, v in pairs])

    steps = sum(
        move(lambda word, i=i: word ^ 1 << i)
        for section in range(sections)
        for i in range(min(b, n - section * b))
    )
    right, left = (move(lambda word, by=by: rotl(word, by, n)) for by in (-b, b))
    away, back = sections - 1, rotations - (sections - 1)
    return steps + (sections - 1) * right + (away * left if away <= back else back * right)


@pytest.mark.parametrize("name", IRREGULAR)
def test_homes_lack_the_top_bits_of_missing_words(name):
    network = GBSN[name]
    expected = [home_of(network, word) for word in range(2**network.n)]
    assert mpinet.open(name).homes().tolist() == expected
    assert set(expected) == set(range(len(network.nodes)))


@pytest.mark.parametrize("name", IRREGULAR)
def test_a_pass_takes_the_steps_of_its_moves_along_the_gbsns_routes(name):
    """All ports, against a plain simulation of each move by the reference's routes."""
    machine = machine_of(name, "all", mapping=mapping_of(mpinet.open(name), "random"))
    found = ascend.run(machine, "sum", algorithm="sections")
    assert (found.correct, found.elements) == (True, 2 ** GBSN[name].n)
    assert found.steps == pass_steps(GBSN[name])


@pytest.mark.costly
@pytest.mark.parametrize("name", [*IRREGULAR, *LOOPS])
@pytest.mark.parametrize("ports", ["one", "all"])
def test_programs_are_right_on_any_ranks(name, ports):
    algorithm = "loops" if name in LOOPS else "sections"
    for operator, kind in (("prefix", "ascend"), ("fft", "descend"), ("min", "ascend")):
        machine = machine_of(name, ports, mapping=mapping_of(mpinet.open(name), "random"))
        found = ascend.run(machine, operator, kind, algorithm=algorithm)
        alone = ascend.run(Machine(name, ports, Local()), operator, kind, algorithm=algorithm)
        assert found.correct
        assert set(everyone(found.steps)) == {alone.steps}


@pytest.mark.parametrize("name", IRREGULAR[:2])
@pytest.mark.parametrize("algorithm", ["sections", "unaligned"])
def test_items_circulate_on_an_irregular_gbsn(name, algorithm):
    found = circulate(machine_of(name, "one"), algorithm=algorithm)
    assert found.correct and found.steps >= found.lower_bound
    assert found.lower_bound == len(GBSN[name].nodes) - 1


@pytest.mark.parametrize("N", [int(name.partition(":")[2]) for name in LOOPS])
def test_a_removed_node_of_the_loops_has_the_node_before_it_as_its_processor(N):
    reference = Arbitrary(N)
    expected = [sum(v <= u for v in reference.old) - 1 for u in range(reference.g.N)]
    assert mpinet.open(f"gmnany:{N}").homes().tolist() == expected


@pytest.mark.parametrize("name", LOOPS)
def test_the_loops_of_any_size_are_no_slower_than_the_whole_loops(name):
    """5m + 1 steps, 8m + 1 with one port: a removed node has links of the ring alone."""
    m = LOOPS[name]
    for ports, most in (("all", 5 * m + 1), ("one", 8 * m + 1)):
        assert ascend.run(machine_of(name, ports), "sum", algorithm="loops").steps <= most
