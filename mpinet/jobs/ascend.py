"""``mpinet ascend`` and ``mpinet descend``: programs that pass over all dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpinet.commands.ascend import PassOptions, ProgramResult
from mpinet.commands.fields import picked
from mpinet.commands.job import Job, Watch
from mpinet.errors import UsageError
from mpinet.jobs.machinejob import MachineJob
from mpinet.jobs.opening import port_model, topology_named
from mpinet.machine import Machine
from mpinet.machine.dry import Dry
from mpinet.machine.transport import Local
from mpinet.networks.copies import factor_named
from mpinet.programs import ascend, needs
from mpinet.programs.operators.operator import Operator
from mpinet.programs.schedules.routed import Copies, copies
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.programs.rehearsal.rehearsal import Rehearsal
    from mpinet.programs.schedules.schedule import PassSchedule


def prepare(options: PassOptions) -> Job:
    """Read the operator, and return the job."""
    from mpinet.programs.operators import open_operator

    operator = open_operator(options.operator)
    operator.require_form(options.command)
    topology = topology_named(options.topology)
    if options.parts is None:
        return Ascend(options, topology, operator)
    if options.algorithm is not None:
        raise UsageError("--algorithm does not apply with --parts.")
    factor_named(topology, options.parts)
    return Ascend(options, topology, operator, copies(options.parts))


@dataclass(eq=False, repr=False)
class Ascend(MachineJob):
    """An ASCEND or DESCEND program, compared with a serial computation."""

    options: PassOptions

    _operator: Operator
    _copies: type[Copies] | None = None

    @property
    def _algorithm(self) -> str | type[PassSchedule] | None:
        """Schedule of all copies, or the requested algorithm."""
        return self._copies or self.options.algorithm

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the program and return the result row."""
        options = self.options
        machine = self.make_machine(transport, watch)
        found = ascend.run(
            machine,
            self._operator,
            options.command,
            options.seed,
            self._algorithm,
        )
        self.note_crossing(machine)
        result = picked(ProgramResult, found) | {"phases": phase_rows(found.phases)}
        if options.parts is None:
            return result
        product, which = factor_named(self.network, options.parts)
        factor = (product.first, product.second)[which]
        # All copies are alike, and each rank runs one of them alone.
        one = Machine(factor, port_model(options.ports, options.duplex), Local())
        alone = ascend.run(one, self._operator, options.command, options.seed, "routed")
        return result | {"copies": product.size // factor.size, "alone": alone.steps}

    def needs(self, ranks: int) -> int:
        """Return the bytes of the states, and of the serial results for comparison."""
        from mpinet.programs.schedules import find_schedule

        schedule = find_schedule(self.network, self._algorithm)
        return needs.ascend(self.share(ranks), self._operator, schedule)

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Run a single rank on one process, for ``mpinet predict``."""
        from mpinet.programs.rehearsal.ascend import rehearse_ascend

        options = self.options
        machine = self.make_machine(dry)
        return rehearse_ascend(
            machine, dry, self._operator, options.command, options.seed, options.algorithm
        )

    def show(self, result: Row) -> str:
        """Format the counts and the phases."""
        return with_phases(f"{self.options.command} on {self.topology}", result)
