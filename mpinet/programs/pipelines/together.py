"""Several collectives at once on one fabric: each of a group of its own, their steps interleaved.

Each group has a schedule of its own, on the network in which all others only forward. The messages
of all are then put into common steps, in the order of their own ones: a message goes in the first
step in which what it carries is there, and ports, links and busses are free. What a group alone
cannot beat nothing beats beside others, and what all have to bring into a part of the network has
to go over the links that lead there.
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
"""Algorithms that take the fewest steps, of collectives that have such ones."""


class WantedCollective(NamedTuple):
    """A collective whose schedule is to be found: on a whole network, or for each group."""

    model: PortModel
    """Ports that a processor uses."""
    collective: str
    """Name of the collective."""
    items: int
    """Items of the root or of each processor, or items to combine."""
    algorithm: str | None
    """Name of the algorithm; None: what takes the fewest steps."""
    switches: str
    """Work of the switches; see `move_items`."""
    parts: bool = True
    """True if part of a sum may be sent."""

    def scheduled(self, topology: Topology, root: int) -> tuple[str, Timetable]:
        """Find a schedule; its algorithm, and who sends what.

        The root counts where the collective has one.
        """
        collective = self.collective
        if not is_planned(topology, collective, self.items, self.switches):
            return taken(topology, collective, root, self.algorithm, self.model)
        return self._planned(topology, root if collective in ROOTED else None)

    def _planned(self, topology: Topology, root: int | None) -> tuple[str, Timetable]:
        """Find a schedule as a pipeline of items."""
        machine = Machine(topology, self.model, Local())
        given = (self.algorithm, self.switches, self.parts)
        found = plan(machine, self.collective, self.items, root, *given)
        return found.algorithm, found.table

    def party(self, fabric: Topology, part: Members, root: int) -> Party:
        """Find a group's schedule, and what nothing beats (collective).

        Parameters
        ----------
        fabric : Topology
            The network of all groups.
        part : Members
            It as the group sees it.
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
        machine = Machine(part, self.model, Local())  # alike on every rank
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
        """Count the group's processors without the right chunks (collective)."""
        return self.held.short(self.which)

    def value(self, node: int, chunk: int) -> int:
        """Return the value that a processor of the group holds of a chunk (collective)."""
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
        Of the fabric: moves, polices and counts.
    parties, tables
        The groups, and their timetables in common steps.
    seed : int
        Chooses the contents.
    operator : str
        How contributions are combined.

    Returns
    -------
    spent : Spent
        Steps and messages.
    shares : list of GroupChunks
        What each group's processors have then.
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
