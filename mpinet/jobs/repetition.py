"""Repetitions of a checked script, each under another hash seed and order of its messages.

The seed of string hashes belongs to a process. Each repetition therefore runs in a process of its
own, on one rank, started by rank 0. It sends back the calls of all processors, with a checksum of
the messages that each call has sent.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from mpinet.base.native.compiler import LAUNCHERS
from mpinet.commands.exec import ExecOptions
from mpinet.errors import Deadlock, MpinetError, ProgramError
from mpinet.machine.transport import Local
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.mpi.checks.findings import LoggedCall

Log = Mapping[int, "list[LoggedCall]"]
"""Calls of each processor, in order."""


class End(NamedTuple):
    """End of a repetition."""

    kind: str
    """``"deadlock"`` or ``"failure"``; empty for a regular end."""
    why: str
    """The reason."""
    log: Log
    """Calls of the processors."""


def repeated(options: ExecOptions, first: Log, transport: Local) -> Row:
    """Repeat a script until a repetition differs from its first run (collective).

    Parameters
    ----------
    options : ExecOptions
        Options of the first run.
    first : mapping
        On rank 0: calls of the first run.
    transport : Local
        The ranks.
    """
    from mpinet.process.telling import agreed

    row: Row = {"runs": 1, "outcome": "same", "seed": options.seed, "difference": ""}
    if transport.rank == 0:
        for number in range(1, options.repeat or 1):
            seed = options.seed + number
            end = _run_apart(replace(options, seed=seed, arrivals="random"))
            kind, difference = (end.kind, end.why) if end.kind else differs(first, end.log)
            row = {"runs": number + 1, "outcome": kind, "seed": seed, "difference": difference}
            if kind != "same":
                break
    found: Row = agreed(transport, row)
    return found


def differs(first: Log, other: Log) -> tuple[str, str]:
    """Return kind and description of the first difference between the calls of two runs."""
    places = []
    for processor in first.keys() | other.keys():
        pairs = zip_longest(first.get(processor, ()), other.get(processor, ()))
        number = next((place for place, (one, two) in enumerate(pairs) if one != two), None)
        if number is not None:
            places.append((number, processor))
    if not places:
        return "same", ""
    number, processor = min(places)
    one, two = (log.get(processor, [])[number : number + 1] for log in (first, other))
    if one and two and one[0].site == two[0].site:
        return "messages", (
            f"Processor {processor} sends another message in {_said(one)} than in the first run."
        )
    return "calls", (
        f"Processor {processor} calls {_said(two)}; in the first run it calls {_said(one)}."
    )


def _said(calls: list[LoggedCall]) -> str:
    """Return a call with its line as text."""
    if not calls:
        return "nothing more"
    kind, file, line = calls[0].site
    return f"{kind} at {file}:{line}"


def _run_apart(options: ExecOptions) -> End:
    """Run a script in a process of its own, whose string hashes have the options' seed."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)
    } | {"PYTHONHASHSEED": str(options.seed % 2**32)}
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=pickle.dumps(options),
        env=environment,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip()
        return End("failure", f"Its process ends with status {done.returncode}.\n{text}", {})
    end: End = pickle.loads(done.stdout)
    return end


def main() -> None:
    """Run the script of the options on standard input; write its end to standard output.

    Its process has just started for this purpose.
    """
    from mpinet.jobs import module_of

    options = pickle.load(sys.stdin.buffer)
    # The script may write to descriptor 1, which the parent must not take for the end.
    ends = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    log: dict[int, list[LoggedCall]] = {}
    kind = why = ""
    try:
        with redirect_stderr(io.StringIO()):
            job: Any = module_of("exec").prepare(options)
            job.run_logged(Local(), log, io.StringIO())
    except MpinetError as ended:
        error = getattr(ended, "error", ended)
        if not isinstance(error, Deadlock | ProgramError):
            raise
        kind, why = ("deadlock" if isinstance(error, Deadlock) else "failure"), str(error)
    with ends:
        pickle.dump(End(kind, why, log), ends)


if __name__ == "__main__":
    # Under its own name, because pickles refer to the classes of this module.
    from mpinet.jobs import repetition

    repetition.main()
