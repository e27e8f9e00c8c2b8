"""The player's page: the scene, its style and its script in one file."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from pathlib import Path

from mpinet.base.files import whole_file
from mpinet.base.version import __version__
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
"""The keys that the page obeys."""


def write_page(path: Path, recording: Recording) -> None:
    """Write the page of a recording to a file."""
    with whole_file(path) as file:
        file.write(page(recording).encode())


def page(recording: Recording) -> str:
    """Return a recording as one HTML page."""
    shown = scene(recording)
    title, nodes = escape(shown["title"]), shown["nodes"]
    as_what = f"{shown['shown']} clusters of {nodes} nodes" if shown["group"] else f"{nodes} nodes"
    moved = ", ".join(
        f"{shown[what]} {word}{'s' * (shown[what] != 1)}"
        for what, word in (("steps", "step"), ("moves", "movement"))
    )
    keys = " ".join(f"<kbd>{key}</kbd> {escape(what)}" for key, what in KEYS)
    text = json.dumps(shown).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{_part("player.css")}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="quiet">{as_what}, {moved}. Played by mpinet
{escape(__version__)}.</p>
</header>
<div class="bar">
<button id="play" aria-label="play">\u25b6</button>
<button id="back" aria-label="a step back">\u25c0\u25c0</button>
<button id="on" aria-label="a step on">\u25b6\u25b6</button>
<input id="slider" type="range" min="0" max="{shown["steps"]}" value="0" aria-label="step">
<output id="step"></output>
</div>
<main>
<figure><div class="stack"><canvas id="still"></canvas><canvas id="net"></canvas></div>
<figcaption>
<label><input type="checkbox" id="loads" checked> link loads</label>
<label><input type="checkbox" id="queues" checked> queues</label>
<span id="about" class="quiet"></span></figcaption></figure>
<figure><div class="stack"><canvas id="time"></canvas><div id="head"></div></div>
<figcaption class="quiet" id="timecaption"></figcaption></figure>
<dl id="figures"></dl>
<figure class="low"><canvas id="course"></canvas>
<figcaption class="quiet">messages that <b class="moving">move</b> and that
<b class="waiting">wait</b>, by step; click to go there</figcaption></figure>
</main>
<p class="keys quiet">{keys}. A step has an address: <code>#step=7</code>.</p>
<script type="application/json" id="scene">{text}</script>
<script>
{_part("player.js")}</script>
</body>
</html>
"""


def _part(name: str) -> str:
    return files("mpinet.report.player").joinpath(name).read_text()
