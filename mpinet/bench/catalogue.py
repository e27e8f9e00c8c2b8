"""All benchmarks by name, their selection by place and ranks, and their execution."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from mpinet.base.launched import launched_ranks
from mpinet.base.meant import hint
from mpinet.base.ownership import own_python
from mpinet.bench import (
    distances,
    idle,
    informing,
    memory,
    openloop,
    optima,
    passes,
    permutation,
    replay,
    saturation,
    scaling,
    scripts,
    sidebyside,
    starting,
    wayfinding,
)
from mpinet.bench.benchmark import Benchmark, BenchSetting
from mpinet.bench.measurement import Comparison, failed, measure, ranks_of, without_figures
from mpinet.errors import MpinetError, TransportError, UsageError
from mpinet.launching.launcher import find_launcher, launch
from mpinet.machine.transport import mpi

FAMILIES = (
    permutation,
    wayfinding,
    saturation,
    openloop,
    informing,
    passes,
    distances,
    idle,
    optima,
    scripts,
    sidebyside,
    replay,
    memory,
    starting,
    scaling,
)

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark for family in FAMILIES for benchmark in family.BENCHMARKS
}
"""All benchmarks, in the order of the result."""

PATIENCE = 60.0
"""Seconds that a rank with an error waits for other ranks."""

Watch = Callable[..., None]
Tell = Callable[[Any], None]
"""Function called with each finished row."""


def select(words: Iterable[str]) -> list[Benchmark]:
    """Select benchmarks by name, family (``w1``) or pattern (``*-n20``).

    Without words, all benchmarks are selected, except benchmarks that run only by name.

    Raises
    ------
    UsageError
        A word matches no benchmark.
    """
    wanted: set[str] = set()
    for word in words:
        found = [name for name in BENCHMARKS if _names(word, name)]
        if not found:
            said = hint(word, BENCHMARKS, 2, after="mpinet bench --list names them all.")
            raise UsageError(f"There is no benchmark {word!r}: {said}")
        wanted.update(found)
    if not wanted:
        return [benchmark for benchmark in BENCHMARKS.values() if not benchmark.named]
    return [benchmark for name, benchmark in BENCHMARKS.items() if name in wanted]


def _names(word: str, name: str) -> bool:
    if word in BENCHMARKS:
        return name == word
    return name.startswith(f"{word}-") or fnmatchcase(name, word)


def run_here(
    chosen: Sequence[Benchmark], setting: BenchSetting, watch: Watch, tell: Tell = lambda row: None
) -> list[Any]:
    """Measure benchmarks on the ranks of this job (collective).

    Rows that cannot be measured are marked as absent. A benchmark that fails gives rows with its
    error.
    """
    rows: list[Any] = []
    for done, benchmark in enumerate(chosen, start=1):
        reason = _obstacle(benchmark, setting)
        if reason:
            new = [without_figures(benchmark, b, setting, reason) for b in benchmark.baselines]
        else:
            new = _measured(benchmark, setting)
        for row in new:
            tell(row)
        rows += new
        watch(done, len(chosen))
    return rows


def _measured(benchmark: Benchmark, setting: BenchSetting) -> list[Comparison]:
    """Measure a benchmark; return rows with the error if it fails on all ranks (collective)."""
    rows: list[Comparison] = []
    sentence = ""
    try:
        rows = measure(benchmark, setting)
    except MpinetError as error:
        sentence = str(error)
        everybody = setting.transport.conclude(1, sentence, PATIENCE)
        if not everybody:  # other ranks are still within the workload
            raise
    else:
        everybody = setting.transport.conclude(0, "", None)
    sentences = [text for status, text in everybody if status]
    return failed(benchmark, setting, sentences[0]) if sentences else rows


def _obstacle(benchmark: Benchmark, setting: BenchSetting) -> str:
    """Return the reason why a benchmark cannot be measured on these ranks; '' if it can."""
    if benchmark.starts and launched_ranks() > 1:
        return "the benchmark starts processes itself: run mpinet bench without a launcher"
    if benchmark.scripts:
        try:
            mpi()
        except TransportError as error:
            return str(error)
    ranks = ranks_of(benchmark, setting)
    if not benchmark.runs_on(ranks):
        return "runs on one rank" if ranks > 1 else "runs on several ranks: use --ranks 1,2"
    return ""


def run_on(
    numbers: Sequence[int],
    chosen: Sequence[Benchmark],
    setting: BenchSetting,
    watch: Watch,
    tell: Tell = lambda row: None,
) -> list[Any]:
    """Measure on each of these numbers of ranks, one after another, under a launcher.

    Raises
    ------
    UsageError
        There is no launcher, or this process was itself started by a launcher.
    """
    if launched_ranks() > 1:
        raise UsageError("--ranks starts the launcher: run mpinet bench without a launcher.")
    if max(numbers) > 1:
        find_launcher()
    rows: list[Any] = []
    # A job for each number of ranks: otherwise waiting ranks would share cores with working ranks.
    for ranks in numbers:
        fitting = [benchmark for benchmark in chosen if benchmark.runs_on(ranks)]
        # Benchmarks that start processes cannot do so under a launcher: most MPI libraries forbid
        # nested jobs.
        own = [benchmark for benchmark in fitting if ranks == 1 or benchmark.starts]
        rows += run_here(own, replace(setting, ranks=ranks), watch, tell)
        for benchmark in (benchmark for benchmark in fitting if benchmark not in own):
            new = job_rows(ranks, benchmark, replace(setting, ranks=ranks))
            for row in new:
                tell(row)
            rows += new
    return rows


def job_rows(ranks: int, benchmark: Benchmark, setting: BenchSetting) -> list[Any]:
    """Return the rows of a benchmark's job on several ranks; rows with its error if it fails."""
    words = own_python("-m", "mpinet", "bench", benchmark.name, "--json")
    words += ["--no-progress", "--size", setting.size, "--repeat", str(setting.repeat)]
    words += ["--seed", str(setting.seed)]
    try:
        rows: list[Any] = json.loads(launch(ranks, words, printed_with=(1,)))["result"]
    except MpinetError as error:
        return failed(benchmark, setting, str(error))
    except (ValueError, KeyError):
        return failed(benchmark, setting, f"A job on {ranks} ranks did not give its result.")
    return rows


__all__ = ["BENCHMARKS", "Comparison", "run_here", "run_on", "select"]
