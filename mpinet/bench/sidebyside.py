"""mpinet and BookSim 2 on the same workloads: accepted load, saturation, and speed.

Both generate traffic for the same number of steps and measure the second half. Set-up is measured
separately, by whole programs that run for two steps. mpinet's kernels are then in its cache.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

from mpinet.base.ownership import own_python
from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_least, within
from mpinet.bench.booksim import BOOKSIM, Ask, Workload, by_booksim, number_after, timed_programs
from mpinet.bench.openloop import FLIT_HOPS, in_steady_state, make_run
from mpinet.launching.launcher import start
from mpinet.machine.traffic.parameters import Window
from mpinet.machine.traffic.results import results

ACCEPTED = "flits/processor/step"

STABLE = 0.95
"""Smallest fraction of the load that a stable network accepts."""

PARTS, TIMES = 64, 3
"""Number of distinguished loads, and their maximum: three times the load of other rows, or a flit
per step.
"""

SMALL_STEPS, BRIEF = 20, 1000
"""Steps of the small size, and maximum number of steps of a search for saturation."""

FASTER, TWICE = "BookSim 2 with speedup", "internal_speedup = 2.0;"
"""BookSim with switches that forward two flits per cycle, so the matching delays no flit."""

FLAT = "topology = flatfly; k = 4; n = 2; c = {0}; x = 4; y = 4; xr = {1}; yr = {1}; "
DRAGONFLY = "topology = dragonflynew; k = 2; n = 1; routing_function = {0};"

WORKLOADS = {
    "mesh-light": Workload("mesh:8x8", 1, 0.1, 8000),
    "mesh": Workload("mesh:8x8", 1, 0.3, 4000),
    "mesh-heavy": Workload("mesh:8x8", 1, 0.42, 4000),
    "mesh-1vc": Workload("mesh:8x8", 1, 0.3, 4000, vcs=1),
    "mesh-8vcs": Workload("mesh:8x8", 1, 0.3, 4000, vcs=8),
    "mesh-long": Workload("mesh:8x8", 20, 0.3, 40000),
    "mesh-large": Workload("mesh:64x64", 1, 0.03, 600),
    "torus": Workload("torus:8x8x8", 1, 0.4, 800),
    "torus-long": Workload("torus:8x8x8", 5, 0.2, 1600),
    "hypercube": Workload(
        "hypercube:8", 1, 0.5, 800, peer="topology = mesh; k = 2; n = 8; routing_function = dor;"
    ),
    "fattree": Workload(
        "karytree:4,3", 1, 0.4, 4000, vcs=4,
        peer="topology = fattree; k = 4; n = 3; routing_function = nca;",
    ),
    "flat": Workload(
        "flatbutterfly:4,3", 1, 0.4, 8000, vcs=4,
        peer=FLAT.format(1, 1) + "routing_function = ran_min;",
    ),
    "flat-c4": Workload(
        "flatbutterfly:4,3,hosts=4", 1, 0.4, 4000, vcs=4,
        peer=FLAT.format(4, 2) + "routing_function = ran_min;",
    ),
    "flat-c4-ugal": Workload(
        "flatbutterfly:4,3,hosts=4", 1, 0.4, 4000, vcs=4, routing="ugal-l",
        peer=FLAT.format(4, 2) + "routing_function = ugal;",
    ),
    "dragonfly": Workload(
        "dragonfly:2,4,2", 1, 0.4, 6000, buffers=256, peer=DRAGONFLY.format("min")
    ),
    "dragonfly-ugal": Workload(
        "dragonfly:2,4,2", 1, 0.4, 6000, vcs=3, buffers=256, routing="ugal-l",
        peer=DRAGONFLY.format("ugal"),
    ),
    "dragonfly-ugal-worst": Workload(
        "dragonfly:2,4,2", 1, 0.2, 6000, vcs=3, buffers=256, routing="ugal-l",
        pattern="adversarial", peer=DRAGONFLY.format("ugal"),
    ),
}  # fmt: skip
"""Networks by the names of their rows. BookSim's dragonfly has links of 10 and 100 cycles and needs
larger buffers.
"""

AGAIN = [(f"mesh-{name}", row) for name in ("light", "heavy") for row in ("-saturation", "-begin")]
"""Rows that would repeat the row of another load."""

Accepted = Callable[[Workload], float]
"""Function that returns the accepted flits per processor and step."""


def here(setting: BenchSetting) -> Accepted:
    """Return the function that measures mpinet's accepted load."""

    def accepted(workload: Workload) -> float:
        # BookSim measures its second period, so the first half is the warm-up here.
        half = max(1, workload.steps // 2)
        run = make_run(workload, setting.seed, window=Window(half, half, 0))
        return float(results(run.run())["throughput"])

    return accepted


def there(ask: Ask, more: str = "") -> Accepted:
    """Return the function that measures BookSim's accepted load; `more` are extra settings."""

    def accepted(workload: Workload) -> float:
        return number_after("Accepted flit rate average", ask(replace(workload, more=more))[0])

    return accepted


def accepting(setting: BenchSetting, workload: Workload) -> Contenders:
    """Compare the accepted loads."""
    return Contenders(
        lambda: here(setting)(workload),
        {BOOKSIM: by_booksim(setting, lambda ask: there(ask)(workload))},
    )


def saturating(setting: BenchSetting, workload: Workload) -> Contenders:
    """Compare the highest stable loads."""
    most = min(1.0, TIMES * workload.load)
    loads = [most * part / PARTS for part in range(1, PARTS + 1)]
    brief = replace(workload, steps=min(workload.steps, BRIEF))

    def saturation(accepted: Accepted) -> float:
        def is_too_much(load: float) -> bool:
            return accepted(replace(brief, load=load)) < STABLE * load

        # Above the first unstable load all loads are unstable, so a bisection finds the same load
        # as a full search.
        return most * bisect_left(loads, True, key=is_too_much) / PARTS

    return Contenders(
        lambda: saturation(here(setting)),
        {
            BOOKSIM: by_booksim(setting, lambda ask: saturation(there(ask))),
            FASTER: by_booksim(setting, lambda ask: saturation(there(ask, TWICE))),
        },
    )


def beginning(setting: BenchSetting, workload: Workload) -> Contenders:
    """Compare the seconds of whole programs that generate traffic for two steps."""
    brief = replace(workload, steps=2)
    words = ["load", workload.network, "--warmup", "0", "--steps", "2", "--limit", "0"]
    words += ["--rate", str(workload.load), "--vcs", str(workload.vcs)]
    words += ["--pattern", workload.pattern, "--buffers", str(workload.buffers)]
    words += ["--routing", workload.routing] if workload.routing else []

    def program() -> float:
        return timed_programs(setting, lambda: start(own_python("-m", "mpinet", *words)))[1]

    def peer(ask: Ask) -> float:
        return timed_programs(setting, lambda: ask(brief))[1]

    return Contenders(program, {BOOKSIM: by_booksim(setting, peer)})


BENCHMARKS = tuple(
    Benchmark(
        f"booksim-{name}{suffix}",
        f"{words}: {{}}",
        unit,
        {"small": replace(workload, steps=SMALL_STEPS), "full": workload},
        contenders,
        (Baseline(BOOKSIM, goal), *more),
        most_rounds=3 if unit == FLIT_HOPS else 1,
        named=True,
    )
    for name, workload in WORKLOADS.items()
    for suffix, words, unit, contenders, goal, *more in (
        ("", "flits times links in a second", FLIT_HOPS, in_steady_state, at_least(15)),
        ("-accepted", "what is accepted", ACCEPTED, accepting, within(0.02)),
        (
            "-saturation",
            "the highest stable load",
            ACCEPTED,
            saturating,
            within(0.05),
            Baseline(FASTER),
        ),
        ("-begin", "set-up, all compiled", "s", beginning, None),
    )
    if (name, suffix) not in AGAIN
)
