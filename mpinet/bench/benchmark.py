"""Benchmarks: a workload, the contenders that carry it out, and goals for their ratios."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mpinet.machine.transport import Local

MPINET = "mpinet"
"""Name of the contender whose figure is compared with all others'."""

SIZES = ("small", "full")
"""Sizes of the workloads: a quick check that takes seconds in all, and the goals' sizes."""

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""Clocks for the work of one process; on a shared machine, `cpu` is fairer."""

ONE, SEVERAL = "one", "several"
"""Numbers of ranks that a benchmark runs on."""

Round = Callable[[], float]
"""Function that carries the workload out once and returns its figure."""


@dataclass(frozen=True)
class Absent:
    """A contender that cannot take part, with the reason."""

    reason: str


Contenders = Mapping[str, "Round | Absent"]


@dataclass(frozen=True)
class Goal:
    """Threshold that a row has to reach at full size."""

    quantity: str
    """``"ratio"`` or ``"figure"``."""
    relation: str
    """``">="``, ``"<="``, or ``"within"``: as far from 1 as that at most."""
    value: float
    """The limit."""
    ranks: int = 1
    """The number of ranks that it is for."""

    def __str__(self) -> str:
        of = " of 1" if self.relation == "within" else ""
        return f"{self.quantity} {self.relation} {self.value:g}{of}"

    def attained(self, figure: float, ratio: float | None) -> float | None:
        """Return the fraction of the goal that a row attains; at least 1 where it reaches it.

        None where the row has no such quantity.
        """
        value = ratio if self.quantity == "ratio" else figure
        if value is None:
            return None
        # Near 1 is better on both sides, so the distance from 1 is what the goal limits.
        if self.relation == "within":
            return 1 + self.value - abs(value - 1)
        return value / self.value if self.relation == ">=" else self.value / value


@dataclass(frozen=True)
class Baseline:
    """A contender to compare mpinet with, and the goal of the comparison."""

    name: str
    """Name of the baseline among the benchmark's contenders."""
    goal: Goal | None = None
    """Default: the comparison is for information."""


@dataclass(frozen=True)
class BenchSetting:
    """Settings of a run of benchmarks."""

    size: str = "full"
    """One of `SIZES`."""
    repeat: int = 5
    """Rounds of every contender."""
    seed: int = 0
    """Seed of all random choices."""
    transport: Local = field(default_factory=Local)
    """The ranks."""
    ranks: int = 1
    """Number of ranks for benchmarks that start processes themselves."""
    clock: Callable[[], float] = time.perf_counter
    """Seconds, for work of one process: by the wall, or of the processor where others share it."""
    wall: Callable[[], float] = time.perf_counter
    """Seconds by the wall, for all other work."""
    booksim: str = ""
    """Path of BookSim's binary; "": there is none."""
    loggopsim: str = ""
    """Path of LogGOPSim's binary, beside which its txt2bin is; "": there is none."""

    def seconds(self, work: Callable[[], Any]) -> float:
        """Time the work in this process."""
        began = self.clock()
        work()
        return self.clock() - began

    def seconds_together(self, work: Callable[[], Any]) -> float:
        """Time the work until all ranks, or all processes started, have done it (collective)."""
        meeting = np.zeros(1)
        self.transport.sum(meeting)
        began = self.wall()
        work()
        self.transport.sum(meeting)
        return self.wall() - began


@dataclass(frozen=True)
class Benchmark:
    """A workload and its contenders."""

    name: str
    """Name of the benchmark on the command line."""
    workload: str
    """A sentence; ``{}`` stands for the size."""
    unit: str
    """Unit of all figures."""
    sizes: Mapping[str, Any]
    """The workload's size by `BenchSetting.size`."""
    contenders: Callable[[BenchSetting, Any], Contenders]
    """``contenders(setting, size)``: `MPINET` and the baselines, ready to begin."""
    baselines: tuple[Baseline, ...]
    """Baselines in the order of their rows."""
    ranks: str = ONE
    """`ONE` or `SEVERAL`."""
    starts: bool = False
    """True if the benchmark starts processes itself, on any number of ranks. It then runs in a
    process that no launcher has started."""
    most_rounds: int = 1000
    """Rounds are at most so many where one takes long."""
    named: bool = False
    """True if the benchmark runs only when its name is given."""
    scripts: bool = False
    """True if the benchmark runs mpi4py scripts, which need an MPI library even on one rank."""

    def described(self, size: str) -> str:
        """Describe the workload at a size."""
        return self.workload.format(self.sizes[size])

    def row_name(self, baseline: Baseline) -> str:
        """Name of a baseline's row: the benchmark's own for the first one."""
        # The first row keeps the benchmark's name, so that earlier results still compare when a
        # baseline is added.
        if baseline is self.baselines[0]:
            return self.name
        return f"{self.name}-{baseline.name.replace(' ', '-')}"

    def runs_on(self, ranks: int) -> bool:
        """Return whether it can be measured on so many ranks."""
        return ranks == 1 if self.ranks == ONE else ranks > 1


LESS_IS_BETTER = ("s", "us", "steps", "GiB", "B/message", "B/processor")
"""Units of figures of which less is better."""

NEAR_ONE = ("flits/processor/step",)
"""Units of figures that should be the baseline's."""


def loss(unit: str, earlier: float, now: float) -> float:
    """Return how much worse a ratio of figures is than an earlier one; negative if better."""
    # A ratio of accepted flits should be 1: more than the baseline accepts is as wrong as less.
    if unit in NEAR_ONE:
        return abs(now - 1) - abs(earlier - 1)
    return now - earlier if unit in LESS_IS_BETTER else earlier - now


def speed(units: float, seconds: float) -> float:
    """Millions of units per second."""
    return units / seconds / 1e6


def at_least(ratio: float, ranks: int = 1) -> Goal:
    """Goal for a ratio of speeds."""
    return Goal("ratio", ">=", ratio, ranks)


def at_most(figure: float, ranks: int = 1) -> Goal:
    """Goal for a figure of which less is better."""
    return Goal("figure", "<=", figure, ranks)


def within(deviation: float) -> Goal:
    """Goal for a ratio of figures that should be the same."""
    return Goal("ratio", "within", deviation)
