"""The page of ``mpinet demo``: a network's link loads, latency against load, a broadcast."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mpinet.base.files import write_text
from mpinet.commands.broadcast import broadcast
from mpinet.commands.draw import draw
from mpinet.commands.load import load
from mpinet.report.drawing.figure import library
from mpinet.report.recordings import read_recording

NETWORKS = ("ring:64", "mesh:8x8", "torus:8x8", "hypercube:6")
"""Networks whose latency is drawn: four of 64 processors."""

RATES = "0.05..0.75/15"

TITLE = "<title>mpinet demo</title>"
"""Title by which a page of the demo is recognized."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">{title}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 16px sans-serif; max-width: 45em; margin: 1em auto; padding: 0 1em }}
svg {{ max-width: 100%; height: auto; background: #fff }}</style></head><body>
<h1>mpinet demo</h1>
{parts}</body></html>
"""


def write_demo_page(path: Path) -> None:
    """Measure and write the three pictures (needs matplotlib)."""
    library()
    pictures = {
        "A torus, coloured by the messages over its links when it is transposed": _loads(),
        "Latency in steps against load, in messages of a processor a step": _latency(),
        "A one-port broadcast in a 5-cube: a line is a message, from left to right": _moves(),
    }
    parts = "".join(f"<h2>{title}</h2>\n{svg}\n" for title, svg in pictures.items())
    write_text(path, PAGE.format(title=TITLE, parts=parts))


def is_demo_page(path: Path) -> bool:
    """Whether a file is a page that the demo has written, and may write again."""
    try:
        with path.open(errors="replace") as file:
            return TITLE in file.read(1024)
    except OSError:
        return False


def _loads() -> str:
    html = draw("torus:8x8", loads="transpose")._repr_html_()
    return html[: html.index("</svg>") + len("</svg>")]


def _latency() -> str:
    curves = load(NETWORKS, rate=RATES, warmup=200, steps=400, limit=2000).value["curves"]
    axes = _axes("messages of a processor a step", "mean latency in steps")
    for curve in curves:
        stable = [p for p in curve["points"] if not (p["saturated"] or p["deadlock"])]
        rates = [point["rate"] for point in stable]
        axes.plot(rates, [point["latency_mean"] for point in stable], "o-", label=curve["network"])
    axes.legend()
    return _svg(axes)


def _moves() -> str:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "broadcast.npz"
        broadcast("hypercube:5", record=str(file))
        recording = read_recording(file)
    axes = _axes("step", "processor")
    moved = recording.moves
    for step, source, target in zip(moved["step"], moved["sender"], moved["receiver"], strict=True):
        axes.plot([step - 1, step], [source, target], color="#1c5d99")
    return _svg(axes)


def _axes(x: str, y: str) -> Any:
    axes = library("matplotlib.figure").Figure(figsize=(7, 4), layout="constrained").subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return axes


def _svg(axes: Any) -> str:
    file = StringIO()
    with library().rc_context({"svg.fonttype": "none", "svg.hashsalt": "mpinet"}):
        axes.figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]
