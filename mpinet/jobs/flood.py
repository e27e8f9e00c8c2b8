"""``mpinet flood``: flood the machine from one node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpinet.commands.fields import picked
from mpinet.commands.flood import FloodOptions, FloodResult
from mpinet.commands.job import Job, Watch
from mpinet.jobs.fabric import parts_of
from mpinet.jobs.machinejob import MachineJob
from mpinet.jobs.opening import require_all_port
from mpinet.machine.dry import Dry
from mpinet.machine.transport import Local
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.programs.rehearsal.rehearsal import Rehearsal


def prepare(options: FloodOptions) -> Job:
    """Find the root, and return the job."""
    topology, _ = parts_of(options.topology, options.faults, None)
    require_all_port(options.ports, "flood")
    return Flood(options, topology, topology.find(str(options.root)))


@dataclass(eq=False, repr=False)
class Flood(MachineJob):
    """A flood from one root."""

    options: FloodOptions

    _root: int

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the flood and return the result row."""
        from mpinet.programs.flood import flood

        machine = self.make_machine(transport, watch)
        found = flood(machine, self._root)
        self.note_crossing(machine)
        return picked(FloodResult, found)

    def needs(self, ranks: int) -> int:
        """Return the bytes of the marks of all processors, and of the largest wave."""
        from mpinet.programs import needs

        return needs.flood(self.share(ranks))

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Run a single rank on one process, for ``mpinet predict``."""
        from mpinet.programs.rehearsal.flood import rehearse_flood

        machine = self.make_machine(dry)
        return rehearse_flood(machine, dry, self._root)

    def show(self, result: Row) -> str:
        """Format the counts."""
        return f"flood of {self.topology} from {self._root}\n{fields(result)}"
