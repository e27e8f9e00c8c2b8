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
from typing import cast

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine, PortModel, Spent
from mpinet.machine.placement import Placement
from mpinet.machine.transport import Local
from mpinet.networks.members import Members
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import ROOTED, TWO_HALVES
from mpinet.programs.perform import ChunkSets, lower_bound, take_in
from mpinet.programs.pipelines.bounds import steps_and_rate
from mpinet.programs.pipelines.collectives import plan
from mpinet.programs.pipelines.interleaving import Party
from mpinet.programs.pipelines.switching import behavior, only_forwards
from mpinet.programs.schedules.taken import taken
from mpinet.programs.schedules.timetable import Part, Timetable, ports_of

SPREAD = ("broadcast", "gossip", "reduce")
"""Collectives whose schedules are others where switches only forward."""

FASTEST = {"scatter": "flow", "gather": "flow"}
"""Algorithms that take the fewest steps, of collectives that have such ones."""


def scheduled(
    topology: Topology,
    model: PortModel,
    collective: str,
    items: int,
    root: int,
    algorithm: str | None,
    switches: str,
    parts: bool = False,
) -> tuple[str, Timetable]:
    """Find a schedule of any collective; its algorithm, and who sends what.

    Parameters
    ----------
    topology, model
        The network, and how many ports a processor uses.
    collective, items, root, algorithm, switches, parts
        As of `plan`; a root counts where the collective has one.
    """
    planned = collective in TWO_HALVES or items != 1
    planned |= only_forwards(topology, behavior(collective, switches)) and collective in SPREAD
    if not planned:
        return taken(topology, collective, root, algorithm, model)
    rooted = root if collective in ROOTED else None
    found = plan(
        Machine(topology, model, Local()),
        collective,
        items,
        rooted,
        algorithm,
        switches,
        parts=parts,
    )
    return found.algorithm, found.table


def party(
    fabric: Topology,
    part: Members,
    model: PortModel,
    collective: str,
    items: int,
    root: int,
    algorithm: str | None,
    switches: str,
) -> Party:
    """Find a group's schedule, and what nothing beats (collective).

    Parameters
    ----------
    fabric : Topology
        The network of all groups.
    part : Members
        It as the group sees it.
    model, collective, items, root, algorithm, switches
        As of `scheduled`; the root is a rank in the group.
    """
    numbers = np.arange(part.network.size)
    if isinstance(fabric, Members):
        numbers[fabric.origin] = np.arange(fabric.size)
    machine = Machine(part, model, Local())  # alike on every rank
    spread = collective == "gossip" or (collective == "broadcast" and model.send is None)
    if spread and algorithm is None:
        at = root if collective == "broadcast" else None
        found = plan(machine, collective, items, at, switches=switches)
        name, table = found.algorithm, found.table
    else:
        algorithm = algorithm or FASTEST.get(collective)
        name, table = scheduled(part, model, collective, items, root, algorithm, switches)
    table = table.ordered()
    table = replace(table, port=ports_of(part, table))
    bound = max(lower_bound(machine, table), steps_and_rate(machine, collective, root, items)[0])
    return Party(part, numbers[part.origin], name, table, bound)


class _Seat:
    """A machine as a group sees it: processors by rank."""

    def __init__(self, machine: Machine, one: Party):
        self._machine, self.topology, self._place = machine, one.part, one.place
        self.placement: Placement = machine.placement
        numbers = np.full(machine.topology.size, -1)
        numbers[one.place] = np.arange(len(one.place))
        self.ranks = numbers
        mine = numbers[machine.nodes]
        self.nodes: Ints = mine[mine >= 0]

    def slots(self, nodes: Ints) -> Ints:
        """Slots of nodes on this rank."""
        return self._machine.slots(self._place[nodes])

    def sum(self, *numbers: int) -> list[int]:
        """Sum over all ranks."""
        return self._machine.sum(*numbers)


def run(
    machine: Machine,
    parties: Sequence[Party],
    tables: Sequence[Timetable],
    seed: int,
    operator: str,
) -> tuple[Spent, list[ChunkSets]]:
    """Run the timetables of all groups in common steps (collective); what everybody has then.

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
    """
    seats = [_Seat(machine, one) for one in parties]
    pairs = [(cast(Machine, seat), table) for seat, table in zip(seats, tables, strict=True)]
    sets = [ChunkSets(seat, table, seed, operator) for seat, table in pairs]
    parts = [Part(seat, table) for seat, table in pairs]
    mine = [table.rows(part.index) for part, table in zip(parts, tables, strict=True)]
    width = 1 + max(each.width for each in sets)
    with machine.spending() as spent:
        for step in range(1, max(table.last for table in tables) + 1):
            nodes, ports, payload = [], [], []
            for which, (part, rows) in enumerate(zip(parts, mine, strict=True)):
                now = part.sends(step) if step <= tables[which].last else slice(0, 0)
                words = sets[which].messages(rows.rows(np.arange(now.start, now.stop)))
                whole = np.zeros((len(words), width), np.int64)
                whole[:, 0], whole[:, 1 : 1 + words.shape[1]] = which, words
                nodes.append(machine.nodes[part.slots[now]])
                ports.append(part.ports[now])
                payload.append(whole)
            sent = np.concatenate(nodes), np.concatenate(ports), np.concatenate(payload)
            inbox = machine.step(*sent)
            for which, held in enumerate(sets):
                here = inbox.payload[:, 0] == which
                came = inbox.payload[here, 1 : 1 + held.width]
                ranks = seats[which].ranks[inbox.nodes[here]]
                take_in(machine, held, ranks, came, step, lambda row: "")
    return spent, sets
