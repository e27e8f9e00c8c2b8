"""The critical path of a run in time adds up to its time, and says what better parameters bring."""

from random import Random

import numpy as np
import pytest
from mpi.machine.ranks import transport
from mpi.machine.timed_reference import CALC, RECV, SEND, Flat, Machine, Routed, read_goal
from mpi.machine.timedruns import (
    BUSSED,
    noted_run,
    random_case,
    random_program,
    referred,
)

import mpinet
from mpinet.machine.timed.critical_path import Chain
from mpinet.machine.timed.moments import Moments, accounts, gathered
from mpinet.machine.timed.results import result_of

LETTERS = {"o": "overhead", "O": "overhead_byte", "g": "gap", "G": "gap_byte", "flat": "flat"}
LISTS = {"hop": "latency", "byte": "time_byte"}


def followed(text, half=False, **setting):
    """The time of a program, and on rank 0 its critical path."""
    run = noted_run(text, half=half, **setting)
    ends = result_of(run)["ends"]
    notes, time = gathered(run.machine.transport, run.notes), max(ends)
    if transport().rank:
        return time, None
    network = run.machine.topology if run.routing else None
    moments = Moments(notes, run.program, run.costs)
    chain = Chain(moments, run.program, run.costs, network, run.routing, ends.index(time), time)
    return time, chain


def cost_of(parameter, setting):
    """What a parameter of a setting is."""
    for letter, name in LETTERS.items():
        if name == parameter:
            return setting[letter]
    name, _, kind = parameter.partition(" ")
    for letter, other in LISTS.items():
        if other == name:
            return setting[letter][min(int(kind), len(setting[letter]) - 1)]
    return 1


@pytest.mark.parametrize("number", range(48 if transport().size == 1 else 16))
def test_pieces_of_the_path_follow_each_other_and_are_sums_of_parameters(number):
    text, setting = random_case(number)
    if number % 3 == 0:
        setting["on"] = setting["on"] or BUSSED[number % 2]
    half = bool(number % 3 == 0 and mpinet.open(setting["on"]).links)
    time, chain = followed(text, half, **setting)
    if chain is None:
        return
    moments = [0, *(piece.end for piece in chain.pieces)]
    assert [piece.begin for piece in chain.pieces] == moments[:-1]
    assert moments[-1] == time
    parts = [count * cost_of(name, setting) for name, count in chain.counts.items()]
    assert sum(parts) == time


def unlike(number):
    """A random program whose costs are such that hardly any two times are equal."""
    draw = Random(number)
    on = draw.choice(["torus:3x3", "mesh:2x4", "hypercube:3", None])
    text = random_program(draw, mpinet.open(on).hosts if on else 8)
    drawn = {name: draw.randrange(10**6, 3 * 10**6) for name in ("o", "O", "g", "G", "flat")}
    hop = [draw.randrange(10**6, 9 * 10**6) for _ in range(2)]
    byte = [draw.randrange(10**6, 3 * 10**6) for _ in range(2)]
    mode = draw.choice(["cut", "store", "ideal"])
    lists = {"hop": hop, "byte": byte}
    return text, {"on": on, "mode": mode, "S": draw.choice([None, 60]), **drawn, **lists}


@pytest.mark.parametrize("number", range(8 if transport().size == 1 else 3))
def test_the_reference_is_faster_by_the_count_of_a_parameter_that_is_less_by_one(number):
    text, setting = unlike(number)
    time, chain = followed(text, **setting)
    if chain is None:
        return
    for letter, name in LETTERS.items():
        less = setting | {letter: setting[letter] - 1}
        assert referred(text, **less)["time"] == time - chain.counts[name]
    for letter, name in LISTS.items():
        for kind in range(2):
            listed = [cost - (k == kind) for k, cost in enumerate(setting[letter])]
            played = referred(text, **setting | {letter: listed})["time"]
            assert played == time - chain.counts[f"{name} {kind}"]


class Counted(Machine):
    """The reference; it notes for how long each CPU is kept by what it begins."""

    def step(self, time, key, p, thing):
        super().step(time, key, p, thing)
        if kind := self.kind_on_cpu(p, thing):
            cpu = thing.cpu if kind == RECV else self.programs[p][thing].cpu
            self.spent[(CALC, SEND, RECV).index(kind), p] += self.cpu_free[p][cpu] - time


@pytest.mark.parametrize("number", range(8))
def test_processors_compute_send_and_receive_as_long_as_in_the_reference(number):
    text, setting = random_case(number)
    run = noted_run(text, **setting)
    ends = np.array(result_of(run)["ends"])
    found = accounts(run.machine.transport, run.notes, run.program, ends)
    programs = read_goal(text)
    network = setting["on"] and Routed(mpinet.open(setting["on"]), setting["hop"], setting["byte"])
    costs = {name: setting[name] for name in "ogGOS"}
    machine = Counted(programs, network or Flat(setting["flat"]), setting["mode"], **costs)
    machine.spent = np.zeros((3, len(programs)), np.int64)
    machine.run()
    assert [found[name] for name in ("computed", "sent", "received")] == machine.spent.tolist()
    cpus = [1 + max((op.cpu for op in ops), default=0) for ops in programs]
    assert found["waited"] == (np.array(cpus) * ends - machine.spent.sum(axis=0)).tolist()
