"""``mpinet ascend`` and ``mpinet descend``: programs that pass over all dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpinet.base.numerals import is_whole, quoted
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
from mpinet.networks.topology import Topology
from mpinet.programs import ascend, needs
from mpinet.programs.operators.operator import Operator
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
    return Ascend(options, topology, operator, _schedule(options, topology))


def _schedule(options: PassOptions, topology: Topology) -> str | type[PassSchedule] | None:
    """Return the name of the schedule, or the schedule of all copies, or with a change of links."""
    from mpinet.programs.schedules.routed import Routed, changing, copies

    if options.parts is not None:
        if options.algorithm is not None or options.change is not None:
            raise UsageError("--parts: give neither --algorithm nor --change.")
        factor_named(topology, options.parts)
        return copies(options.parts)
    if options.change is None:
        return options.algorithm
    if options.algorithm not in (None, Routed.name):
        raise UsageError("--change applies to --algorithm routed.")
    first, _, name = options.change.partition(":")
    if not is_whole(first) or not name:
        raise UsageError(f"--change: {quoted(options.change)} is not J:NETWORK.")
    later = topology_named(name)
    if (later.hosts, later.size) != (topology.hosts, topology.size):
        raise UsageError(
            f"--change: {later.name} has {later.hosts} processors, and {topology.name} has "
            f"{topology.hosts}."
        )
    return changing(int(first), later)


@dataclass(eq=False, repr=False)
class Ascend(MachineJob):
    """An ASCEND or DESCEND program, compared with a serial computation."""

    options: PassOptions

    _operator: Operator
    _schedule: str | type[PassSchedule] | None

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the program and return the result row."""
        options = self.options
        machine = self.make_machine(transport, watch)
        found = ascend.run(
            machine,
            self._operator,
            options.command,
            options.seed,
            self._schedule,
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

        schedule = find_schedule(self.network, self._schedule)
        return needs.ascend(self.share(ranks), self._operator, schedule)

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Run a single rank on one process, for ``mpinet predict``."""
        from mpinet.programs.rehearsal.ascend import rehearse_ascend

        options = self.options
        if options.change is not None:
            raise UsageError("--change does not apply: predict supports one network.")
        machine = self.make_machine(dry)
        return rehearse_ascend(
            machine, dry, self._operator, options.command, options.seed, options.algorithm
        )

    def show(self, result: Row) -> str:
        """Format the counts and the phases."""
        return with_phases(f"{self.options.command} on {self.topology}", result)
