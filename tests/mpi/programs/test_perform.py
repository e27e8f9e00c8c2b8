"""Schedules as data run the same on any number of ranks and under any mapping."""

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, machine_of, mapping_of

import mpinet
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.programs.playing import perform
from mpinet.programs.schedules.timetable import Timetable


def ring_sum(size: int) -> Timetable:
    """An allreduce round a ring: sums go round once, and then the results."""
    sums = [
        (t + 1, u, (u + 1) % size, (u - t) % size) for t in range(size - 1) for u in range(size)
    ]
    last = size - 1
    told = [(t + last, u, v, (c + 1) % size) for t, u, v, c in sums]
    columns = np.array(sums + told).T.copy()
    return Timetable("allreduce", size, *columns, chunks=size, add=columns[0] <= last)


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("routed", [False, True])
def test_the_outcome_is_that_of_one_rank(mapping, routed):
    topology = mpinet.open("ring:9")
    spread = machine_of(topology, "one", mapping=mapping_of(topology, mapping))
    alone = Machine(topology, "one", Local())
    found = perform(spread, ring_sum(9), 7, routed)
    assert found == perform(alone, ring_sum(9), 7, routed)
    assert (found.correct, found.steps, found.messages) == (True, 16, 144)


def test_every_rank_refuses_what_one_would_add_twice():
    table = ring_sum(9)
    again = Timetable(**(vars(table) | {"add": np.ones(len(table), bool)}))
    with pytest.raises(UsageError, match="a second time the contribution"):
        perform(machine_of(mpinet.open("ring:9"), "one"), again)
