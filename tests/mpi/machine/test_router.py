"""The router moves every message in the step of brute force, on any number of ranks."""

from dataclasses import replace
from itertools import cycle, product

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, transport
from serial.machine.scenario import Scenario, bus_grid, classic, inject

from mpinet import Routing, rule
from mpinet.errors import ConservationError, NodeError, RoutingError, UsageError
from mpinet.machine import hop
from mpinet.machine.faults import Faults
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


def test_the_halves_of_a_word_fill_a_positive_number():
    assert hop.joined(hop.HIGH_MOST, hop.LOW_MOST) == 2**63 - 1
    word = hop.joined(12345, hop.LOW_MOST - 1)
    assert (hop.high(word), hop.low(word)) == (12345, hop.LOW_MOST - 1)


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
def decide_one_beyond(node, header, params):
    """The first port that is none."""
    return params[1]


@rule
def decide_far_beyond(node, header, params):
    """A port that is none, and does not fit into a message's row."""
    return 1 << 40


WRONG = {
    "unwired": (decide_plus, "mesh:4", r"port 0 of processor 3, which is not wired, .* message 2"),
    "no such port": (decide_beyond, "ring:4", r"port 99 of processor 2, which is not wired"),
    "a port too many": (decide_one_beyond, "ring:4", r"port 2 of processor 2, which is not wired"),
    "no port at all": (decide_far_beyond, "ring:4", r"port 16777215 of processor 2, which is not"),
    "endless": (decide_forever, "ring:4", r"does not come to an end: message 0 .* 80 hops"),
}


@pytest.mark.parametrize(
    ("name", "ports"),
    [
        *product(["unwired", "no such port", "a port too many", "no port at all"], ["all", "one"]),
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


@pytest.mark.parametrize("field", ["live", "delivered"])
def test_a_message_that_vanishes_or_doubles_is_noticed_on_every_rank(field):
    machine = machine_of("hypercube:4")
    router = Router(machine, machine.topology.routing())
    inject(router, [(u, 15 - u) for u in range(16)])
    router.step()
    rank = next(r for r, live in enumerate(everyone(router.live)) if live)
    if transport().rank == rank:
        by = -1 if field == "live" else 1
        setattr(router._ledger, field, getattr(router._ledger, field) + by)
    with pytest.raises(ConservationError, match="16 messages were injected"):
        router.run()


@rule
def start_beside(source, target, header, params):
    """To node 12 a message sets out for 14, and to 14 for 13; else for its target."""
    header[0] = 14 if target == 12 else 13 if target == 14 else target


@rule
def start_swapped(source, target, header, params):
    """Messages to 12 set out for 14, and those to 14 for 12; else for their target."""
    header[0] = 26 - target if target in (12, 14) else target


DELIVERED_ELSEWHERE = {
    # Sums of (number + 1) * (node + 1) would be the same: 13 + 2 * 15 = 15 + 2 * 14.
    "sums of products agree": (start_beside, [(8, 12), (9, 14)]),
    "ends are exchanged": (start_swapped, [(8, 12), (9, 14)]),
    "one message": (start_beside, [(8, 12)]),
    "beside others": (start_swapped, [(u, (u + 5) % 32) for u in range(32)]),
}


@pytest.mark.parametrize("inject_by", ["arrays", "drawn"])
@pytest.mark.parametrize("dead", [(), (20,)])
@pytest.mark.parametrize("name", DELIVERED_ELSEWHERE)
def test_messages_delivered_elsewhere_are_noticed_on_every_rank(name, dead, inject_by):
    start, batch = DELIVERED_ELSEWHERE[name]
    if dead:
        batch = [(19, 21), (20, 20), *batch, (5, 20)]
    machine = machine_of("ring:32")
    right = machine.topology.routing()
    for wrong in (False, True):
        routing = replace(right, start=start) if wrong else right
        router = Router(machine, routing, faults=Faults(machine.topology, dead))
        put_in(router, batch, inject_by)
        if not wrong:
            router.run()
            assert router.totals["undeliverable"] == (3 if dead else 0) + lost_of_32(name, dead)
            continue
        with pytest.raises(RoutingError, match="processors that they were not sent to") as error:
            router.run()
        assert len(set(everyone(str(error.value)))) == 1


def lost_of_32(name, dead):
    """How many of the 32 messages, five nodes onward each, meet the dead node 20."""
    return 6 if name == "beside others" and dead else 0


def put_in(router, batch, inject_by):
    """Inject a batch by its ends, or let them be drawn."""
    ends = np.array(batch, np.int64)
    if inject_by == "arrays":
        return inject(router, batch)
    mine = np.flatnonzero(np.isin(ends[:, 0], router.machine.nodes)).astype(np.uint8)
    return router.inject_drawn(mine, lambda numbers: tuple(ends[numbers].T.copy()), len(ends))


def test_where_messages_ended_is_looked_at_after_every_run():
    machine = machine_of("ring:32")
    right = machine.topology.routing()
    router = Router(machine, right, faults=Faults(machine.topology, (20,)))
    for batch in ([(19, 21), (1, 3)], [(2, 5), (18, 22), (30, 1)]):
        inject(router, batch)
        router.run()
    router.restart()
    router.routing = replace(right, start=start_swapped)
    inject(router, [(19, 21), (8, 12), (9, 14)])
    with pytest.raises(RoutingError, match="not sent to"):
        router.run()


NUMBERED = {
    "one of a rank's twice": (
        lambda rank: [(0, 0), (0, 0)] if rank == 0 else [],
        "0 is given twic",
    ),
    "one on two ranks": (lambda rank: [(0, 1)] if rank in (0, 1) else [], "1 is given twice"),
    "falling": (lambda rank: [(0, 1), (0, 0)] if rank == 0 else [], "must ascend"),
    "negative": (
        lambda rank: [(0, -1)] if rank == 0 else [],
        r"has numbers 0\.\.3, not -1",
    ),
    "too large": (lambda rank: [(0, 4)] if rank == 0 else [], r"0\.\.3, not 4"),
}
"""What a rank injects, as (place of the source among its nodes, number), and what is said."""


@pytest.mark.parametrize("name", NUMBERED)
@pytest.mark.parametrize("inject_by", ["arrays", "drawn"])
def test_messages_have_numbers_of_their_own(name, inject_by):
    machine = machine_of("complete:16", "one")
    rank, ranks = transport().rank, transport().size
    of_rank, text = NUMBERED[name]
    if name == "one on two ranks" and (ranks == 1 or inject_by == "drawn"):
        of_rank, text = NUMBERED["one of a rank's twice"]
    mine = np.array(of_rank(rank), np.int64).reshape(-1, 2)
    sources, numbers = machine.nodes[mine[:, 0]], mine[:, 1].copy()
    router = Router(machine, machine.topology.routing())
    with pytest.raises(UsageError, match=text) as error:
        if inject_by == "arrays":
            router.inject(sources, (sources + 1) % 16, numbers, 4)
        else:
            router.inject_drawn(numbers, lambda ones: (ones, ones), 4)
        machine.sum(1)
    assert len(set(everyone(str(error.value)))) == 1


def test_numbers_may_be_dealt_to_ranks_in_any_way():
    machine = machine_of("complete:40")
    router = Router(machine, machine.topology.routing())
    mine = np.arange(1000)[(np.arange(1000) * 7919) % 1000 % transport().size == transport().rank]
    sources = np.full(len(mine), machine.nodes[0])
    router.inject(sources, np.full(len(mine), 5), mine, 1000)
    router.run()
    assert router.totals["delivered"] == 1000


@pytest.mark.parametrize("inject_by", ["arrays", "drawn"])
@pytest.mark.parametrize(
    ("ends", "error", "text"),
    [
        ((-1, 3), NodeError, "There is no node -1"),
        ((3, 16), NodeError, "There is no node 16"),
        ((1, 3), UsageError, r"Processor 1 is not hosted by rank \d"),
    ],
)
def test_messages_set_out_from_their_own_ranks_to_nodes_that_there_are(
    ends, error, text, inject_by
):
    machine = machine_of("ring:16")
    source, target = ends
    last = transport().rank == transport().size - 1  # which does not host processor 1
    mine = np.arange(int(last))
    if transport().size == 1 and error is UsageError:
        machine.placement.count = 1  # as if the others were elsewhere
    router = Router(machine, machine.topology.routing())

    def drawn(numbers):
        return np.full(len(numbers), source), np.full(len(numbers), target)

    with pytest.raises(error, match=text):
        if inject_by == "arrays":
            router.inject(*drawn(mine), mine, 1)
        else:
            router.inject_drawn(mine, drawn, 1)
        machine.sum(1)


def test_steps_and_trace_of_a_second_run_go_on_from_the_first():
    machine = machine_of("ring:6")
    for expected in (3, 6):
        router = Router(machine, machine.topology.routing())
        inject(router, [(0, 3), (4, 4)])
        router.run()
        assert machine.steps == expected
        assert router.latencies.tolist()[:4] == [1, 0, 0, 1]
    assert machine.messages == 6
