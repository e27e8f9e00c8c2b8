"""``mpinet ascend`` and ``mpinet descend``: programs over all dimensions."""

from __future__ import annotations

import argparse
from typing import Any

from mpinet.cli.job import Job
from mpinet.cli.options import add_common, add_machine, add_topology, make_machine, topology_of
from mpinet.networks.topology import Topology
from mpinet.report.tables import with_phases


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


class Ascend(Job):
    """An ASCEND or DESCEND program, checked against the serial computation."""

    def __init__(self, options: argparse.Namespace, topology: Topology, operator: Any):
        super().__init__()
        self.topology = topology.name
        self._options = options
        self._network = topology
        self._operator = operator

    def run(self, transport: Any, watch: Any) -> Any:
        """Run the program."""
        from mpinet.programs import ascend

        options = self._options
        machine = make_machine(options, self._network, transport)
        self.model = machine.model.as_json()
        found = ascend.run(
            machine,
            self._operator,
            options.command,
            options.seed,
            options.algorithm,
            watch=watch,
        )
        self.spread(machine)
        return {
            "operator": found.operator,
            "algorithm": found.algorithm,
            "elements": found.elements,
            "steps": found.steps,
            "correct": found.correct,
            "phases": [{"name": name, "steps": steps} for name, steps in found.phases],
        }

    def rehearse(self, dry: Any) -> Any:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_ascend

        options = self._options
        machine = make_machine(options, self._network, dry)
        self.model = machine.model.as_json()
        return rehearse_ascend(
            machine, dry, self._operator, options.command, options.seed, options.algorithm
        )

    def show(self, result: Any) -> str:
        """The counts, and the phases."""
        return with_phases(f"{self._options.command} on {self.topology}", result)
