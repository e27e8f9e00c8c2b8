"""``mpinet run``: a program of one's own on every processor."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mpinet.cli.job import Job, Watch
from mpinet.cli.machinejob import MachineJob
from mpinet.cli.options import add_common, add_machine, topology_of, without_folders
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields, table

if TYPE_CHECKING:
    from mpinet.machine.transport import Local

SHOWN = 16
"""Most processors whose values are shown to a person."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program, the network, what the program gets."""
    parser.add_argument(
        "program",
        metavar="FILE.py:PROGRAM",
        help="a generator function of a node, such as mpinet.examples.flood:flood",
    )
    parser.add_argument(
        "--on",
        dest="topology",
        metavar="TOPO",
        required=True,
        help="a network, such as torus:8x8x8 (see: mpinet topologies)",
    )
    parser.add_argument(
        "--arg",
        dest="arguments",
        action="append",
        default=[],
        metavar="[NAME=]VALUE",
        help="what the program gets after its node; may be given several times",
    )
    parser.add_argument(
        "--routing", metavar="NAME", help="brings routed messages to their targets; see route"
    )
    add_machine(parser, ports="all")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Find the program, and read its arguments."""
    from mpinet.process.program import named_program

    topology = topology_of(options)
    if options.routing is not None:
        topology.routing(options.routing)
    arguments = _arguments(options.arguments)
    return Run(options, topology, named_program(options.program), arguments)


class Run(MachineJob):
    """A program on every processor."""

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
        """Run it."""
        from mpinet.process import run
        from mpinet.process.outcome import legible

        machine = self.make_machine(transport, watch)
        options = self.options
        found = run(machine, self._program, *self._arguments, options.seed, options.routing)
        return {
            "program": without_folders(options.program),
            "processors": found.processors,
            "steps": found.steps,
            "messages": found.messages,
            "unreceived": found.unreceived,
            "unreceived_at": [
                {"processor": node, "messages": count} for node, count in found.unreceived_at
            ],
            "values": legible(found.values),
        }

    def rows(self, result: Row) -> list[Row]:
        """A row a processor: what it returned, and the messages that it ended without."""
        whole = {name: result[name] for name in result if name not in ("values", "unreceived_at")}
        left = {one["processor"]: one["messages"] for one in result["unreceived_at"]}
        return [
            whole | {"processor": node, "value": value, "unreceived_here": left.get(node, 0)}
            for node, value in enumerate(result["values"])
        ]

    def show(self, result: Row) -> str:
        """The counts, who has not received what came, and the first values."""
        counts = {name: result[name] for name in ("processors", "steps", "messages", "unreceived")}
        if result["unreceived_at"]:
            first = result["unreceived_at"][0]
            counts["first of these"] = f"{first['messages']} at processor {first['processor']}"
        text = f"{result['program']} on {self.topology}\n{fields(counts)}"
        values = result["values"]
        if all(value == values[0] for value in values):
            return f"{text}\n\nevery processor returns {_told(values[0])}"
        rows = [
            (str(node), self.network.address(node), _told(value))
            for node, value in enumerate(values[:SHOWN])
        ]
        more = f"\n.. and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
        return f"{text}\n\n{table(rows, ('processor', 'address', 'returns'))}{more}"


def _arguments(words: list[str]) -> tuple[list[Any], dict[str, Any]]:
    """The program's arguments by place, and those by name."""
    from mpinet.process.program import argument

    pairs = [argument(word) for word in words]
    named = {name: value for name, value in pairs if name}
    if len(named) < sum(bool(name) for name, _ in pairs):
        raise UsageError("--arg: an argument is named twice.")
    return [value for name, value in pairs if not name], named


def _told(value: Any) -> str:
    """A returned value in a line."""
    return "-" if value is None else str(value)
