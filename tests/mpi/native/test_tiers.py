"""Ranks whose kernels are native, plain, or given up, each at moments of its own: one result."""

import pytest
from mpi.cli.invariant import outcome
from serial.native.tossing import plain, tossed

from mpinet.machine.transport import world

COMMANDS = [
    "route hypercube:6 --pairs all",
    "route torus:6x7 --pairs random:300 --policy fifo",
    "load torus:4x4 --rate 0.2 --flits 3 --warmup 20 --steps 60",
    "load torus:3x3 --rate 0.4 --replies 3 --service 2 --outstanding 1 --warmup 9 --steps 40",
    "replay allreduce:double-tree,90,segment=30 --on ring:9 --time-byte 2",
    "broadcast torus:5x4x3 --root 7 --schedule",
    "gossip torus:3x5 --seed 4",
    "ascend hypercube:7 --operator prefix",
    "show debruijn:10 --sample 20 --seed 3",
]


@pytest.mark.costly
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("command", COMMANDS)
def test_no_result_depends_on_the_forms_of_kernels_on_any_rank(command, seed):
    transport = world()
    with tossed(1000 * seed + transport.rank) as shown:
        mixed = outcome(command, transport)
    with plain():
        plainly = outcome(command, transport)
    native = outcome(command, transport)
    assert transport.rank != 0 or mixed == plainly == native
    assert transport.rank != 0 or shown >= {"native", "plain"}
