"""The ranks' transport: records, sums and texts come to where they belong."""

import numpy as np
import pytest
from mpi.machine.ranks import everyone, some_ranks, transport

from mpinet.errors import RoutingError
from mpinet.machine import Machine
from mpinet.machine.router import Router

RANK, RANKS = transport().rank, transport().size


def test_records_come_by_rank_in_the_order_sent():
    counts = np.array([(RANK + 2 * to) % 3 * (to != RANK) for to in range(RANKS)])
    texts = [f"{RANK} to {to}: {k}" for to in range(RANKS) for k in range(counts[to])]
    received, incoming, total = transport().exchange(np.array(texts, "U20"), counts, word=RANK + 1)
    expected = [
        f"{rank} to {RANK}: {k}"
        for rank in range(RANKS)
        for k in range((rank + 2 * RANK) % 3 * (rank != RANK))
    ]
    assert received.tolist() == expected
    assert incoming.sum() == len(expected)
    assert total == sum(rank + 1 for rank in range(RANKS))


def test_records_come_into_the_memory_that_is_given_for_them():
    memory = np.zeros((2 * RANKS, 3), np.int64)
    counts = np.array([2 * (to != RANK) for to in range(RANKS)])
    sent = np.full((counts.sum(), 3), RANK)
    received = transport().exchange(sent, counts, room=lambda count: memory[:count]).records
    assert received[:, 0].tolist() == [
        rank for rank in range(RANKS) for _ in (0, 1) if rank != RANK
    ]
    assert np.array_equal(memory[: len(received)], received)
    assert not len(received) or np.shares_memory(memory, received)


def test_sums_and_maxima_are_element_by_element():
    assert transport().sum(np.array([RANK, 1])).tolist() == [sum(range(RANKS)), RANKS]
    assert transport().max(np.array([RANK, -RANK])).tolist() == [RANKS - 1, 0]


def test_rank_0_gathers_texts_of_any_length_in_order():
    texts = transport().gather(bytes([RANK]) * RANK)
    assert texts == ([bytes([rank]) * rank for rank in range(RANKS)] if RANK == 0 else [])


def test_rank_0_shares_its_text():
    assert transport().share(b"from 0" if RANK == 0 else b"not this") == b"from 0"
    assert transport().share(b"") == b""


COLLECTIVES = {
    "exchange": lambda: transport().exchange(np.zeros(0), np.zeros(RANKS, np.int64)),
    "sum": lambda: transport().sum(np.zeros(3)),
    "max": lambda: transport().max(np.zeros(3)),
    "gather": lambda: transport().gather(b"here"),
    "share": lambda: transport().share(b"this"),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_an_error_of_one_rank_is_raised_in_the_next_collective_of_all(name):
    with pytest.raises(RoutingError, match="the last rank has lost its way"):
        if RANK == RANKS - 1:
            transport().fail(RoutingError("the last rank has lost its way"))
        COLLECTIVES[name]()
    assert everyone(RANK) == list(range(RANKS))
    assert transport().sum(np.array([1])).tolist() == [RANKS]


def test_every_number_is_dealt_to_one_rank():
    for count in (0, 1, 50):
        mine = list(transport().dealt(count))
        held = np.bincount(np.array(mine, np.int64), minlength=count)
        assert transport().sum(held).tolist() == [1] * count


@pytest.mark.parametrize("count", [2, 3, 5, 8, 16])
def test_a_step_costs_a_rank_messages_to_its_partners_and_in_rounds(count):
    ranks, inside = some_ranks(min(count, RANKS))
    if not inside or ranks.size == 1:
        return
    rounds = (ranks.size - 1).bit_length()
    machine = Machine("hypercube:6", transport=ranks)
    routing = machine.topology.routing()
    nodes = machine.nodes
    router = Router(machine, routing)
    router.inject(nodes, nodes ^ 63, nodes, 64)
    before, calls, partners, steps = ranks.messages, ranks.calls, 0, 0
    volume, crossed = ranks.volume, 0
    exchange = machine.exchange

    def noted(records, counts, *rest):
        nonlocal partners, steps, crossed
        partners, steps = partners + np.count_nonzero(counts), steps + 1
        crossed += records.nbytes
        return exchange(records, counts, *rest)

    machine.exchange = noted
    while router.step():
        pass
    assert steps == ranks.calls - calls > 1
    assert ranks.messages - before == rounds * steps + partners
    told = ranks.volume - volume - crossed - 256 * rounds * steps
    assert 0 <= told <= 8 * rounds * ranks.size * steps


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_every_rank_gets_the_rows_of_all(kind: type) -> None:
    rank = transport().rank
    mine = np.arange(6 * rank, dtype=kind).reshape(-1, 2)[::-1]  # none on rank 0
    assert np.array_equal(transport().everywhere(mine), np.concatenate(everyone(mine)))
