"""``mpinet optimum`` with ``--items``: the fewest steps of many items, and the best pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpinet.commands.job import Watch, skipped_field
from mpinet.commands.optimum import OptimumOptions
from mpinet.errors import UsageError
from mpinet.jobs.itemsoptimum import no_cut, shown
from mpinet.jobs.proofs import ProvingJob, Upper
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import OF_EACH, PIPELINED, ROOTED, SUMS, Behavior
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.measure.optimum.pipelined import Pipelined
    from mpinet.programs.pipelines.collectives import Plan


def require_switches(collective: str, switches: Behavior) -> None:
    """Raise `UsageError` if the collective has no use for this work of the switches."""
    named = {"combine": SUMS, "copy": (collective,), "forward": PIPELINED}
    if collective not in named[switches]:
        raise UsageError(
            f"--switches does not apply to {collective}: they {switches} in "
            f"{', '.join(named[switches])}."
        )


def require_items(options: OptimumOptions, topology: Topology) -> None:
    """Raise `UsageError` unless so many items can be moved.

    Raises
    ------
    UsageError
        The collective has no pipelines, or none of so many items.
    """
    from mpinet.programs.pipelines.bounds import EXCHANGE
    from mpinet.programs.pipelines.collectives import require_exchange
    from mpinet.programs.pipelines.spreading import require_spread
    from mpinet.programs.pipelines.switching import behavior

    collective = options.collective
    if collective not in PIPELINED:
        raise UsageError(
            f"--items does not apply to {collective}: pipelines are for {', '.join(PIPELINED)}."
        )
    rooted = collective not in OF_EACH
    number = options.items if rooted else options.items * topology.hosts
    model = PortModel.named(options.ports)
    if collective == EXCHANGE:
        require_exchange(topology, model, options.items)
        return
    switches = behavior(collective, options.switches)
    require_spread(topology, model, number, rooted, None, switches)


class PipelineOptimum(ProvingJob):
    """Search of both bounds: rank 0 looks for a certificate, all ranks run the best pipeline."""

    open_fields = ("lower", "lower_by", "bounds")

    def __init__(self, options: OptimumOptions, topology: Topology, root: int):
        super().__init__(options, topology)
        self._root = root if options.collective in ROOTED else None

    def run(self, transport: Local, watch: Watch) -> Row:
        """Find a pipeline, search a bound that nothing beats, and run the pipeline."""
        from mpinet.machine import Machine
        from mpinet.measure.optimum.pipelined import Pipelined
        from mpinet.programs.pipelines.collectives import plan
        from mpinet.programs.playing import perform

        options = self.options
        model = PortModel.named(options.ports)
        self.model = model.as_json()
        machine = Machine(self._network, model, transport)
        planned = plan(
            machine, options.collective, options.items, self._root, switches=options.switches
        )
        search = Pipelined(
            self._network, options.collective, self._root, options.ports, options.items
        )
        if transport.rank == 0:
            search.run(planned.table.last, options.limit)
            refused = {each["by"] for each in search.selfcheck.refused}
            if planned.bound > search.lower and planned.bound.by not in refused:
                search.lower, search.lower_by = int(planned.bound), planned.bound.by
                search.certificate, search.proof = {}, None
                search.bounds[planned.bound.by] = search.lower
            self._save(search, planned)
        known = self.shared(transport, search, ("lower", "lower_by", "bounds", "limited"))
        found = perform(machine, planned.table, options.seed)
        name, correct = planned.algorithm, bool(found.correct)
        upper = Upper(found.steps, found.messages, name, correct, found.steps, name)
        told = self.both_sides(known, self._root, upper, items=options.items)
        return told | skipped_field(planned.skipped)

    def _save(self, search: Pipelined, planned: Plan) -> None:
        """Write the certificate, its proof beside it, and the schedule."""
        self.save_schedule(planned.table, search)
        self.save_certificate(self.options.save, search, no_cut(self.options, self._network))

    def show(self, result: Row) -> str:
        """Format both bounds, and what shows them."""
        return shown(result, "no better schedule or bound was found")
