"""``mpinet plot``: draw curves of results, in the style of papers.

The table ``[plot]`` in the plan of a sweep may set defaults. Options of ``mpinet plot`` override
them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mpinet.base.files import read_text
from mpinet.base.meant import hint
from mpinet.base.numerals import quoted
from mpinet.commands.job import Job, Watch
from mpinet.commands.plot import PlotOptions, plot
from mpinet.commands.result import Result
from mpinet.commands.signature import given
from mpinet.errors import FileError, UsageError
from mpinet.jobs.plots import require_plot, write_curves
from mpinet.machine.transport import Local
from mpinet.report.curves import (
    Curve,
    curves_of,
    in_figures,
    kept,
    read_rows,
    require_condition,
    subject,
)
from mpinet.report.files import PLOT_WIDTH, PLOTS
from mpinet.report.rows import Row

WIDTHS = (1.0, 50.0)
"""Smallest and largest width of a picture, in inches."""


TABLE = "plot.json"
"""File in a sweep's folder with the table ``[plot]`` of the plan."""


ALSO = {"colour": "by", "facet": "panels", "out": "output"}
"""Alternative option names in a table ``[plot]``."""


def prepare(options: PlotOptions) -> Job:
    """Read the rows and make the curves; raise an error for curves that cannot be drawn."""
    options = _completed(options, _planned(options.results))
    found = _rows(options.results)
    # Python returns the picture to a notebook, and needs no file.
    if options.output is None and options.is_typed and not (options.line.out or options.line.json):
        raise UsageError("plot needs a file for the picture: -o FILE.pdf (or .svg, .png).")
    require_plot(options.output)
    x, y, log = _require_sound(options)
    rows = kept(found, _conditions(options))
    sound = [row for row in rows if not row.get("error")]
    by = None if options.by is None else [name for name in options.by.split(",") if name]
    panels, error = options.panels or None, options.error or None
    bars = options.bars or "confidence"
    hollow, tick = options.hollow or None, options.tick or None
    curves = curves_of(sound, x, y, by, panels, error, bars, hollow, tick)
    for axis in log:
        _require_positive(axis, curves)
    job = PlotJob(options, (x, y), curves, log, len(rows), len(rows) - len(sound), subject(sound))
    job.completed = options
    return job


def table_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sweep plan's table ``[plot]`` as options of `plot`; empty without such a table.

    Raises
    ------
    UsageError
        The table has an unknown key, or an invalid value.
    """
    if "plot" not in plan:
        return {}
    said = plan["plot"]
    if not isinstance(said, Mapping):
        raise UsageError('plot: the plan needs a table for the plot, as in [plot] x = "rate".')
    table: dict[str, Any] = {}
    for key, value in said.items():
        name = _option_of(key)
        if name in table:
            raise UsageError(f"[plot] gives {name} twice, once as {quoted(key)}.")
        is_names = name in ("by", "log") and isinstance(value, list)
        table[name] = ",".join(map(str, value)) if is_names else value
    try:
        options = given(plot, {"results": "", **table})
        assert isinstance(options, PlotOptions)
        _require_sound(options)
    except UsageError as error:
        raise UsageError(f"[plot]: {error}") from None
    if options.output is not None and Path(options.output).suffix.lower() not in PLOTS:
        raise UsageError(f"[plot]: output {options.output} does not end in .pdf, .svg or .png.")
    return table


def _option_of(key: str) -> str:
    """Return the option for a key of the table."""
    names = [name for name in inspect.signature(plot).parameters if name != "results"]
    if key in names or key in ALSO:
        return ALSO.get(key, key)
    meant = hint(key, [*names, *ALSO], 1) or f"it has {', '.join(names)}."
    raise UsageError(f"[plot] has no key {quoted(key)}: {meant}")


def _planned(results: Any) -> dict[str, Any]:
    """Return the plot table of the results' plans; empty if there is none, or if plans differ."""
    if isinstance(results, Result):
        return results.planned
    paths = [results] if isinstance(results, str | Path) else results
    tables = [table for path in paths if (table := _kept_table(Path(path)))]
    return tables[0] if tables and all(table == tables[0] for table in tables) else {}


def _kept_table(folder: Path) -> dict[str, Any]:
    """Read the plot table in a sweep's folder."""
    file = folder / TABLE
    try:
        table = json.loads(read_text(file))
        return table_of({"plot": table} if table else {})
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise FileError(f"{file}: {error.strerror}.") from None
    except ValueError:  # not JSON, or not an object
        raise FileError(f"{file} is damaged: run the sweep again.") from None


def _completed(options: PlotOptions, table: Mapping[str, Any]) -> PlotOptions:
    """Return the options, completed by the table's values for options that were not given."""
    missing = {name: value for name, value in table.items() if vars(options)[name] is None}
    return replace(options, **missing)


def _conditions(options: PlotOptions) -> Sequence[str]:
    """Return the conditions on rows."""
    return [options.where] if isinstance(options.where, str) else options.where or ()


def _require_sound(options: PlotOptions) -> tuple[str, str, list[str]]:
    """Check the options that need no rows; return x, y and the logarithmic axes."""
    if not (options.x and options.y):
        raise UsageError(
            "plot needs columns for the x and y axes: give --x rate --y latency.mean, or a table "
            "[plot] in the sweep's plan."
        )
    least, most = WIDTHS
    if options.width is not None and not least <= options.width <= most:
        raise UsageError(f"--width is {least:.0f}..{most:.0f} inches, not {options.width}.")
    for condition in _conditions(options):
        require_condition(condition)
    return options.x, options.y, _logarithmic(options.log)


def _rows(results: Result | Path | str | Sequence[Path | str]) -> list[Row]:
    """Return the rows of all results."""
    if isinstance(results, Result):
        return results.records()
    paths = [results] if isinstance(results, str | Path) else results
    return [row for path in paths for row in read_rows(Path(path))]


def _logarithmic(text: str | None) -> list[str]:
    """Read the logarithmic axes, such as ``x,y``."""
    axes = text.split(",") if text else []
    if not set(axes) <= {"x", "y"}:
        raise UsageError(f"--log takes x, y or x,y, not {text}.")
    return axes


def _require_positive(axis: str, curves: Sequence[Curve]) -> None:
    """Raise `UsageError` for a value <= 0 on a logarithmic axis."""
    for curve in curves:
        for dot in curve.dots:
            value = getattr(dot, axis)
            if isinstance(value, str):
                raise UsageError(f"--log {axis}: {value!r} is not a number.")
            if value <= 0:
                raise UsageError(f"--log {axis}: a logarithmic axis needs values > 0, not {value}.")


@dataclass(eq=False, repr=False)
class PlotJob(Job):
    """Picture of curves, drawn on rank 0."""

    unit = "pictures"

    _options: PlotOptions
    _columns: tuple[str, str]
    _curves: list[Curve]
    _log: list[str]
    _rows: int
    _failed: int
    _title: str

    def run(self, transport: Local, watch: Watch) -> Row:
        """Draw the curves, and count the rows."""
        if self._options.output is not None and transport.rank == 0:
            self.plotted(None, Path(self._options.output))
        drawn = sum(dot.count for curve in self._curves for dot in curve.dots)
        return {
            "rows": self._rows,
            "failed": self._failed,
            "without_value": self._rows - self._failed - drawn,
            "curves": in_figures(self._curves),
        }

    has_curves = True

    def plotted(self, result: Any, file: Path) -> None:
        """Draw the curves."""
        (x, y), options = self._columns, self._options
        labels = options.x_label or _said(x), options.y_label or _said(y)
        how = {"log": self._log, "knees": bool(options.hollow), "title": self._title}
        write_curves(file, self._curves, labels, options.width or PLOT_WIDTH, **how)

    def rows(self, result: Row) -> list[Row]:
        """Return a row per point."""
        return [
            {"panel": curve["panel"], "label": curve["label"], **dot}
            for curve in result["curves"]
            for dot in curve["points"]
        ]

    def show(self, result: Row) -> str:
        """Format the counts of rows, curves and points."""
        from mpinet.report.tables import fields

        curves = result["curves"]
        shown = {"rows": result["rows"]}
        shown |= {name: result[name] for name in ("failed", "without_value") if result[name]}
        shown |= {"curves": len(curves), "points": sum(len(curve["points"]) for curve in curves)}
        where = "" if self._options.output is None else f"\n{self._options.output}"
        return fields(shown) + where


def _said(column: str) -> str:
    """Return a column's name as an axis shows it."""
    return column.removeprefix("option.").removeprefix("model.").replace(".", " ").replace("_", " ")
