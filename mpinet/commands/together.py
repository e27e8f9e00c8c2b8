"""The job of collectives of several groups at once on one fabric."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.fabric import CollectiveOptions, intact
from mpinet.commands.fields import Count, Fields, Positive
from mpinet.commands.job import Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.opening import port_model
from mpinet.commands.optionrecords import line_of, values_of
from mpinet.errors import UsageError
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


class GroupFound(Fields):
    """A group beside others: what its collective takes alone."""

    group: str
    processors: Positive
    algorithm: str
    steps: Count
    lower_bound: Count


def seats_of(
    options: CollectiveOptions | argparse.Namespace, parts: list[Members], rooted: bool
) -> list[int]:
    """Return the root's node as each group numbers it; 0 of a collective without one.

    Raises
    ------
    NodeError
        A group has no such rank.
    """
    from mpinet.programs.collective import require_processor

    if not rooted:
        return [0] * len(parts)
    roots = [part.find(str(values_of(options)["root"])) for part in parts]
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
    options : Namespace
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

    options: CollectiveOptions | argparse.Namespace

    def __init__(
        self,
        options: CollectiveOptions | argparse.Namespace,
        fabric: Topology,
        parts: list[Members],
    ):
        super().__init__(options, fabric)
        self._parts = parts
        if options.duplex == "half":
            raise UsageError("--duplex half does not apply: groups at once need full duplex.")
        given = values_of(options) | {"checkpoint": line_of(options).checkpoint}
        for name in INAPPLICABLE:
            if given.get(name):
                raise UsageError(
                    f"--{name.replace('_', '-')} does not apply to several groups at once."
                )
        self._roots = seats_of(options, parts, hasattr(options, "root"))

    def run(self, transport: Local, watch: Watch) -> Row:
        """Find each group's schedule, interleave them, and run them."""
        from mpinet.machine import Machine
        from mpinet.programs.pipelines.crossings import joint_cut
        from mpinet.programs.pipelines.interleaving import interleaved
        from mpinet.programs.pipelines.spreading import COPY
        from mpinet.programs.pipelines.together import party, run

        options, model = self.options, port_model(self.options)
        collective, items = options.command, getattr(options, "items", 1)
        switches = getattr(options, "switches", COPY)
        parties = [
            party(self.network, part, model, collective, items, root, options.algorithm, switches)
            for part, root in zip(self._parts, self._roots, strict=True)
        ]
        tables = interleaved(self.network, model, parties)
        machine: Machine = self.make_machine(transport, watch)
        operator = getattr(options, "operator", "sum")
        spent, sets = run(machine, parties, tables, options.seed, operator)
        self.note_crossing(machine)
        demands = demands_of(collective, items, parties, self._roots)
        bound = max(one.bound for one in parties)
        bound = max(bound, joint_cut(self.network, model.send == 1, demands)[0])
        short = [held.short() for held in sets]
        names = dict.fromkeys(one.algorithm for one in parties)
        result: Row = {"items": items} if collective not in (*SINGLE, "broadcast") else {}
        if hasattr(options, "operator"):
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
        result |= intact(options, transport, watch)
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
