"""Merging of several groups' schedules into common steps, each message as early as possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound
from mpinet.programs.schedules.timetable import Timetable


@dataclass(frozen=True, eq=False)
class Party:
    """One of several concurrent collectives."""

    part: Topology
    """Fabric as seen by the group."""
    place: Ints
    """Number of each of the group's nodes on the fabric. Shape (N,)."""
    algorithm: str
    """Name of the algorithm of the schedule."""
    table: Timetable
    """Ordered schedule of the collective in the group's own node numbers and steps. Rows have
    ports.
    """
    bound: Bound
    """Lower bound of the steps if the collective runs alone."""


def interleaved(fabric: Topology, model: PortModel, parties: Sequence[Party]) -> list[Timetable]:
    """Merge the messages of all groups into common steps.

    Returns
    -------
    list of Timetable
        The groups' timetables in the common steps.
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
        for rows, at in placed:  # rows of the same original step do not wait for each other
            lines[which].note(rows, at)
    return [replace(each.table, step=step) for each, step in zip(parties, steps, strict=True)]


class _Line:
    """A group's messages in their order, with their dependencies and resources."""

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
        """Yield the sets of rows that must share one step, ordered by original step.

        A set contains the rows of one bus transmission, or rows by which a chunk arrives at a node
        and leaves the node in the same step.
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
        """Return the resources of rows in their step: a bus, a port, or both ends (one port)."""
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
        """Return the first step in which all dependencies of rows are met.

        The sender has received the chunk, and the receiver has sent the previous content of its
        place.
        """
        found = 1
        for row in rows:
            chunk = self._chunks[row]
            found = max(found, self._came.get((self._senders[row], chunk), 0) + 1)
            found = max(found, self._left.get((self._receivers[row], chunk), 0))
        return found

    def note(self, rows: list[int], at: int) -> None:
        """Record the step of rows."""
        for row in rows:
            sent = self._senders[row], self._chunks[row]
            got = self._receivers[row], self._chunks[row]
            self._left[sent] = max(self._left.get(sent, 0), at)
            self._came[got] = max(self._came.get(got, 0), at)


def _runs(step: Ints) -> tuple[list[int], list[int]]:
    """Return first and last index of the rows of each step, the last one exclusive."""
    begin = np.flatnonzero(np.diff(step, prepend=-1))
    return begin.tolist(), np.append(begin[1:], len(step)).tolist()


def _first(leader: dict[int, int], row: int) -> int:
    while leader[row] != row:
        row = leader[row]
    return row


def _join(leader: dict[int, int], row: int, other: int) -> None:
    leader[_first(leader, row)] = _first(leader, other)
