"""What the commands of the collectives share: the run, and what is shown of it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mpinet.cli.job import Job
from mpinet.cli.options import make_machine
from mpinet.networks.topology import Topology
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


class Collective(Job):
    """A collective on a machine, its result checked; a command says which (`perform`)."""

    def __init__(self, options: argparse.Namespace, topology: Topology):
        super().__init__()
        self.topology = topology.name
        self.options = options
        self.network = topology

    def perform(self, machine: Machine, watch: Any) -> CollectiveResult:
        """Do it on this machine (collective)."""
        raise NotImplementedError

    def run(self, transport: Any, watch: Any) -> Any:
        """Make the machine, and do it."""
        machine = make_machine(self.options, self.network, transport)
        self.model = machine.model.as_json()
        found = self.perform(machine, watch)
        self.spread(machine)
        self.preparation = asdict(found.preparation)
        return {
            "algorithm": found.algorithm,
            "steps": found.steps,
            "messages": found.messages,
            "lower_bound": found.lower_bound,
            "correct": found.correct,
            "phases": [{"name": name, "steps": steps} for name, steps in found.phases],
        }

    def show(self, result: Any) -> str:
        """The counts, and the phases."""
        return with_phases(f"{self.options.command} on {self.topology}", result, self.preparation)
