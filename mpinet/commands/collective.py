"""What the commands of the collectives share: the run, and what is shown of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mpinet.commands.job import Watch, without_simple_reason
from mpinet.commands.machinejob import MachineJob
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local
    from mpinet.programs.collective import CollectiveResult


class Collective(MachineJob):
    """A collective on a machine, its result checked; a command says which (`perform`)."""

    def perform(self, machine: Machine) -> CollectiveResult:
        """Do it on this machine (collective)."""
        raise NotImplementedError

    def run(self, transport: Local, watch: Watch) -> Row:
        """Make the machine, and do it."""
        machine = self.make_machine(transport, watch)
        found = self.perform(machine)
        self.note_crossing(machine)
        self.preparation = asdict(found.preparation)
        return {
            "algorithm": found.algorithm,
            "steps": found.steps,
            "messages": found.messages,
            "lower_bound": found.lower_bound,
            "lower_by": found.lower_by,
            "correct": found.correct,
            "phases": phase_rows(found.phases),
        }

    def show(self, result: Row) -> str:
        """The counts, and the phases."""
        heading = f"{self.options.command} on {self.topology}"
        return with_phases(heading, without_simple_reason(result), self.preparation)
