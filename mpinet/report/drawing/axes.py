"""Curves in the style of papers, by matplotlib: SVG, PDF and PNG, with equal bytes in every run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from mpinet.base.units import readable
from mpinet.report.curves import BOUND, Curve
from mpinet.report.drawing.figure import library, saved

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that colour-blind readers can distinguish (Okabe, Ito)."""

GREY = "#777777"
"""Colour of bounds and of the legend's marks."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")

ROOM = 1.2
"""Least height of the y axis, as a multiple of the largest value of a point that is not hollow."""

ZERO_LOADS = 4.0
"""Least height of the y axis, as a multiple of the largest value at a curve's first point."""

REACH = 2.0
"""Largest x of a shown tick, as a multiple of the largest x of its curve's points."""

MOST_NAMED = 8
"""Largest number of values on a logarithmic axis for which every value is labelled."""

TICK = 0.035
"""Height of a tick or an arrow, as a part of the panel's height."""

FONTS = {
    "font.family": "DejaVu Sans",  # the font of all pictures; included in matplotlib
    "font.size": 8.5,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 4,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "pdf.fonttype": 42,
}


def plotted(curves: Sequence[Curve], kind: str, *how: Any, **more: Any) -> bytes:
    """Draw curves; return the bytes of a picture of a kind: svg, pdf or png.

    The other parameters are those of `figure_of`.
    """
    made = partial(figure_of, curves, *how, **more)
    return saved(made, kind, FONTS, dpi=200, bbox_inches="tight")


def figure_of(
    curves: Sequence[Curve],
    width: float,
    labels: tuple[str, str],
    log: Sequence[str] = (),
    knees: bool = False,
    title: str = "",
    units: tuple[str, str] = ("", ""),
) -> Any:
    """Draw curves as a matplotlib figure with a common legend on the right.

    Parameters
    ----------
    curves : sequence of Curve
        The curves. Each of their panels is drawn, side by side.
    width : float
        Width in inches.
    labels : (str, str)
        Labels of the x and y axes.
    log : sequence of str
        Logarithmic axes: x, y or both.
    knees : bool
        True if points may be hollow. The y axis then starts at 0 and ends above the knee. Arrows
        at the upper end mark the points above it.
    title : str
        What all curves have in common, such as the network. The legend does not repeat it.
    units : (str, str)
        Units of x and y: B (bytes) or a unit of time. Labels of ticks have the unit that fits.
    """
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    names = list(dict.fromkeys(curve.label for curve in curves))
    height = 0.7 * width if len(panels) == 1 else 0.85 * width / len(panels) + 0.5
    made = library("matplotlib.figure").Figure(figsize=(width, height), facecolor="white")
    every = made.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    ticker = library("matplotlib.ticker")
    edge = _edge(curves) if knees and "y" not in log else np.inf
    for panel, axes in zip(panels, every, strict=True):
        for curve in curves:
            if curve.panel == panel:
                _draw(axes, curve, names.index(curve.label), edge)
        # Names of networks are long. Horizontal labels would overlap.
        if any(isinstance(dot.x, str) for curve in curves for dot in curve.dots):
            axes.tick_params(axis="x", labelrotation=30)
        both = dict.fromkeys([title] * (len(panels) == 1) + [panel])
        axes.set_title(", ".join(filter(None, both)), fontsize=9)
        axes.set_xlabel(labels[0])
        axes.grid(True, which="major", color="#d8dde2", linewidth=0.4)
        if "x" in log:
            _scale_by_log(axes, curves)
        if "y" in log and any(dot.high > 0 for curve in curves for dot in curve.dots):
            axes.set_yscale("log")
            if axes.get_ylim()[1] < 100 * axes.get_ylim()[0]:  # a short axis has few powers of ten
                axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
                axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        if units[0]:
            axes.xaxis.set_major_formatter(ticker.EngFormatter(units[0]))
        if units[1]:
            axes.yaxis.set_major_formatter(lambda time, place: readable(max(time, 0.0), units[1]))
    every[0].set_ylabel(labels[1])
    if edge < np.inf:
        every[0].set_ylim(top=1.05 * edge)
    if knees and "y" not in log and min(dot.y for curve in curves for dot in curve.dots) >= 0:
        every[0].set_ylim(bottom=0)
    if len(panels) > 1 and title:
        made.suptitle(title, fontsize=9, y=1.0)
    others = _marks(curves, edge)
    names = [name for name in names if name and name not in title.split(", ")]
    if names or others:
        _legend(every, names, others, _title(curves) if names else None)
    return made


def _edge(curves: Sequence[Curve]) -> float:
    """Return the value above which points become arrows; infinity if all points fit."""
    dots = [dot for curve in curves for dot in curve.dots]
    stable = [dot.high for dot in dots if not dot.hollow]
    # Latency grows without bound beyond saturation, which would flatten the stable part of the
    # curve.
    first = max(curve.dots[0].y for curve in curves if curve.dots[0].hollow <= (not stable))
    edge = max(ZERO_LOADS * first, ROOM * max(stable, default=0.0))
    return edge if max(dot.y for dot in dots) > edge > 0 else np.inf


def _scale_by_log(axes: Any, curves: Sequence[Curve]) -> None:
    """Make the x axis logarithmic; label every value if there are few."""
    axes.set_xscale("log")
    values = sorted({dot.x for curve in curves for dot in curve.dots})
    # A logarithmic axis labels only powers of ten, and none of the sizes 16, 32 and 64.
    if len(values) <= MOST_NAMED:
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.set_xticks([], minor=True)


def _title(curves: Sequence[Curve]) -> str | None:
    """Return the legend's title: the columns of the labels, if any label contains a number."""
    words = [word for curve in curves for word in curve.label.split(", ")]
    if not any(word.replace(".", "", 1).isdigit() for word in words):
        return None
    return ", ".join(name.rpartition(".")[2].replace("_", " ") for name in curves[0].by)


def _marks(curves: Sequence[Curve], edge: float) -> dict[str, Any]:
    """Return legend entries that explain the hollow points and the arrows in the picture."""
    line = library("matplotlib.lines").Line2D
    hollow = [dot.y for curve in curves for dot in curve.dots if dot.hollow]
    style: dict[str, Any] = {"color": GREY, "markerfacecolor": "white", "linestyle": "--"}
    marks = {"saturated": "o"} if any(y <= edge for y in hollow) else {}
    marks |= {"saturated, above the frame": "^"} if any(y > edge for y in hollow) else {}
    return {name: line([], [], marker=marker, **style) for name, marker in marks.items()}


def _draw(axes: Any, curve: Curve, number: int, edge: float) -> None:
    """Draw a curve with error bars; lines to hollow points are dashed."""
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    if curve.label == BOUND:
        colour, marker = GREY, ""
    style = {"color": colour, "marker": marker, "markeredgewidth": 0.9}
    solid = [dot for dot in curve.dots if not dot.hollow]
    hollow = [dot for dot in curve.dots if dot.hollow]
    reach = [[dot.y - dot.low for dot in solid], [dot.high - dot.y for dot in solid]]
    is_named = isinstance(curve.dots[0].x, str)
    line = "" if is_named else LINES[number // len(COLOURS) % len(LINES)]
    bars: dict[str, Any] = {"label": curve.label, "linestyle": line, "capsize": 2}
    bars |= {"elinewidth": 0.7, "yerr": reach if any(map(any, reach)) else None}
    axes.errorbar([dot.x for dot in solid], [dot.y for dot in solid], **bars, **style)
    ends, at = (TICK * number, TICK * (number + 1)), axes.get_xaxis_transform()
    white = style | {"markerfacecolor": "white"}
    above = [dot.x for dot in hollow if dot.y > edge]
    if hollow:
        # The line ends at the first arrow: a line from arrow to arrow would look like a plateau.
        beyond = [*solid[-1:], *(dot for dot in hollow if dot.y <= edge or dot.x == above[0])]
        level = 1 - TICK * (number + 1)
        heights = [min(dot.y, level * 1.05 * edge) for dot in beyond]
        white |= {"linestyle": "" if is_named else "--"}
        dots = [n for n, dot in enumerate(beyond) if dot.hollow and dot.y <= edge]
        axes.plot([dot.x for dot in beyond], heights, markevery=dots, **white)
        white |= {"marker": "^", "linestyle": "", "transform": at}
        axes.plot(above, [level] * len(above), **white)
    tick = curve.tick
    if tick is not None and tick <= REACH * (
        end := max(dot.x for dot in curve.dots)
    ):  # drawn one on top of the other
        axes.plot([tick] * 2, ends, color=colour, linewidth=2, transform=at)
        # Right of its bound a network is saturated, and the lower part of the picture is empty.
        side = -1 if tick > 0.8 * end else 1
        halo = library("matplotlib.patheffects").withStroke(linewidth=2.2, foreground="white")
        style = {"color": colour, "ha": "left" if side > 0 else "right", "path_effects": [halo]}
        style |= {"va": "bottom", "zorder": 1.9}  # below the curves, which a halo must not hide
        place = {"xycoords": at, "textcoords": "offset points", "xytext": (3 * side, 2)}
        text = f"bound {curve.tick:.3g}"
        axes.annotate(text, (curve.tick, ends[0]), fontsize=7, **place, **style)


def _legend(
    every: Sequence[Any], names: Sequence[str], others: dict[str, Any], title: str | None
) -> None:
    """Draw one legend for all panels, to the right of the last panel."""
    handles: dict[str, Any] = {}
    for axes in every:
        handles = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True)) | handles
    marks = [*(handles[name] for name in names), *others.values()]
    place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "frameon": False}
    every[-1].legend(marks, [*names, *others], title=title, **place)
