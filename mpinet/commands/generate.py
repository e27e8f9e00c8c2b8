"""``mpinet schedule generate``: write a textbook's collective as a program of messages."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Annotated

from mpinet.base.files import require_writable, whole_file
from mpinet.commands.fields import Count, Positive
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import File, Shown
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command
from mpinet.errors import UsageError
from mpinet.machine.timed.program import Program
from mpinet.machine.transport import Local
from mpinet.report.rows import Row


class GeneratedResult(Result):
    """Result of ``schedule generate``."""

    processors: Positive
    operations: Count
    messages: Count
    bytes: Annotated[Count, "of all messages"]


@command(Shown)
def generate(
    program: Annotated[str, Typed(metavar="PROGRAM")],
    *,
    out: Annotated[File, Typed(dest="file")],
) -> GeneratedResult:
    """Write a collective of the textbooks as a program of messages, by rank 0 (collective).

    Parameters
    ----------
    program : str
        COLLECTIVE:ALGORITHM,BYTES,processors=P[,segment=BYTES][,root=R], or an exchange in which
        all do the same, exchange:halo,BYTES,sides=AxB[,rounds=R][,calc=TIME]; the algorithms are in
        ``docs/reference/time.md``.
    out : str
        GOAL file to write.

    Returns
    -------
    Result
        FILE: the program.

    Raises
    ------
    UsageError
        There is no such program, or the file cannot be written.

    Examples
    --------
    ``mpinet schedule generate allreduce:ring,1MB,processors=16 --out ring.goal``

    ``mpinet schedule generate broadcast:chain,1MB,processors=16,segment=64kB --out chain.goal``

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = generate("allgather:bruck,4kB,processors=5", out=f"{folder}/bruck.goal")
    >>> made.messages, made.bytes
    (15, 16000)
    """
    return perform(generate, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Make the program."""
    from mpinet.machine.timed.scripted import stored
    from mpinet.programs.messages.named import FORM, is_name, program_named

    require_writable(Path(options.file))
    if not is_name(options.program):
        raise UsageError(f"A program by name is {FORM}, not {options.program!r}.")
    return Generate(Path(options.file), stored(program_named(options.program)))


class Generate(Job):
    """A program of messages, written by rank 0."""

    def __init__(self, file: Path, program: Program):
        super().__init__()
        self._file, self._program = file, program

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return self._program.name

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Write the file, on rank 0."""
        from mpinet.machine.timed.layout import SEND
        from mpinet.programs.messages.writing import write_goal

        if transport.rank:
            return None
        program = self._program
        with whole_file(self._file) as file:
            write_goal(program, file)
        sends = program.kind == SEND
        return {
            "processors": program.processors,
            "operations": program.operations,
            "messages": int(sends.sum()),
            "bytes": int(program.amount[sends].sum()),
        }
