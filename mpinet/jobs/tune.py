"""``mpinet tune``: find the fastest algorithm of a collective for each message size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from mpinet.base.memory import bytes_of
from mpinet.base.numerals import quoted
from mpinet.commands.job import Job, Watch
from mpinet.commands.optionrecords import Several
from mpinet.commands.tune import TuneOptions
from mpinet.errors import UsageError
from mpinet.jobs.plots import require_plot, write_curves
from mpinet.jobs.timing import Timed, timed_of
from mpinet.machine.timed.ticks import in_units
from mpinet.machine.transport import Local
from mpinet.programs.messages.bounds import CollectivePromise, lower_bound
from mpinet.programs.messages.textbook import ALGORITHMS
from mpinet.report.curves import BOUND, Curve, Dot
from mpinet.report.rows import Row
from mpinet.report.tables import table

MOST_SIZES = 1000


FACTOR = 10
"""Factor between two sizes of a range."""


def prepare(options: TuneOptions) -> Job:
    """Read the sizes, find the algorithms, and return the job."""
    import numpy as np

    from mpinet.programs.messages.placing import places_of

    require_plot(options.plot)
    timed = timed_of(options)
    # The demand may cover only some of the network's processors.
    count = options.processors
    if count is None:
        if timed.topology is None:
            raise UsageError("--flat has no number of processors: give --processors P.")
        count = timed.topology.hosts
    if not 1 <= count <= 1 << 20:
        raise UsageError(f"--processors is 1..2^20, not {count}.")
    places = None
    if timed.topology is not None:
        places = places_of(options.place, timed.topology, count, options.seed)
    known = ALGORITHMS[options.collective]
    names = _names(options.algorithms, known)
    segment = None if options.segment is None else bytes_of(options.segment)
    timed.costs.lookahead(timed.topology is None, timed.costs.eager is not None)
    where = np.arange(count) if places is None else places
    demands = [
        CollectivePromise(options.collective, size, where) for size in sizes_of(options.bytes)
    ]
    timed.require_byte_cost("tune", options.collective)
    return Tune(options, timed, names, demands, segment)


def sizes_of(text: str | int) -> list[int]:
    """Read sizes: ``1kB,1MB``, or ``1..1GB`` with every power of ten between the ends.

    Raises
    ------
    UsageError
        A word is not a size.

    Examples
    --------
    >>> sizes_of("5..3kB,1MB")
    [5, 10, 100, 1000, 3000, 1000000]
    """
    sizes = []
    for part in str(text).split(","):
        first, dots, last = part.partition("..")
        least, most = bytes_of(first), bytes_of(last if dots else first)
        if most < least:
            raise UsageError(f"--bytes: the end of {quoted(part)} is below its beginning.")
        power = 1
        sizes.append(least)
        while power < most:
            if power > least:
                sizes.append(power)
            power *= FACTOR
        if most > least:
            sizes.append(most)
    if len(sizes) > MOST_SIZES:
        raise UsageError(f"--bytes: give at most {MOST_SIZES} sizes, not {len(sizes)}.")
    return sizes


def draw_times(
    points: Mapping[str, Mapping[int, float]], title: str, unit: str, file: Path
) -> None:
    """Draw times over bytes on logarithmic axes, in the format of the file's ending."""
    curves = [
        Curve(title, name, [Dot(x, y := float(Fraction(t)), y, y, 1) for x, t in each.items()])
        for name, each in points.items()
    ]
    write_curves(file, curves, ("bytes", "time"), log="xy", units=("B", unit))


def _names(given: str | Several[str] | None, known: Iterable[str]) -> list[str] | None:
    """Return the requested algorithms; None: all."""
    if given is None:
        return None
    names = given.split(",") if isinstance(given, str) else [*given]
    for name in names:
        if name not in known:
            raise UsageError(f"--algorithms: choose from {', '.join(known)}, not {quoted(name)}.")
    return names


@dataclass(eq=False, repr=False)
class Tune(Job):
    """All algorithms of a collective, at several sizes."""

    unit = "runs"

    _options: TuneOptions
    _timed: Timed
    _names: list[str] | None
    _demands: list[CollectivePromise]
    _segment: int | None

    def __post_init__(self) -> None:
        self.topology = self._timed.topology.name if self._timed.topology else None
        self.time_unit = self._timed.unit

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f"{self._options.collective} by its algorithms"

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Play every algorithm at every size (collective)."""
        rows: list[Row] = []
        for number, demand in enumerate(self._demands):
            watch(number, len(self._demands))
            times = self._times(demand, transport)
            bound = lower_bound(demand, self._timed.topology, self._timed.costs)
            rows += [
                {
                    "bytes": demand.size,
                    "algorithm": name,
                    "time": time,
                    "best": time == min(times.values()),
                    "lower_bound": bound.time,
                    "lower_by": bound.by,
                }
                for name, time in times.items()
            ]
        rows = [in_units(row, self._timed.costs.ticks) for row in rows]
        if self._options.plot is not None and transport.rank == 0:
            self.plotted(rows, Path(self._options.plot))
        return rows

    has_curves = True

    def plotted(self, result: list[Row], file: Path) -> None:
        """Draw time over bytes on logarithmic axes, with the bound."""
        points: dict[str, dict[int, float]] = {}
        for row in result:
            points.setdefault(row["algorithm"], {})[row["bytes"]] = row["time"]
        points[BOUND] = {row["bytes"]: row["lower_bound"] for row in result}
        title = f"{self._options.collective} on {self._timed.where}"
        draw_times(points, title, self._timed.unit, file)

    def _times(self, demand: CollectivePromise, transport: Local) -> dict[str, int]:
        """Return the time of each algorithm that supports the number of processors."""
        from mpinet.jobs.replay import played
        from mpinet.programs.messages.named import made

        count, times = len(demand.places), dict[str, int]()
        identity = (demand.places == range(count)).all()
        for name in self._names or ALGORITHMS[demand.collective]:
            try:
                what = made(demand.collective, name, demand.size, count, self._segment)
            # Some algorithms need a power of two. For further numbers of processors, the default
            # leaves these algorithms out, and a named algorithm raises an error.
            except UsageError:
                if self._names is not None or not count & (count - 1):
                    raise
                continue
            # The identity needs no placement, and keeps a regular program as one script.
            places = None if identity else demand.places
            found, _ = played(
                self._timed, what.program, places, self._options, transport, lambda *done: None
            )
            times[name] = found["time"]
        return times

    def show(self, result: list[Row]) -> str:
        """Format one line per size: the times of all algorithms, the best one, and the bound."""
        names = [*dict.fromkeys(row["algorithm"] for row in result)]
        sizes = [*dict.fromkeys(row["bytes"] for row in result)]
        lines, shown = [], self._timed.shown
        for size in sizes:
            here = {row["algorithm"]: row for row in result if row["bytes"] == size}
            best = ", ".join(name for name, row in here.items() if row["best"])
            bound = next(iter(here.values()))
            lines.append(
                [
                    size,
                    *(shown(here[name]["time"]) for name in names),
                    shown(bound["lower_bound"]),
                    bound["lower_by"],
                    best,
                ]
            )
        heading = f"{self._options.collective} on {self._timed.where}"
        return f"{heading}\n{table(lines, ['bytes', *names, 'bound', 'by', 'best'])}"
