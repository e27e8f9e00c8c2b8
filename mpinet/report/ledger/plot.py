"""Plots of claimed and measured values as SVG within the ledger's page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log2
from typing import Any

from mpinet.claims.paper import ClaimCurve, Plot
from mpinet.networks import open as open_topology

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 12, 44

LOG = 30.0
"""Smallest ratio of largest to smallest value for a logarithmic axis."""

Points = list[tuple[float, float]]


def drawn(plot: Plot, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a plot as an HTML figure; a sentence if fewer than two points were measured.

    The text is empty if no claim of the plot has a verdict.

    Parameters
    ----------
    plot : Plot
        The plot.
    rows : mapping
        Verdicts as JSON objects, by claim id.
    """
    curves = [(curve, points_of(curve, plot.against, rows)) for curve in plot.curves]
    curves = [(curve, points) for curve, points in curves if points]
    # An axis cannot be scaled by one point, and quick runs often measure only one point of a curve.
    if max((len(points) for _, points in curves), default=0) < 2:
        if not any(claim in rows for curve in plot.curves for claim in curve.claims()):
            return ""
        return (
            f'<p class="quiet">{escape(plot.title)}: not drawn, as fewer than two of its points '
            "were measured; --budget full measures all.</p>"
        )
    across = _Axis([x for _, points in curves for x, _ in points], LEFT, WIDTH - RIGHT)
    up = _Axis([y for _, points in curves for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [*_grid(across, up), *_labels(plot)]
    if plot.against == "claimed":
        parts.append(_diagonal(across, up))
    scattered = plot.against == "claimed"
    parts += [
        part
        for number, (curve, points) in enumerate(curves)
        for part in _curve(curve, points, number, across, up, scattered)
    ]
    legend = "".join(
        f'<li class="curve{number} {curve.value}">{_sample(curve)} {escape(curve.name)}</li>'
        for number, (curve, _) in enumerate(curves)
    )
    claims = dict.fromkeys(claim for curve, _ in curves for claim in curve.claims())
    links = ", ".join(
        f'<a href="#{escape(claim)}">{escape(claim)}</a>' for claim in claims if claim in rows
    )
    return f"""<figure>
<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(plot.title)}">
{"".join(parts)}
</svg>
<ul class="legend">{legend}</ul>
<figcaption>{escape(plot.title)} <span class="quiet">({links})</span></figcaption>
</figure>"""


def points_of(curve: ClaimCurve, against: str, rows: Mapping[str, Mapping[str, Any]]) -> Points:
    """Return the points of a curve, from left to right."""
    return sorted(
        {
            (x, y)
            for _, x, value in places_of(curve, against, rows)
            if is_number(x) and is_number(y := value_of(curve, value, curve.value))
        }
    )


def places_of(
    curve: ClaimCurve, against: str, rows: Mapping[str, Mapping[str, Any]]
) -> Iterable[tuple[str, Any, Mapping[str, Any]]]:
    """Yield a curve's points: claim, position on the horizontal axis, and values."""
    for claim in curve.claims():
        for value in (rows[claim]["values"] or []) if claim in rows else []:
            arguments = dict(word.partition("=")[::2] for word in value["point"].split())
            if curve.of is None or curve.of(arguments["topology"]):
                yield claim, curve.at.get(claim) or _place(arguments, value, against), value


def value_of(curve: ClaimCurve, value: Mapping[str, Any], which: str) -> Any:
    """Return the value ``measured`` or ``claimed`` at a point of a curve."""
    found = value[which]
    return found.get(curve.key) if curve.key and isinstance(found, Mapping) else found


def is_number(value: Any) -> bool:
    """Return whether a value can be placed on an axis."""
    return isinstance(value, int | float) and value > 0


def _place(arguments: Mapping[str, str], value: Mapping[str, Any], against: str) -> Any:
    """Return a point's value on the horizontal axis."""
    if against == "claimed":
        return value["claimed"]
    if against == "size":
        return open_topology(arguments["topology"]).size
    return float(arguments[against])


def along(plot: Plot) -> str:
    """Return the label of a plot's horizontal axis."""
    return "processors N" if plot.against == "size" else plot.against


class _Axis:
    """Axis that maps values to positions."""

    def __init__(self, values: Sequence[float], begin: float, end: float):
        least, most = min(values), max(values)
        self._log = is_wide(values)
        # A linear axis begins at 0, because a cut axis would make small differences look large.
        low = self._of(least) if self._log else 0.0
        self._low = floor(low)
        self._high = ceil(self._of(most)) if self._log else most * 1.05
        self._begin, self._end = begin, end

    def _of(self, value: float) -> float:
        return log2(value) if self._log else value

    def at(self, value: float) -> float:
        """Return the position of a value on the axis."""
        share = (self._of(value) - self._low) / ((self._high - self._low) or 1.0)
        return round(self._begin + share * (self._end - self._begin), 1)

    def ticks(self) -> Iterable[tuple[float, str]]:
        """Return the positions of the ticks with their labels."""
        if self._log:
            every = max(1, ceil((self._high - self._low) / 8))
            exponents = range(int(self._low), int(self._high) + 1, every)
            return [(2.0**e, f'2<tspan dy="-5" font-size="9">{e}</tspan>') for e in exponents]
        step = _round_step(self._high / 6)
        return [(i * step, f"{i * step:g}") for i in range(int(self._high / step) + 1)]


def is_wide(values: Sequence[float]) -> bool:
    """Return whether an axis for these values is logarithmic."""
    return max(values) > LOG * min(values)


def _round_step(step: float) -> float:
    """Round up to the next of 1, 2, 5, 10, 20, 50, ..."""
    power = 10.0 ** floor(log2(step) / log2(10))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= step)


def _grid(across: _Axis, up: _Axis) -> Iterable[str]:
    """Draw the grid's lines and numbers."""
    for value, text in up.ticks():
        y = up.at(value)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{text}</text>'
    for value, text in across.ticks():
        x = across.at(value)
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        yield f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{text}</text>'


def _labels(plot: Plot) -> Iterable[str]:
    """Draw the labels of the axes."""
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield (
        f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
        f'text-anchor="middle">{escape(along(plot))}</text>'
    )
    yield (
        f'<text class="axis" x="14" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 14 {middle})">{escape(plot.y)}</text>'
    )


def _diagonal(across: _Axis, up: _Axis) -> str:
    """Draw the line of equal measured and claimed values."""
    # The line ends where the shorter axis ends, so it stays within the frame.
    most = min(max(v for v, _ in across.ticks()), max(v for v, _ in up.ticks()))
    least = max(min(v for v, _ in across.ticks()), min(v for v, _ in up.ticks()))
    ends = f'x1="{across.at(least)}" y1="{up.at(least)}" x2="{across.at(most)}" y2="{up.at(most)}"'
    return f'<line class="diagonal" {ends}/>'


def _curve(
    curve: ClaimCurve, points: Points, number: int, across: _Axis, up: _Axis, scattered: bool
) -> Iterable[str]:
    """Draw a curve's points and the line through them."""
    at = [(across.at(x), up.at(y)) for x, y in points]
    name = f"curve{number} {curve.value}"
    if not scattered:
        line = " ".join(f"{x},{y}" for x, y in at)
        yield f'<polyline class="{name}" points="{line}"/>'
    for (x, y), (value_x, value_y) in zip(at, points, strict=True):
        shown = re.sub(r"\.?0+$", "", f"{value_y:.4f}") if value_y % 1 else f"{value_y:g}"
        above = " above" if scattered and value_y > value_x else ""
        yield (
            f'<circle class="{name}{above}" cx="{x}" cy="{y}" r="3.2">'
            f"<title>{escape(curve.name)}: {shown} at {value_x:g}</title></circle>"
        )


def _sample(curve: ClaimCurve) -> str:
    """Draw a sample of the curve's line for the legend."""
    line = f'<line class="{curve.value}" x1="0" x2="26" y1="6" y2="6"/>'
    return f'<svg class="sample" viewBox="0 0 26 12" aria-hidden="true">{line}</svg>'
