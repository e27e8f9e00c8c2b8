"""Seconds of whole commands, from start to end: help, a warm run, and a cold run."""

from __future__ import annotations

from functools import partial
from tempfile import TemporaryDirectory

from mpinet.base.native.tiers import BACKGROUND
from mpinet.base.ownership import own_python
from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_most
from mpinet.launching.launcher import launch, start

PYTHON, IMPORTS = "python alone", "the imports alone"

COMMANDS = {"small": ["route", "hypercube:4"], "full": ["route", "hypercube:10"]}

IMPORT_ONE = "import numpy"
IMPORT_SEVERAL = "import numpy; from mpi4py import MPI"


def help_text(setting: BenchSetting, command: list[str]) -> Contenders:
    """Measure the seconds of ``mpinet --help`` and of an interpreter that does nothing."""
    return Contenders(
        lambda: setting.seconds_together(lambda: start([*_mpinet(), *command])),
        {PYTHON: lambda: setting.seconds_together(lambda: start(own_python("-c", "pass")))},
    )


def warm_run(setting: BenchSetting, command: list[str]) -> Contenders:
    """Measure the seconds of a command whose kernels are in the cache."""
    launch(setting.ranks, [*_mpinet(), *command])
    return Contenders(
        lambda: setting.seconds_together(lambda: launch(setting.ranks, [*_mpinet(), *command])),
        {IMPORTS: partial(seconds_of_imports, setting)},
    )


def cold_run(setting: BenchSetting, command: list[str]) -> Contenders:
    """Measure the seconds of a command without native code in its cache."""

    def run_in_new_cache() -> float:
        # Each round has its own empty cache, and the user's cache keeps its kernels.
        with TemporaryDirectory() as folder:
            words = [*_mpinet(), *command]
            settings = {"MPINET_CACHE": folder, "MPINET_COMPILE": BACKGROUND}
            return setting.seconds_together(lambda: launch(setting.ranks, words, settings))

    return Contenders(run_in_new_cache, {IMPORTS: partial(seconds_of_imports, setting)})


def seconds_of_imports(setting: BenchSetting) -> float:
    """Measure the seconds of an interpreter that only imports mpinet's packages."""
    words = own_python("-c", IMPORT_ONE if setting.ranks == 1 else IMPORT_SEVERAL)
    return setting.seconds_together(lambda: launch(setting.ranks, words))


def _mpinet() -> list[str]:
    return own_python("-m", "mpinet")


HELLO = "from mpi4py import MPI; print(MPI.COMM_WORLD.rank)"

BENCHMARKS = (
    Benchmark(
        "start-help",
        "mpinet {0[0]}",
        "s",
        {"small": ["--version"], "full": ["--help"]},
        help_text,
        (Baseline(PYTHON, at_most(0.3)),),
        starts=True,
    ),
    Benchmark(
        "start-script",
        "mpinet {0[0]} {0[1]} {0[2]}, a script that sends nothing",
        "s",
        {
            size: ["exec", "--on", f"hypercube:{dimension}", "-c", HELLO]
            for size, dimension in (("small", 2), ("full", 4))
        },
        warm_run,
        (Baseline(IMPORTS, at_most(0.6)),),
        starts=True,
    ),
    *(
        Benchmark(
            name + suffix,
            "mpinet {0[0]} {0[1]}, " + state,
            "s",
            COMMANDS,
            contenders,
            (Baseline(IMPORTS, at_most(most, 2) if several else None),),
            several=several,
            starts=True,
            most_rounds=most_rounds,
        )
        for suffix, several in (("", False), ("-ranks", True))
        for name, state, contenders, most, most_rounds in (
            ("start-warm", "compiled before", warm_run, 1.5, 1000),
            ("start-cold", "with an empty cache", cold_run, 3.0, 3),
        )
    ),
)
