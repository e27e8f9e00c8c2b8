"""``mpinet bench``: measure how fast mpinet is on this machine, in turn with its baselines."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from mpinet.base.numerals import is_whole, quoted
from mpinet.base.plain import plain
from mpinet.commands.fields import Count, Fields, Positive, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import Common, Seed
from mpinet.commands.perform import perform
from mpinet.commands.result import ListResult
from mpinet.commands.signature import Typed, command
from mpinet.errors import UsageError
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.bench.benchmark import Benchmark
    from mpinet.machine.transport import Local

LASTING = ("name", "unit", "command")
"""Fields of a row that are the same in every run."""


T = TypeVar("T")

Measured = Annotated[T, When("without ``--list``")]


class Spread(Fields):
    """Least and largest values over the rounds."""

    figure: list[float]
    baseline: list[float] | None
    ratio: list[float] | None


class BenchRow(Fields):
    """A workload, with the figure that was measured."""

    name: str
    workload: str
    unit: str
    ranks: Positive
    against: str
    goal: str | None
    figure: Measured[float | None]
    baseline: Measured[float | None]
    ratio: Measured[float | None]
    attained: Measured[float | None]
    reached: Measured[bool | None]
    spread: Measured[Spread | None]
    rounds: Measured[Count]
    command: Measured[str]
    absent: Measured[str | None]


class BenchResult(ListResult[BenchRow]):
    """Result of ``bench``."""


def ranks_of(text: str) -> list[int]:
    """Read numbers of ranks."""
    numbers = text.split(",")
    if not all(is_whole(number) and int(number) > 0 for number in numbers):
        raise ValueError(f"{quoted(text)} is no list of ranks, such as 1,2")
    return list(dict.fromkeys(map(int, numbers)))


def rounds_of(text: str) -> int:
    """Read a number of rounds."""
    if not is_whole(text) or int(text) == 0:
        raise ValueError(f"{quoted(text)} is no number of rounds: 1 or more")
    return int(text)


@command(Common)
def bench(
    names: Annotated[Sequence[str], Typed(metavar="NAME")] = (),
    *,
    ranks: Annotated[Sequence[int] | None, Typed(metavar="R,R,..", read=ranks_of)] = None,
    size: Literal["small", "full"] | None = None,
    repeat: Annotated[int | None, Typed(metavar="N", read=rounds_of)] = None,
    clock: Literal["wall", "cpu"] | None = None,
    booksim: Annotated[str | None, Typed(metavar="PATH")] = None,
    loggopsim: Annotated[str | None, Typed(metavar="PATH")] = None,
    list: bool = False,
    seed: Seed = 0,
) -> BenchResult:
    """Measure how fast mpinet is here, in turn with its baselines (collective).

    Parameters
    ----------
    names : sequence of str
        Benchmarks (w1-n20), families of them (w1) or patterns (``*-n20``); default: all but the
        largest machines (scale), searches of minutes (optimum) and BookSim's workloads (booksim).
    ranks : sequence of int, optional
        Numbers of ranks to measure on, each started by the MPI launcher.
    size : {'small', 'full'}, optional
        Size of the workloads: those of the goals (full, the default), or seconds in all (small).
    repeat : int, optional
        Rounds of every contender; default: 5; a few long ones make fewer.
    clock : {'wall', 'cpu'}, optional
        Clock that times the work of one process; cpu where others use the machine; default: wall.
    booksim : str, optional
        Binary of BookSim 2, built from its source: the rows that it is a baseline of (load,
        booksim) measure it, too.
    loggopsim : str, optional
        Binary of LogGOPSim, built from its source, with its txt2bin beside it: the rows that it is
        a baseline of (replay) measure it, too, and compare the times at which hosts are done.
    list : bool
        Whether to list the benchmarks and measure nothing.

    Examples
    --------
    ``mpinet bench --list``

    ``mpinet bench --clock cpu``
    """
    return perform(bench, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the benchmarks; refuse options that would have no effect."""
    from mpinet.bench.booksim import BOOKSIM
    from mpinet.bench.catalogue import select
    from mpinet.bench.loggopsim import LOGGOPSIM

    chosen = select(options.names or ["*"] * options.list)
    if options.list:
        for option in ("ranks", "size", "repeat", "clock", "booksim", "loggopsim"):
            if getattr(options, option) is not None:
                raise UsageError(f"--{option} does not apply with --list.")
        return Listing(chosen)
    baselines = {baseline.name for each in chosen for baseline in each.baselines}
    for option, path, name, rows in (
        ("--booksim", options.booksim, BOOKSIM, "load and booksim"),
        ("--loggopsim", options.loggopsim, LOGGOPSIM, "replay"),
    ):
        if path is None:
            continue
        if name not in baselines:
            raise UsageError(f"{option} has no effect: {name} is a baseline of the rows {rows}.")
        if not os.access(path, os.X_OK) or os.path.isdir(path):
            raise UsageError(f"{option} {quoted(path)} is not a program.")
    return Bench(options, chosen)


class Listing(Job):
    """The list of benchmarks."""

    def __init__(self, chosen: list[Benchmark]):
        super().__init__()
        self._chosen = chosen

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """List the benchmarks, one row per baseline."""
        return [
            {
                "name": benchmark.row_name(baseline),
                "workload": benchmark.described("full"),
                "unit": benchmark.unit,
                "ranks": benchmark.ranks,
                "against": baseline.name,
                "goal": None if baseline.goal is None else str(baseline.goal),
            }
            for benchmark in self._chosen
            for baseline in benchmark.baselines
        ]

    def show(self, result: list[Row]) -> str:
        """Format one line per row."""
        from mpinet.report.tables import table

        heading = ("benchmark", "workload", "unit", "ranks", "against", "goal")
        return table([list(row.values()) for row in result], heading)


class Bench(Job):
    """Benchmarks, measured."""

    unit = "benchmarks"

    def __init__(self, options: argparse.Namespace, chosen: list[Benchmark]):
        super().__init__()
        self._options = options
        self._chosen = chosen

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Run the benchmarks here, or on each number of ranks that was asked for."""
        from mpinet.bench.benchmark import CLOCKS, Setting
        from mpinet.bench.catalogue import run_here, run_on

        options = self._options
        setting = Setting(
            options.size or "full",
            options.repeat or 5,
            options.seed,
            transport,
            clock=CLOCKS[options.clock or "wall"],
            booksim=options.booksim or "",
            loggopsim=options.loggopsim or "",
        )
        if options.ranks is None:
            found = run_here(self._chosen, setting, watch, self._tell)
        else:
            found = run_on(options.ranks, self._chosen, setting, watch, self._tell)
        rows: list[Row] = plain(found)
        return rows

    def _tell(self, row: object) -> None:
        """Print a row as soon as it is measured."""
        from mpinet.report.benchmarks import line

        self.say("  ".join(line(plain(row))))

    def show(self, result: list[Row]) -> str:
        """Format one line per row, then absent baselines, then the number of goals reached."""
        from mpinet.report.benchmarks import page

        return page(result)

    def lasting(self, result: list[Row]) -> list[Row]:
        """Return the rows without measured values."""
        return [{field: row[field] for field in LASTING} for row in result]
