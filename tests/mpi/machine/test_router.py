"""The router moves every message in the step of brute force, on any number of ranks."""

from itertools import cycle, product

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, transport
from serial.machine.scenario import Scenario, bus_grid, classic, inject

from mpinet import Routing, rule
from mpinet.errors import ConservationError, RoutingError
from mpinet.machine import hop
from mpinet.machine.router import Router


def scenario(network, count, **options):
    """Random traffic in two batches, the second two steps after the first."""
    ends = np.random.default_rng(count).integers(0, network.topology.size, (2, count, 2))
    batches = [[tuple(pair) for pair in batch] for batch in ends.tolist()]
    return Scenario(network, batches, **options)


ONE_PORT = {"send": 1, "receive": 1}

SCENARIOS = {
    "all-port": scenario(classic("torus:4x4"), 40),
    "all-port, first in first out": scenario(classic("mesh:3x4"), 30, policy="fifo"),
    "one-port": scenario(classic("hypercube:5"), 40, **ONE_PORT),
    "one-port, first in first out": scenario(classic("debruijn:3"), 15, **ONE_PORT, policy="fifo"),
    "one receiving port": scenario(classic("complete:9"), 30, receive=1),
    "one sending port, half duplex": scenario(classic("ring:4"), 12, send=1, half_duplex=True),
    "half duplex": scenario(
        classic("shuffleexchange:3"), 15, half_duplex=True, policy="fifo", pause=1
    ),
    "one-port, half duplex": scenario(classic("mesh:7"), 10, **ONE_PORT, half_duplex=True),
    "busses": scenario(bus_grid(3, 4), 25),
    "busses, one receiving port": scenario(bus_grid(3, 4), 25, receive=1, policy="fifo"),
    "busses, one-port": scenario(bus_grid(1, 6), 9, **ONE_PORT),
    "ideal": scenario(classic("torus:2x3x5"), 60, mode="ideal"),
    "fewer processors than ranks": scenario(classic("hypercube:1"), 6, **ONE_PORT),
    "faults": scenario(
        classic("torus:4x4"), 40, **ONE_PORT, dead=(5, 12), cut=((0, 1), (14, 10), (1, 0))
    ),
    "ideal with faults": scenario(
        classic("debruijn:3"), 40, mode="ideal", dead=(6,), cut=((1, 2),)
    ),
}


@pytest.mark.parametrize(("name", "mapping"), list(zip(SCENARIOS, cycle(MAPPINGS), strict=False)))
def test_outcome_is_that_of_brute_force(name, mapping):
    run = SCENARIOS[name]
    mapped = mapping_of(run.network.topology, mapping)
    assert run.measured(transport(), mapped, everyone) == run.expected()


def test_outcome_is_that_of_brute_force_where_rules_are_compiled_in(monkeypatch):
    monkeypatch.setattr("mpinet.machine.router.INLINED_FROM", 0)
    run = SCENARIOS["all-port"]
    mapped = mapping_of(run.network.topology, "random")
    assert run.measured(transport(), mapped, everyone) == run.expected()


def test_messages_that_start_or_end_at_dead_processors_are_undeliverable():
    run = Scenario(classic("ring:4"), [[(0, 0), (1, 2), (3, 0), (1, 3), (2, 1)]], dead=(0, 2))
    outcome = run.measured(transport(), everyone=everyone)
    # From 0: stuck there. To 2 and to 0: stuck before. From 1 by 2 to 3: stuck at 1. From 2: there.
    assert outcome["undeliverable"] == [(0, 0), (1, 1), (2, 3), (3, 1), (4, 2)]
    assert outcome["delivered"] == outcome["moves"] == []


@rule
def decide_plus(node, header, params):
    """Always +1, also at the border of a mesh."""
    return -1 if node == header[0] else 0


@rule
def decide_forever(node, header, params):
    """Always port 0: never there."""
    return 0


@rule
def decide_beyond(node, header, params):
    """A port that is none."""
    return 99


@rule
def decide_far_beyond(node, header, params):
    """A port that is none, and does not fit into a message's row."""
    return 1 << 40


WRONG = {
    "unwired": (decide_plus, "mesh:4", r"port 0 of processor 3, which is not wired, .* message 2"),
    "no such port": (decide_beyond, "ring:4", r"port 99 of processor 2, which is not wired"),
    "no port at all": (decide_far_beyond, "ring:4", r"port 16777215 of processor 2, which is not"),
    "endless": (decide_forever, "ring:4", r"does not come to an end: message 0 .* 80 hops"),
}


@pytest.mark.parametrize(
    ("name", "ports"),
    [
        *product(["unwired", "no such port", "no port at all"], ["all", "one"]),
        ("endless", "all"),
    ],
)
def test_wrong_decisions_end_the_run_on_every_rank(name, ports):
    decide, network, text = WRONG[name]
    machine = machine_of(network, ports)
    wrong = Routing("wrong", decide, machine.topology.params, lambda source, target: 2)
    router = Router(machine, wrong)
    batch = [(2, 1)] if name != "unwired" else [(0, 1), (0, 3), (2, 1)]
    inject(router, batch)
    with pytest.raises(RoutingError, match=f"routing wrong on {network} .*{text}") as error:
        router.run()
    assert len(set(everyone(str(error.value)))) == 1
    right = Router(machine, machine.topology.routing())
    inject(right, [(0, 2), (1, 2), (3, 1)])
    right.run()
    assert right.totals["delivered"] == 3


@pytest.mark.parametrize("field", [hop.LIVE, hop.DELIVERED])
def test_a_message_that_vanishes_or_doubles_is_noticed_on_every_rank(field):
    machine = machine_of("hypercube:4")
    router = Router(machine, machine.topology.routing())
    inject(router, [(u, 15 - u) for u in range(16)])
    router.step()
    rank = next(r for r, live in enumerate(everyone(router.live)) if live)
    if transport().rank == rank:
        router._ledger[field] += -1 if field == hop.LIVE else 1
    with pytest.raises(ConservationError, match="16 messages were injected"):
        router.run()


def test_steps_and_trace_of_a_second_run_go_on_from_the_first():
    machine = machine_of("ring:6")
    for expected in (3, 6):
        router = Router(machine, machine.topology.routing())
        inject(router, [(0, 3), (4, 4)])
        router.run()
        assert machine.steps == expected
        assert router.latencies.tolist()[:4] == [1, 0, 0, 1]
    assert machine.messages == 6
