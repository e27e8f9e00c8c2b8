"""The job of collectives of several groups at once on one fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpinet.commands.job import Watch
from mpinet.commands.optionrecords import values_of
from mpinet.commands.options import (
    CollectiveOptions,
    ItemOptions,
    ManyOptions,
    Place,
    ReductionOptions,
    RootedOptions,
)
from mpinet.errors import UsageError
from mpinet.jobs.fabric import intact
from mpinet.jobs.machinejob import MachineJob
from mpinet.jobs.opening import port_model
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import table, with_phases

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.networks.members import Members
    from mpinet.programs.pipelines.crossings import Demand
    from mpinet.programs.pipelines.interleaving import Party

INAPPLICABLE = ("checkpoint", "routing", "schedule", "schedule_out")
"""Options that are for one collective alone."""

SINGLE = ("scatter", "gather")
"""Collectives without items."""


def seats_of(root: Place | None, parts: list[Members]) -> list[int]:
    """Return the root's node as each group numbers it; 0 of a collective without a root.

    Raises
    ------
    NodeError
        A group has no such rank.
    """
    from mpinet.programs.collective import require_processor

    if root is None:
        return [0] * len(parts)
    roots = [part.find(str(root)) for part in parts]
    for part, root in zip(parts, roots, strict=True):
        require_processor(part, root)
    return roots


def demands_of(collective: str, items: int, parties: list[Party], roots: list[int]) -> list[Demand]:
    """Return what the groups do at once, each with its root in front."""
    from mpinet.programs.pipelines.crossings import Demand

    found = []
    for one, root in zip(parties, roots, strict=True):
        members = one.place[: one.part.hosts]
        ranked = [root, *(rank for rank in range(len(members)) if rank != root)]
        found.append(Demand(collective, members[ranked], items))
    return found


class Together(MachineJob):
    """A collective of several groups at once.

    Parameters
    ----------
    options : CollectiveOptions
        The command's.
    fabric : Topology
        The machine's network.
    parts : list of Members
        It as each group sees it.

    Raises
    ------
    UsageError
        An option does not apply.
    NodeError
        A group has no such rank as the root's.
    """

    options: CollectiveOptions

    def __init__(
        self,
        options: CollectiveOptions,
        fabric: Topology,
        parts: list[Members],
    ):
        super().__init__(options, fabric)
        self._parts = parts
        if options.duplex == "half":
            raise UsageError("--duplex half does not apply: groups at once need full duplex.")
        given = values_of(options) | {"checkpoint": options.line.checkpoint}
        for name in INAPPLICABLE:
            if given.get(name):
                raise UsageError(
                    f"--{name.replace('_', '-')} does not apply to several groups at once."
                )
        root = options.root if isinstance(options, RootedOptions) else None
        self._roots = seats_of(root, parts)

    def run(self, transport: Local, watch: Watch) -> Row:
        """Find each group's schedule, interleave them, and run them."""
        from mpinet.machine import Machine
        from mpinet.programs.pipelines.crossings import joint_cut
        from mpinet.programs.pipelines.interleaving import interleaved
        from mpinet.programs.pipelines.switching import COPY
        from mpinet.programs.pipelines.together import party, run

        options = self.options
        model = port_model(options.ports, options.duplex)
        collective = options.command
        items = options.items if isinstance(options, ManyOptions) else 1
        switches = options.switches if isinstance(options, ItemOptions) else COPY
        parties = [
            party(self.network, part, model, collective, items, root, options.algorithm, switches)
            for part, root in zip(self._parts, self._roots, strict=True)
        ]
        tables = interleaved(self.network, model, parties)
        machine: Machine = self.make_machine(transport, watch)
        reduces = isinstance(options, ReductionOptions)
        operator = options.operator if isinstance(options, ReductionOptions) else "sum"
        spent, sets = run(machine, parties, tables, options.seed, operator)
        self.note_crossing(machine)
        demands = demands_of(collective, items, parties, self._roots)
        bound = max(one.bound for one in parties)
        bound = max(bound, joint_cut(self.network, model.send == 1, demands)[0])
        short = [held.short() for held in sets]
        names = dict.fromkeys(one.algorithm for one in parties)
        result: Row = {"items": items} if collective not in (*SINGLE, "broadcast") else {}
        if reduces:
            result |= {"operator": operator, "value": sets[0].value(self._roots[0], 0)}
        result |= {
            "algorithm": ", ".join(names),
            "steps": spent.steps,
            "messages": spent.messages,
            "lower_bound": int(bound),
            "lower_by": bound.by,
            "correct": not any(short),
        }
        if collective == "broadcast":
            result["informed"] = sum(part.hosts for part in self._parts) - sum(short)
        result |= intact(options, options.faults, transport, watch)
        result["groups"] = [
            {
                "group": part.name.partition("group=")[2].partition(",")[0],
                "processors": part.hosts,
                "algorithm": one.algorithm,
                "steps": one.table.last,
                "lower_bound": int(one.bound),
            }
            for part, one in zip(self._parts, parties, strict=True)
        ]
        return result | {"phases": phase_rows([("together", spent.steps)])}

    def show(self, result: Row) -> str:
        """Format the counts, and what each group takes alone."""
        told = {name: value for name, value in result.items() if name != "groups"}
        heading = f"{self.options.command} of {len(self._parts)} groups at once on {self.topology}"
        names = ("group", "processors", "algorithm", "steps", "lower_bound")
        rows = [tuple(group[name] for name in names) for group in result["groups"]]
        alone = table(rows, ("group", "processors", "algorithm", "alone", "bound"))
        return f"{with_phases(heading, told)}\n\n{alone}"
