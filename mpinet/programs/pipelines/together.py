"""Several concurrent collectives on one fabric, each of its own group, with interleaved steps.

Each group has its own schedule, on the network with all other nodes as forwarders. The messages of
all groups are then merged into common steps, in the order of their own steps. A message goes in the
first step in which its content has arrived and ports, links and busses are free. A lower bound of a
group alone also holds next to other groups. The links into a part of the network have to carry the
messages of all groups into this part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mpinet.machine import Machine, PortModel, Spent
from mpinet.machine.transport import Local
from mpinet.networks.members import Members
from mpinet.networks.topology import Topology
from mpinet.programs.holdings import ChunkGroup, KeyedChunks
from mpinet.programs.kinds import ROOTED
from mpinet.programs.pipelines.bounds import steps_and_rate
from mpinet.programs.pipelines.collectives import plan
from mpinet.programs.pipelines.interleaving import Party
from mpinet.programs.pipelines.switching import is_planned
from mpinet.programs.playing import lower_bound, play, rows_of
from mpinet.programs.schedules.taken import taken
from mpinet.programs.schedules.timetable import Timetable, ports_of

FASTEST = {"scatter": "flow", "gather": "flow"}
"""Algorithms with the minimum number of steps, for some collectives."""


class WantedCollective(NamedTuple):
    """A collective to schedule: on a whole network, or for each group."""

    model: PortModel
    """Ports used by a processor."""
    collective: str
    """Name of the collective."""
    items: int
    """Number of items of the root or of each processor, or of items to combine."""
    algorithm: str | None
    """Name of the algorithm; None: the one with the fewest steps."""
    switches: str
    """Behavior of switches; see `move_items`."""
    parts: bool = True
    """True if messages may carry a part of a sum."""

    def scheduled(self, topology: Topology, root: int) -> tuple[str, Timetable]:
        """Return the algorithm and the schedule.

        The root is ignored by collectives without a root.
        """
        collective = self.collective
        if not is_planned(topology, collective, self.items, self.switches):
            return taken(topology, collective, root, self.algorithm, self.model)
        return self._planned(topology, root if collective in ROOTED else None)

    def _planned(self, topology: Topology, root: int | None) -> tuple[str, Timetable]:
        """Return the algorithm and the schedule of a pipeline of items."""
        machine = Machine(topology, self.model, Local())
        given = (self.algorithm, self.switches, self.parts)
        found = plan(machine, self.collective, self.items, root, *given)
        return found.algorithm, found.table

    def party(self, fabric: Topology, part: Members, root: int) -> Party:
        """Return a group's schedule and lower bound (collective).

        Parameters
        ----------
        fabric : Topology
            Network of all groups.
        part : Members
            The network as seen by the group.
        root : int
            A rank in the group.
        """
        collective, numbers = self.collective, np.arange(part.network.size)
        if isinstance(fabric, Members):
            numbers[fabric.origin] = np.arange(fabric.size)
        spread = collective == "gossip" or (collective == "broadcast" and self.model.send is None)
        if spread and self.algorithm is None:
            name, table = self._planned(part, root if collective == "broadcast" else None)
        else:
            algorithm = self.algorithm or FASTEST.get(collective)
            name, table = self._replace(algorithm=algorithm, parts=False).scheduled(part, root)
        table = table.ordered()
        table = replace(table, port=ports_of(part, table))
        machine = Machine(part, self.model, Local())  # equal on every rank
        rated, _ = steps_and_rate(machine, collective, root, self.items)
        bound = max(lower_bound(machine, table), rated)
        return Party(part, numbers[part.origin], name, table, bound)


class GroupChunks(NamedTuple):
    """A group's chunks."""

    held: KeyedChunks
    """Chunks of all groups."""
    which: int
    """Number of the group."""

    def short(self) -> int:
        """Return the number of the group's processors without the right chunks (collective)."""
        return self.held.short(self.which)

    def value(self, node: int, chunk: int) -> int:
        """Return the value of a chunk held by a processor of the group (collective)."""
        return self.held.value(node, chunk, self.which)


def run(
    machine: Machine,
    parties: Sequence[Party],
    tables: Sequence[Timetable],
    seed: int,
    operator: str,
) -> tuple[Spent, list[GroupChunks]]:
    """Run the timetables of all groups in common steps (collective).

    Parameters
    ----------
    machine : Machine
        Machine of the fabric; runs the steps, enforces the port model and counts.
    parties, tables
        The groups, and their timetables in common steps.
    seed : int
        Seed of the contents.
    operator : str
        Operator for contributions.

    Returns
    -------
    spent : Spent
        Steps and messages.
    shares : list of GroupChunks
        Final chunks of each group's processors.
    """
    totals = [table.purpose.total for table in tables]
    firsts = [sum(totals[:which]) for which in range(len(tables))]
    pairs = list(zip(parties, tables, firsts, strict=True))
    groups = [ChunkGroup(table.purpose, one.place, first) for one, table, first in pairs]
    whole = replace(
        tables[0],
        step=np.concatenate([table.step for table in tables]),
        sender=np.concatenate([one.place[table.sender] for one, table, _ in pairs]),
        receiver=np.concatenate([one.place[table.receiver] for one, table, _ in pairs]),
        chunk=np.concatenate([table.chunk + first for _, table, first in pairs]),
        port=np.concatenate([table.port for table in tables]),
        add=np.concatenate([np.zeros(len(t), bool) if t.add is None else t.add for t in tables]),
        bus=None,
    )
    held = KeyedChunks(machine, groups, whole, seed, operator)
    spent = play(machine, rows_of(machine, whole, held), held)
    return spent, [GroupChunks(held, which) for which in range(len(groups))]
