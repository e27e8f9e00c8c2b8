"""The page of ``mpinet demo``: link loads of a network, latency over load, a broadcast."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from mpinet.base.files import write_text
from mpinet.base.native.library import library as library_of_package
from mpinet.base.native.tiers import can_compile
from mpinet.commands.broadcast import broadcast
from mpinet.commands.draw import draw
from mpinet.commands.load import load
from mpinet.commands.result import Result
from mpinet.report.drawing.figure import library

NETWORKS = ("ring:64", "mesh:8x8", "torus:8x8", "hypercube:6")
"""Networks in the latency plot, each with 64 processors."""

RATES = "0.05..0.75/15"

TITLE = "<title>mpinet demo</title>"
"""Title by which a page of the demo is recognised."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">{title}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.45 system-ui, sans-serif; max-width: 52em; margin: 1em auto; padding: 0 1em }}
figure {{ margin: 0 0 2.5em }}
figure img {{ display: block; width: 100%; height: auto; background: #fff; border-radius: 6px }}
figcaption {{ margin-top: .5em }}
pre {{ white-space: pre-wrap; padding: .5em .8em; border: 1px solid #8886; border-radius: 6px }}
</style></head><body>
<h1>mpinet demo</h1>
{parts}</body></html>
"""

FIGURE = """<figure><img src="data:image/svg+xml;base64,{picture}" alt="{sentence}">
<figcaption>{sentence}<pre><code>{command}</code></pre></figcaption></figure>
"""
"""HTML of a picture, its caption, and its command."""


def write_demo_page(path: Path) -> None:
    """Measure and write the pictures with captions (needs matplotlib).

    Without Numba the page has no latency plot, because its 60 runs would take minutes in plain
    Python.
    """
    library()
    figures = (_loads, _latency if can_compile() or library_of_package() else _without, _moves)
    with TemporaryDirectory(prefix="mpinet-demo-") as folder:
        parts = "".join(make(Path(folder)) for make in figures)
    write_text(path, PAGE.format(title=TITLE, parts=parts))


def is_demo_page(path: Path) -> bool:
    """Return True if the demo has written a file, and may overwrite it."""
    try:
        with path.open(errors="replace") as file:
            return TITLE in file.read(1024)
    except OSError:
        return False


def _figure(picture: Path, sentence: str, found: Result, more: str = "") -> str:
    """Return a figure with its command, as typed in the picture's folder."""
    command = " ".join(found.document()["command"]).replace(f"{picture.parent}/", "")
    text = b64encode(picture.read_bytes()).decode()
    return FIGURE.format(
        picture=text, sentence=escape(sentence), command=escape(f"{command}{more}")
    )


def _loads(folder: Path) -> str:
    """Draw the link loads of a transpose on a torus."""
    picture = folder / "loads.svg"
    found = draw("torus:8x8", loads="transpose", output=picture)
    sentence = (
        f"In a transpose on torus:8x8, the busiest of {found.links} links carries "
        f"{found.load.max} messages. Links with an open end close the rings."
    )
    return _figure(picture, sentence, found)


def _without(folder: Path) -> str:
    """Return the paragraph for a missing latency plot: it needs Numba."""
    return (
        '<p>Latency over load needs compiled code: <code>pip install "mpinet[fast]"</code>.</p>\n'
    )


def _latency(folder: Path) -> str:
    """Draw latency over load."""
    picture = folder / "latency.svg"
    found = load(NETWORKS, rate=RATES, warmup=200, steps=400, limit=2000, plot=picture)
    stable = [
        f"{curve.network} {curve.saturation_point:g}"
        for curve in found.curves
        if curve.saturation_point is not None
    ]
    sentence = (
        f"Highest stable rates of {len(found.curves)} networks of 64 processors: "
        f"{', '.join(stable)} messages per processor and step. Hollow points are saturated; a "
        "tick marks the bound of the busiest channel."
    )
    return _figure(picture, sentence, found)


def _moves(folder: Path) -> str:
    """Draw the senders of each step of a broadcast."""
    picture = folder / "broadcast.svg"
    found = broadcast("hypercube:5")
    found.draw(picture)
    sentence = (
        f"A one-port broadcast on hypercube:5 informs {found.informed} processors in "
        f"{found.steps} steps with {found.messages} messages. On the right, a line for each "
        "message connects sender and receiver."
    )
    return _figure(picture, sentence, found, f" --draw {picture.name}")
