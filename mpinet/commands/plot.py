"""``mpinet plot``: draw curves of results, in the style of papers.

The table ``[plot]`` in the plan of a sweep may set defaults. Options of ``mpinet plot`` override
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, In, Options, Typed
from mpinet.commands.options import Picture
from mpinet.commands.result import Result

Column = Annotated[str | None, Typed(metavar="COLUMN")]


class PlotPoint(Fields):
    """Point of a curve, with the ends of its bar and the number of rows averaged."""

    x: float | str | bool
    y: float
    low: float
    high: float
    count: Count
    hollow: Annotated[bool, When("with ``--hollow``")]


class PlotCurve(Fields):
    """A curve of a plot."""

    panel: str
    label: str
    points: list[PlotPoint]
    tick: Annotated[float, When("with ``--tick``")]


class PlotResult(Result):
    """Result of ``plot``."""

    rows: Count
    failed: Count
    without_value: Count
    curves: list[PlotCurve]


@dataclass(frozen=True)
class PlotOptions(Options):
    """Draw curves of results.

    Defaults come from the table ``[plot]`` in the sweep's plan, if there is one.


    Examples
    --------
    ``mpinet plot runs --x rate --y latency.mean``

    ``mpinet plot runs/results.csv --x size --y steps -o steps.pdf``

    >>> import mpinet
    >>> curve = mpinet.load("ring:8", rate="0.1,0.2", warmup=20, steps=50)
    >>> len(mpinet.plot(curve, x="offered", y="latency_mean").curves)
    1
    """

    command = "plot"
    results: Annotated[
        Result | Path | str | Sequence[Path | str], Typed(metavar="FOLDER|FILE"), In.DATA
    ]
    """Result of a sweep, or folders of sweeps, CSV files and JSON files, which are combined."""
    _: KW_ONLY
    x: Annotated[Column, In.DATA] = None
    """Column of the x axis, such as ``rate``; the last part of a name is enough if it is unique."""
    y: Annotated[Column, In.DATA] = None
    """Column of the y axis, such as ``latency.mean``; named as for ``--x``."""
    by: Annotated[str | None, Typed(metavar="COLUMN,..", several="COLUMN,COLUMN"), In.DATA] = None
    """Columns, joined by commas, with one curve for each combination of their values; default: all
    options whose values differ between rows of a point, except the seed."""
    panels: Annotated[Column, In.DATA] = None
    """Column with one panel for each value."""
    error: Annotated[Column, In.DATA] = None
    """Column over which rows are averaged, such as ``seed``."""
    bars: Annotated[Literal["confidence", "deviation", "range"] | None, In.PICTURE] = None
    """Error bars: the mean's 95 % confidence interval by Student's t (default), the sample's
    standard deviation, or the range of values."""
    hollow: Annotated[Column, In.PICTURE] = None
    """Column that marks points as hollow and dashed if true, such as ``saturated``; the y axis then
    begins at 0."""
    tick: Annotated[Column, In.PICTURE] = None
    """Column whose value is marked by a tick on the x axis, for each curve, such as ``bound``."""
    where: Annotated[str | Sequence[str] | None, Typed(metavar="COLUMN=VALUE"), In.DATA] = None
    """Condition ``COLUMN=VALUE`` on rows; may be given several times."""
    log: Annotated[str | None, Typed(metavar="x,y"), In.PICTURE] = None
    """Logarithmic axes: ``x``, ``y`` or ``x,y``."""
    x_label: Annotated[str | None, Typed(metavar="TEXT"), In.PICTURE] = None
    """Label of the x axis; default: the column's name."""
    y_label: Annotated[str | None, Typed(metavar="TEXT"), In.PICTURE] = None
    """Label of the y axis; default: the column's name."""
    width: Annotated[float | None, Typed(metavar="INCHES"), In.PICTURE] = None
    """Width of the picture in inches; default: 5."""
    output: Picture = None


plot = function_with(PlotOptions, PlotResult, Common)
