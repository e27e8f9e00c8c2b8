"""A first impression: jobs whose results are known beforehand by closed forms."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpinet.base.files import write_text
from mpinet.errors import MpinetError
from mpinet.launching.launcher import launch

Result = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A command, and what is known in advance about its result.

    Attributes
    ----------
    title : str
        What it does.
    arguments : str
        The words after ``mpinet``.
    measured : callable
        What of its result is shown.
    closed_form : str
        What is known.
    agrees : callable
        Whether a result is as known.
    """

    title: str
    arguments: str
    measured: Callable[[Result], str]
    closed_form: str
    agrees: Callable[[Result], bool]


JOBS = (
    Job(
        "permutation routed, 16-cube",
        "route hypercube:16 --pairs permutation",
        lambda r: f"{r['steps']} steps, hops_max {r['hops_max']}",
        "hops_max <= 16, steps >= hops_max",
        lambda r: r["hops_max"] <= 16 and r["steps"] >= r["hops_max"] and not r["undeliverable"],
    ),
    Job(
        "one-port broadcast, torus 32^3",
        "broadcast torus:32x32x32",
        lambda r: f"{r['steps']} steps, {r['informed']} informed",
        "3 * 32/2 = 48 steps",
        lambda r: r["steps"] == 48 and r["informed"] == 32**3,
    ),
    Job(
        "FFT by ASCEND, 14-cube",
        "ascend hypercube:14 --operator fft",
        lambda r: f"{r['steps']} steps, {'correct' if r['correct'] else 'WRONG'}",
        "n = 14 steps",
        lambda r: r["steps"] == 14 and r["correct"] is True,
    ),
    Job(
        "diameter, CCC(6)",
        "show ccc:6 --distances",
        lambda r: f"{r['diameter']}",
        "2n + floor(n/2) - 2 = 13",
        lambda r: r["diameter"] == 13,
    ),
)

HEADING = ("job", "measured", "closed form", "agrees")


def run(job: Job, ranks: int, folder: Path | None = None) -> tuple[str, str, str, str]:
    """Run a job; return its row under `HEADING`, with ``NO`` if it failed or disagrees.

    Parameters
    ----------
    job : Job
        What to run.
    ranks : int
        On how many ranks.
    folder : Path, optional
        The folder for its result document.
    """
    words = [sys.executable, "-m", "mpinet", *job.arguments.split(), "--json"]
    try:
        text = launch(ranks, words)
    except MpinetError as error:
        print(f"mpinet demo: {error}", file=sys.stderr)
        return job.title, "failed", job.closed_form, "NO"
    if folder is not None:
        write_text(folder / f"{job.arguments.split()[0]}.json", text)
    result = json.loads(text)["result"]
    agrees = "yes" if job.agrees(result) else "NO"
    return job.title, job.measured(result), job.closed_form, agrees
