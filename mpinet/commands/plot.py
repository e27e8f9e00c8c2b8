"""``mpinet plot``: curves of results, as papers print them.

How a sweep's results are drawn can stand in its plan, as the table ``[plot]``; what is given to
``mpinet plot`` goes before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, Options, Typed
from mpinet.commands.options import Picture
from mpinet.commands.result import Result

Column = Annotated[str | None, Typed(metavar="COLUMN")]


class PlotPoint(Fields):
    """A dot of a curve, with the ends of its bar, and the rows that it is the mean of."""

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

    What is not given is as the plan of the sweep says in its table ``[plot]``.


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
    results: Annotated[Result | Path | str | Sequence[Path | str], Typed(metavar="FOLDER|FILE")]
    """Result of a sweep, or folders of sweeps, CSV and JSON files, put together."""
    _: KW_ONLY
    x: Column = None
    """Column along the picture, such as ``rate``; the last part of a name is enough if it is
    unique."""
    y: Column = None
    """Column up the picture, such as ``latency.mean``, named as for ``--x``."""
    by: Annotated[str | None, Typed(metavar="COLUMN,..", several="COLUMN,COLUMN")] = None
    """Columns, joined by commas, with a curve for each combination of their values; default: the
    options in which rows of one point differ, but for the seed."""
    panels: Column = None
    """Column with a panel for each of its values."""
    error: Column = None
    """Column over whose values rows are averaged, such as ``seed``."""
    bars: Literal["confidence", "deviation", "range"] | None = None
    """Bars at the points: the mean's interval of 95 % by Student's t (the default), the sample's
    standard deviation, or the least and the largest value."""
    hollow: Column = None
    """Column that is true in rows whose points are hollow and dashed, such as ``saturated``; y
    begins at 0."""
    tick: Column = None
    """Column with the place on the x axis that a tick marks for each curve, such as ``bound``."""
    where: Annotated[str | Sequence[str] | None, Typed(metavar="COLUMN=VALUE")] = None
    """Condition ``COLUMN=VALUE`` that rows have to meet; may be given several times."""
    log: Annotated[str | None, Typed(metavar="x,y")] = None
    """Logarithmic axes: ``x``, ``y`` or ``x,y``."""
    x_label: Annotated[str | None, Typed(metavar="TEXT")] = None
    """Text at the x axis; default: its column."""
    y_label: Annotated[str | None, Typed(metavar="TEXT")] = None
    """Text at the y axis; default: its column."""
    width: Annotated[float | None, Typed(metavar="INCHES")] = None
    """Width of the picture in inches; default: 5."""
    output: Picture = None


plot = function_with(PlotOptions, PlotResult, Common)
