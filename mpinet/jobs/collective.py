"""The job that the commands of collectives share: its run, and the display of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from mpinet.commands.job import Watch, skipped_field, without_simple_reason
from mpinet.commands.options import CollectiveOptions, ReductionOptions
from mpinet.jobs.fabric import intact
from mpinet.jobs.machinejob import MachineJob
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local
    from mpinet.programs.collective import CollectiveResult
    from mpinet.programs.needs import Share


@dataclass(frozen=True)
class Work:
    """The program of a collective, and the memory that it needs."""

    run: Callable[[Machine], CollectiveResult]
    """Does it on a machine (collective)."""
    needs: Callable[[Share], int]
    """Bytes that the rank with a share of the network needs."""
    needs_once: Callable[[Share], int] = lambda share: 0
    """Bytes of these that one rank alone needs, such as the queue at a root."""


class Collective(MachineJob):
    """A collective on a machine, its result checked."""

    options: CollectiveOptions

    def __init__(self, options: CollectiveOptions, network: Topology, work: Work):
        super().__init__(options, network)
        self._work = work

    def needs(self, ranks: int) -> int:
        """Bytes that the algorithm needs."""
        return self._work.needs(self.share(ranks))

    def needs_once(self, ranks: int) -> int:
        """Bytes that the algorithm needs on one rank alone."""
        return self._work.needs_once(self.share(ranks))

    def run(self, transport: Local, watch: Watch) -> Row:
        """Make the machine, and run the collective."""
        found = self._told(self._done(transport, watch))
        return found | intact(self.options, self.options.faults, transport, watch)

    def _done(self, transport: Local, watch: Watch) -> CollectiveResult:
        """Run the collective on a machine of these ranks."""
        machine = self.make_machine(transport, watch)
        found = self._work.run(machine)
        self.note_crossing(machine)
        self.preparation = asdict(found.preparation)
        return found

    def _told(self, found: CollectiveResult) -> Row:
        """Return the fields of the result; of a reduction operator and value, too.

        Of a gossip by translations, whether one processor's messages stood for all.
        """
        value = getattr(found, "value", None)
        options = self.options
        reduced = {}
        if isinstance(options, ReductionOptions) and value is not None:
            reduced = {"operator": options.operator, "value": value}
        turned = getattr(found, "by_orbit", None)
        more = {} if turned is None else {"by_orbit": turned}
        return (
            reduced
            | {
                "algorithm": found.algorithm,
                "steps": found.steps,
                "messages": found.messages,
                "lower_bound": found.lower_bound,
                "lower_by": found.lower_by,
                "correct": found.correct,
                "phases": phase_rows(found.phases),
            }
            | more
            | skipped_field(found.skipped)
        )

    def show(self, result: Row) -> str:
        """Format the counts and the phases."""
        heading = f"{self.options.command} on {self.topology}"
        return with_phases(heading, without_simple_reason(result), self.preparation)
