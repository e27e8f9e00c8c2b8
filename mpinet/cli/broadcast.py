"""``mpinet broadcast``: broadcast from one processor."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from mpinet.cli.job import Job, Watch
from mpinet.cli.machinejob import MachineJob
from mpinet.cli.options import add_common, add_machine, add_topology, port_model, topology_of
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine.transport import Dry, Local
    from mpinet.programs.rehearsal import Rehearsal


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
    algorithm, _ = require_algorithm(topology, root, options.algorithm, port_model(options))
    return Broadcast(options, topology, root, algorithm)


class Broadcast(MachineJob):
    """A broadcast."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int, algorithm: str):
        super().__init__(options, topology)
        self._root = root
        self._algorithm = algorithm

    def run(self, transport: Local, watch: Watch) -> Row:
        """Broadcast."""
        from mpinet.machine.trace import Trace
        from mpinet.programs.broadcast import broadcast
        from mpinet.report.hashes import schedule_hash

        trace = Trace() if self.options.schedule else None
        machine = self.make_machine(transport, watch, trace=trace)
        found = broadcast(machine, self._root, self._algorithm)
        self.note_crossing(machine)
        self.preparation = asdict(found.preparation)
        result = {
            "algorithm": found.algorithm,
            "steps": found.steps,
            "messages": found.messages,
            "informed": found.informed,
            "phases": phase_rows(found.phases),
            "lower_bound": found.lower_bound,
        }
        if trace is not None:
            result["schedule_sha256"] = schedule_hash(transport, trace, found.steps)
        return result

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_broadcast

        if self.options.schedule:
            raise UsageError(
                "--schedule does not apply: a rank alone has no part of the others' schedule."
            )
        machine = self.make_machine(dry)
        return rehearse_broadcast(machine, dry, self._root, self._algorithm)

    def shortfall(self, result: Row) -> str:
        """A broadcast that leaves processors out is incomplete."""
        informed, hosts = result["informed"], self.network.hosts
        if informed == hosts:
            return ""
        return f"The broadcast is incomplete: {informed} of {hosts} processors are informed."

    def show(self, result: Row) -> str:
        """The counts, and the phases."""
        told = result
        if self.shortfall(result):
            informed = f"{result['informed']} of {self.network.hosts}: incomplete"
            told = result | {"informed": informed}
        return with_phases(
            f"broadcast on {self.topology} from {self._root}", told, self.preparation
        )
