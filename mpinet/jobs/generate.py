"""``mpinet schedule generate``: write a textbook collective as a program of messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mpinet.base.files import require_writable, whole_file
from mpinet.commands.generate import GenerateOptions
from mpinet.commands.job import Job, Watch
from mpinet.errors import UsageError
from mpinet.machine.timed.program import Program
from mpinet.machine.transport import Local
from mpinet.report.rows import Row


def prepare(options: GenerateOptions) -> Job:
    """Make the program of messages, and return the job that writes its file."""
    from mpinet.machine.timed.scripted import stored
    from mpinet.programs.messages.named import FORM, is_name, program_named

    require_writable(Path(options.out))
    if not is_name(options.program):
        raise UsageError(f"A program has the form {FORM}, not {options.program!r}.")
    return Generate(Path(options.out), stored(program_named(options.program)))


@dataclass(eq=False, repr=False)
class Generate(Job):
    """Program of messages, written by rank 0."""

    _file: Path
    _program: Program

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return self._program.name

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Write the program's file on rank 0, and return the result row."""
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
