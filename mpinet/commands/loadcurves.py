"""Several curves of ``mpinet load``: patterns and seeds, kept as they come, drawn at the end."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from mpinet.base.files import whole_file
from mpinet.base.plain import plain
from mpinet.commands.job import Job, Watch
from mpinet.commands.loadruns import load_of, named_vcs, unheard
from mpinet.commands.plot import ENDINGS
from mpinet.commands.signature import MOST_SEED
from mpinet.errors import FileError, UsageError
from mpinet.experiments.plan import key_of
from mpinet.machine.transport import hosted_by
from mpinet.report.curves import curves_of
from mpinet.report.drawing.figure import library
from mpinet.report.files import require_file
from mpinet.report.rows import Row
from mpinet.report.tables import table

if TYPE_CHECKING:
    from mpinet.machine.checkpoint import Checkpointer
    from mpinet.machine.transport import Local

MOST_SEEDS = 10_000

WIDTHS = {False: 5.0, True: 9.0}
"""Inches of a plot of one pattern, and of several side by side."""

LABELS = ("messages of a processor a step", "mean latency in steps")


class LoadCurves(Job):
    """A curve for every network, pattern and seed; each rank makes curves of its own.

    Parameters
    ----------
    options : Namespace
        What was typed: `seed` is the first seed of `seeds`.
    networks, patterns : sequence of str
        What curves are made of.

    Raises
    ------
    UsageError
        One of them is refused, or the plot cannot be made.
    """

    unit = "curves of rank 0"

    def __init__(
        self,
        options: argparse.Namespace,
        networks: Sequence[Any],
        patterns: Sequence[str],
    ):
        super().__init__()
        if not 1 <= options.seeds <= MOST_SEEDS:
            raise UsageError(f"load takes 1..{MOST_SEEDS} seeds, not {options.seeds}.")
        if options.seed + options.seeds - 1 > MOST_SEED:
            first = f"{options.seeds} of them cannot begin at {options.seed}"
            raise UsageError(f"load: seeds end at 2^63-1: {first}.")
        self._options, self._patterns = options, patterns
        seeds = range(options.seed, options.seed + options.seeds)
        self._several = len(patterns) > 1 or len(seeds) > 1
        self._points = [
            argparse.Namespace(
                **{**vars(options), "topology": network, "pattern": pattern, "seed": seed}
            )
            for pattern in patterns
            for network in networks
            for seed in seeds
        ]
        self._tried = [load_of(point) for point in self._points[:: len(seeds)]]
        self._one = self._tried[0]
        self.topology = self._one.topology if len(networks) == 1 else None
        self.model = self._one.model
        self._journal = journal_of(getattr(options, "out", None))
        if options.plot is not None:
            require_file(Path(options.plot), ENDINGS, "a plot's file")
            library()

    def needs(self, ranks: int) -> int:
        """Bytes of the largest curve: each rank makes one curve at a time."""
        return max(one.needs(1) for one in self._tried)

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"load on {self.topology or 'these networks'}"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Make the curves that the journal does not hold; draw all curves."""
        from mpinet.experiments.dealing import deal
        from mpinet.experiments.journal import Journal, version_of
        from mpinet.experiments.load import cautions

        passing = (
            *("command", "json", "out", "plot", "progress", "watchdog", "seeds"),
            *("checkpoint", "every"),
        )
        named = [
            {name: value for name, value in vars(point).items() if name not in passing}
            for point in self._points
        ]
        keys = [key_of("load", options) for options in named]
        journal = None
        if self._journal is None and transport.keeper is not None:
            self._journal = transport.keeper.journal
        if self._journal is not None:
            name = f"rank-{transport.rank}"
            journal = Journal(self._journal, name, version_of(), "--out")
        with hosted_by(transport):
            for sentence in cautions([each for one in self._tried for each in one.settings]):
                (self.warn if transport.rank == 0 else unheard)(sentence)
        number_of = {key: number for number, key in reversed([*enumerate(keys)])}
        dealt = deal(
            [[key] for key in keys],
            lambda key, ranks: self._kept_curve(number_of[key], ranks, transport.keeper),
            transport,
            journal,
            watch=watch,
            strict=True,
        )
        if transport.rank:
            return {"curves": []}
        found = {"curves": [dealt.found[key] for key in keys]}
        self.model["vcs"] = named_vcs(found["curves"])
        if self._options.plot is not None:
            self._draw(found)
        return found

    def _kept_curve(self, number: int, ranks: Local, keeper: Checkpointer | None) -> Row:
        """Run one curve; with a keeper, save its running state, too."""
        if keeper is None:
            return self._curve(self._points[number], ranks)
        with keeper.part(f"curve-{number}", ranks):
            return self._curve(self._points[number], ranks)

    def _curve(self, point: argparse.Namespace, ranks: Local) -> Row:
        """Run one curve; add its pattern and seed if there are several."""
        job = load_of(point)
        job.warn = unheard
        found: Row = plain(job.run(ranks, lambda *done: None))
        curve: Row = found["curves"][0]
        return curve | ({"pattern": point.pattern, "seed": point.seed} if self._several else {})

    def _draw(self, found: Row) -> None:
        """Draw latency over the rates at which no seed is saturated: other means would flatter."""
        from mpinet.report.drawing.axes import plotted

        every = self.rows(found)
        full = {_rate_of(row) for row in every if row["saturated"]}
        rows = [row for row in every if _rate_of(row) not in full]
        if not rows:
            return
        panels = "pattern" if len(self._patterns) > 1 else None
        error = "seed" if self._several else None
        curves = curves_of(rows, "rate", "latency_mean", ["network"], panels, error)
        path = Path(self._options.plot)
        kind = path.suffix.lower().removeprefix(".")
        made = plotted(curves, kind, WIDTHS[panels is not None], LABELS)
        with whole_file(path) as file:
            file.write(made)

    def lasting(self, result: Any) -> Any:
        """Return the curves without their settings."""
        return self._one.lasting(result)

    def rows(self, result: Any) -> list[Row]:
        """Return one row per run."""
        return self._one.rows(result)

    def show(self, result: Any) -> str:
        """Format a table per pattern: highest stable rates and their latencies."""
        if not self._several:
            return self._one.show(result)
        parts = [f"{len(result['curves'])} curves, {len(self.rows(result))} runs"]
        heading = ("network", "stable to", "throughput in overload", "latency at", "", "at", "")
        for pattern in self._patterns:
            by_network: dict[str, list[Row]] = {}
            for curve in result["curves"]:
                if curve["pattern"] == pattern:
                    by_network.setdefault(curve["network"], []).append(curve)
            rows = [_summary(network, curves) for network, curves in by_network.items()]
            parts.append(f"{pattern} traffic\n{table(rows, heading)}")
        if self._options.plot is not None:
            parts.append(f"{self._options.plot}")
        return "\n\n".join(parts)

    def shortfall(self, result: Any) -> str:
        """Return the sentence on deadlocks; empty if there are none."""
        stopped = [
            curve for curve in result["curves"] if any(p["deadlock"] for p in curve["points"])
        ]
        if not stopped:
            return ""
        first = self._one.shortfall({"curves": stopped[:1]})
        many = f"{len(stopped)} of {len(result['curves'])} curves end in a deadlock. "
        return (many if self._several else "") + first


def _rate_of(row: Row) -> tuple[Any, ...]:
    """Key of a curve's point, which all seeds share."""
    return row["network"], row.get("pattern"), row["rate"]


def _summary(network: str, curves: list[Row]) -> list[Any]:
    """Return a network's line: the means over its seeds."""
    rates: dict[float, list[Row]] = {}
    for curve in curves:
        for point in curve["points"]:
            rates.setdefault(point["rate"], []).append(point)
    stable = []
    for rate in sorted(rates):
        if any(point["saturated"] for point in rates[rate]):
            break
        stable.append(rate)
    overload = [curve["saturation_throughput"] for curve in curves]
    full = "-" if None in overload else f"{fmean(overload):.3g}"
    if not stable:
        return [network, "-", full, "-", "-", "-", "-"]
    half = max(rate for rate in stable if rate <= max(stable[-1] / 2, stable[0]))
    cells: list[Any] = [network, f"{stable[-1]:.3g}", full]
    for rate in (stable[0], half):
        latencies = [p["latency_mean"] for p in rates[rate] if p["latency_mean"] is not None]
        cells += [f"{rate:.3g}", f"{fmean(latencies):.2f}" if latencies else "-"]
    return cells


def journal_of(out: Path | None) -> Path | None:
    """The folder beside a ``.jsonl`` file that keeps curves as they come; None beside others.

    Raises
    ------
    FileError
        Something else has its name.
    """
    if out is None or out.suffix.lower() != ".jsonl":
        return None
    folder = out.with_name(f"{out.name}.runs")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"--out {out}: {folder} is in the way of the runs that are kept there.")
    return folder
