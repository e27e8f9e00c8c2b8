"""``mpinet broadcast``: broadcast from one processor."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from mpinet.base.files import require_writable
from mpinet.commands.broadcast import BroadcastOptions
from mpinet.commands.job import Job, Watch, skipped_field, without_simple_reason
from mpinet.errors import UsageError
from mpinet.jobs.fabric import intact, parts_of
from mpinet.jobs.machinejob import MachineJob
from mpinet.jobs.opening import port_model
from mpinet.jobs.pipelined import Pipelined
from mpinet.jobs.together import Together
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine.dry import Dry
    from mpinet.machine.transport import Local
    from mpinet.programs.rehearsal import Rehearsal


def prepare(options: BroadcastOptions) -> Job:
    """Find root and algorithm."""
    from mpinet.programs.broadcast import require_algorithm
    from mpinet.programs.pipelines.switching import only_forwards

    topology, parts = parts_of(options.topology, options.faults, options.group)
    if len(parts) > 1:
        return Together(options, topology, parts)
    if options.schedule_out is not None:
        require_writable(Path(options.schedule_out))
    root = topology.find(str(options.root))
    if options.items != 1 or only_forwards(topology, options.switches):
        if options.is_scheduled:
            raise UsageError(
                "--schedule tells who informs whom of one item: with --items, or where switches "
                "only forward, give --record FILE."
            )
        return Pipelined(options, topology, root)
    algorithm, schedule = require_algorithm(
        topology, root, options.algorithm, port_model(options.ports, options.duplex)
    )
    return Broadcast(options, topology, root, algorithm, schedule)


class Broadcast(MachineJob):
    """A broadcast."""

    options: BroadcastOptions

    def __init__(
        self,
        options: BroadcastOptions,
        topology: Topology,
        root: int,
        algorithm: str,
        schedule: Schedule | None,
    ):
        super().__init__(options, topology)
        self._root = root
        self._algorithm = algorithm
        self._schedule = schedule

    def needs(self, ranks: int) -> int:
        """Bytes that the algorithm needs."""
        from mpinet.programs import needs

        return needs.broadcast(self.share(ranks), self._algorithm, self._schedule)

    def run(self, transport: Local, watch: Watch) -> Row:
        """Broadcast."""
        from mpinet.machine.trace import Trace
        from mpinet.programs.broadcast import broadcast
        from mpinet.report.hashes import hash_into, schedule_lines

        trace = Trace() if self.options.is_scheduled else None
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
            "lower_by": found.lower_bound.by,
            **skipped_field(found.skipped),
        }
        if trace is not None:
            lines = schedule_lines(transport, trace, found.steps)
            result["schedule_sha256"] = hash_into(lines, self.options.schedule_out, transport)
        return result | intact(self.options, self.options.faults, transport, watch)

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_broadcast

        if self.options.is_scheduled:
            raise UsageError(
                "--schedule does not apply: a rank alone has no part of the others' schedule."
            )
        machine = self.make_machine(dry)
        return rehearse_broadcast(machine, dry, self._root, self._algorithm)

    def shortfall(self, result: Row) -> str:
        """Report a broadcast that leaves processors out as incomplete."""
        informed, hosts = result["informed"], self.network.hosts
        if informed == hosts:
            return ""
        return f"The broadcast is incomplete: {informed} of {hosts} processors are informed."

    def show(self, result: Row) -> str:
        """Format the counts and the phases."""
        shown = without_simple_reason(result)
        if self.shortfall(result):
            informed = f"{result['informed']} of {self.network.hosts}: incomplete"
            shown = shown | {"informed": informed}
        return with_phases(
            f"broadcast on {self.topology} from {self._root}", shown, self.preparation
        )
