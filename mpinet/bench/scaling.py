"""Scaling: a workload on all ranks alternates with a workload on rank 0 alone.

Permutations and passes run once before the measurement, to allocate memory. Strong scaling uses the
same workload. Weak scaling uses the same number of processors per rank.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_least, speed
from mpinet.bench.booksim import Workload
from mpinet.bench.distances import PAIRS_A_SECOND
from mpinet.bench.informing import NODE_STEPS
from mpinet.bench.openloop import FLIT_HOPS, flit_hops, make_run
from mpinet.bench.passes import ELEMENT_STEPS, RepeatedProgram
from mpinet.bench.permutation import HOPS_A_SECOND, make_router
from mpinet.bench.replay import BYTES
from mpinet.bench.replay import make_run as make_replay
from mpinet.bench.rules import parity_first
from mpinet.bench.saturation import STEPS, WARM_STEPS, make_saturated
from mpinet.machine import Machine
from mpinet.machine.placement import Mapping
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.programs.broadcast import broadcast
from mpinet.programs.flood import distances
from mpinet.programs.messages.regular import halo
from mpinet.programs.operators import open_operator

ALONE = "one rank"

Prepared = tuple[Callable[[], object], Callable[[], float]]
"""Pair of a function that does the work and a function that counts its units."""

Prepare = Callable[[BenchSetting, int, Local], Prepared]
"""Function ``prepare(setting, n, transport)``: prepares a workload for 2^n processors on these
ranks.
"""


def in_turn(setting: BenchSetting, prepare: Callable[[Local], Prepared]) -> Contenders:
    """Measure a workload on all ranks, and on rank 0 while other ranks are idle."""

    def together() -> float:
        work, units = prepare(setting.transport)
        seconds = setting.seconds_together(work)
        return speed(units(), seconds)

    def alone() -> float:
        figure = 0.0
        # Other ranks wait, so rank 0 has the whole memory bandwidth of the machine.
        if setting.transport.rank == 0:
            work, units = prepare(Local())
            began = setting.wall()
            work()
            seconds = setting.wall() - began
            figure = speed(units(), seconds)
        setting.transport.conclude(0, "", None)  # waits without occupying a core
        return float(setting.transport.max(np.array([figure]))[0])

    return Contenders(together, {ALONE: alone})


def strong(setting: BenchSetting, n: int, prepare: Prepare) -> Contenders:
    """Compare the same workload on all ranks and on one rank."""
    return in_turn(setting, lambda transport: prepare(setting, n, transport))


def weak(setting: BenchSetting, n: int, prepare: Prepare) -> Contenders:
    """Compare a workload 2^k times as large on 2^k ranks with the original on one rank."""
    return in_turn(
        setting,
        lambda transport: prepare(setting, n + (transport.size - 1).bit_length(), transport),
    )


def permutation(
    setting: BenchSetting, n: int, transport: Local, crossing: bool = False
) -> Prepared:
    """Prepare W1 with blocks of processors per rank, or with every hop between two ranks."""
    topology = open_topology(f"hypercube:{n}")
    mapping = by_parity(topology) if crossing and transport.size > 1 else None
    router, run = make_router(topology, topology.routing(), setting.seed, transport, mapping)
    # The first round maps memory and plans exchanges, which a long simulation does only once.
    run()
    hops = router.totals["hops_total"]
    return run, lambda: hops


def by_parity(topology: Topology) -> Mapping:
    """Return a mapping in which every link of a hypercube connects the two halves of ranks."""
    return Mapping("parity", parity_first, np.array([topology.size, 2], np.int64))


def saturated(setting: BenchSetting, n: int, transport: Local) -> Prepared:
    """Prepare W2 on a torus of 2^n processors with two sides of 16."""
    side = 2 ** min(4, n // 3)
    topology = open_topology(f"torus:{side}x{side}x{2**n // side**2}")
    router = make_saturated(topology, 16, setting.seed, transport)
    for _ in range(WARM_STEPS):
        router.step()
    before = router.machine.messages

    def run() -> None:
        for _ in range(STEPS):
            router.step()

    return run, lambda: router.machine.messages - before


def loaded(setting: BenchSetting, n: int, transport: Local) -> Prepared:
    """Prepare open-loop traffic on a torus of 2^n processors at half the channels' capacity."""
    sides = [2 ** ((n + i) // 3) for i in range(3)]
    name = "torus:" + "x".join(map(str, sides))
    # Uniform traffic loads channels by an eighth of the longest side k per unit of load.
    workload = Workload(name, 5, 4 / max(sides), LOADED_STEPS)
    run = make_run(workload, setting.seed, transport)
    return run.run, lambda: flit_hops(run)


LOADED_STEPS = 60


def replayed(setting: BenchSetting, n: int, transport: Local) -> Prepared:
    """Prepare rounds of halo exchange on a torus of 2^n processors in simulated time."""
    sides = [2 ** (n // 2), 2 ** (n - n // 2)]
    program = halo(sides, BYTES, HALO_ROUNDS, BYTES)
    run = make_replay(program, "torus:" + "x".join(map(str, sides)), transport)
    return run.run, lambda: 4 * HALO_ROUNDS << n


HALO_ROUNDS = 2


def informed(setting: BenchSetting, n: int, transport: Local) -> Prepared:
    """Prepare W3: a broadcast on a hypercube."""
    topology = open_topology(f"hypercube:{n}")
    return lambda: broadcast(Machine(topology, "one", transport), 0), lambda: n << n


def passes(setting: BenchSetting, q: int, transport: Local, operator: str) -> Prepared:
    """Prepare W4: passes of an operator."""
    program = RepeatedProgram(open_operator(operator), q, setting, transport)
    program.run()
    return program.run, lambda: program.element_steps


def all_pairs(setting: BenchSetting, n: int, transport: Local) -> Prepared:
    """Prepare W5: all distances of a hypercube."""
    topology = open_topology(f"hypercube:{n}")
    machine = Machine(topology, "all", transport)
    return lambda: distances(machine), lambda: topology.size**2


_benchmark = partial(Benchmark, several=True)


def _goal(ratio: float | None) -> tuple[Baseline, ...]:
    return (Baseline(ALONE, None if ratio is None else at_least(ratio, ranks=2)),)


def _sizes(small: int, full: int) -> dict[str, int]:
    return {"small": small, "full": full}


STRONG = (
    *(
        _benchmark(
            f"ranks-w1-{name}-n{n}",
            f"random permutation on hypercube:{{}}, {mapping}",
            HOPS_A_SECOND,
            _sizes(n - 10, n),
            partial(strong, prepare=partial(permutation, crossing=crossing)),
            _goal(ratio),
        )
        for n in (18, 20)
        for name, mapping, crossing, ratio in (
            ("block", "blocks", False, 1.7),
            ("crossing", "every hop crosses", True, 1.25),
        )
    ),
    _benchmark(
        "ranks-w2",
        "saturated uniform traffic on a torus of 2^{} processors",
        HOPS_A_SECOND,
        _sizes(6, 12),
        partial(strong, prepare=saturated),
        _goal(None),
    ),
    _benchmark(
        "ranks-load",
        "uniform traffic on a torus of 2^{} processors, wormhole, half load",
        FLIT_HOPS,
        _sizes(6, 16),
        partial(strong, prepare=loaded),
        _goal(1.5),
    ),
    _benchmark(
        "ranks-replay",
        "halo exchange on a torus of 2^{} processors, in time",
        "M messages/s",
        _sizes(6, 20),
        partial(strong, prepare=replayed),
        _goal(1.5),
    ),
    _benchmark(
        "ranks-w3",
        "one-port broadcast on hypercube:{}",
        NODE_STEPS,
        _sizes(7, 20),
        partial(strong, prepare=informed),
        _goal(1.5),
    ),
    *(
        _benchmark(
            f"ranks-w4-{name}",
            f"{operator} on hypercube:{{}}",
            ELEMENT_STEPS,
            _sizes(7, 20),
            partial(strong, prepare=partial(passes, operator=operator)),
            _goal(1.8),
        )
        for name, operator in (("sort", "bitonic-sort"), ("fft", "fft"))
    ),
    _benchmark(
        "ranks-w5",
        "all-pairs distances of hypercube:{}",
        PAIRS_A_SECOND,
        _sizes(7, 13),
        partial(strong, prepare=all_pairs),
        _goal(1.8),
    ),
)

WEAK = tuple(
    _benchmark(
        f"weak-{name}",
        f"{workload} of 2^{{}} processors a rank",
        unit,
        _sizes(*sizes),
        partial(weak, prepare=prepare),
        _goal(1.6 if name == "w1" else None),
    )
    for name, workload, unit, sizes, prepare in (
        ("w1", "random permutation on a hypercube", HOPS_A_SECOND, (8, 19), permutation),
        ("w2", "saturated uniform traffic on a torus", HOPS_A_SECOND, (6, 12), saturated),
        ("w3", "one-port broadcast on a hypercube", NODE_STEPS, (7, 19), informed),
        (
            "w4-sort",
            "bitonic-sort on a hypercube",
            ELEMENT_STEPS,
            (7, 19),
            partial(passes, operator="bitonic-sort"),
        ),
        ("w4-fft", "fft on a hypercube", ELEMENT_STEPS, (7, 19), partial(passes, operator="fft")),
        ("w5", "all-pairs distances of a hypercube", PAIRS_A_SECOND, (7, 12), all_pairs),
    )
)

BENCHMARKS = (*STRONG, *WEAK)
