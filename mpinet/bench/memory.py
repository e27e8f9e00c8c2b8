"""Memory: bytes per processor and per message in flight, and whole machines of the largest size.

Bytes per item are the difference of two peaks divided by the difference of the two numbers of
items, each measured in its own process. The baselines are the arrays that the workload requires.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from mpinet.base.ownership import own_python
from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_most
from mpinet.bench.footprint import PEAK
from mpinet.bench.threads import THREADS, bytes_a_thread
from mpinet.launching.launcher import launch
from mpinet.networks import open as open_topology

BARE_ARRAYS, START = "bare arrays", "the start alone"

BYTES_A_PROCESSOR, BYTES_A_MESSAGE = 4.0, 8.0
"""Bytes of the mask kernel: a word of marks per processor; a node and a target per message."""

BYTES_AN_ELEMENT = 8.0
"""Bytes that a pass or a broadcast stores per processor."""

TALK = "'from mpi4py import MPI as m; c = m.COMM_WORLD; c.bcast(c.rank); c.allreduce(c.rank)'"
"""Script of every processor, quoted for the shell."""

GIB = 2.0**30

MACHINE_GIB = 24
"""Memory of the machine for which the largest sizes are chosen, in GiB."""


def peak_of(ranks: int, words: Sequence[str]) -> int:
    """Return the sum of the peak bytes of all ranks of an mpinet command."""
    program = own_python("-m", "mpinet.bench.footprint", *words)
    lines = launch(ranks, program).splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith(PEAK))


def routing_peak(name: str, messages: int) -> int:
    """Return the peak bytes of routing `messages` random messages on one rank."""
    return peak_of(1, ["route", name, "--pairs", f"random:{messages}", "--no-loads"])


def a_processor(setting: BenchSetting, sizes: tuple[str, str]) -> Contenders:
    """Measure the bytes of one more processor, with the same messages in both networks.

    The messages are enough to touch every page of memory, but too few to determine the peak.
    """
    few, many = (open_topology(name).size for name in sizes)

    def measured() -> float:
        # The difference of two runs cancels the memory of the interpreter and its libraries.
        more = routing_peak(sizes[1], few // 4) - routing_peak(sizes[0], few // 4)
        return more / (many - few)

    return Contenders(measured, {BARE_ARRAYS: lambda: BYTES_A_PROCESSOR})


def a_message(setting: BenchSetting, name: str) -> Contenders:
    """Measure the bytes of one more message, if every processor already has one in flight."""
    one_each = open_topology(name).size

    def measured() -> float:
        return (routing_peak(name, 2 * one_each) - routing_peak(name, one_each)) / one_each

    return Contenders(measured, {BARE_ARRAYS: lambda: BYTES_A_MESSAGE})


def a_script(setting: BenchSetting, sizes: tuple[str, str]) -> Contenders:
    """Measure the bytes of one more processor that runs a script, and of a bare thread."""
    few, many = (open_topology(name).size for name in sizes)

    def peak(name: str) -> int:
        return peak_of(1, shlex.split(f"exec --on {name} -c {TALK}"))

    return Contenders(
        lambda: (peak(sizes[1]) - peak(sizes[0])) / (many - few),
        {THREADS: bytes_a_thread},
    )


@dataclass(frozen=True)
class Whole:
    """Memory and time of a command on all its ranks, including libraries."""

    peak: int
    seconds: float


@cache
def run_whole(ranks: int, words: str) -> Whole:
    """Run a command once and return its memory and time."""
    began = time.perf_counter()
    peak = peak_of(ranks, shlex.split(words))
    return Whole(peak, time.perf_counter() - began)


def memory_of_whole(setting: BenchSetting, words: str) -> Contenders:
    """Measure the memory of a command on all its ranks, in GiB."""
    command = words.split()
    network = command[command.index("--on") + 1 if "--on" in command else 1]
    each = BYTES_A_PROCESSOR + BYTES_A_MESSAGE if command[0] == "route" else BYTES_AN_ELEMENT
    arrays = open_topology(network).size * each
    return Contenders(
        lambda: run_whole(setting.ranks, words).peak / GIB,
        {BARE_ARRAYS: lambda: arrays / GIB},
    )


def time_of_whole(setting: BenchSetting, words: str) -> Contenders:
    """Measure the seconds of the same run, and of ``mpinet --version``."""
    return Contenders(
        lambda: run_whole(setting.ranks, words).seconds,
        {START: lambda: run_whole(setting.ranks, "--version").seconds},
    )


def _whole(name: str, large: Large, several: bool) -> tuple[Benchmark, Benchmark]:
    """Make the rows of a large workload's memory and time."""
    # The limits hold for all ranks together, because several ranks hold parts of one machine.
    suffix, number = ("-ranks", 2) if several else ("", 1)
    limit = None if large.seconds is None else at_most(large.seconds, number)
    memory = Benchmark(
        f"scale-{name}{suffix}",
        "mpinet {}",
        "GiB",
        {"small": large.small, "full": large.full},
        memory_of_whole,
        (Baseline(BARE_ARRAYS, at_most(large.gib, number)),),
        several=several,
        starts=True,
        most_rounds=1,
        named=True,
        scripts=large.full.startswith("exec "),
    )
    duration = replace(
        memory,
        name=f"scale-{name}-time{suffix}",
        unit="s",
        contenders=time_of_whole,
        baselines=(Baseline(START, limit),),
    )
    return memory, duration


@dataclass(frozen=True)
class Large:
    """Large workload with its goals."""

    small: str
    """Small command of the same kind."""
    full: str
    """Large command."""
    gib: float = MACHINE_GIB
    """Goal for the memory, in GiB."""
    seconds: float | None = None
    """Goal for the time, in seconds; None if there is no goal."""


LARGEST = {
    "w1": Large("route hypercube:8", "route hypercube:25 --no-loads", gib=2),
    "ascend": Large("ascend hypercube:8 --operator sum", "ascend hypercube:28 --operator sum"),
    "broadcast": Large("broadcast hdn:2,super=-/-", "broadcast hdn:2x3x5,super=-/-"),
    "route": Large("route hdn:2,super=-/-", "route hdn:2x3x5,super=-/- --no-loads"),
    "load": Large(
        "load hypercube:8 --rate 0.1 --warmup 50 --steps 50",
        "load hypercube:20 --rate 0.1 --warmup 50 --steps 50",
    ),
    "replay": Large(
        "replay exchange:halo,1kB,sides=16x16,rounds=2 --on torus:16x16 --time-byte 0",
        "replay exchange:halo,1kB,sides=3200x3125,rounds=10 --on torus:3200x3125 --time-byte 0",
        gib=16,
    ),
    "flood": Large("flood gmn:16380", "flood gmn:16777152"),
    "distances": Large("show hypercube:8 --distances", "show hypercube:16 --distances", seconds=30),
    "script": Large(
        f"exec --on hypercube:8 -c {TALK}", f"exec --on hypercube:16 -c {TALK}", seconds=10
    ),
    "program": Large(
        "run mpinet.examples.flood:flood --on hypercube:8",
        "run mpinet.examples.flood:flood --on hypercube:20",
        seconds=60,
    ),
}
"""Largest workloads by name."""

_slope = partial(Benchmark, starts=True, most_rounds=3)

BENCHMARKS = (
    _slope(
        "memory-processor",
        "{0[0]} and {0[1]}, the same messages in both",
        "B/processor",
        {"small": ("hypercube:16", "hypercube:18"), "full": ("hypercube:22", "hypercube:24")},
        a_processor,
        (Baseline(BARE_ARRAYS, at_most(16)),),
    ),
    _slope(
        "memory-ports32",
        "{0[0]} and {0[1]}, the same messages in both",
        "B/processor",
        {
            "small": ("complete:21*hypercube:12", "complete:19*hypercube:14"),
            "full": ("complete:15*hypercube:18", "complete:13*hypercube:20"),
        },
        a_processor,
        (Baseline(BARE_ARRAYS, at_most(16)),),
    ),
    _slope(
        "memory-message",
        "{} with one and two messages a processor",
        "B/message",
        {"small": "hypercube:16", "full": "hypercube:20"},
        a_message,
        (Baseline(BARE_ARRAYS, at_most(32)),),
    ),
    _slope(
        "memory-script",
        "{0[0]} and {0[1]}, a script with a broadcast and an allreduce on both",
        "B/processor",
        {"small": ("hypercube:10", "hypercube:12"), "full": ("hypercube:14", "hypercube:15")},
        a_script,
        (Baseline(THREADS, at_most(10240)),),
        scripts=True,
    ),
    *(
        benchmark
        for several in (False, True)
        for name, large in LARGEST.items()
        for benchmark in _whole(name, large, several)
    ),
)
