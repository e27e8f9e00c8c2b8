"""``mpinet plot``: curves of results, as papers print them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mpinet.commands.job import Job, Watch
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.errors import UsageError
from mpinet.report.curves import Curve, curves_of, in_figures, kept, read_rows
from mpinet.report.drawing.figure import library
from mpinet.report.files import require_file, whole_file
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local

ENDINGS = (".pdf", ".svg", ".png")

WIDTHS = (1.0, 50.0)
"""Least and largest width of a picture, in inches."""


def plot(
    results: Result | Path | str | Sequence[Path | str],
    *,
    x: str,
    y: str,
    by: str | None = None,
    panels: str | None = None,
    error: str | None = None,
    bars: Literal["confidence", "deviation", "range"] = "confidence",
    where: Sequence[str] | None = None,
    log: str | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    width: float = 5.0,
    output: Path | str | None = None,
) -> Result:
    """Draw curves of results.

    Parameters
    ----------
    results : Result, path or sequence of paths
        What a sweep gave, or folders of sweeps, CSV and JSON files, put together.
    x, y : str
        Columns, such as ``rate`` and ``latency.mean``; what stands before the last dots may be
        left out.
    by : str, optional
        Columns, joined by commas: a curve for each of their values.
    panels : str, optional
        A column: a panel for each of its values.
    error : str, optional
        A column over whose values is averaged, such as ``seed``.
    bars : {'confidence', 'deviation', 'range'}
        What the bars show: the mean's interval of 95 % by Student's t, the sample's standard
        deviation, or the least and the largest value.
    where : sequence of str, optional
        ``COLUMN=VALUE``: only rows at which all of these hold.
    log : str, optional
        ``x``, ``y`` or ``x,y``: axes that are logarithmic.
    x_label, y_label : str, optional
        What stands at the axes; default: the columns.
    width : float
        The picture's width in inches.
    output : path, optional
        The picture: .pdf, .svg or .png.

    Examples
    --------
    >>> import mpinet
    >>> curve = mpinet.load("ring:8", rate="0.1,0.2", warmup=20, steps=50)
    >>> len(mpinet.plot(curve, x="offered", y="latency_mean").curves)
    1
    """
    return perform(plot, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Read the rows, make the curves, refuse what cannot be drawn."""
    if options.output is not None:
        options.output = Path(options.output)
        require_file(options.output, ENDINGS, "a plot's file")
        library()
    log = _logarithmic(options.log)
    if not WIDTHS[0] <= options.width <= WIDTHS[1]:
        least, most = WIDTHS
        raise UsageError(f"A picture is {least:.0f}..{most:.0f} inches wide, not {options.width}.")
    rows = kept(_rows(options), options.where or ())
    sound = [row for row in rows if not row.get("error")]
    by = options.by.split(",") if options.by else ()
    curves = curves_of(sound, options.x, options.y, by, options.panels, options.error, options.bars)
    for axis in log:
        _require_positive(axis, curves)
    return Plot(options, curves, log, len(rows), len(rows) - len(sound))


def _rows(options: argparse.Namespace) -> list[Row]:
    """The rows of all results."""
    results = options.results
    if isinstance(results, Result):
        options.results = repr(results)
        return results.records()
    if isinstance(results, str | Path):
        results = options.results = [results]
    return [row for result in results for row in read_rows(Path(result))]


def _logarithmic(text: str | None) -> list[str]:
    """Read ``x,y``."""
    axes = text.split(",") if text else []
    if not set(axes) <= {"x", "y"}:
        raise UsageError(f"--log takes x, y or x,y, not {text}.")
    return axes


def _require_positive(axis: str, curves: Sequence[Curve]) -> None:
    """Raise `UsageError` where a logarithmic axis has no place for a value."""
    for curve in curves:
        for dot in curve.dots:
            value = getattr(dot, axis)
            if isinstance(value, str):
                raise UsageError(f"--log {axis}: {value!r} is no number.")
            if value <= 0:
                raise UsageError(f"--log {axis}: {value} has no place on a logarithmic axis.")


class Plot(Job):
    """Curves, drawn on rank 0."""

    unit = "pictures"

    def __init__(
        self,
        options: argparse.Namespace,
        curves: list[Curve],
        log: list[str],
        rows: int,
        failed: int,
    ):
        super().__init__()
        self._options = options
        self._curves = curves
        self._log = log
        self._rows = rows
        self._failed = failed

    def run(self, transport: Local, watch: Watch) -> Row:
        """Draw."""
        options = self._options
        if options.output is not None and transport.rank == 0:
            from mpinet.report.drawing.axes import plotted

            kind = options.output.suffix.lower().removeprefix(".")
            labels = options.x_label or _said(options.x), options.y_label or _said(options.y)
            made = plotted(self._curves, kind, options.width, labels, self._log)
            with whole_file(options.output) as file:
                file.write(made)
        drawn = sum(dot.count for curve in self._curves for dot in curve.dots)
        return {
            "rows": self._rows,
            "failed": self._failed,
            "without_value": self._rows - self._failed - drawn,
            "curves": in_figures(self._curves),
        }

    def rows(self, result: Row) -> list[Row]:
        """A row a point."""
        return [
            {"panel": curve["panel"], "label": curve["label"], **dot}
            for curve in result["curves"]
            for dot in curve["points"]
        ]

    def show(self, result: Row) -> str:
        """What was drawn."""
        from mpinet.report.tables import fields

        curves = result["curves"]
        shown = {"rows": result["rows"]}
        shown |= {name: result[name] for name in ("failed", "without_value") if result[name]}
        shown |= {"curves": len(curves), "points": sum(len(curve["points"]) for curve in curves)}
        where = "" if self._options.output is None else f"\n{self._options.output}"
        return fields(shown) + where


def _said(column: str) -> str:
    """A column's name at an axis."""
    return column.removeprefix("option.").removeprefix("model.").replace(".", " ").replace("_", " ")
