"""Benchmark of a step without sends: the fixed cost of every step."""

from __future__ import annotations

import numpy as np

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_most
from mpinet.machine import Machine

EXCHANGE = "bare exchange"

STEPS = {"small": 5, "full": 2000}


def idle_steps(setting: BenchSetting, steps: int) -> Contenders:
    """Measure microseconds of an idle step, and of the bare exchange between ranks."""
    machine = Machine("hypercube:10", "all", setting.transport)
    # Without any message, only the fixed cost of a step remains. Long runs with few messages pay
    # mostly this cost.
    nobody = np.zeros(0, np.int64)
    counts = np.zeros(setting.transport.size, np.int64)

    def step_idly() -> None:
        for _ in range(steps):
            machine.step(nobody, nobody)

    def exchange_idly() -> None:
        for _ in range(steps):
            setting.transport.exchange(nobody, counts)

    return Contenders(
        lambda: setting.seconds_together(step_idly) / steps * 1e6,
        # The fair baseline is the bare exchange, because every step has to exchange messages
        # between ranks.
        {EXCHANGE: lambda: setting.seconds_together(exchange_idly) / steps * 1e6},
    )


def _benchmark(name: str, several: bool, most: float) -> Benchmark:
    return Benchmark(
        name,
        "an idle step of hypercube:10, mean of {}",
        "us",
        STEPS,
        idle_steps,
        (Baseline(EXCHANGE, at_most(most, 2 if several else 1)),),
        several=several,
    )


BENCHMARKS = (_benchmark("idle-one", False, 12), _benchmark("idle-ranks", True, 25))
