"""Files of plots: their checks before a run, and curves written into them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from mpinet.base.files import whole_file
from mpinet.base.units import SECONDS, fitting
from mpinet.report.curves import Curve
from mpinet.report.files import PLOT_WIDTH, PLOTS, require_file


def require_plot(file: str | Path | None) -> None:
    """Refuse a plot's file that cannot be written; None: there is no plot.

    Raises
    ------
    UsageError
        No plot has such a name, or there is no matplotlib.
    """
    from mpinet.report.drawing.figure import library

    if file is not None:
        require_file(Path(file), PLOTS, "a plot's file")
        library()


def write_curves(
    file: Path,
    curves: Sequence[Curve],
    labels: tuple[str, str],
    width: float = PLOT_WIDTH,
    log: Sequence[str] = (),
    knees: bool = False,
) -> None:
    """Draw curves into a file, as `mpinet.report.drawing.axes.plotted` does."""
    from mpinet.report.drawing.axes import plotted

    require_file(file, PLOTS, "a plot's file")
    kind = file.suffix.lower().removeprefix(".")
    # What is drawn is made before the file is opened: an error leaves a former plot as it was.
    made = plotted(curves, kind, width, labels, log, knees)
    with whole_file(file) as opened:
        opened.write(made)


def shown_times(times: Iterable[float], unit: str) -> tuple[str, Fraction]:
    """Return the unit in which the least of some times is readable, and the factor to it."""
    shown = fitting(min(times, default=0), unit)
    return shown, SECONDS[unit] / SECONDS[shown]
