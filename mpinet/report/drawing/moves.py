"""Picture of a run: link loads or steps, and a space-time diagram of the messages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.networks.topology import Topology
from mpinet.report.drawing.axes import COLOURS
from mpinet.report.drawing.figure import MOST_VECTORS, height_of, library, paint, step_colour
from mpinet.report.drawing.files import write_picture
from mpinet.report.drawing.scene import Scene, scene, with_moves
from mpinet.report.player.scene import informed_at
from mpinet.report.recordings import Recording, in_steps

WIDTH = 6.0
"""Width of the network in inches; the diagram on its right has the same width."""

HEIGHT = 3.5
"""Minimum height of the picture, in inches."""

MOST_LINES = 20_000
"""Largest number of movements for which a space-time diagram is drawn."""


def write_run(path: Path, recording: Recording, network: Topology) -> None:
    """Write the picture of a run.

    Parameters
    ----------
    path : Path
        The file. An HTML page (``.html``) shows the network alone.
    recording : Recording
        The recording of the run.
    network : Topology
        The network of the run.
    """
    recording = in_steps(recording)
    moves, header = recording.moves, recording.header
    shown = with_moves(scene(network), network, moves, informed_at(recording))
    if len(moves["step"]) > MOST_LINES:
        write_picture(path, shown, WIDTH)
        return
    write_picture(path, shown, WIDTH, lambda: _figure(shown, moves, header))


def _figure(shown: Scene, moves: Mapping[str, Ints], header: Mapping[str, Any]) -> Any:
    """Draw the network on the left, the space-time diagram on the right."""
    height = max(height_of(shown, WIDTH), HEIGHT)
    made = library("matplotlib.figure").Figure(figsize=(2 * WIDTH, height), facecolor="white")
    left, right = made.subfigures(1, 2)
    paint(left, shown, WIDTH, height)
    axes = right.add_axes((0.12, 0.5 / height, 0.84, 1 - 0.7 / height))
    begins = np.stack([moves["step"] - 1, moves["sender"]], axis=1)
    ends = np.stack([moves["step"], moves["receiver"]], axis=1)
    thick = float(np.clip(20 / np.sqrt(len(begins) + 1), 0.2, 1.5))
    lines = library("matplotlib.collections").LineCollection
    colours = [COLOURS[max(number, 0) % len(COLOURS)] for number in moves["message"]]
    if shown.informed is not None:
        colours = [step_colour(shown, step) for step in moves["step"]]
        since, ends_at = [step_colour(shown, step) for step in shown.informed], header["steps"]
        known = np.minimum(shown.informed, ends_at)
        axes.hlines(range(shown.nodes), known, ends_at, since, linewidths=0.6, alpha=0.5)
    style = {"linewidths": thick, "rasterized": len(begins) > MOST_VECTORS}
    axes.add_collection(lines(np.stack([begins, ends], axis=1), colors=colours, **style))
    axes.set_xlim(0, max(1, header["steps"]))
    axes.set_ylim(-0.5, shown.nodes - 0.5)
    whole = library("matplotlib.ticker").MaxNLocator
    axes.xaxis.set_major_locator(whole(integer=True))
    axes.yaxis.set_major_locator(whole(integer=True))
    axes.set_xlabel(f"step of {header['step']}" if "step" in header else "step")
    axes.set_ylabel("processor" if shown.nodes == shown.hosts else "node")
    return made
