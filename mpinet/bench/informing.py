"""W3: the one-port broadcast on the hypercube along the binomial tree."""

from __future__ import annotations

import numpy as np

from mpinet.bench import kernels
from mpinet.bench.benchmark import (
    Baseline,
    Benchmark,
    BenchSetting,
    Contenders,
    Goal,
    Round,
    at_least,
    speed,
)
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.programs.broadcast import broadcast

KERNEL = "broadcast kernel"


def rounds_of_both(setting: BenchSetting, n: int) -> tuple[Round, Round]:
    """Return rounds, in seconds, of mpinet with the creation of the machine, and of the kernel."""
    topology = open_topology(f"hypercube:{n}")
    informed, told = np.zeros(1 << n, np.uint8), np.zeros(1 << n, np.uint8)

    def by_kernel() -> float:
        # The kernel is timed without memory allocation. mpinet's figure includes the creation of
        # its machine.
        informed[:] = 0
        informed[0] = 1
        return setting.seconds(lambda: kernels.inform(informed, told, n))

    def by_mpinet() -> float:
        return setting.seconds(lambda: broadcast(Machine(topology, "one", Local()), 0))

    return by_mpinet, by_kernel


def seconds_of_both(setting: BenchSetting, n: int) -> Contenders:
    """Measure seconds of a broadcast."""
    by_mpinet, by_kernel = rounds_of_both(setting, n)
    return Contenders(by_mpinet, {KERNEL: by_kernel})


def speeds_of_both(setting: BenchSetting, n: int) -> Contenders:
    """Measure speeds in millions of processors times steps per second."""
    by_mpinet, by_kernel = rounds_of_both(setting, n)
    return Contenders(
        lambda: speed(n << n, by_mpinet()), {KERNEL: lambda: speed(n << n, by_kernel())}
    )


SIZES = {"small": 7, "full": 20}
NODE_STEPS = "M node-steps/s"

BENCHMARKS = tuple(
    Benchmark(
        f"w3-{name}",
        "one-port broadcast on hypercube:{}",
        unit,
        SIZES,
        contenders,
        (Baseline(KERNEL, goal),),
    )
    for name, unit, contenders, goal in (
        ("speed", NODE_STEPS, speeds_of_both, at_least(1 / 3)),
        ("time", "s", seconds_of_both, Goal("ratio", "<=", 3)),
    )
)
