"""Measurement: contenders run alternately, and their figures become rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

from mpinet.bench.benchmark import CLOCKS, Absent, Baseline, Benchmark, BenchSetting, Contenders
from mpinet.bench.booksim import BOOKSIM
from mpinet.bench.loggopsim import LOGGOPSIM

MPINET = "mpinet"
"""Name of mpinet's own rounds."""


@dataclass(frozen=True)
class RoundSpread:
    """Smallest and largest values over the rounds; None without a baseline."""

    figure: tuple[float, float]
    baseline: tuple[float, float] | None = None
    ratio: tuple[float, float] | None = None


@dataclass(frozen=True)
class Comparison:
    """Comparison of mpinet's figure with the figure of one baseline."""

    name: str
    """Name of the benchmark, followed by the name of the baseline if there are several."""
    workload: str
    """Description of the workload."""
    figure: float | None
    """mpinet's figure, the median over the rounds."""
    unit: str
    """Unit of the figure and of the baseline."""
    against: str
    """Name of the baseline."""
    baseline: float | None
    """Figure of the baseline, the median over the rounds."""
    ratio: float | None
    """Ratio figure / baseline."""
    goal: str | None
    """Goal for the ratio, as text; only full sizes have goals."""
    attained: float | None
    """Attained part of the goal; 1 or more if the goal is reached."""
    reached: bool | None
    """True if the goal is reached; None without a goal."""
    spread: RoundSpread | None
    """Smallest and largest values over the rounds."""
    rounds: int
    """Number of rounds of each contender."""
    ranks: int
    """Number of ranks of mpinet."""
    command: str
    """Command that repeats the measurement."""
    absent: str | None = None
    """Reason why a figure or a baseline is missing; None if none is missing."""
    error: str | None = None
    """Message of the error that ended the measurement; None if there was no error."""


def measure(benchmark: Benchmark, setting: BenchSetting) -> list[Comparison]:
    """Measure a benchmark (collective).

    Each contender first runs the workload at the small size to compile its kernels, unless the
    benchmark starts processes.
    """
    # Kernels compile at the small size. Commands in their own processes have no kernels to compile
    # here.
    if not benchmark.starts:
        small = replace(setting, size="small")
        take_turns(benchmark.contenders(small, benchmark.sizes["small"]), 1)
    rounds = min(setting.repeat, benchmark.most_rounds)
    contenders = benchmark.contenders(setting, benchmark.sizes[setting.size])
    figures = take_turns(contenders, rounds)
    return [
        compare(benchmark, baseline, setting, figures, contenders)
        for baseline in benchmark.baselines
    ]


def take_turns(contenders: Contenders, rounds: int) -> dict[str, list[float]]:
    """Run the rounds of all present contenders alternately: A B C A B C ..."""
    present = {MPINET: contenders.mpinet}
    for name, run in contenders.baselines.items():
        if not isinstance(run, Absent):
            present[name] = run
    figures: dict[str, list[float]] = {name: [] for name in present}
    # Alternating rounds: if the machine slows down, the slowdown affects all contenders.
    for _ in range(rounds):
        for name, run in present.items():
            figures[name].append(run())
    return figures


def compare(
    benchmark: Benchmark,
    baseline: Baseline,
    setting: BenchSetting,
    figures: dict[str, list[float]],
    contenders: Contenders,
) -> Comparison:
    """Make the row that compares mpinet with one baseline."""
    other = contenders.baselines[baseline.name]
    reason = other.reason if isinstance(other, Absent) else ""
    ours = figures[MPINET]
    figure = median(ours)
    row = replace(
        without_figures(benchmark, baseline, setting, reason),
        figure=figure,
        rounds=len(ours),
        spread=RoundSpread(_range(ours)),
    )
    if not reason:
        theirs = figures[baseline.name]
        # Ratios are taken within a round, so noise that lasts longer than a round cancels out.
        ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
        row = replace(
            row,
            baseline=median(theirs),
            # Ratio of medians, because a single slow round would shift a mean of ratios.
            ratio=figure / median(theirs),
            spread=RoundSpread(_range(ours), _range(theirs), _range(ratios)),
        )
    if baseline.goal is None or row.goal is None:
        return row
    attained = baseline.goal.attained(figure, row.ratio)
    return replace(row, attained=attained, reached=None if attained is None else attained >= 1)


def without_figures(
    benchmark: Benchmark, baseline: Baseline, setting: BenchSetting, reason: str
) -> Comparison:
    """Make the row of a comparison that cannot be measured here."""
    ranks = ranks_of(benchmark, setting)
    return Comparison(
        name=benchmark.row_name(baseline),
        workload=benchmark.described(setting.size),
        figure=None,
        unit=benchmark.unit,
        against=baseline.name,
        baseline=None,
        ratio=None,
        goal=str(baseline.goal) if _applies(baseline, setting, ranks) else None,
        attained=None,
        reached=None,
        spread=None,
        rounds=0,
        ranks=ranks,
        command=row_command(benchmark, baseline, setting, ranks),
        absent=reason or None,
    )


def _applies(baseline: Baseline, setting: BenchSetting, ranks: int) -> bool:
    """Return whether the baseline's goal is stated for this size and number of ranks."""
    goal = baseline.goal
    return goal is not None and setting.size == "full" and goal.ranks == ranks


def _range(values: list[float]) -> tuple[float, float]:
    return min(values), max(values)


def failed(benchmark: Benchmark, setting: BenchSetting, sentence: str) -> list[Comparison]:
    """Make the rows of a benchmark that ended with an error."""
    return [
        replace(without_figures(benchmark, baseline, setting, ""), error=sentence)
        for baseline in benchmark.baselines
    ]


def ranks_of(benchmark: Benchmark, setting: BenchSetting) -> int:
    """Return the number of ranks on which the benchmark is measured."""
    return setting.ranks if benchmark.starts else max(setting.ranks, setting.transport.size)


def row_command(benchmark: Benchmark, baseline: Baseline, setting: BenchSetting, ranks: int) -> str:
    """Return the command that repeats the measurement."""
    words = ["mpinet bench", benchmark.name]
    if ranks > 1:
        words.append(f"--ranks {ranks}")
    if setting.size != "full":
        words.append(f"--size {setting.size}")
    if setting.clock is CLOCKS["cpu"]:
        words.append("--clock cpu")
    for name, option in ((BOOKSIM, "--booksim"), (LOGGOPSIM, "--loggopsim")):
        if baseline.name.startswith(name):
            words.append(f"{option} PATH")
    return " ".join(words)
