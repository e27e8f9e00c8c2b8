"""The examples of the command pages, with the output that the commands themselves print.

The docs build runs each example in a temporary folder (`pagecommands`). Some examples need files:
`FILES` holds them, and `BEFORE` names commands that make them. Examples in `NOT_RUN` take long, or
print facts about the host.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pagecommands import folder_with, results, run_here, serve

from mpinet.cli.help import examples
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS

MOST_LINES = 30
"""Largest number of output lines on a page."""

WIDEST = 160
"""Largest number of characters in an output line on a page; wide lines scroll."""

WHEEL = '''
from mpinet import Topology, rule


class Wheel(Topology):
    """A hub and a rim."""

    def __init__(self, n: int):
        super().__init__(f"{n}", size=n + 1, ports=n)

    @rule
    def neighbor(node, port, params):
        n = params[0] - 1
        if node == 0:
            return port + 1
        if port > 2:
            return -1
        return 0 if port == 0 else (node + 2 - 2 * port + n) % n + 1
'''

RELAY = '''
def relay(node, rounds):
    """Pass numbers round, and return the last one received."""
    value = node.id
    for _ in range(rounds):
        yield node.send(0, value)
        value = yield node.receive(1)
    return value
'''

SCRIPT = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
total = comm.allreduce(comm.rank)
if comm.rank == 0:
    print(f"{comm.size} processors, sum of the ranks: {total}")
"""

PLAN = """
command = "load"
topology = ["torus:4x4", "hypercube:4"]
rate = { linear = [0.2, 0.6, 3] }
steps = 300

[plot]
x = "rate"
y = "latency_mean"
output = "latency.svg"
"""

FILES = {"wheel.py": WHEEL, "relay.py": RELAY, "script.py": SCRIPT, "plan.toml": PLAN}
"""Files in the folder of every example."""

BEFORE = {
    "replay": ["schedule generate allreduce:ring,1MB,processors=16 --out program.goal"],
    "certify": ["optimum hypercube:4 --save proof.json"],
    "schedule run": [
        "schedule export gossip ring:6 --out gossip.csv",
        "schedule export allreduce ring:4 --out allreduce.xml",
    ],
    "schedule check": [
        "schedule export gossip ring:6 --out gossip.csv",
        "schedule export allreduce ring:4 --out allreduce.xml",
    ],
    "play": ["flood torus:8x8 --record run.npz"],
    "trace": ["flood torus:8x8 --record run.npz"],
    "plot": ["sweep plan.toml --out runs"],
}
"""Command lines that run before the examples of a command."""

NOT_RUN = (
    "bench --clock",
    "demo",
    "doctor",
    "launch -n",
    "resume",
    "predict broadcast",
    "verify gmn",
)
"""Beginnings of examples that the pages show without output."""


def examples_of(command: str) -> list[str]:
    """Return the example command lines of a command's help."""
    return examples(function_of(command).__doc__ or "")


def outputs() -> dict[str, list[str]]:
    """Return the outputs of each command's examples, in their order; "" for an example not run."""
    return results(__file__, {command: job_of(command) for command in COMMANDS})


def job_of(command: str) -> dict[str, Any]:
    """Return the examples of a command, with the files and the lines before them, for `run`."""
    files = {name: text.lstrip("\n") for name, text in FILES.items()}
    return {"files": files, "before": BEFORE.get(command, []), "lines": examples_of(command)}


def run(job: dict[str, Any]) -> list[str]:
    """Run the examples of a command in a new folder, and return their outputs."""
    with folder_with(job["files"]):
        for line in job["before"]:
            run_here(f"mpinet {line}")
        return [
            "" if line.removeprefix("mpinet ").startswith(NOT_RUN) else _shown(run_here(line))
            for line in job["lines"]
        ]


def _shown(text: str) -> str:
    """Return the first lines of an output as a page shows them, each cut at the page's width."""
    rows = text.replace(f"{Path.cwd()}/", "").splitlines()
    lines = [row if len(row) <= WIDEST else f"{row[: WIDEST - 3]}..." for row in rows]
    more = len(lines) - MOST_LINES
    return "\n".join([*lines[:MOST_LINES], f"... {more} more lines"] if more > 1 else lines)


if __name__ == "__main__":
    serve(run)
