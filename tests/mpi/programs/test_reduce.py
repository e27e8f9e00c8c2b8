"""Reductions: the serial result at the root, in the steps of the broadcast that is turned round."""

from collections import defaultdict
from itertools import cycle, product

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, transport
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet.cli.commands import parse
from mpinet.errors import ModelViolation, NodeError, UsageError
from mpinet.jobs import module_of
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.trace import Trace
from mpinet.programs.broadcast import broadcast
from mpinet.programs.reduce import reduce

LINKS = """complete:1 complete:2 ring:7 mesh:3x4 hypercube:4 fattree:2,3 gbsn:1,m=4-4-4-2,a=1
gbsn:2,m=4-4-4-3-7,a=1 bsn:1,2,5 hdn:3,super=0 sth:2,3 gmn:32""".split()
BUSSES = ["lens:3,3,2", "lens:2,3,3", "clens:3,3", "plens:3,40"]

VALUES = np.random.default_rng(8).integers(-(2**63), 2**63 - 1, 2000)
SERIAL = {"min": min, "max": max, "sum": sum}


def wrapped(number):
    """The number modulo 2^64, as a signed one."""
    return (number + 2**63) % 2**64 - 2**63


def all_moves(machine):
    """(step, sender, receiver) of all messages on the machine."""
    found = together(everyone, moves_of(machine))
    return [(step, sender, receiver) for step, sender, _, receiver, _ in found]


def backwards(moves, steps):
    """The first arrivals of a broadcast with one message for each processor, from the last on."""
    return sorted((steps + 1 - step, receiver, sender) for step, sender, receiver in moves)


@pytest.mark.costly
@pytest.mark.parametrize(("name", "mapping"), list(zip(LINKS, cycle(MAPPINGS), strict=False)))
def test_on_links_it_is_the_broadcast_backwards(name, mapping):
    topology = mpinet.open(name)
    root, hosting = topology.hosts // 3, mapping_of(topology, mapping)
    for ports, (operator, serially) in product(("one", "all"), SERIAL.items()):
        there = machine_of(topology, ports, trace=Trace())
        forwards = broadcast(there, root)
        sends = all_moves(there)
        machine = machine_of(topology, ports, mapping=hosting, trace=Trace())
        result = reduce(machine, root, operator, values=lambda nodes: VALUES[nodes])
        assert result.correct
        assert result.value == wrapped(serially(VALUES[: topology.hosts].tolist()))
        assert (result.algorithm, result.steps) == (forwards.algorithm, forwards.steps)
        assert result.lower_bound == forwards.lower_bound <= result.steps == machine.steps
        moves = all_moves(machine)
        assert result.messages == len(moves) == len({sender for _, sender, _ in moves})
        if len(sends) == len(moves):  # nobody is informed twice
            assert moves == backwards(sends, forwards.steps)


def check_that_all_send_once_after_what_they_receive(topology, root, moves):
    """Everybody but the root sends one message, later than the last that it receives."""
    heard, told = defaultdict(int), {}
    for step, sender, receiver in moves:
        assert sender not in told
        told[sender] = step
        heard[receiver] = max(heard[receiver], step)
    assert set(told) == set(range(topology.size)) - {root}
    assert all(step > heard[node] for node, step in told.items())


@pytest.mark.parametrize(
    ("name", "ports"), [*((name, "all") for name in BUSSES), ("clens:3,3", "one")]
)
def test_on_busses_the_members_answer_in_turn(name, ports):
    topology = mpinet.open(name)
    root = topology.size // 2
    forwards = broadcast(machine_of(topology, ports), root)
    found = set()
    for mapping in MAPPINGS:
        machine = machine_of(topology, ports, mapping=mapping_of(topology, mapping), trace=Trace())
        result = reduce(machine, root, "sum", values=lambda nodes: VALUES[nodes])
        assert result.correct and result.value == wrapped(sum(VALUES[: topology.size].tolist()))
        assert result.messages == topology.size - 1
        moves = all_moves(machine)
        check_that_all_send_once_after_what_they_receive(topology, root, moves)
        found.add(tuple(moves))
    assert len(found) == 1
    members = max(len(topology.bus_members(bus)) for bus in range(topology.busses))
    assert forwards.steps <= result.steps == machine.steps <= forwards.steps * (members - 1)


def test_one_bus_takes_a_step_for_every_other_member():
    machine = machine_of("busstar:7,1", "all")
    assert (machine.topology.size, machine.topology.busses) == (7, 1)
    assert reduce(machine, 3, "max").steps == 6


def test_items_that_nobody_gives_are_drawn_by_the_seed():
    results = [reduce(machine_of("torus:3x4", "one"), 5, seed=seed) for seed in (1, 2, 1)]
    assert all(result.correct for result in results)
    assert results[0] == results[2] and results[0].value != results[1].value
    assert set(everyone(results[0])) == {results[0]}


def test_a_processor_may_accept_more_than_it_sends():
    one, more = PortModel(1, 1), PortModel(1, None)
    results = [reduce(machine_of("bsn:2,2,4", model), 2) for model in (one, more)]
    assert [(result.steps, result.correct) for result in results] == [(5, True), (3, True)]


def test_lost_messages_make_a_result_wrong():
    class Silent(Machine):
        def step(self, nodes, ports, payload=None, listen=None, word=0):
            return super().step(nodes[:0], ports[:0], payload[:0], listen, word)

    result = reduce(Silent("ring:7", "one", transport()), 2, "sum")
    assert (result.correct, result.messages) == (False, 0)


def test_a_broadcast_on_all_ports_is_refused_backwards_by_one_port():
    with pytest.raises(ModelViolation, match="at most 1 message"):
        reduce(machine_of("bsn:2,2,4", "one"), 0, algorithm="subsections")


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ((99,), NodeError, "99"),
        ((4,), UsageError, "Node 4 of fattree:2,2 is a switch"),
        ((0, "median"), UsageError, "no reduction 'median': give one of min, max, sum"),
        ((0, "min", "fastest"), UsageError, "no broadcast 'fastest'"),
    ],
)
def test_wrong_usage_gets_a_sentence(arguments, error, said):
    with pytest.raises(error, match=said):
        reduce(machine_of("fattree:2,2", "one"), *arguments)


def test_a_broadcast_that_leaves_processors_out_is_not_turned_round():
    with pytest.raises(UsageError, match=r"printed of hdn:.* 432 of 864 processors"):
        reduce(machine_of("hdn:2x3,super=0/1", "one"), 0, algorithm="printed")


def test_the_command_reports_value_and_counts():
    options = parse("reduce gbsn:1,m=4-4-4-2,a=1 --operator max --root 5".split())
    found = module_of("reduce").prepare(options).run(transport(), lambda *done: None)
    wanted = reduce(machine_of("gbsn:1,m=4-4-4-2,a=1", "one"), 5, "max")
    assert found["operator"] == "max" and found["correct"] is True
    for name in ("value", "steps", "messages", "lower_bound", "algorithm"):
        assert found[name] == getattr(wanted, name)
