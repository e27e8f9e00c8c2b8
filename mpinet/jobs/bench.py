"""``mpinet bench``: measure mpinet's speed on this host, alternating with baseline programs."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from mpinet.base.native.tiers import wait_for_native_code
from mpinet.base.numerals import quoted
from mpinet.base.plain import plain
from mpinet.bench.benchmark import CLOCKS, Benchmark, BenchSetting
from mpinet.bench.catalogue import run_here, run_on, select
from mpinet.bench.earlier import LEAST_ROUNDS, Ratios, compared, read_ratios
from mpinet.commands.bench import BenchOptions
from mpinet.commands.job import Job, Listing, Watch
from mpinet.commands.optionrecords import changed
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.report.benchmarks import line, page
from mpinet.report.rows import Row

NOT_LISTED = ("ranks", "size", "repeat", "clock", "booksim", "loggopsim", "against")
"""Options that do not apply with ``--list``."""

LASTING = ("name", "unit", "command")
"""Fields of a row that are equal in every run."""


def prepare(options: BenchOptions) -> Job:
    """Select the benchmarks, reject options without effect, and return the job."""
    from mpinet.bench.booksim import BOOKSIM
    from mpinet.bench.loggopsim import LOGGOPSIM

    chosen = select(options.names or ["*"] * options.list)
    if options.list:
        for option in changed(options, *NOT_LISTED):
            raise UsageError(f"--{option} does not apply with --list.")
        return _listed(chosen)
    baselines = {baseline.name for each in chosen for baseline in each.baselines}
    for option, path, name, rows in (
        ("--booksim", options.booksim, BOOKSIM, "load and booksim"),
        ("--loggopsim", options.loggopsim, LOGGOPSIM, "replay"),
    ):
        if path is None:
            continue
        if name not in baselines:
            raise UsageError(f"{option} has no effect: only the rows {rows} measure {name}.")
        if not os.access(path, os.X_OK) or os.path.isdir(path):
            raise UsageError(f"{option} {quoted(path)} is not a program.")
    setting = _setting(options)
    ratios = None if options.against is None else _earlier(options, chosen, setting)
    return Bench(options, chosen, setting, ratios)


def _setting(options: BenchOptions) -> BenchSetting:
    """Return the benchmark settings from the options."""
    return BenchSetting(
        options.size or "full",
        options.repeat or 5,
        options.seed,
        clock=CLOCKS[options.clock or "wall"],
        booksim=options.booksim or "",
        loggopsim=options.loggopsim or "",
    )


def _earlier(options: BenchOptions, chosen: list[Benchmark], setting: BenchSetting) -> Ratios:
    """Read the ratios of an earlier run; raise an error if the rounds are too few for a spread."""
    # A ratio counts as worse only beyond its spread, which a few rounds do not show.
    if setting.repeat < LEAST_ROUNDS:
        raise UsageError(f"--against needs rounds for a spread: --repeat {LEAST_ROUNDS} or more.")
    return read_ratios(Path(options.against or ""), chosen, setting)


def _listed(chosen: list[Benchmark]) -> Listing:
    """Return the list of benchmarks, with one row per baseline."""
    rows = [
        {
            "name": benchmark.row_name(baseline),
            "workload": benchmark.described("full"),
            "unit": benchmark.unit,
            "ranks": "several" if benchmark.several else "one",
            "against": baseline.name,
            "goal": None if baseline.goal is None else str(baseline.goal),
        }
        for benchmark in chosen
        for baseline in benchmark.baselines
    ]
    names = ("workload", "unit", "ranks", "against", "goal")
    return Listing(rows, {"benchmark": "name", **dict(zip(names, names, strict=True))})


@dataclass(eq=False, repr=False)
class Bench(Job):
    """Benchmarks to measure."""

    unit = "benchmarks"

    _options: BenchOptions
    _chosen: list[Benchmark]
    _setting: BenchSetting
    _ratios: Ratios | None

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Run the benchmarks in this process, or on each requested number of ranks."""
        wait_for_native_code()  # also for launched ranks
        setting = replace(self._setting, transport=transport)
        if self._options.ranks is None:
            found = run_here(self._chosen, setting, watch, self._tell)
        else:
            found = run_on([*self._options.ranks], self._chosen, setting, watch, self._tell)
        rows: list[Row] = plain(found)
        ratios = self._ratios
        return rows if ratios is None else [compared(row, ratios) for row in rows]

    def _tell(self, row: object) -> None:
        """Print a row as soon as it is measured."""
        self.say("  ".join(line(plain(row))))

    def show(self, result: list[Row]) -> str:
        """Format the rows, then absent baselines, reached goals, and rows with worse ratios."""
        return page(result)

    def status(self, result: list[Row]) -> int:
        """Return 1 if a row has an error or got worse."""
        return int(any(row["error"] is not None or row.get("fell") is True for row in result))

    def lasting(self, result: list[Row]) -> list[Row]:
        """Return the rows without measured values."""
        return [{field: row[field] for field in LASTING} for row in result]
