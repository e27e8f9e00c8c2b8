"""Broadcasts by passes are the same on any number of ranks, and keep one-port."""

from itertools import cycle

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.programs.broadcast import broadcast
from mpinet.programs.reduce import reduce
from mpinet.programs.schedules.timetable import HostedRows, Timetable

NETWORKS = [
    "debruijn:6",
    "fattree:2,3",
    "gmnany:50",
    "roadrunner:2,2,2",
    "plens:3,20",
    "busstar:4,2",
]


@pytest.mark.parametrize(("name", "mapping"), list(zip(NETWORKS, cycle(MAPPINGS), strict=False)))
def test_moves_are_those_of_one_rank(name, mapping):
    topology = mpinet.open(name)
    traces = Trace(), Trace()
    spread = machine_of(topology, "one", mapping=mapping_of(topology, mapping), trace=traces[0])
    alone = Machine(topology, "one", Local(), trace=traces[1])
    assert broadcast(spread, 1, "passes") == broadcast(alone, 1, "passes")
    moves = together(everyone, moves_of(spread))
    assert moves == sorted(moves_of(alone))
    receivers = [receiver for _, _, _, receiver, _ in moves if receiver < topology.hosts]
    assert sorted([1, *receivers]) == list(range(topology.hosts))


@pytest.mark.parametrize(("name", "steps"), [("debruijn:5", 6), ("foldedcube:5", 5), ("ccc:3", 6)])
def test_a_reduction_takes_as_few_steps(name, steps):
    found = reduce(machine_of(name, "one"), 0, "sum")
    assert (found.algorithm, found.steps, found.correct) == ("passes", steps, True)


def test_a_row_that_goes_over_no_link_is_named():
    columns = (np.array(column) for column in ([1, 2], [0, 1], [1, 2], [0, 0]))
    timetable = Timetable("broadcast", 8, *columns)
    with pytest.raises(UsageError, match=r"step 2: processor 1 sends to 2, and hypercube:3 has no"):
        HostedRows(Machine("hypercube:3", "one", Local()), timetable)
