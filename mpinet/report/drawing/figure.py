"""Pictures by matplotlib: SVG, PDF and PNG, with equal bytes in every run."""

from __future__ import annotations

import itertools
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.report.drawing.scene import Scene, pulled
from mpinet.report.shapes import Points, nearest

LINK, NODE, SWITCH, BUS, INK = "#8796a8", "#1c5d99", "#c8662b", "#5b6b7a", "#1b2530"

HEAT = ["#cfd9e4", "#f0b43c", "#d0412c", "#4d0b1d"]
"""Colours of links from idle to most loaded."""

STEPS = ["#0d0887", "#7e03a8", "#cc4778", "#f89540"]
"""Colours of steps from first to last (plasma, which colour-blind readers can order)."""

IDLE = "#d5dce4"
"""Colour of links and nodes that a run does not reach."""

KINDS = [LINK, "#c8862b", "#2e8b6f", "#e3e8ee"]
"""Colours of the kinds of links (`mpinet.report.lines.kinds_of_links`); the last one is faded."""

MOST_VECTORS = 5000
"""Largest number of links, nodes or movements drawn as lines in SVG or PDF; more become pixels."""

ROUTES = ["#c2185b", "#00897b", "#6a3fb5", "#e07b00", "#2e7d32", "#0277bd"]
"""Colours of routes, used in turn."""

AT_ONCE = 2000
"""Number of links drawn as one path."""

MARGIN = 0.14
"""Margin around the network, in inches; `_margin` computes a wider one for labels."""

PLAIN: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "mpinet"},
    "pdf": {"CreationDate": None, "Creator": "mpinet", "Producer": None},
    "png": {"Software": "mpinet"},
}
"""Metadata of the files by format, without anything that differs from run to run."""


FIXED = {"svg.hashsalt": "mpinet", "svg.fonttype": "path", "pdf.compression": 6, "backend": "agg"}
"""Settings of matplotlib that give equal bytes in every run."""


def library(module: str = "matplotlib") -> Any:
    """Import a module of matplotlib, which the extra ``plots`` installs.

    Raises
    ------
    UsageError
        matplotlib is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(
            'A picture needs the library matplotlib: pip install "mpinet[plots]". '
            "(An .html picture needs no library.)"
        ) from None


def saved(made: Callable[[], Any], kind: str, fonts: Any = (), **settings: Any) -> bytes:
    """Make a figure and save it as bytes; report characters that are missing in the font.

    The user's settings have no effect. Other warnings of matplotlib concern mpinet's settings and
    are not shown to the user.

    Parameters
    ----------
    made : callable
        Makes the matplotlib figure.
    kind : str
        svg, pdf or png.
    fonts : mapping, optional
        Settings of matplotlib other than the defaults.
    **settings
        Arguments of ``savefig``.
    """
    matplotlib = library()
    file = BytesIO()
    # matplotlib only warns about a missing glyph, but the reader sees a box in the picture.
    with (
        warnings.catch_warnings(record=True) as told,
        matplotlib.rc_context({**matplotlib.rcParamsDefault, **FIXED, **dict(fonts)}),
    ):
        warnings.simplefilter("always")
        made().savefig(file, format=kind, metadata=PLAIN[kind], **settings)
    lacking = set()
    for each in told:
        if found := re.match(r"Glyph (\d+) ", str(each.message)):
            lacking.add(ascii(chr(int(found[1]))))
    if lacking:
        listed = ", ".join(sorted(lacking))
        print(f"mpinet: boxes replace characters missing in the font: {listed}.", file=sys.stderr)
    return file.getvalue()


def figure(shown: Scene, width: float = 6.0) -> Any:
    """Draw a picture as a matplotlib figure.

    Parameters
    ----------
    shown : Scene
        The picture.
    width : float
        Width in inches.
    """
    height = height_of(shown, width)
    made = library("matplotlib.figure").Figure(figsize=(width, height), facecolor="white")
    paint(made, shown, width, height)
    return made


def height_of(shown: Scene, width: float) -> float:
    """Return the height in inches of a picture of the given width."""
    spread = np.ptp(shown.points, axis=0) + 2 * shown.aside
    shape = float(np.clip(spread[1] / max(spread[0], 1e-9), 0.2, 2.0))
    margin = _margin(shown)
    return shape * (width - _beside(shown, width) - 2 * margin) + 2 * margin


def _margin(shown: Scene) -> float:
    """Return the margin in inches: half the width of the longest label, at most an inch."""
    longest = max(map(len, shown.labels), default=0)
    return MARGIN + (max(0.1, min(1.0, 0.03 * longest)) if longest else 0.0)


def _beside(shown: Scene, width: float) -> float:
    """Return the width of the colour bar in inches; 0 for a picture without loads."""
    return min(0.9, 0.3 * width) if shown.loads is not None else 0.0


def paint(made: Any, shown: Scene, width: float, height: float) -> None:
    """Paint a picture into a matplotlib figure or subfigure of the given size in inches."""
    beside = _beside(shown, width)
    axes = made.add_axes((0, 0, 1 - beside / width, 1))
    _frame(axes, shown, width - beside, height)
    scale = 72 * (width - beside) / (axes.get_xlim()[1] - axes.get_xlim()[0])
    _draw_links(made, axes, shown, beside / width)
    for number, route in enumerate(shown.routes):
        _draw_route(axes, shown, route, ROUTES[number % len(ROUTES)], scale)
    _draw_nodes(axes, shown, scale)


def _frame(axes: Any, shown: Scene, width: float, height: float) -> None:
    """Set axis limits to fit the whole picture into the given size in inches at equal scales."""
    aside = shown.aside
    low, high = shown.points.min(axis=0) - aside, shown.points.max(axis=0) + aside
    middle, reach = (low + high) / 2, (high - low) / 2
    margin = _margin(shown)
    inch = max(reach[0] / (width / 2 - margin), reach[1] / (height / 2 - margin), 0.1)
    axes.set_xlim(middle[0] - inch * width / 2, middle[0] + inch * width / 2)
    axes.set_ylim(middle[1] - inch * height / 2, middle[1] + inch * height / 2)
    axes.set_axis_off()


def _draw_links(made: Any, axes: Any, shown: Scene, beside: float) -> None:
    count = max(1, len(shown.links))
    thick = float(np.clip(28 / np.sqrt(count), 0.25, 1.3))
    options: dict[str, Any] = {"facecolors": "none", "zorder": 1}
    # Viewers take minutes to open a vector file with tens of thousands of lines. Pixels look the
    # same and open at once.
    options["rasterized"] = is_many(shown)
    if shown.loads is None:
        for kind in np.unique(shown.kinds):
            those = np.flatnonzero(shown.kinds == kind)
            style = options | {"linewidths": thick * (2 if 0 < kind < 3 else 1)}
            style["zorder"] = 0.9 if kind == 3 else 1
            _add_lines(axes, shown, those, edgecolors=KINDS[kind], **style)
        return
    bar = made.add_axes((1 - beside * 0.8, 0.12, beside * 0.2, 0.76))
    values, colours = shown.loads, library("matplotlib.colors")
    most = int(values.max(initial=1)) or 1
    norm, fields = colours.Normalize(0, most), [shade(part / 255, HEAT) for part in range(256)]
    what = "messages over the bus" if shown.busses else "messages over the link, busier direction"
    if shown.steps is not None:  # a field of the colour bar for each step
        values, most = shown.steps, shown.last
        norm = colours.BoundaryNorm(np.arange(most + 2) - 0.5, most + 1)
        fields = [step_colour(shown, step) for step in range(most + 1)]
        what = f"step: {'bus' if shown.busses else 'link'} first used, node first informed"
    mappable = library("matplotlib.cm").ScalarMappable(norm, colours.ListedColormap(fields))
    for value in np.unique(values):  # ascending, so the most loaded links are on top
        width, colour = thick * (1 + 1.5 * value / most), shade(min(value / most, 1), HEAT)
        if shown.steps is not None:
            width, colour = thick * (1 if value > most else 2.2), step_colour(shown, value)
        those = np.flatnonzero(values == value)
        _add_lines(axes, shown, those, edgecolors=[colour], linewidths=width, **options)
    whole = library("matplotlib.ticker").MaxNLocator(integer=True)
    made.colorbar(mappable, cax=bar, ticks=whole).set_label(what, fontsize=8)
    bar.tick_params(labelsize=8)


def shade(part: float, colours: Sequence[str]) -> str:
    """Return the colour of a relative load or step 0..1."""
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours])
    place = part * (len(stops) - 1)
    below = min(int(place), len(stops) - 2)
    mixed = stops[below] + (place - below) * (stops[below + 1] - stops[below])
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


def step_colour(shown: Scene, step: int) -> str:
    """Return the colour of a step; of a later step than the last one, which never comes, a grey."""
    return shade(step / shown.last, STEPS) if step <= shown.last else IDLE


def _add_lines(axes: Any, shown: Scene, which: Ints, **style: Any) -> None:
    """Add links of one style: straight lines, curves, and pairs of stubs."""
    path = library("matplotlib.path").Path
    paths = []
    # One path per link needs a Python object for each link, and matplotlib's renderer rejects a
    # path with too many lines.
    for begin in range(0, len(which), AT_ONCE):
        those = which[begin : begin + AT_ONCE]
        ends, bent = shown.points[shown.links[those]], shown.bends[those] != 0
        out, cut = shown.stubs[those], shown.stubs[those].any(axis=1)
        start, end = ends[:, 0], ends[:, 1]
        control = pulled(ends, shown.bends[those])
        straight, curve = [path.MOVETO, path.LINETO], [path.MOVETO, path.CURVE3, path.CURVE3]
        parts = [
            (np.stack([start, end], 1)[~bent & ~cut], straight),
            (np.stack([start, control, end], 1)[bent], curve),
            (np.stack([start, start + out, end, end - out], 1)[cut], 2 * straight),
        ]
        corners = np.concatenate([points.reshape(-1, 2) for points, _ in parts])
        codes = np.concatenate([np.tile(kinds, len(points)) for points, kinds in parts])
        paths.append(path(corners, codes.astype(np.uint8)))
    axes.add_collection(library("matplotlib.collections").PathCollection(paths, **style))


def _draw_route(axes: Any, shown: Scene, route: list[int], colour: str, scale: float) -> None:
    """Draw a route: a thick line, an arrow on every hop, and a ring at the target."""
    edge = 0.5 * _across(shown, shown.points[: shown.hosts], scale) / scale
    path = library("matplotlib.path").Path
    patch = library("matplotlib.patches").FancyArrowPatch
    for u, v in itertools.pairwise(route):
        start, end = shown.points[[u, v]]
        bend, stub = shown.way(u, v)
        middle = pulled(shown.points[[[u, v]]], np.array([bend]))[0]
        style = {"color": colour, "linewidth": 2.2, "alpha": 0.9, "zorder": 2}
        if stub.any():  # leaves at one side and enters at the other
            axes.add_patch(patch(path=path([start, start + stub]), arrowstyle="-", **style))
            start, middle = end - stub, end - stub / 2
        way = (end - middle) / max(float(np.hypot(*(end - middle))), 1e-12)
        end = end - min(edge, 0.3 * np.hypot(*(end - start))) * way
        curve = path([start, middle, end], [path.MOVETO, path.CURVE3, path.CURVE3])
        head = "-" if v >= shown.nodes else "-|>"
        axes.add_patch(patch(path=curve, arrowstyle=head, mutation_scale=11, **style))
    for stop, filled in ((route[0], colour), (route[-1], "none")):
        place = shown.points[stop]
        axes.scatter(*place, s=90, facecolors=filled, edgecolors=colour, linewidths=2, zorder=2.5)


def is_many(shown: Scene) -> bool:
    """Return whether a picture has too many links or nodes for vector graphics."""
    return max(len(shown.links), shown.nodes) > MOST_VECTORS


def _across(shown: Scene, points: Points, scale: float) -> float:
    """Return the diameter of a node in points; `scale` is points per unit of the picture."""
    room = nearest(points) * scale if len(points) > 1 else np.inf
    return float(np.clip(0.45 * room, 1.2, 16 if shown.labels else 9))


def _draw_nodes(axes: Any, shown: Scene, scale: float) -> None:
    """Draw circles for processors, squares for switches, dots for busses, and labels."""
    across = 0.0
    groups = ((0, shown.hosts, NODE, "o", 1.0), (shown.hosts, shown.nodes, SWITCH, "s", 0.9))
    for begin, end, colour, marker, part in groups:
        if begin == end:
            continue
        points = shown.points[begin:end]
        across = _across(shown, points, scale)
        styles: dict[str, Any] = {"linewidths": min(0.8, across / 8), "edgecolors": "white"}
        styles |= {"zorder": 3, "rasterized": is_many(shown)}
        known = shown.informed
        fill = colour if known is None else [step_colour(shown, n) for n in known[begin:end]]
        axes.scatter(*points.T, s=(part * across) ** 2, c=fill, marker=marker, **styles)
        for text, place in zip(shown.labels[begin:end], points, strict=False):
            _draw_label(axes, text, place, across)
    if shown.busses:
        dots = shown.points[shown.nodes :]
        axes.scatter(*dots.T, s=(0.35 * across) ** 2, c=BUS, marker="D", linewidths=0, zorder=2)


def _draw_label(axes: Any, text: str, place: Points, across: float) -> None:
    """Draw a label inside its node if the label fits, otherwise above the node."""
    inside = 0.62 * across
    if inside >= 5 and 0.6 * inside * len(text) < across:
        style = {"ha": "center", "va": "center_baseline", "color": "white", "fontsize": inside}
        axes.annotate(text, place, zorder=4, **style)
        return
    size = float(np.clip(0.8 * across, 3.5, 8))
    halo = library("matplotlib.patheffects").withStroke(linewidth=2.2, foreground="white")
    style = {"xytext": (0, across / 2 + 1), "textcoords": "offset points", "path_effects": [halo]}
    axes.annotate(text, place, ha="center", fontsize=size, color=INK, zorder=4, **style)
