"""Accounts of what messages cost: booked many at a time, however many arrive in a step."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from mpinet.mpi.world import accounts

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("at_once", [1, 7, 4096])
def test_costs_are_those_of_the_messages_one_by_one(monkeypatch, at_once):
    monkeypatch.setattr(accounts, "AT_ONCE", at_once)
    random, arrivals = np.random.default_rng(at_once), accounts.ArrivalCosts()
    messages, hops, steps = Counter(), Counter(), defaultdict(set)
    assert arrivals.booked == {}
    for now in range(3, 300, 2):
        count = int(random.integers(1, 6))
        payers, crossed = random.integers(0, 9, count), random.integers(1, 7, count)
        born = now - random.integers(1, 4, count)
        arrivals.note(payers, crossed, born, now)
        for payer, links, begin in zip(payers.tolist(), crossed.tolist(), born, strict=True):
            messages[payer] += 1
            hops[payer] += links
            steps[payer].update(range(begin, now))
        if now % 50 == 1:  # also in between
            assert {number: one.messages for number, one in arrivals.booked.items()} == messages
    booked = arrivals.booked
    assert {number: one.messages for number, one in booked.items()} == messages
    assert {number: one.hops for number, one in booked.items()} == hops
    assert {number: one.steps for number, one in booked.items()} == {
        number: len(under_way) for number, under_way in steps.items()
    }
