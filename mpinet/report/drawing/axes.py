"""Curves as papers print them, by matplotlib: SVG, PDF and PNG, the same bytes in every run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpinet.report.curves import Curve
from mpinet.report.drawing.figure import library, written

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that people with colour-blindness can tell apart, too (Okabe, Ito)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")

FONTS = {
    "font.family": "STIXGeneral",  # of the kind that papers are set in; comes with matplotlib
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 4,
    "legend.fontsize": 8,
    "svg.fonttype": "path",
    "svg.hashsalt": "mpinet",
    "pdf.fonttype": 42,
}


def plotted(
    curves: Sequence[Curve],
    kind: str,
    width: float,
    labels: tuple[str, str],
    log: Sequence[str] = (),
) -> bytes:
    """Draw curves; return the picture's bytes.

    Parameters
    ----------
    curves : sequence of Curve
        What is drawn; a panel for each of theirs, side by side.
    kind : str
        svg, pdf or png.
    width : float
        In inches.
    labels : (str, str)
        What stands at the axes.
    log : sequence of str
        Axes, of x and y, that are logarithmic.
    """
    matplotlib = library()
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **FONTS, "backend": "agg"}):
        made = _figure(curves, width, labels, log)
        return written(made, kind, dpi=200, bbox_inches="tight")


def _figure(
    curves: Sequence[Curve], width: float, labels: tuple[str, str], log: Sequence[str]
) -> Any:
    """Draw all panels, and one legend beside them."""
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    names = list(dict.fromkeys(curve.label for curve in curves))
    height = 0.7 * width if len(panels) == 1 else 0.85 * width / len(panels) + 0.5
    made = library("matplotlib.figure").Figure(figsize=(width, height), facecolor="white")
    every = made.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, axes in zip(panels, every, strict=True):
        for curve in curves:
            if curve.panel == panel:
                _draw(axes, curve, names.index(curve.label))
        if any(isinstance(dot.x, str) for curve in curves for dot in curve.dots):
            axes.tick_params(axis="x", labelrotation=30)
        axes.set_title(panel, fontsize=9)
        axes.set_xlabel(labels[0])
        axes.grid(True, which="major", color="#d8dde2", linewidth=0.4)
        if "x" in log:
            axes.set_xscale("log")
        if "y" in log:
            axes.set_yscale("log")
    every[0].set_ylabel(labels[1])
    if names != [""]:
        _legend(every, names)
    return made


def _draw(axes: Any, curve: Curve, number: int) -> None:
    """Draw a curve, with bars for points of several values."""
    x = [dot.x for dot in curve.dots]
    y = [dot.y for dot in curve.dots]
    below = [dot.y - dot.low for dot in curve.dots]
    above = [dot.high - dot.y for dot in curve.dots]
    axes.errorbar(
        x,
        y,
        yerr=[below, above] if any(below) or any(above) else None,
        label=curve.label,
        color=COLOURS[number % len(COLOURS)],
        marker=MARKERS[number % len(MARKERS)],
        linestyle="" if isinstance(x[0], str) else LINES[number // len(COLOURS) % len(LINES)],
        markerfacecolor="white",
        markeredgewidth=0.9,
        capsize=2,
        elinewidth=0.7,
    )


def _legend(every: Sequence[Any], names: Sequence[str]) -> None:
    """Draw one legend for all panels, beside the last."""
    handles: dict[str, Any] = {}
    for axes in every:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    every[-1].legend(
        [handles[name] for name in names],
        names,
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
    )
