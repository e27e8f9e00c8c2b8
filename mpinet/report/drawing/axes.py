"""Curves as papers print them, by matplotlib: SVG, PDF and PNG, the same bytes in every run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mpinet.report.curves import Curve
from mpinet.report.drawing.figure import library, written

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that people with colour-blindness can tell apart, too (Okabe, Ito)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")

ROOM = 1.8
"""Height of y, in highest points that are not hollow: enough of the others to show the knee."""

REACH = 2.0
"""Largest place of a tick, in largest places of its curve's points."""

MOST_NAMED = 8
"""Most values on a logarithmic axis that all are named."""

TICK = 0.025
"""Height of a tick, in heights of a panel."""

FONTS = {
    "font.family": "STIXGeneral",  # of the kind that papers are set in; comes with matplotlib
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 4,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
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
    knees: bool = False,
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
    knees : bool
        Whether points may be hollow: y begins at 0 and ends where the hollow ones have shown the
        knee, and the other points are filled.
    """
    matplotlib = library()
    # Settings of the user's own matplotlibrc would change the bytes of the file.
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **FONTS, "backend": "agg"}):
        made = partial(_figure, curves, width, labels, log, knees)
        return written(made, kind, dpi=200, bbox_inches="tight")


def _figure(
    curves: Sequence[Curve],
    width: float,
    labels: tuple[str, str],
    log: Sequence[str],
    knees: bool = False,
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
                _draw(axes, curve, names.index(curve.label), knees)
        # Names of networks are long, and level labels would overlap.
        if any(isinstance(dot.x, str) for curve in curves for dot in curve.dots):
            axes.tick_params(axis="x", labelrotation=30)
        axes.set_title(panel, fontsize=9)
        axes.set_xlabel(labels[0])
        axes.grid(True, which="major", color="#d8dde2", linewidth=0.4)
        if "x" in log:
            _scale_by_log(axes, curves)
        if "y" in log and any(dot.high > 0 for curve in curves for dot in curve.dots):
            axes.set_yscale("log")
    every[0].set_ylabel(labels[1])
    if knees:
        _show_knees(every[0], curves, log)
    others = _marks(curves)
    if names != [""] or others:
        _legend(every, [name for name in names if name], others, _title(curves))
    return made


def _show_knees(axes: Any, curves: Sequence[Curve], log: Sequence[str]) -> None:
    """Set the ends of y, which all panels share."""
    stable = [dot.high for curve in curves for dot in curve.dots if not dot.hollow]
    every = [dot.high for curve in curves for dot in curve.dots]
    # Beyond saturation latency grows without bound, and would press the stable part of the curve
    # flat.
    if stable and max(every) > ROOM * max(stable) > 0:
        axes.set_ylim(top=ROOM * max(stable))
    if "y" not in log and min(every) >= 0:
        axes.set_ylim(bottom=0)


def _scale_by_log(axes: Any, curves: Sequence[Curve]) -> None:
    """Make x logarithmic; a few values have ticks of their own."""
    axes.set_xscale("log")
    values = sorted({dot.x for curve in curves for dot in curve.dots})
    # A logarithmic axis marks powers of ten alone, and would name none of the sizes 16, 32, 64.
    if len(values) <= MOST_NAMED:
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.set_xticks([], minor=True)


def _title(curves: Sequence[Curve]) -> str | None:
    """Name the columns whose values labels list, where one of these is a number."""
    words = [word for curve in curves for word in curve.label.split(", ")]
    if not any(word.replace(".", "", 1).isdigit() for word in words):
        return None
    return ", ".join(name.rpartition(".")[2].replace("_", " ") for name in curves[0].by)


def _marks(curves: Sequence[Curve]) -> dict[str, Any]:
    """Return legend entries for what hollow points and ticks mean."""
    line = library("matplotlib.lines").Line2D
    marks = {}
    if any(dot.hollow for curve in curves for dot in curve.dots):
        style: dict[str, Any] = {"markerfacecolor": "white", "linestyle": "--"}
        marks["saturated"] = line([], [], color="#777777", marker="o", **style)
    if any(map(_shows_tick, curves)):
        marks["bound"] = line([], [], color="#777777", marker="|", linestyle="", markersize=8)
    return marks


def _draw(axes: Any, curve: Curve, number: int, knees: bool) -> None:
    """Draw a curve, with bars for points of several values; its hollow points are dashed."""
    colour = COLOURS[number % len(COLOURS)]
    style = {"color": colour, "marker": MARKERS[number % len(MARKERS)], "markeredgewidth": 0.9}
    solid = [dot for dot in curve.dots if not dot.hollow]
    hollow = [dot for dot in curve.dots if dot.hollow]
    below = [dot.y - dot.low for dot in solid]
    above = [dot.high - dot.y for dot in solid]
    is_named = isinstance(curve.dots[0].x, str)
    axes.errorbar(
        [dot.x for dot in solid],
        [dot.y for dot in solid],
        yerr=[below, above] if any(below) or any(above) else None,
        label=curve.label,
        linestyle="" if is_named else LINES[number // len(COLOURS) % len(LINES)],
        markerfacecolor=colour if knees else "white",
        capsize=2,
        elinewidth=0.7,
        **style,
    )
    beyond = [*solid[-1:], *hollow]
    if hollow:
        dashed = "" if is_named else "--"
        line = {
            "linestyle": dashed,
            "markerfacecolor": "white",
            "markevery": slice(len(solid[-1:]), None),
        }
        axes.plot([dot.x for dot in beyond], [dot.y for dot in beyond], **style, **line)
    if _shows_tick(curve):  # on one another
        ends, at = (TICK * number, TICK * (number + 1)), axes.get_xaxis_transform()
        axes.plot([curve.tick] * 2, ends, color=colour, linewidth=2, transform=at)


def _shows_tick(curve: Curve) -> bool:
    """Return True if the curve has a tick that is within `REACH`."""
    return curve.tick is not None and curve.tick <= REACH * max(dot.x for dot in curve.dots)


def _legend(
    every: Sequence[Any], names: Sequence[str], others: dict[str, Any], title: str | None
) -> None:
    """Draw one legend for all panels, beside the last."""
    handles: dict[str, Any] = {}
    for axes in every:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    every[-1].legend(
        [*(handles[name] for name in names), *others.values()],
        [*names, *others],
        title=title,
        loc="center left",
        bbox_to_anchor=(1.02, 0.5),
        frameon=False,
    )
