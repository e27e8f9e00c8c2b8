"""``mpinet flood``: flood the machine from one node."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.job import Job, Watch
from mpinet.cli.machinejob import MachineJob
from mpinet.cli.options import add_common, add_machine, add_topology, require_all_port, topology_of
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.transport import Dry, Local
    from mpinet.programs.rehearsal import Rehearsal


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network and the root."""
    add_topology(parser)
    parser.add_argument("--root", metavar="U", default="0", help="where it starts (default 0)")
    add_machine(parser, ports="all")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Find the root."""
    topology = topology_of(options)
    require_all_port(options, "flood")
    return Flood(options, topology, topology.find(options.root))


class Flood(MachineJob):
    """A flood from one root."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int):
        super().__init__(options, topology)
        self._root = root

    def run(self, transport: Local, watch: Watch) -> Row:
        """Flood."""
        from mpinet.programs.flood import flood

        machine = self.make_machine(transport, watch)
        found = flood(machine, self._root)
        self.note_crossing(machine)
        return {name: getattr(found, name) for name in FIELDS}

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_flood

        machine = self.make_machine(dry)
        return rehearse_flood(machine, dry, self._root)

    def show(self, result: Row) -> str:
        """The counts."""
        return f"flood of {self.topology} from {self._root}\n{fields(result)}"


FIELDS = ("steps", "messages", "informed", "eccentricity")
