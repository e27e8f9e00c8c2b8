"""``mpinet run``: run your own program on every processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpinet.commands.job import Job, Watch
from mpinet.commands.network import named, without_folders
from mpinet.commands.run import ProgramOptions
from mpinet.errors import UsageError
from mpinet.jobs.machinejob import MachineJob, refuse_checkpoint
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.machine.transport import Local
from mpinet.process.program import argument, named_program
from mpinet.report.rows import Row
from mpinet.report.tables import fields, table

SHOWN = 16
"""Largest number of processors whose values are printed."""


def prepare(options: ProgramOptions) -> Job:
    """Find the program, read its arguments, and return the job."""
    topology = topology_named(options.on)
    refuse_checkpoint(options.line.checkpoint, "your own program")
    if options.routing is not None:
        routing_of(topology, options.routing)
    program = options.program
    if isinstance(program, str):
        program = named_program(program)
    return RunJob(options, topology, program, _arguments(options.arg))


@dataclass(eq=False, repr=False)
class RunJob(MachineJob):
    """Run of a program on every processor."""

    options: ProgramOptions

    _program: Callable[..., Any]
    _arguments: tuple[list[Any], dict[str, Any]]

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the program on every processor, and return the result row."""
        from mpinet.process import run
        from mpinet.process.outcome import legible

        machine = self.make_machine(transport, watch)
        options = self.options
        found = run(machine, self._program, *self._arguments, options.seed, options.routing)
        return {
            "program": without_folders(named(options.program)),
            "processors": found.processors,
            "steps": found.steps,
            "messages": found.messages,
            "unreceived": found.unreceived,
            "unreceived_at": [
                {"processor": node, "messages": count} for node, count in found.unreceived_at
            ],
            "values": legible(found.values),
        }

    def needs(self, ranks: int) -> int:
        """Return a lower bound on the bytes of the fullest rank's processors and their programs."""
        from mpinet.process.scheduler import PROCESSOR

        return PROCESSOR * self.share(ranks).hosted

    def rows(self, result: Row) -> list[Row]:
        """Return a row per processor: its value, and its number of unreceived messages."""
        whole = {name: result[name] for name in result if name not in ("values", "unreceived_at")}
        left = {entry["processor"]: entry["messages"] for entry in result["unreceived_at"]}
        return [
            whole | {"processor": node, "value": value, "unreceived_here": left.get(node, 0)}
            for node, value in enumerate(result["values"])
        ]

    def show(self, result: Row) -> str:
        """Format the counts, the processors with unreceived messages, and the first values."""
        counts = {name: result[name] for name in ("processors", "steps", "messages", "unreceived")}
        if result["unreceived_at"]:
            first = result["unreceived_at"][0]
            counts["first of these"] = f"{first['messages']} at processor {first['processor']}"
        text = f"{result['program']} on {self.topology}\n{fields(counts)}"
        values = result["values"]
        if all(value == values[0] for value in values):
            return f"{text}\n\nevery processor returns {_as_text(values[0])}"
        rows = [
            (str(node), self.network.address(node), _as_text(value))
            for node, value in enumerate(values[:SHOWN])
        ]
        more = f"\n.. and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
        return f"{text}\n\n{table(rows, ('processor', 'address', 'returns'))}{more}"


def _arguments(given: Sequence[Any] | Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the program's positional arguments and its arguments by name."""
    if isinstance(given, Mapping):
        return [], dict(given)
    pairs = [argument(entry) if isinstance(entry, str) else ("", entry) for entry in given]
    named = {name: value for name, value in pairs if name}
    if len(named) < sum(bool(name) for name, _ in pairs):
        raise UsageError("--arg: an argument is given twice.")
    return [value for name, value in pairs if not name], named


def _as_text(value: Any) -> str:
    """Return a program's return value as one line of text."""
    return "-" if value is None else str(value)
