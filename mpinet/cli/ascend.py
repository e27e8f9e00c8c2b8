"""``mpinet ascend`` and ``mpinet descend``: programs over all dimensions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.job import Job, Watch
from mpinet.cli.machinejob import MachineJob
from mpinet.cli.options import add_common, add_machine, add_topology, topology_of
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine.transport import Dry, Local
    from mpinet.programs.operators.operator import Operator
    from mpinet.programs.rehearsal import Rehearsal


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the operator, the algorithm."""
    from mpinet.programs.operators import listed
    from mpinet.programs.schedules import SCHEDULES

    add_topology(parser)
    parser.add_argument(
        "--operator",
        metavar="NAME",
        required=True,
        help=f"what is computed: {', '.join(listed())}; or your own, as path/file.py:Class or "
        "module:Class",
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="how pairs are brought together: the network's own way (default; its name is in the "
        f"result), or one of {', '.join(SCHEDULES)}",
    )
    add_machine(parser, ports="all")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Check the operator."""
    from mpinet.programs.operators import open_operator

    operator = open_operator(options.operator)
    operator.require_form(options.command)
    return Ascend(options, topology_of(options), operator)


class Ascend(MachineJob):
    """An ASCEND or DESCEND program, checked against the serial computation."""

    def __init__(self, options: argparse.Namespace, topology: Topology, operator: Operator):
        super().__init__(options, topology)
        self._operator = operator

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the program."""
        from mpinet.programs import ascend

        options = self.options
        machine = self.make_machine(transport, watch)
        found = ascend.run(
            machine,
            self._operator,
            options.command,
            options.seed,
            options.algorithm,
        )
        self.note_crossing(machine)
        return {
            "operator": found.operator,
            "algorithm": found.algorithm,
            "elements": found.elements,
            "steps": found.steps,
            "correct": found.correct,
            "phases": phase_rows(found.phases),
        }

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_ascend

        options = self.options
        machine = self.make_machine(dry)
        return rehearse_ascend(
            machine, dry, self._operator, options.command, options.seed, options.algorithm
        )

    def show(self, result: Row) -> str:
        """The counts, and the phases."""
        return with_phases(f"{self.options.command} on {self.topology}", result)
