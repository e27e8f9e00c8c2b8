"""The first example of every command that is a job, run in one process, and the digests.

As a program, ``examples.py plain`` hides the compiler and all native code, and rank 0 writes the
digests as JSON into the file that its second word names. ``examples.py native`` has native code.
"""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

MODE = sys.argv[1] if __name__ == "__main__" else ""
if MODE == "plain":
    sys.modules["numba"] = sys.modules["llvmlite"] = None  # type: ignore[assignment]

from mpinet.base.native import library  # noqa: E402
from mpinet.cli.commands import parse  # noqa: E402
from mpinet.cli.help import examples  # noqa: E402
from mpinet.commands import function_of  # noqa: E402
from mpinet.commands.catalogue import COMMANDS  # noqa: E402
from mpinet.jobs import module_of  # noqa: E402
from mpinet.machine.transport import world  # noqa: E402
from mpinet.report.envelope import digest  # noqa: E402

FILES = {"script.py": "from mpi4py import MPI\nprint(MPI.COMM_WORLD.allreduce(1))\n"}
"""Files that examples name, and their texts."""

BEFORE = [
    "schedule generate allreduce:ring,1MB,processors=16 --out program.goal",
    "schedule export gossip ring:6 --out gossip.csv",
]
"""Commands that make other files that examples name."""

SMALLER = {
    "compare": "compare torus:4x4 ring:5 --only degree,diameter,broadcast",
    "load": "load torus:4x4 --rate 0.1,0.3 --warmup 20 --steps 60",
    "exchange": "exchange torus:4x4",
    "find": "find --processors 12..16 --families torus,debruijn --best 3",
}
"""What is run where the example takes plain Python minutes."""

ALONE = {"predict"}
"""Commands that run on one rank and nowhere else."""

LEFT_OUT = {
    "certify": "needs the certificate of an earlier command, and runs no kernel",
    "play": "shows the recording of an earlier command, and runs no kernel",
    "trace": "writes the recording of an earlier command, and runs no kernel",
    "plot": "draws what a sweep has left",
    "reproduce": "draws a figure of many runs, which takes plain Python minutes",
    "resume": "goes on with a job that was stopped",
    "sweep": "runs commands in processes of their own",
    "launch": "starts the command's ranks; it is no job itself",
    "template": "writes a file, and is no job",
    "doctor": "looks at this host, and is no job",
    "demo": "starts other commands, and is no job",
}


def commands(ranks: int = 1) -> list[str]:
    """The command lines to run on so many ranks, without the word ``mpinet``."""
    first = {name: examples(function_of(name).__doc__ or "")[0] for name in COMMANDS}
    return [
        SMALLER.get(name, line.removeprefix("mpinet "))
        for name, line in first.items()
        if name not in LEFT_OUT and (ranks == 1 or name not in ALONE)
    ]


def outcome(line: str, transport: Any) -> str:
    """The digest of a command's result, over the part that every run has alike."""
    options = parse(shlex.split(line))
    job = module_of(options.command).prepare(options)
    result = job.run(transport, lambda *done: None)
    if transport.rank != 0:
        return ""
    return digest(job.lasting(result) if hasattr(job, "lasting") else result)


def main() -> None:
    """Run all of them in this folder."""
    if MODE == "plain":
        library.FOLDER = Path("nowhere")
    transport = world()
    if transport.rank == 0:
        for name, text in FILES.items():
            Path(name).write_text(text)
    for line in BEFORE:
        outcome(line, transport)
    found = {line: outcome(line, transport) for line in commands(transport.size)}
    if transport.rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
