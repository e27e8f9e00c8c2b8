"""``mpinet exec``: an mpi4py script, unchanged, on every processor."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from mpinet.cli.job import Job
from mpinet.cli.options import add_common, add_machine, make_machine, topology_of
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.report.tables import fields, table

SHOWN = 24
"""Most lines of the script whose costs are shown to a person."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the script, what it gets."""
    parser.add_argument(
        "--on",
        dest="topology",
        metavar="TOPO",
        required=True,
        help="a network, such as hypercube:10 (see: mpinet topologies)",
    )
    parser.add_argument(
        "--routing", metavar="NAME", help="brings messages to their targets; see route"
    )
    parser.add_argument(
        "--packet",
        type=int,
        metavar="BYTES",
        help="let messages travel in packets (default: each is one message of the machine)",
    )
    parser.add_argument(
        "--sends",
        choices=("buffered", "synchronous"),
        default="buffered",
        help="whether send and Send return at once or wait for their receives (default buffered)",
    )
    add_machine(parser, ports="one")
    add_common(parser)
    parser.add_argument("script", type=Path, metavar="SCRIPT.py", help="the mpi4py script")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="what the script gets"
    )


def prepare(options: argparse.Namespace) -> Job:
    """Find the network and the script."""
    topology = topology_of(options)
    if options.routing is not None:
        topology.routing(options.routing)
    if options.packet is not None and options.packet < 1:
        raise UsageError(f"--packet: a packet has 1 byte or more, not {options.packet}.")
    return Exec(options, topology)


class Exec(Job):
    """A script on every processor."""

    def __init__(self, options: argparse.Namespace, topology: Topology):
        super().__init__()
        self.topology = topology.name
        self._options = options
        self._network = topology

    def run(self, transport: Any, watch: Any) -> Any:
        """Run it."""
        from mpinet.process.mpi.script import run_script

        options = self._options
        machine = make_machine(options, self._network, transport)
        self.model = machine.model.as_json()
        found = run_script(
            machine,
            options.script,
            options.arguments,
            options.routing,
            options.packet,
            options.sends == "synchronous",
            watch,
            sys.stderr if options.json else sys.stdout,
        )
        return {
            "script": str(options.script),
            "processors": found.processors,
            "steps": found.steps,
            "messages": sum(one.messages for one in found.accounts),
            "hops": found.hops,
            "bytes": sum(one.sent for one in found.accounts),
            "unreceived": found.unreceived,
            "unreceived_at": [
                {"processor": node, "messages": count} for node, count in found.unreceived_at
            ],
            "calls": [
                {
                    "call": one.kind,
                    "file": one.file,
                    "line": one.line,
                    "calls": one.calls,
                    "messages": one.messages,
                    "hops": one.hops,
                    "bytes": one.sent,
                    "steps": one.steps,
                }
                for one in found.accounts
            ],
        }

    def show(self, result: Any) -> str:
        """The counts, and what each line has cost."""
        names = ("processors", "steps", "messages", "hops", "bytes", "unreceived")
        text = f"{result['script']} on {self.topology}\n{fields({n: result[n] for n in names})}"
        calls = result["calls"]
        columns = ("calls", "messages", "hops", "bytes", "steps")
        rows = [
            (f"{one['file']}:{one['line']}", one["call"], *(str(one[name]) for name in columns))
            for one in calls[:SHOWN]
        ]
        more = f"\n.. and {len(calls) - SHOWN} more" if len(calls) > SHOWN else ""
        return f"{text}\n\n{table(rows, ('line', 'call', *columns))}{more}"
