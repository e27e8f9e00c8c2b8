"""A demonstration: jobs with results known in advance from closed forms."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from mpinet.base.ownership import own_python
from mpinet.errors import MpinetError
from mpinet.launching.launcher import launch_lines

Result = dict[str, Any]


@dataclass(frozen=True)
class DemoCommand:
    """A command, with its expected result."""

    title: str
    """Purpose of the command."""
    arguments: str
    """The words after ``mpinet``."""
    measured: Callable[[Result], str]
    """Function that returns the displayed part of a result."""
    closed_form: str
    """Closed form of the expected result, as text."""
    agrees: Callable[[Result], bool]
    """Function that returns True if a result agrees with the closed form."""

    @property
    def command(self) -> str:
        """Name of the command."""
        return self.arguments.split()[0]

    def row(self, document: str | None) -> tuple[str, str, str, str]:
        """Return the command's row under `HEADING`; ``NO`` if the result is wrong or missing."""
        if document is None:
            return self.title, "failed", self.closed_form, "NO"
        result = json.loads(document)["result"]
        agrees = "yes" if self.agrees(result) else "NO"
        return self.title, self.measured(result), self.closed_form, agrees


JOBS = (
    DemoCommand(
        "permutation routed, 16-cube",
        "route hypercube:16 --pairs permutation",
        lambda r: f"{r['steps']} steps, hops_max {r['hops_max']}",
        "hops_max <= 16, steps >= hops_max",
        lambda r: r["hops_max"] <= 16 and r["steps"] >= r["hops_max"] and not r["undeliverable"],
    ),
    DemoCommand(
        "one-port broadcast, torus 32^3",
        "broadcast torus:32x32x32",
        lambda r: f"{r['steps']} steps, {r['informed']} informed",
        "3 * 32/2 = 48 steps",
        lambda r: r["steps"] == 48 and r["informed"] == 32**3,
    ),
    DemoCommand(
        "FFT by ASCEND, 14-cube",
        "ascend hypercube:14 --operator fft",
        lambda r: f"{r['steps']} steps, {'correct' if r['correct'] else 'WRONG'}",
        "n = 14 steps",
        lambda r: r["steps"] == 14 and r["correct"] is True,
    ),
    DemoCommand(
        "diameter, CCC(6)",
        "show ccc:6 --distances",
        lambda r: f"{r['diameter']}",
        "2n + floor(n/2) - 2 = 13",
        lambda r: r["diameter"] == 13,
    ),
)

HEADING = ("job", "measured", "closed form", "agrees")


def documents(ranks: int) -> Iterator[str | None]:
    """Run the jobs one after the other on the same ranks; yield each job's JSON document, or None.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    """
    lines: list[str] = []
    try:
        for line in launch_lines(ranks, own_python("-m", "mpinet.cli.demojobs")):
            lines.append(line)
            if line.startswith("}"):  # last line of a document
                yield "".join(lines)
                lines.clear()
    except MpinetError as error:
        print(f"mpinet demo: {error}", file=sys.stderr)
    yield from repeat(None)
