"""A collective of several groups at once on one fabric: their schedules in common steps."""

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
"""Options that are for one collective alone."""


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


class AtOnce:
    """A collective of several groups at once, as a program.

    Parameters
    ----------
    options : CollectiveOptions
        The command's.
    fabric : Topology
        The machine's network.
    parts : list of Members
        The fabric as each group sees it.

    Raises
    ------
    UsageError
        An option does not apply.
    NodeError
        A group has no such rank as the root's.
    """

    def __init__(self, options: CollectiveOptions, fabric: Topology, parts: list[Members]):
        if options.command not in KINDS:
            raise UsageError(f"--group: {options.command} is done by one group at a time.")
        self._options, self._fabric, self._parts = options, fabric, parts
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

    def needs(self, share: Any) -> int:
        """Bytes of the program; 0: not known."""
        return 0

    once = needs

    def run(self, machine: Machine) -> SimpleNamespace:
        """Find each group's schedule, interleave them, and run them (collective)."""
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
        # `run` combines contributions where timetables say so. Without a reduction none is
        # combined, and any operator serves.
        operator = options.operator if isinstance(options, ReductionOptions) else "sum"
        spent, sets = run(machine, parties, tables, options.seed, operator)
        demands = demands_of(collective, items, parties, self._roots)
        bound = max(one.bound for one in parties)
        # Groups share links. What all of them send over one cut may take more steps than the
        # slowest group alone.
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
            # A document has room for one value, so the first group stands for all.
            value=sets[0].value(self._roots[0], 0) if KINDS[collective].adds else None,
            skipped=(),
            groups=self._alone(parties),
        )

    def _alone(self, parties: list[Party]) -> list[dict[str, Any]]:
        """Return what each group takes alone."""
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
