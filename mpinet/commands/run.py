"""``mpinet run``: run a program of one's own on every processor."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from mpinet.commands.checkpoints import refuse_checkpoint
from mpinet.commands.fields import Count, Fields
from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.opening import Network, named, routing_of, topology_of, without_folders
from mpinet.commands.options import Common, OnMachine, Ports, RoutingName, Unsaved, Views
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields, table

SHOWN = 16


"""Most processors whose values are shown to a person."""


class Unreceived(Fields):
    """Messages that a processor has not received."""

    processor: Count
    messages: Count


class RunResult(Result):
    """Result of ``run``."""

    program: str
    processors: Count
    steps: Count
    messages: Count
    unreceived: Count
    unreceived_at: list[Unreceived]
    values: list[Any]


@command(Views, Unsaved, Common)
def run(
    program: Annotated[str | Callable[..., Any], Typed(metavar="FILE.py:PROGRAM")],
    on: Annotated[Network | None, Typed(words=("--on",), dest="topology", required=True)] = None,
    *,
    arg: Annotated[
        Sequence[Any] | Mapping[str, Any], Typed(dest="arguments", metavar="[NAME=]VALUE")
    ] = (),
    routing: RoutingName = None,
    ports: Ports = "all",
    **options: Unpack[OnMachine],
) -> RunResult:
    """Run a program of one's own on every processor (collective).

    Parameters
    ----------
    program : callable or str
        Generator function of a node, or ``FILE.py:PROGRAM``.
    on : str, Topology or networkx.Graph
        Network of the processors.
    arg : sequence or mapping
        Arguments of the program after its node, by place or by name. Text in a sequence is read as
        the command line's ``--arg`` reads it.
    routing : str, optional
        Routing of routed messages to their targets; see route.

    Examples
    --------
    ``mpinet run mpinet.examples.flood:flood --on ring:4``

    ``mpinet run relay.py:relay --on torus:8x8 --arg 3``

    >>> import mpinet
    >>> mpinet.run("mpinet.examples.flood:flood", "hypercube:3").processors
    8
    """
    return perform(run, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the program, and read its arguments."""
    from mpinet.process.program import named_program

    topology = topology_of(options)
    refuse_checkpoint(options, "a program of one's own")
    if options.routing is not None:
        routing_of(topology, options.routing)
    program = options.program
    if isinstance(program, str):
        program = named_program(program)
    return Run(options, topology, program, _arguments(options.arguments))


class Run(MachineJob):
    """Run of a program on every processor."""

    def __init__(
        self,
        options: argparse.Namespace,
        topology: Topology,
        program: Callable[..., Any],
        arguments: tuple[list[Any], dict[str, Any]],
    ):
        super().__init__(options, topology)
        self._program = program
        self._arguments = arguments

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the program."""
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
        """Return the bytes of the processors with their programs, at least."""
        from mpinet.process.scheduler import PROCESSOR

        return PROCESSOR * self.share(ranks).hosted

    def rows(self, result: Row) -> list[Row]:
        """Return a row per processor: its value, and the messages that it has not received."""
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
    """Return the program's arguments by place, and those by name."""
    from mpinet.process.program import argument

    if isinstance(given, Mapping):
        return [], dict(given)
    pairs = [argument(entry) if isinstance(entry, str) else ("", entry) for entry in given]
    named = {name: value for name, value in pairs if name}
    if len(named) < sum(bool(name) for name, _ in pairs):
        raise UsageError("--arg: an argument is named twice.")
    return [value for name, value in pairs if not name], named


def _as_text(value: Any) -> str:
    """Return a value that a program returned, in one line."""
    return "-" if value is None else str(value)
