"""Several ranks against one: the same workload on all ranks, then on rank 0 alone, in turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mpinet.bench.benchmark import (
    MPINET,
    SEVERAL,
    Baseline,
    Benchmark,
    Contenders,
    Setting,
    at_least,
    speed,
)
from mpinet.bench.passes import ELEMENT_STEPS, Program
from mpinet.bench.permutation import HOPS_A_SECOND, make_router
from mpinet.bench.rules import parity_first
from mpinet.machine import Machine
from mpinet.machine.placement import Mapping
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.programs.flood import distances
from mpinet.programs.operators import open_operator

ALONE = "one rank"

Prepared = tuple[Callable[[], object], Callable[[], float]]
"""Work, and then how many units it was."""


def in_turn(setting: Setting, prepare: Callable[[Local], Prepared]) -> Contenders:
    """A workload on all ranks, and on rank 0 while the others rest."""

    def together() -> float:
        work, units = prepare(setting.transport)
        seconds = setting.seconds_together(work)
        return speed(units(), seconds)

    def alone() -> float:
        figure = 0.0
        if setting.transport.rank == 0:
            work, units = prepare(Local())
            began = setting.wall()
            work()
            seconds = setting.wall() - began
            figure = speed(units(), seconds)
        setting.transport.conclude(0, "", None)  # waits without keeping a core busy
        return float(setting.transport.max(np.array([figure]))[0])

    return {MPINET: together, ALONE: alone}


def permutation(setting: Setting, n: int, crossing: bool) -> Contenders:
    """W1 with blocks of processors a rank, or so that every hop crosses between two ranks."""
    topology = open_topology(f"hypercube:{n}")

    def prepare(transport: Local) -> Prepared:
        mapping = by_parity(topology) if crossing and transport.size > 1 else None
        router, run = make_router(topology, topology.routing(), setting.seed, transport, mapping)
        return run, lambda: router.totals["hops_total"]

    return in_turn(setting, prepare)


def by_parity(topology: Topology) -> Mapping:
    """Every link of a hypercube crosses between the halves."""
    return Mapping("parity", parity_first, np.array([topology.size, 2], np.int64))


def passes(setting: Setting, q: int, operator: str) -> Contenders:
    """W4."""

    def prepare(transport: Local) -> Prepared:
        program = Program(open_operator(operator), q, setting, transport)
        return program.run, lambda: program.element_steps

    return in_turn(setting, prepare)


def all_pairs(setting: Setting, n: int) -> Contenders:
    """W5."""
    topology = open_topology(f"hypercube:{n}")

    def prepare(transport: Local) -> Prepared:
        machine = Machine(topology, "all", transport)
        return lambda: distances(machine), lambda: topology.size**2

    return in_turn(setting, prepare)


def _benchmark(
    name: str,
    workload: str,
    unit: str,
    sizes: tuple[int, int],
    contenders: Callable[[Setting, int], Contenders],
    ratio: float,
) -> Benchmark:
    return Benchmark(
        name,
        workload,
        unit,
        dict(zip(("small", "full"), sizes, strict=True)),
        contenders,
        (Baseline(ALONE, at_least(ratio, ranks=2)),),
        ranks=SEVERAL,
    )


BENCHMARKS = (
    *(
        _benchmark(
            f"ranks-w1-{name}-n{n}",
            f"random permutation on hypercube:{{}}, {mapping}",
            HOPS_A_SECOND,
            (n - 10, n),
            partial(permutation, crossing=crossing),
            ratio,
        )
        for n in (18, 20)
        for name, mapping, crossing, ratio in (
            ("block", "blocks", False, 1.25),
            ("crossing", "every hop crosses", True, 0.85),
        )
    ),
    *(
        _benchmark(
            f"ranks-w4-{name}",
            f"{operator} on hypercube:{{}}",
            ELEMENT_STEPS,
            (7, 20),
            partial(passes, operator=operator),
            1.8,
        )
        for name, operator in (("sort", "bitonic-sort"), ("fft", "fft"))
    ),
    _benchmark(
        "ranks-w5",
        "all-pairs distances of hypercube:{}",
        "Mpairs/s",
        (7, 13),
        all_pairs,
        1.8,
    ),
)
