"""Page of the player: scene, style and script in one file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from mpinet.base.files import whole_file
from mpinet.base.version import __version__
from mpinet.report import html
from mpinet.report.html import part
from mpinet.report.player.scene import scene
from mpinet.report.recordings import Recording

KEYS = (
    ("space", "play, pause"),
    ("\u2190 \u2192", "a step back, on"),
    ("Home End", "first, last step"),
    ("+ \u2212", "faster, slower"),
    ("L", "link loads"),
    ("Q", "queues"),
)
"""Keys that control the page. A focused button handles its own keys."""


def write_page(
    path: Path, recording: Recording, title: str | None = None, pauses: Sequence[int] = ()
) -> None:
    """Write the page of a recording to a file; the other parameters are those of `page`."""
    with whole_file(path) as file:
        file.write(page(recording, title, pauses).encode())


def page(recording: Recording, title: str | None = None, pauses: Sequence[int] = ()) -> str:
    """Return a recording as one HTML page.

    Parameters
    ----------
    recording : Recording
        The recording.
    title : str, optional
        Heading of the page. Default: the command and its network.
    pauses : sequence of int
        Steps after which playback pauses.
    """
    shown = scene(recording, pauses)
    heading, run = escape(title or shown["title"]), escape(shown["title"])
    about = f"{run}: {_counts(shown)}" if title else _counts(shown)
    keys = " ".join(f"<kbd>{key}</kbd> {escape(what)}" for key, what in KEYS)
    text = json.dumps(shown).replace("<", "\\u003c")
    rows = "node" if shown["group"] is None else "group of nodes"
    body = f"""<header>
<h1>{heading}</h1>
<p class="quiet">{about}. Played by mpinet {escape(__version__)}.</p>
</header>
<div class="bar">
<button id="play" aria-label="play">\u25b6</button>
<button id="back" aria-label="a step back">\u25c0\u25c0</button>
<button id="on" aria-label="a step on">\u25b6\u25b6</button>
<input id="slider" type="range" min="0" max="{shown["steps"]}" value="0" aria-label="step">
<output id="known"></output><output id="step"></output>
</div>
<p id="said" class="unseen" role="status" aria-live="polite"></p>
<main>
<div><figure><div class="stack">
<canvas id="still" role="img" aria-label="The network: {run}" aria-describedby="figures"></canvas>
<canvas id="net" aria-hidden="true"></canvas></div>
<figcaption>
<span class="legend">{_legend(shown)}</span>
<label><input type="checkbox" id="loads" checked> link loads</label>
<label><input type="checkbox" id="queues" checked> queues</label>
<span id="about" class="quiet"></span></figcaption></figure>
<dl id="figures"></dl></div>
<figure><div class="stack">
<canvas id="time" role="img" aria-label="Space-time diagram: a row per {rows}, a line per movement"
 aria-describedby="figures"></canvas>
<canvas id="course" role="img" aria-label="Bars: messages that move and wait in each step"
 aria-describedby="figures"></canvas>
<div id="head"></div></div>
<figcaption class="quiet"><span id="timecaption"></span>. Below, messages that
<b class="moving">move</b> and that <b class="waiting">wait</b> in each step; click to go
there.</figcaption></figure>
</main>
<p class="keys quiet">{keys}. A copied address of this page opens the step that is shown.</p>
<script type="application/json" id="scene">{text}</script>
<script>
{part("player", "player.js")}</script>"""
    return html.page(title or shown["title"], part("player", "player.css"), body)


def _counts(shown: dict[str, Any]) -> str:
    """Return a line with the numbers of nodes, steps and movements."""
    nodes = shown["nodes"]
    as_what = f"{shown['shown']} groups of {nodes} nodes" if shown["group"] else f"{nodes} nodes"
    moved = ", ".join(
        f"{shown[what]} {word}{'s' * (shown[what] != 1)}"
        for what, word in (("steps", "step"), ("moves", "movement"))
    )
    long = f", a step is {shown['step']}" if shown["step"] else ""
    return f"{as_what}, {moved}{long}"


def _legend(shown: dict[str, Any]) -> str:
    """Return the legend of the page's colours."""
    known = (("known", "informed"), ("unknown", "not informed")) if shown["informs"] else ()
    marks = [f'<i class="{kind}"></i>{what}' for kind, what in known]
    # The script fills in the colours, and hides the marks of what no link shows at a step.
    marks.append('<span id="colours"></span>messages')
    marks.append('<span id="used"><i class="idle"></i>used links</span>')
    marks.append('<span id="busy"><i class="load"></i>busiest links</span>')
    if shown["numbered"]:
        marks.append('<i class="queue"></i>waiting messages')
    return " ".join(marks)
