"""Programs of messages as flits are what a second program says, on any ranks, also where cut."""

import random

import numpy as np
import pytest
from mpi.machine.closedloop_reference import Mesh
from mpi.machine.program_reference import Programmed
from mpi.machine.ranks import mapping_of
from mpi.machine.test_closed_loop import PLAIN, told
from mpi.machine.test_open_loop_checkpoints import every_step, relayed  # noqa: F401

import mpinet
from mpinet.errors import UsageError
from mpinet.machine.faults import Faults, Passing
from mpinet.machine.machine import Machine
from mpinet.machine.timed.program import Builder
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.results import results
from mpinet.machine.traffic.run import OpenLoop
from mpinet.networks.classes import no_classes
from mpinet.programs.patterns import uniform

KINDS = ("calc", "send", "recv")
HOSTS = 12


def drawn(seed, opened, lost=0):
    """Return random operations of 12 processors; some receives are open, some match nothing."""
    dice = random.Random(seed)
    program = [[] for _ in range(HOSTS)]

    def add(node, *operation):
        count = len(program[node])
        needs = [
            (dice.randrange(count), dice.random() < 0.3) for _ in range(dice.randrange(3)) if count
        ]
        program[node].append((*operation, dice.randrange(2), needs))

    for _ in range(40):
        one, other, tag = dice.randrange(HOSTS), dice.randrange(HOSTS), dice.randrange(2)
        if dice.random() < 0.4:
            add(dice.randrange(HOSTS), "calc", dice.choice([0, 0, 3, 5, 400]), None, 0)
        add(one, "send", dice.randrange(1, 6), other, tag)
        if lost and dice.random() < lost:
            continue
        source = None if opened and dice.random() < 0.3 else one
        add(other, "recv", 1, source, None if opened and dice.random() < 0.3 else tag)
    return program


def built(program):
    """Return the operations as mpinet has them."""
    builder = Builder(len(program))
    for node, operations in enumerate(program):
        for number, (kind, amount, peer, tag, cpu, needs) in enumerate(operations):
            if kind == "calc":
                builder.calc(node, amount, cpu=cpu)
            elif kind == "send":
                builder.send(node, peer, amount, tag=tag, cpu=cpu)
            else:
                builder.recv(node, peer, amount, tag=tag, cpu=cpu)
            for earlier, begun in needs:
                builder.after(node, number, earlier, begun=begun)
    return builder.done()


def open_loop(program, s, mapping="blocks", ranks=None):
    topology = mpinet.open("mesh:3x4")
    machine = Machine(topology, transport=ranks, mapping=mapping_of(topology, mapping))
    generation = Generation(uniform, np.zeros(2, np.int64), program=built(program))
    buffering = Buffering("wormhole", s["vcs"], s["buffers"], s["policy"], eject=s["eject"])
    return OpenLoop(
        machine, topology.routing(), no_classes(topology.params), buffering, generation,
        Window(0, 2**20, 0), 0,
        Faults(topology, passing=[Passing(*each) for each in s.get("passing", ())]),
    )  # fmt: skip


def expected(program, s):
    play = Programmed(Mesh(3, 4), program, **s | {"warmup": 0, "steps": 2**20})
    known = play.results() | {"phase_steps": []}
    kinds = {n: [sum(v), max(v, default=0), len(v)] for n, v in known["latencies"].items()}
    del known["source_queue_max"]  # of sources that are closed it says nothing
    return known | {"latencies": kinds, "program": play.played()}


def found_in(run, known):
    found = results(run.run())
    played = {name: found["program"][name] for name in known["program"]}
    return told(found, known) | {"program": played}


DYING = [((1, 2), 2, 9), ((5, 6), 5, 250), ((4, 8), 12, None)]
"""Links that die early; one is back when nothing moves, before a long calc ends."""

SETTINGS = [
    (1, {}, False, 0),
    (2, {"policy": "oldest", "vcs": 1}, True, 0),
    (3, {"eject": "all", "buffers": 1}, True, 0),
    (4, {"vcs": 3}, True, 0.1),
    (20, {"passing": DYING}, True, 0),
    (23, {"passing": DYING, "vcs": 1}, True, 0),
]


@pytest.mark.parametrize(("seed", "changes", "opened", "lost"), SETTINGS)
def test_programs_are_those_of_a_second_program(seed, changes, opened, lost):
    s, program = PLAIN | changes, drawn(seed, opened, lost)
    known = expected(program, s)
    for mapping in ("blocks", "random"):
        assert found_in(open_loop(program, s, mapping), known) == known
    assert known["delivered"] > 10 and known["program"]["time"] >= 400
    assert "passing" not in changes or (known["cut"] and known["program"]["stuck"])


@pytest.mark.parametrize(("setting", "cuts"), [(1, (2, 9, 20)), (3, (1, 6, 30)), (4, (2, 5, 9))])
def test_a_program_that_is_cut_goes_on_to_the_same_results(setting, cuts):
    seed, changes, opened, lost = SETTINGS[setting]
    s, program = PLAIN | changes, drawn(seed, opened, lost)
    known = expected(program, s)
    played = known.pop("program")
    found = relayed(cuts, lambda ranks, mapping: open_loop(program, s, mapping, ranks))
    assert told(found, known) == known
    assert {name: found["program"][name] for name in played} == played


def test_a_processor_that_dies_in_the_middle_of_its_program_is_refused():
    idle = [[] for _ in range(HOSTS)]
    idle[3] = drawn(1, False)[3]
    with pytest.raises(UsageError, match="processor 3 has operations of the program"):
        open_loop(idle, PLAIN | {"passing": [((3,), 5, None)]})
    idle[3] = []
    found = results(open_loop(idle, PLAIN | {"passing": [((3,), 5, None)]}).run())
    assert found["account"]["born"] == [0, 0]
