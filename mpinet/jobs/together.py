"""Collectives of several groups at once on one network, interleaved in common steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from mpinet.commands.algorithms import COLLECTIVES
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
from mpinet.jobs.opening import port_model
from mpinet.machine import Machine
from mpinet.networks.members import Members
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import KINDS

if TYPE_CHECKING:
    from mpinet.programs.pipelines.crossings import Demand
    from mpinet.programs.pipelines.interleaving import Party

INAPPLICABLE = ("checkpoint", "routing", "schedule", "schedule_out")
"""Options for a single collective, which do not apply to several groups."""


def seats_of(root: Place | None, parts: list[Members]) -> list[int]:
    """Return the root's index among each group's members; 0 for a collective without a root.

    Every group has its own root, with the same rank in the group.

    Raises
    ------
    NodeError
        A group lacks this rank.
    """
    from mpinet.programs.collective import require_processor

    if root is None:
        return [0] * len(parts)
    roots = [part.find(str(root)) for part in parts]
    for part, root in zip(parts, roots, strict=True):
        require_processor(part, root)
    return roots


def demands_of(collective: str, items: int, parties: list[Party], roots: list[int]) -> list[Demand]:
    """Return a `Demand` for each group: its collective, processors and number of items.

    The root is the first processor of its group. The other processors follow in rank order.
    """
    from mpinet.programs.pipelines.crossings import Demand

    found = []
    for one, root in zip(parties, roots, strict=True):
        members = one.place[: one.part.hosts]
        ranked = [root, *(rank for rank in range(len(members)) if rank != root)]
        found.append(Demand(collective, members[ranked], items))
    return found


class AtOnce:
    """A collective of several groups at once, as a program.

    Parameters
    ----------
    options : CollectiveOptions
        The command's options.
    fabric : Topology
        The machine's network.
    parts : list of Members
        The subnetwork of each group.

    Raises
    ------
    UsageError
        An option does not apply.
    NodeError
        A group lacks the rank of the root.
    """

    def __init__(self, options: CollectiveOptions, fabric: Topology, parts: list[Members]):
        if options.command not in KINDS:
            raise UsageError(f"--group or --parts: {options.command} supports one group only.")
        self._options, self._fabric, self._parts = options, fabric, parts
        if options.duplex == "half":
            raise UsageError("--duplex half does not apply to several groups at once.")
        given = values_of(options) | {"checkpoint": options.line.checkpoint}
        for name in INAPPLICABLE:
            if given.get(name):
                raise UsageError(
                    f"--{name.replace('_', '-')} does not apply to several groups at once."
                )
        root = options.root if isinstance(options, RootedOptions) else None
        self._roots = seats_of(root, parts)

    def needs(self, share: Any) -> int:
        """Return the bytes of the program; 0 if unknown."""
        return 0

    once = needs

    def run(self, machine: Machine) -> SimpleNamespace:
        """Find each group's schedule, interleave the schedules, and run them (collective)."""
        from mpinet.programs.pipelines.crossings import joint_cut
        from mpinet.programs.pipelines.interleaving import interleaved
        from mpinet.programs.pipelines.switching import COPY
        from mpinet.programs.pipelines.together import WantedCollective, run

        options, fabric = self._options, self._fabric
        model, collective = port_model(options.ports, options.duplex), options.command
        items = options.items if isinstance(options, ManyOptions) else 1
        switches = options.switches if isinstance(options, ItemOptions) else COPY
        wanted = WantedCollective(model, collective, items, options.algorithm, switches)
        parties = [
            wanted.party(fabric, part, root)
            for part, root in zip(self._parts, self._roots, strict=True)
        ]
        tables = interleaved(fabric, model, parties)
        # `run` combines contributions as timetables demand. Without a reduction nothing is
        # combined, and any operator serves.
        operator = options.operator if isinstance(options, ReductionOptions) else "sum"
        spent, sets = run(machine, parties, tables, options.seed, operator)
        demands = demands_of(collective, items, parties, self._roots)
        bound = max(one.bound for one in parties)
        # Groups share links. The joint demand of all groups across one cut may need more steps than
        # the slowest group alone.
        bound = max(bound, joint_cut(fabric, model.send == 1, demands)[0])
        short = [held.short() for held in sets]
        hidden = COLLECTIVES[collective].hides
        return SimpleNamespace(
            algorithm=", ".join(dict.fromkeys(one.algorithm for one in parties)),
            steps=spent.steps,
            messages=spent.messages,
            phases=[("together", spent.steps)],
            lower_bound=bound,
            correct=not any(short),
            informed=sum(part.hosts for part in self._parts) - sum(short),
            items=None if hidden else items,
            # A document has room for a single value: the first group represents all.
            value=sets[0].value(self._roots[0], 0) if KINDS[collective].adds else None,
            skipped=(),
            groups=self._alone(parties),
        )

    def _alone(self, parties: list[Party]) -> list[dict[str, Any]]:
        """Return each group's algorithm, steps and bound when it runs alone."""
        return [
            {
                "group": part.name.partition("group=")[2].partition(",")[0],
                "processors": part.hosts,
                "algorithm": one.algorithm,
                "steps": one.table.last,
                "lower_bound": int(one.bound),
            }
            for part, one in zip(self._parts, parties, strict=True)
        ]
