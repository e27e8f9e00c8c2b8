"""Files of plots: checks before a run, and writing of curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mpinet.base.files import whole_file
from mpinet.report.curves import Curve
from mpinet.report.files import PLOT_WIDTH, PLOTS, require_file


def require_plot(file: str | Path | None) -> None:
    """Raise an error for a plot file that cannot be written; None means no plot.

    Raises
    ------
    UsageError
        The file's ending is unknown, or matplotlib is missing.
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
    **how: Any,
) -> None:
    """Draw curves into a file, as `mpinet.report.drawing.axes.plotted` does."""
    from mpinet.report.drawing.axes import plotted

    require_file(file, PLOTS, "a plot's file")
    kind = file.suffix.lower().removeprefix(".")
    # The picture is drawn before the file is opened, so an error leaves an earlier plot unchanged.
    made = plotted(curves, kind, width, labels, **how)
    with whole_file(file) as opened:
        opened.write(made)
