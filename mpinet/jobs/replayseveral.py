"""Several settings of a replay: all combinations of option values, with a table and a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from mpinet.base.numerals import is_whole, quoted
from mpinet.base.plain import nearest, plain
from mpinet.commands.job import Job, Watch
from mpinet.commands.optionrecords import values_of
from mpinet.commands.options import RecordingOptions
from mpinet.commands.replay import VARIED
from mpinet.commands.signature import given, options_of
from mpinet.errors import MpinetError, UsageError
from mpinet.experiments.plan import points_of
from mpinet.jobs.plots import require_plot, write_curves
from mpinet.jobs.timing import Timed
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.scripted import Scripted
from mpinet.machine.timed.ticks import with_times
from mpinet.machine.transport import Local
from mpinet.report.rows import Row
from mpinet.report.tables import table

Given = TypeVar("Given", bound=RecordingOptions)


def varied(
    options: RecordingOptions,
    vary: str | Sequence[str] | None,
    plot: str | Path | None,
    function: Callable[..., Any],
) -> list[Row]:
    """Return the values of the varied options in each setting; the last option changes fastest.

    Raises
    ------
    UsageError
        A word is not ``OPTION=VALUE``, an option cannot be varied, a value is invalid, or an option
        is
        also given directly.
    """
    default = {option.dest: option.default for option in options_of(function)}
    words, found = [vary] if isinstance(vary, str) else list(vary or ()), values_of(options)
    values: dict[str, list[str | int]] = {}
    for word in words:
        typed, equals, value = word.partition("=")
        name = typed.strip("-").replace("-", "_")
        if not equals or name not in VARIED:
            names = ", ".join(VARIED).replace("_", "-")
            raise UsageError(f"--vary takes OPTION=VALUE, not {quoted(word)}; options: {names}.")
        if found[name] != default[name]:
            raise UsageError(f"--{typed} is both given and varied: leave out one of the two.")
        number = name in ("eager", "seed") and is_whole(value)
        values.setdefault(name, []).append(int(value) if number else value)
    line = options.line
    files = {"record": options.record, "draw": line.draw, "play": line.play, "trace": line.trace}
    for name, file in {**files, "checkpoint": line.checkpoint}.items():
        if values and file is not None:
            raise UsageError(f"--{name} applies to a single run, not with --vary.")
    if plot is not None:
        if not values:
            raise UsageError("--plot needs settings: give --vary OPTION=VALUE.")
        require_plot(plot)
    settings = [point.options for point in points_of({"command": "replay", **values})]
    # Each setting is checked here. Otherwise a wrong value in the last setting would appear only
    # after all others were played.
    for setting in settings:
        given(function, {"program": found["program"], **setting})
    return settings


class InTime(Job):
    """Job that plays a program in time."""

    timed: Timed
    """Network, costs and unit."""
    program: Program | Scripted
    """The program, with times in ticks."""


class Several(Job):
    """A program in several settings: the result of the fastest setting, and a row for each.

    Parameters
    ----------
    options : RecordingOptions
        The given options.
    settings : sequence of dict
        Values of the varied options in each setting.
    prepare : callable
        Prepares the job of one setting.
    plot : path or None
        Picture of the settings.
    """

    unit = "runs"
    has_curves = True

    def __init__(
        self,
        options: Given,
        settings: Sequence[Row],
        prepare: Callable[[Given], InTime],
        plot: str | Path | None,
    ):
        super().__init__()
        self._settings, self._plot = settings, plot
        self._jobs = []
        for setting in settings:
            try:
                self._jobs.append(prepare(replace(options, **setting)))
            except MpinetError as error:
                # An error's sentence does not name its setting.
                words = " ".join(f"{name}={value}" for name, value in setting.items())
                raise type(error)(f"{words}: {error}") from None
        self._best = self._jobs[0]
        self.time_unit = self._best.timed.unit
        units = {job.timed.unit: None for job in self._jobs}
        # Results are ranked by numbers of units, so nanoseconds would compare as equal to
        # picoseconds.
        if len(units) > 1:
            raise UsageError(
                f"--vary machine: these machines have times in {' and '.join(units)}. Give one "
                "unit for all settings, such as --unit ns."
            )

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f"{self._best.title}, in {len(self._jobs)} settings"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Play the program in every setting; return the result of the fastest setting."""
        rows: list[Row] = []
        found: Row = {}
        for number, (job, setting) in enumerate(zip(self._jobs, self._settings, strict=True)):
            watch(number, len(self._jobs))
            result = job.run(transport, lambda *done: None)
            row = {name: result[name] for name in ("time", "waits", "busiest", "stuck")}
            rows.append({"options": {key: str(each) for key, each in setting.items()}, **row})
            if not found or _rank(result) < _rank(found):
                found, self._best = result, job
        self.topology, self.crossing = self._best.topology, self._best.crossing
        for row, job in zip(rows, self._jobs, strict=True):
            row["best"] = job is self._best
        if self._plot is not None and transport.rank == 0:
            self.plotted(plain(found | {"settings": rows}, nearest), Path(self._plot))
        return found | {"settings": rows}

    def plotted(self, result: Row, file: Path) -> None:
        """Draw the time over the first varied option; the other options give the curves."""
        from mpinet.report.curves import curves_of

        first, *others = result["settings"][0]["options"]
        rows = [row | {"time": float(Fraction(row["time"]))} for row in self.rows(result)]
        places = {job.timed.where for job in self._jobs}
        title = " on ".join([self._best.program.name, *(places if len(places) == 1 else ())])
        curves, units = curves_of(rows, first, "time", others), ("", self._best.timed.unit)
        write_curves(file, curves, (first, "time"), units=units, title=title)

    def rows(self, result: Row) -> list[Row]:
        """Return a row for each setting."""
        return [
            {**row["options"], **{name: row[name] for name in row if name != "options"}}
            for row in result["settings"]
        ]

    def shortfall(self, result: Row) -> str:
        """Return the sentence on operations that never end, in the best or in another setting."""
        stuck = sum(row["stuck"] > 0 for row in result["settings"])
        if not stuck or result["stuck"]:
            return self._best.shortfall(result)
        return f"In {stuck} of {len(self._jobs)} settings operations never end."

    def show(self, result: Row) -> str:
        """Format one line per setting, then the result of the best setting."""
        rows = [with_times(row, self._best.timed.shown) for row in self.rows(result)]
        lines = [["best" if value is True else "" if value is False else value
                  for value in row.values()] for row in rows]  # fmt: skip
        headings = [name.replace("_", " ") for name in rows[0]]
        best = {name: value for name, value in result.items() if name != "settings"}
        return f"{table(lines, headings)}\n\n{self._best.show(best)}"


def _rank(result: Row) -> tuple[bool, int]:
    """Return the sort key of a result: runs without stuck operations first, then by time."""
    # A stuck program stops early, but its time must not beat the time of a complete run.
    return result["stuck"] > 0, result["time"]
