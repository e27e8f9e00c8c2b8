"""``mpinet broadcast``: broadcast from one processor."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from mpinet.cli.job import Job
from mpinet.cli.options import (
    add_common,
    add_machine,
    add_topology,
    make_machine,
    port_model,
    topology_of,
)
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.report.tables import with_phases


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the root, the algorithm."""
    add_topology(parser)
    parser.add_argument("--root", metavar="U", default="0", help="where it starts (default 0)")
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="a schedule of the network, 'tree' (links) or 'flooding' (busses)",
    )
    parser.add_argument("--schedule", action="store_true", help="give the schedule's sha256, too")
    add_machine(parser, ports="one")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Find root and algorithm."""
    from mpinet.programs.broadcast import require_algorithm

    topology = topology_of(options)
    root = topology.find(options.root)
    require_algorithm(topology, root, options.algorithm, port_model(options))
    return Broadcast(options, topology, root)


class Broadcast(Job):
    """A broadcast."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int):
        super().__init__()
        self.topology = topology.name
        self._options = options
        self._network = topology
        self._root = root

    def run(self, transport: Any, watch: Any) -> Any:
        """Broadcast."""
        from mpinet.machine.trace import Trace
        from mpinet.programs.broadcast import broadcast
        from mpinet.report.hashes import schedule_hash

        trace = Trace() if self._options.schedule else None
        machine = make_machine(self._options, self._network, transport, trace=trace)
        self.model = machine.model.as_json()
        found = broadcast(machine, self._root, self._options.algorithm, watch)
        self.spread(machine)
        self.preparation = asdict(found.preparation)
        result = {
            "algorithm": found.algorithm,
            "steps": found.steps,
            "messages": found.messages,
            "informed": found.informed,
            "phases": [{"name": name, "steps": steps} for name, steps in found.phases],
            "lower_bound": found.lower_bound,
        }
        if trace is not None:
            result["schedule_sha256"] = schedule_hash(transport, trace, found.steps)
        return result

    def rehearse(self, dry: Any) -> Any:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_broadcast

        if self._options.schedule:
            raise UsageError(
                "--schedule does not apply: a rank alone has no part of the others' schedule."
            )
        machine = make_machine(self._options, self._network, dry)
        self.model = machine.model.as_json()
        return rehearse_broadcast(machine, dry, self._root, self._options.algorithm)

    def shortfall(self, result: Any) -> str:
        """A broadcast that leaves processors out is incomplete."""
        informed, hosts = result["informed"], self._network.hosts
        if informed == hosts:
            return ""
        return f"The broadcast is incomplete: {informed} of {hosts} processors are informed."

    def show(self, result: Any) -> str:
        """The counts, and the phases."""
        told = result
        if self.shortfall(result):
            informed = f"{result['informed']} of {self._network.hosts}: incomplete"
            told = result | {"informed": informed}
        return with_phases(
            f"broadcast on {self.topology} from {self._root}", told, self.preparation
        )
