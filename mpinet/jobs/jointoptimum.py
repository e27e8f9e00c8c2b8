"""``mpinet optimum`` of several groups at once: a cut that all share, and their steps together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpinet.commands.job import Watch
from mpinet.commands.optimum import OptimumOptions
from mpinet.errors import UsageError
from mpinet.jobs.itemsoptimum import shown
from mpinet.jobs.proofs import ProvingJob, Upper
from mpinet.jobs.together import demands_of, seats_of
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import ROOTED
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.networks.members import Members


class JointOptimum(ProvingJob):
    """Bounds from both sides of what several groups do at once.

    From above, each group's own schedule, put into common steps; from below, what all have to bring
    into a set of nodes, with a certificate, or what one group takes alone.

    Raises
    ------
    NodeError
        A group has no such rank as the root's.
    UsageError
        A schedule is to be written, which no file holds of several groups.
    """

    def __init__(self, options: OptimumOptions, fabric: Topology, parts: list[Members]):
        super().__init__(options, fabric)
        if options.schedule is not None:
            raise UsageError("--schedule does not apply to several groups at once.")
        self._parts, rooted = parts, options.collective in ROOTED
        self._roots = seats_of(options.root if rooted else None, parts)
        self._root = self._roots[0] if rooted else None

    def run(self, transport: Local, watch: Watch) -> Row:
        """Interleave the groups' schedules, run them, and look for the cut."""
        from mpinet.machine import Machine
        from mpinet.measure.optimum.certified import Certified
        from mpinet.programs.pipelines.crossings import joint_cut
        from mpinet.programs.pipelines.interleaving import interleaved
        from mpinet.programs.pipelines.together import party, run

        options, collective = self.options, self.options.collective
        model = PortModel.named(options.ports)
        self.model = model.as_json()
        parties = [
            party(
                self._network, part, model, collective, options.items, root, None, options.switches
            )
            for part, root in zip(self._parts, self._roots, strict=True)
        ]
        machine = Machine(self._network, model, transport)
        tables = interleaved(self._network, model, parties)
        spent, sets = run(machine, parties, tables, options.seed, "sum")
        correct = not any([held.short() for held in sets])
        alone = max(one.bound for one in parties)
        demands = demands_of(collective, options.items, parties, self._roots)
        groups = [one.place[: one.part.hosts].tolist() for one in parties]
        search, found = Certified(self._network), {"lower": int(alone), "lower_by": alone.by}
        if transport.rank == 0:
            joint, inside = joint_cut(self._network, model.send == 1, demands)
            if 0 < joint >= alone:
                claim: dict[str, Any] = {"collective": collective, "ports": options.ports}
                claim |= {"root": self._root, "more_than": joint - 1}
                claim |= {"items": options.items, "groups": groups}
                made = search.document(claim, "joint", {"inside": inside})
                if search.holds(int(joint), "joint", made):
                    search.certificate = made
                    found = {"lower": int(joint), "lower_by": "joint"}
            self.save_certificate(options.save, search, self._no_cut)
        both = self.shared(transport, search, (), **found)
        both["bounds"] = {alone.by: int(alone), both["lower_by"]: both["lower"]}
        names = ", ".join(dict.fromkeys(one.algorithm for one in parties))
        upper = Upper(spent.steps, spent.messages, names, correct, None, None)
        many = {} if options.items == 1 else {"items": options.items}
        return self.both_sides(both, self._root, upper, **many) | {"groups": groups}

    @property
    def _no_cut(self) -> str:
        """The sentence on a bound without a certificate."""
        return (
            f"There is no certificate: what one of the groups on {self.topology} takes alone is as "
            "much as any cut shows that all share; optimum --group of it alone has its own."
        )

    def show(self, result: Row) -> str:
        """Format both bounds, with their reasons."""
        text = shown(result, "no better schedule or bound was found")
        return text.replace(" on ", f" of {len(self._parts)} groups at once on ", 1)
