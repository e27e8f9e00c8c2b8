"""What a run is said to need of a rank is what it takes there: NumPy's arrays, as they are made."""

import gc
import tracemalloc

import numpy as np
import pytest

from mpinet.cli.commands import parse
from mpinet.jobs import module_of
from mpinet.jobs.machinejob import MachineJob
from mpinet.machine.transport import world

RUNS = [
    "flood torus:200x{long}",
    "broadcast hypercube:{cube}",
    "broadcast hypercube:{cube} --algorithm tree",
    "broadcast ccc:10",
    "broadcast torus:64x{long} --algorithm passes",
    "broadcast debruijn:11 --algorithm tree",
    "reduce hypercube:{cube}",
    "reduce torus:100x{long}",
    "ascend hypercube:{large} --operator sum",
    "ascend hypercube:{cube} --operator fft",
    "circulate hypercube:{cube} --dimensions 2",
    "allreduce ring:60 --items 120",
    "allreduce torus:32x32",
    "allreduce torus:24x24 --ports all",
    "embed torus:32x32 hypercube:10",
    "gossip torus:20x20 --algorithm tree",
    "gossip torus:16x16 --algorithm routed",
    "gossip hypercube:8 --algorithm routed",
    "scatter torus:40x40 --ports all --root 3",
    "gather torus:40x40 --ports all --root 3",
    "gather hyperx:8x8x30 --ports all",
    "load torus:16x16 --rate 0.2 --warmup 20 --steps 20",
]
"""At sizes, on any number of ranks, where arrays take more than the objects around them."""


def job_of(typed: str) -> MachineJob:
    """The job of a command line."""
    options = parse(typed.split())
    return module_of(options.command).prepare(options)


def taken(typed: str) -> int:
    """Most bytes that a rank holds at once beyond what is there before, compiled code aside."""
    ranks, job = world(), job_of(typed)
    job_of(typed).run(ranks, lambda *done: None)
    gc.collect()
    ranks.sum(np.zeros(1))
    tracemalloc.start(1)
    try:
        before, _ = tracemalloc.get_traced_memory()
        job.run(ranks, lambda *done: None)
        own = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return int(ranks.max(np.array([own]))[0])


@pytest.mark.costly
@pytest.mark.parametrize("run", RUNS)
def test_a_rank_takes_what_it_is_said_to_need(run: str) -> None:
    ranks = world().size
    cube = 13 + (ranks - 1).bit_length()
    typed = run.format(cube=cube, large=cube + 3, long=100 * ranks)
    assert job_of(typed).needs(ranks) == pytest.approx(taken(typed), rel=0.2)
