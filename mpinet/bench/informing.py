"""W3: the one-port broadcast on the hypercube along the binomial tree."""

from __future__ import annotations

import numpy as np

from mpinet.bench import kernels
from mpinet.bench.benchmark import (
    MPINET,
    Baseline,
    Benchmark,
    BenchSetting,
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


def seconds_of_both(setting: BenchSetting, n: int) -> dict[str, Round]:
    """Measure seconds of mpinet, including the creation of the machine, and of the kernel."""
    topology = open_topology(f"hypercube:{n}")
    informed, told = np.zeros(1 << n, np.uint8), np.zeros(1 << n, np.uint8)

    def by_kernel() -> float:
        # The kernel is timed without memory allocation. mpinet's figure includes the creation of
        # its machine.
        informed[:] = 0
        informed[0] = 1
        return setting.seconds(lambda: kernels.inform(informed, told, n))

    return {
        MPINET: lambda: setting.seconds(lambda: broadcast(Machine(topology, "one", Local()), 0)),
        KERNEL: by_kernel,
    }


def speeds_of_both(setting: BenchSetting, n: int) -> dict[str, Round]:
    """Measure speeds in millions of processors times steps per second."""
    both = seconds_of_both(setting, n)
    return {name: _speed_of(row, n << n) for name, row in both.items()}


def _speed_of(seconds: Round, node_steps: int) -> Round:
    return lambda: speed(node_steps, seconds())


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
