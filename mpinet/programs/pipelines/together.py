"""Several collectives at once on one fabric: each of a group of its own, their steps interleaved.

Each group has a schedule of its own, on the network in which all others only forward. The messages
of all are then put into common steps, in the order of their own ones: a message goes in the first
step in which what it carries is there, and ports, links and busses are free. What a group alone
cannot beat nothing beats beside others, and what all have to bring into a part of the network has
to go over the links that lead there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine, PortModel, Spent
from mpinet.machine.placement import Placement
from mpinet.machine.transport import Local
from mpinet.networks.members import Members
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound
from mpinet.programs.perform import ChunkSets, lower_bound, take_in
from mpinet.programs.pipelines.bounds import steps_and_rate
from mpinet.programs.pipelines.collectives import plan
from mpinet.programs.pipelines.spreading import only_forwards
from mpinet.programs.schedules.taken import taken
from mpinet.programs.schedules.timetable import Part, Timetable, ports_of

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
    planned = collective in ("allreduce", "reducescatter") or items != 1
    planned |= collective == "reduce" and only_forwards(topology, switches)
    if not planned:
        return taken(topology, collective, root, algorithm, model)
    rooted = root if collective in ("broadcast", "reduce") else None
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


@dataclass(frozen=True, eq=False)
class Party:
    """A group's collective beside others'.

    Attributes
    ----------
    part : Members
        The fabric as the group sees it.
    place : ndarray of int64, shape (N,)
        The number on the fabric of each of its nodes.
    algorithm : str
        What found its schedule.
    table : Timetable
        That schedule, in the group's own numbers and steps, in order; rows have their ports.
    bound : Bound
        Steps that it cannot beat alone.
    """

    part: Members
    place: Ints
    algorithm: str
    table: Timetable
    bound: Bound


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
        found = plan(machine, collective, items, root if collective == "broadcast" else None)
        name, table = found.algorithm, found.table
    else:
        algorithm = algorithm or FASTEST.get(collective)
        name, table = scheduled(part, model, collective, items, root, algorithm, switches)
    table = table.ordered()
    table = replace(table, port=ports_of(part, table))
    bound = max(lower_bound(machine, table), steps_and_rate(machine, collective, root, items)[0])
    return Party(part, numbers[part.origin], name, table, bound)


def interleaved(fabric: Topology, model: PortModel, parties: Sequence[Party]) -> list[Timetable]:
    """Put the messages of all groups into common steps.

    Returns
    -------
    list of Timetable
        Those of the groups, in the common steps.
    """
    busy: dict[Hashable, set[int]] = defaultdict(set)
    steps = [each.table.step.copy() for each in parties]
    lines = [_Line(fabric, model, each) for each in parties]
    units = [(step, which, rows) for which, each in enumerate(lines) for step, rows in each.units()]
    for (_, which), same in groupby(sorted(units, key=lambda unit: unit[:2]), lambda one: one[:2]):
        placed = []
        for _, _, rows in same:
            needed, at = lines[which].needed(rows), lines[which].ready(rows)
            while any(at in busy[each] for each in needed):
                at += 1
            for each in needed:
                busy[each].add(at)
            steps[which][rows] = at
            placed.append((rows, at))
        for rows, at in placed:  # rows of one step of their own do not wait for each other
            lines[which].note(rows, at)
    return [replace(each.table, step=step) for each, step in zip(parties, steps, strict=True)]


class _Line:
    """A group's messages in their order, with what each waits for and uses."""

    def __init__(self, fabric: Topology, model: PortModel, one: Party):
        table = one.table
        assert table.port is not None
        self._chunks, self._table = table.chunk.tolist(), table
        self._senders, self._receivers = table.sender.tolist(), table.receiver.tolist()
        self._from, self._to = one.place[table.sender], one.place[table.receiver]
        self._one_port = model.send == 1
        self._busses: list[int] | None = None
        self._ports = table.port.tolist()
        if not fabric.links:
            self._busses = np.asarray(fabric.channel(self._from, table.port)).tolist()
        self._came: dict[tuple[int, int], int] = {}
        self._left: dict[tuple[int, int], int] = {}

    def units(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the rows that have to stay in one step, step by step.

        Those are the rows of a transmission on a bus, and rows by which a chunk comes to a node in
        the step in which it leaves there.
        """
        step = self._table.step
        for first, last in zip(*_runs(step), strict=True):
            rows = range(first, last)
            leader = {row: row for row in rows}
            sends: dict[Hashable, int] = {}
            for row in rows:
                sent = self._senders[row], self._chunks[row]
                sends.setdefault(sent, row)
                if self._busses is not None:
                    _join(leader, row, sends.setdefault((*sent, self._busses[row]), row))
            for row in rows:
                source = sends.get((self._receivers[row], self._chunks[row]))
                if source is not None:
                    _join(leader, row, source)
            joined: dict[int, list[int]] = defaultdict(list)
            for row in rows:
                joined[_first(leader, row)].append(row)
            for together in joined.values():
                yield int(step[first]), together

    def needed(self, rows: list[int]) -> set[Hashable]:
        """Return what rows use in their step: links or busses, and ports of both ends."""
        used = set[Hashable]()
        for row in rows:
            sender, receiver = int(self._from[row]), int(self._to[row])
            if self._busses is not None:
                used.add(("bus", self._busses[row]))
            elif not self._one_port:
                used.add((sender, self._ports[row]))
            if self._one_port:
                used |= {("out", sender), ("in", receiver)}
        return used

    def ready(self, rows: list[int]) -> int:
        """Return the first step after all that rows wait for.

        What a row carries has come, and what is there in its place at the receiver has left.
        """
        found = 1
        for row in rows:
            chunk = self._chunks[row]
            found = max(found, self._came.get((self._senders[row], chunk), 0) + 1)
            found = max(found, self._left.get((self._receivers[row], chunk), 0))
        return found

    def note(self, rows: list[int], at: int) -> None:
        """Note that rows go in a step."""
        for row in rows:
            sent = self._senders[row], self._chunks[row]
            got = self._receivers[row], self._chunks[row]
            self._left[sent] = max(self._left.get(sent, 0), at)
            self._came[got] = max(self._came.get(got, 0), at)


def _runs(step: Ints) -> tuple[list[int], list[int]]:
    """Begin and end of the rows of each step."""
    begin = np.flatnonzero(np.diff(step, prepend=-1))
    return begin.tolist(), np.append(begin[1:], len(step)).tolist()


def _first(leader: dict[int, int], row: int) -> int:
    while leader[row] != row:
        row = leader[row]
    return row


def _join(leader: dict[int, int], row: int, other: int) -> None:
    leader[_first(leader, row)] = _first(leader, other)


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
