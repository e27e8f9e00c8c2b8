"""Picture for a browser: one HTML page with the network as SVG, with zoom and tooltips."""

from __future__ import annotations

from html import escape
from itertools import pairwise

import numpy as np

from mpinet.report import html
from mpinet.report.drawing.figure import HEAT, KINDS, ROUTES, shade, step_colour
from mpinet.report.drawing.scene import Scene, pulled
from mpinet.report.html import part
from mpinet.report.shapes import Points, nearest

SIDE = 1000
"""Length of the drawing's longer side, in SVG units."""

DOWN = np.array([1.0, -1.0])
"""Factor that converts directions in the plane to SVG, whose y axis points downwards."""


def page(shown: Scene) -> str:
    """Return a picture as a self-contained HTML page."""
    title = escape(shown.name)
    body = f"""<header><h1>{title}</h1>
<p>{_caption(shown)}</p>
<form><input type="search" placeholder="address or number" aria-label="find a node"></form>
<output></output></header>
{drawing(shown)}
<script>
{part("drawing", "page.js")}</script>"""
    return html.page(shown.name, part("drawing", "page.css"), body)


def drawing(shown: Scene, width: int | None = None) -> str:
    """Return a picture as SVG without scripts.

    Parameters
    ----------
    shown : Scene
        The picture.
    width : int, optional
        Width in pixels. A drawing with a width contains its own colours. Default: as wide as the
        page, with the page's colours.
    """
    low, high = shown.points.min(axis=0) - shown.aside, shown.points.max(axis=0) + shown.aside
    scale = SIDE / max(float((high - low).max()), 1e-9)
    points = (shown.points - low) * scale
    # The y axis of SVG points downwards, the y axis of layouts upwards.
    points[:, 1] = (high[1] - low[1]) * scale - points[:, 1]
    box = (high - low) * scale
    radius = float(np.clip(0.22 * nearest(points[: shown.nodes]), 1.2, 14))
    room = radius + 6
    view = f"{-room:.1f} {-room:.1f} {box[0] + 2 * room:.1f} {box[1] + 2 * room:.1f}"
    size = f' width="{width}"' if width is not None else ""
    style = f"<style>{OWN}</style>" if width is not None else ""
    thick = float(np.clip(60 / np.sqrt(max(1, len(shown.links))), 0.4, 2.5))
    heat, known = ("" if one is None else " heat" for one in (shown.loads, shown.informed))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}"{size} role="img" '
        f'aria-label="{escape(shown.name)}">{style}',
        f'<g class="links{heat}" fill="none" stroke-width="{thick:.2f}">',
        *_lines(shown, points, scale),
        '</g><g class="routes" fill="none">',
        *(_route(shown, points, scale, route, number) for number, route in enumerate(shown.routes)),
        f'</g><g class="nodes{known}">',
        *_nodes(shown, points, radius),
        "</g></svg>",
    ]
    return "\n".join(parts)


OWN = (
    ".links{stroke:#8796a8}.nodes{fill:#1c5d99}.switch{fill:#c8662b}.bus{fill:#5b6b7a}"
    "text{font:12px 'DejaVu Sans',sans-serif;fill:#445;paint-order:stroke;stroke:#fff;"
    "stroke-width:3px}"
)
"""Colours of a drawing outside a page, for light and dark backgrounds."""


def _caption(shown: Scene) -> str:
    """Return a one-line caption of the picture."""
    parts = [f"{shown.hosts:,} processors"]
    if shown.hosts < shown.nodes:
        parts.append(f"{shown.nodes - shown.hosts:,} switches")
    parts.append(f"{shown.busses:,} busses" if shown.busses else f"{len(shown.links):,} links")
    if shown.loads is not None:
        parts.append(f"at most {int(shown.loads.max(initial=0)):,} messages over one")
    if shown.steps is not None:
        few = range(0, shown.last + 1, -(-(shown.last + 1) // 9))
        marks = (f'<b style="color:{step_colour(shown, n)}">\u25cf</b>&nbsp;{n}' for n in few)
        told = "step in which a link is first used and a node first informed"
        parts.append(f'{told}: <span class="steps">{" ".join(marks)}</span>')
    return ", ".join(parts)


def _lines(shown: Scene, points: Points, scale: float) -> list[str]:
    ends = points[shown.links]
    control = pulled(ends, -shown.bends * scale)  # y points downwards here
    out = shown.stubs * DOWN * scale
    cut = [bool(stub.any()) for stub in shown.stubs]
    most = int(shown.loads.max(initial=0)) if shown.loads is not None else 0
    lines = []
    # Links of special kinds come last, so they are painted over the plain links; faded ones first.
    for at in np.argsort(np.where(shown.kinds == 3, -1, shown.kinds), kind="stable").tolist():
        (u, v), (start, end) = shown.links[at].tolist(), ends[at]
        way = f"M{_at(start)}L{_at(end)}"
        if shown.bends[at]:
            way = f"M{_at(start)}Q{_at(control[at])} {_at(end)}"
        elif cut[at]:
            way = f"M{_at(start)}L{_at(start + out[at])}M{_at(end)}L{_at(end - out[at])}"
        heat = f' stroke="{KINDS[shown.kinds[at]]}"' if shown.kinds[at] else ""
        if shown.kinds[at] == 3:  # the ground of a page is light or dark
            heat = ' stroke-opacity="0.15"'
        if shown.loads is not None and most:
            load = int(shown.loads[at])
            steps = shown.steps
            colour = shade(load / most, HEAT) if steps is None else step_colour(shown, steps[at])
            heat = f' stroke="{colour}" data-load="{load}"'
        lines.append(f'<path d="{way}" data-u="{u}" data-v="{v}"{heat}/>')
    return lines


def _route(shown: Scene, points: Points, scale: float, route: list[int], number: int) -> str:
    way = f"M{_at(points[route[0]])}"
    for u, v in pairwise(route):
        bend, stub = shown.way(u, v)
        if stub.any():
            out = stub * DOWN * scale
            way += f"L{_at(points[u] + out)}M{_at(points[v] - out)}L{_at(points[v])}"
            continue
        control = pulled(points[[[u, v]]], -np.array([bend]) * scale)
        way += f"Q{_at(control[0])} {_at(points[v])}"
    colour = ROUTES[number % len(ROUTES)]
    name = " to ".join(escape(shown.addresses[stop]) for stop in (route[0], route[-1]))
    return f'<path d="{way}" stroke="{colour}" stroke-width="5"><title>{name}</title></path>'


def _nodes(shown: Scene, points: Points, radius: float) -> list[str]:
    marks = []
    for node, (x, y) in enumerate(points.tolist()):
        if node >= shown.nodes:
            bus = f"<title>bus {node - shown.nodes}</title>"
            place = f'cx="{x:.1f}" cy="{y:.1f}" r="{0.5 * radius:.1f}"'
            marks.append(f'<circle class="bus" data-n="{node}" {place}>{bus}</circle>')
            continue
        title, fill = f"<title>{node}: {escape(shown.addresses[node])}</title>", ""
        if shown.informed is not None:
            fill = f' fill="{step_colour(shown, shown.informed[node])}"'
        if node < shown.hosts:
            place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"'
            marks.append(f'<circle data-n="{node}" {place}{fill}>{title}</circle>')
        else:
            side = 1.8 * radius
            place = f'x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}"'
            kind = fill or ' class="switch"'  # the style of a class would hide its own colour
            place += f' height="{side:.1f}"{kind}'
            marks.append(f'<rect data-n="{node}" {place}>{title}</rect>')
    for text, (x, y) in zip(shown.labels, points.tolist(), strict=False):
        marks.append(
            f'<text x="{x:.1f}" y="{y - radius - 2:.1f}" text-anchor="middle">{escape(text)}</text>'
        )
    return marks


def _at(point: Points) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"
