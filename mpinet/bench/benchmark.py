"""Benchmarks: a workload, its contenders, and goals for the contenders' ratios."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mpinet.machine.transport import Local

SIZES = ("small", "full")
"""Sizes of the workloads: small for a check within seconds, full for the goals."""

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
"""Clocks for work within one process; `cpu` is fairer on a shared machine."""

Round = Callable[[], float]
"""Function that executes the workload once and returns its figure."""


@dataclass(frozen=True)
class Absent:
    """Contender that cannot take part, with the reason."""

    reason: str


class Contenders(NamedTuple):
    """Functions that a benchmark runs alternately."""

    mpinet: Round
    """Runs the workload in mpinet."""
    baselines: Mapping[str, Round | Absent]
    """Baselines by name."""


@dataclass(frozen=True)
class Goal:
    """Threshold for a row at full size."""

    quantity: str
    """Compared quantity: ``"ratio"`` or ``"figure"``."""
    relation: str
    """``">="``, ``"<="``, or ``"within"`` (at most `value` away from 1)."""
    value: float
    """Threshold of the quantity."""
    ranks: int = 1
    """Number of ranks for which the goal holds."""

    def __str__(self) -> str:
        of = " of 1" if self.relation == "within" else ""
        return f"{self.quantity} {self.relation} {self.value:g}{of}"

    def attained(self, figure: float, ratio: float | None) -> float | None:
        """Return the attained fraction of the goal; 1 or more if the goal is reached.

        The result is None if the row lacks the quantity.
        """
        value = ratio if self.quantity == "ratio" else figure
        if value is None:
            return None
        # Both sides of 1 are worse, so the goal limits the distance from 1.
        if self.relation == "within":
            return 1 + self.value - abs(value - 1)
        return value / self.value if self.relation == ">=" else self.value / value


@dataclass(frozen=True)
class Baseline:
    """Contender to compare mpinet with, and the goal of the comparison."""

    name: str
    """Name of the baseline among the benchmark's contenders."""
    goal: Goal | None = None
    """Goal of the comparison; None if the comparison is only informative."""


@dataclass(frozen=True)
class BenchSetting:
    """Settings of a benchmark run."""

    size: str = "full"
    """Size of the workloads, one of `SIZES`."""
    repeat: int = 5
    """Number of rounds of each contender."""
    seed: int = 0
    """Seed of all random choices."""
    transport: Local = field(default_factory=Local)
    """The ranks."""
    ranks: int = 1
    """Number of ranks of benchmarks that start processes themselves."""
    clock: Callable[[], float] = time.perf_counter
    """Clock in seconds for work within one process: wall clock, or CPU time for shared machines."""
    wall: Callable[[], float] = time.perf_counter
    """Wall clock in seconds for all other work."""
    booksim: str = ""
    """Path of BookSim's binary; empty if there is none."""
    loggopsim: str = ""
    """Path of LogGOPSim's binary; empty if there is none. txt2bin is in the same folder."""

    def seconds(self, work: Callable[[], Any]) -> float:
        """Return the seconds of work within this process."""
        began = self.clock()
        work()
        return self.clock() - began

    def seconds_together(self, work: Callable[[], Any]) -> float:
        """Return the seconds until all ranks or started processes have finished (collective)."""
        meeting = np.zeros(1)
        self.transport.sum(meeting)
        began = self.wall()
        work()
        self.transport.sum(meeting)
        return self.wall() - began


@dataclass(frozen=True)
class Benchmark:
    """Workload with its contenders."""

    name: str
    """Name of the benchmark on the command line."""
    workload: str
    """Sentence on the workload; ``{}`` stands for the size."""
    unit: str
    """Unit of all figures."""
    sizes: Mapping[str, Any]
    """Size of the workload for each value of `BenchSetting.size`."""
    contenders: Callable[[BenchSetting, Any], Contenders]
    """``contenders(setting, size)``: returns mpinet and the baselines, ready to run."""
    baselines: tuple[Baseline, ...]
    """Baselines in the order of their rows."""
    several: bool = False
    """True if the benchmark runs on several ranks, instead of one."""
    starts: bool = False
    """True if the benchmark starts processes itself, on any number of ranks. Such a benchmark runs
    only in a process without a launcher.
    """
    most_rounds: int = 1000
    """Maximum number of rounds, for benchmarks with long rounds."""
    named: bool = False
    """True if the benchmark runs only when its name is given."""
    scripts: bool = False
    """True if the benchmark runs mpi4py scripts, which need an MPI library even on one rank."""

    def described(self, size: str) -> str:
        """Return the description of the workload at a size."""
        return self.workload.format(self.sizes[size])

    def row_name(self, baseline: Baseline) -> str:
        """Return the name of a baseline's row; the first baseline has the benchmark's name."""
        # The first row keeps the benchmark's name, so earlier results remain comparable when a
        # baseline is added.
        if baseline is self.baselines[0]:
            return self.name
        return f"{self.name}-{baseline.name.replace(' ', '-')}"

    def runs_on(self, ranks: int) -> bool:
        """Return whether the benchmark can be measured on this number of ranks."""
        return self.several == (ranks > 1)


LESS_IS_BETTER = ("s", "us", "steps", "GiB", "B/message", "B/processor")
"""Units of figures for which less is better."""

NEAR_ONE = ("flits/processor/step",)
"""Units of figures that should equal the baseline's figure."""


def loss(unit: str, earlier: float, now: float) -> float:
    """Return by how much a ratio is worse than an earlier ratio; negative if it is better."""
    # A ratio of accepted flits should be 1: accepting more than the baseline is as wrong as less.
    if unit in NEAR_ONE:
        return abs(now - 1) - abs(earlier - 1)
    return now - earlier if unit in LESS_IS_BETTER else earlier - now


def speed(units: float, seconds: float) -> float:
    """Return millions of units per second."""
    return units / seconds / 1e6


def at_least(ratio: float, ranks: int = 1) -> Goal:
    """Return a goal for a ratio of speeds."""
    return Goal("ratio", ">=", ratio, ranks)


def at_most(figure: float, ranks: int = 1) -> Goal:
    """Return a goal for a figure of which less is better."""
    return Goal("figure", "<=", figure, ranks)


def within(deviation: float) -> Goal:
    """Return a goal for a ratio of figures that should be equal."""
    return Goal("ratio", "within", deviation)
