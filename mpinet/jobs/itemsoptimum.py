"""``mpinet optimum`` of scatter, gather, gossip and exchange: cuts, and the best schedule."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mpinet.commands.job import Watch, skipped_field
from mpinet.commands.optimum import OptimumOptions
from mpinet.errors import UsageError
from mpinet.jobs.proofs import ProvingJob, Upper
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import ROOTED
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.measure.optimum.items import ItemsBound
    from mpinet.programs.collective import CollectiveResult

SEARCHED = {
    ("scatter", "one"): ("flow",),
    ("scatter", "all"): ("flow",),
    ("gather", "one"): ("flow",),
    ("gather", "all"): ("flow",),
    ("gossip", "one"): ("translations", "matching"),
    ("gossip", "all"): ("translations", "rarest"),
    ("exchange", "one"): ("farthest",),
    ("exchange", "all"): ("farthest",),
}
"""Algorithms that search for few steps, beside the network's own: the first that applies does."""

MOST_ROUTED = 2**7
"""Processors on busses up to which a gossip is routed only to be compared."""


class ItemsOptimum(ProvingJob):
    """Bounds from both sides: from below by cuts, from above by the best of the algorithms."""

    def __init__(self, options: OptimumOptions, topology: Topology, root: int):
        super().__init__(options, topology)
        self._collective = options.collective
        self._root = root if options.collective in ROOTED else None

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the algorithms, and look for a cut."""
        from mpinet.measure.optimum.items import ItemsBound

        options = self.options
        model = PortModel.named(options.ports)
        self.model = model.as_json()
        searched = self._searched(transport, model)
        own = None
        if searched is None or not self._own_takes_long:
            own = self._perform(transport, model, self._own_algorithm)
        runs = [run for run in (own, searched) if run is not None]
        best = min(runs, key=lambda run: run.steps)
        simple = runs[0].lower_bound
        known = max(runs[-1].lower_bound, simple)
        search = ItemsBound(self._network, self._collective, self._root, options.ports)
        bound: Row = {}
        if transport.rank == 0:
            search.run(known, simple, best.steps)
            self._save(search, best, model)
            bound = {"lower": int(search.bound), "lower_by": search.bound.by}
        found = self.shared(transport, search, (), **bound)
        found["bounds"] = {simple.by: int(simple), found["lower_by"]: found["lower"]}
        had = None if own is None else own.steps
        name = None if own is None else own.algorithm
        upper = Upper(best.steps, best.messages, best.algorithm, best.correct, had, name)
        told = self.both_sides(found, self._root, upper)
        told |= skipped_field([*dict.fromkeys(name for run in runs for name in run.skipped)])
        return told | {"by_orbit": True} if getattr(best, "by_orbit", False) else told

    @property
    def _own_takes_long(self) -> bool:
        """True if the router would carry a whole gossip, or more processors have all items."""
        from mpinet.programs.fewest import MOST_MOVED

        most = MOST_MOVED if self._network.links else MOST_ROUTED
        return self._network.hosts > most and self._collective == "gossip"

    @property
    def _own_algorithm(self) -> str | None:
        """The name of a gossip's algorithm without a search."""
        from mpinet.programs.gossip import require_algorithm

        gossip = self._collective == "gossip"
        return require_algorithm(self._network, False, None) if gossip else None

    def _searched(self, transport: Local, model: PortModel) -> CollectiveResult | None:
        """Run the algorithm that searches for few steps; None if it does not apply."""
        names: tuple[str | None, ...] = SEARCHED[self._collective, self.options.ports]
        if self._collective == "gossip" and self._network.links and not self._own_takes_long:
            names = (None, *names)  # the fewest steps of all
        for algorithm in names:
            with suppress(UsageError):
                return self._perform(transport, model, algorithm)
        return None

    def _perform(
        self, transport: Local, model: PortModel, algorithm: str | None
    ) -> CollectiveResult:
        """Run an algorithm on the machine (collective)."""
        from mpinet.machine import Machine
        from mpinet.programs.exchange import exchange
        from mpinet.programs.gather import gather
        from mpinet.programs.gossip import gossip
        from mpinet.programs.scatter import scatter

        machine = Machine(self._network, model, transport)
        seed = self.options.seed
        if self._root is not None:
            run = scatter if self._collective == "scatter" else gather
            return run(machine, self._root, algorithm, seed)
        if self._collective == "gossip":
            return gossip(machine, algorithm, seed)
        return exchange(machine, seed=seed, algorithm=algorithm)

    def _save(self, search: ItemsBound, best: CollectiveResult, model: PortModel) -> None:
        """Write the certificate and the schedule."""
        from mpinet.programs.schedules.taken import taken

        if self.options.schedule is not None:
            root = 0 if self._root is None else self._root
            _, table = taken(self._network, self._collective, root, best.algorithm, model)
            self.save_schedule(table, search)
        self.save_certificate(self.options.save, search, no_cut(self.options, self._network))

    def show(self, result: Row) -> str:
        """Format both bounds, with their reasons."""
        return shown(result, "no better schedule or bound was found")


def no_cut(options: OptimumOptions, topology: Topology) -> str:
    """Return the sentence on a bound without a certificate."""
    return (
        f"There is no certificate: the bound of {options.collective} on {topology.name} rests on "
        "no cut that is searched on so large a network."
    )


def shown(result: Row, why_open: str) -> str:
    """Format an optimum from both sides."""
    lower, upper = result["lower"], result["upper"]
    ports = "one port" if result["ports"] == "one" else "all ports"
    made = "checked by one processor's share of" if "by_orbit" in result else "run on the machine:"
    lines: dict[str, Any] = {
        "optimum": f"{upper}   (proved)"
        if result["exact"]
        else f"{lower} .. {upper}   (open: {why_open})",
        "schedule": f"{upper} steps, found by {result['upper_by']}, {made} "
        f"{result['messages']} messages, {'correct' if result['correct'] else 'WRONG'}",
        f"not {lower - 1}": result["lower_by"],
    }
    if result["own"] is not None:
        lines["own"] = f"{result['own']} by {result['own_algorithm']}"
    if "intact_steps" in result:
        lines["intact"] = f"{result['intact_bound']} .. {result['intact_steps']} without faults"
    if "skipped" in result:
        lines["skipped"] = result["skipped"]
    lines["bounds"] = "   ".join(f"{name} {steps}" for name, steps in result["bounds"].items())
    place = "" if result["root"] is None else f" from {result['root']}"
    many = f" of {result['items']} items" if result.get("items", 1) > 1 else ""
    heading = f"optimum of {result['collective']}{many} on {result['network']}{place}, {ports}"
    return f"{heading}\n{fields(lines)}"
