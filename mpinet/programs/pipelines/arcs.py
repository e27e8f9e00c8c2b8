"""A network as arcs for flows of items: both directions of links, or arcs to and from busses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.beep import wired
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import BusMembers


class Ends(NamedTuple):
    """Ends of the arcs: tail and head, and lists of the arcs of each place."""

    tail: Ints
    """Place at which each arc begins. Shape (a,)."""
    head: Ints
    """Place at which each arc ends. Shape (a,)."""
    takes: Ints
    """Duration of each arc in steps. Shape (a,)."""
    out_begin: Ints
    """First index in `out` of the arcs out of each place: ``out[out_begin[u] : out_begin[u + 1]]``
    for place u. Shape (places + 1,).
    """
    out: Ints
    """Arcs, ordered by the place at which they begin. Shape (a,)."""
    in_begin: Ints
    """First index in `into` of the arcs into each place: ``into[in_begin[u] : in_begin[u + 1]]``
    for place u. Shape (places + 1,).
    """
    into: Ints
    """Arcs, ordered by the place at which they end. Shape (a,)."""


@dataclass(frozen=True, eq=False)
class Arcs:
    """Arcs of a network, each with a capacity of one item per step.

    Places are the nodes, followed by two places per bus with capacity for one item between them. An
    arc leads from every member onto its bus, and from the bus to every member.
    """

    size: int
    """Number of nodes."""
    hosts: int
    """Number of processors."""
    links: bool
    """True for a network of links, in which places are nodes."""
    ends: Ends
    """Ends of the arcs. Parallel links are separate arcs; loops have none."""
    port: Ints
    """Port of each arc's sender; empty with busses. Shape (a,)."""

    @classmethod
    def of(cls, topology: Topology) -> Arcs:
        """Return the arcs of a network."""
        size, hosts = topology.size, topology.hosts
        if topology.busses is not None:
            tail, head, takes = _over_busses(BusMembers.of(topology), size)
            places = size + 2 * topology.busses
            return cls(size, hosts, False, by_ends(tail, head, takes, places), takes[:0])
        tail, port = wired(topology, np.arange(size))
        head = topology.neighbor(tail, port)
        apart = tail != head
        tail, head, port = (np.ascontiguousarray(each[apart]) for each in (tail, head, port))
        return cls(size, hosts, True, by_ends(tail, head, np.ones_like(tail), size), port)

    def __len__(self) -> int:
        return len(self.ends.tail)

    @property
    def out_degrees(self) -> Ints:
        """Number of arcs out of each node: its links, or its busses; shape (N,)."""
        return np.diff(self.ends.out_begin)[: self.size]

    @property
    def in_degrees(self) -> Ints:
        """Number of arcs into each node, shape (N,)."""
        return np.diff(self.ends.in_begin)[: self.size]


def _over_busses(lists: BusMembers, size: int) -> tuple[Ints, Ints, Ints]:
    """Return tails, heads and durations of the arcs; busses of one member carry nothing."""
    seats = np.diff(lists.bus_begin)
    shared = np.flatnonzero(seats > 1)
    on = np.repeat(np.arange(len(seats)), seats)
    apart = seats[on] > 1
    member, on, beyond = lists.members[apart], size + on[apart], len(seats)
    tail = np.concatenate([member, on + beyond, size + shared])
    head = np.concatenate([on, member, size + shared + beyond])
    return tail, head, np.repeat([0, 1], [2 * len(member), len(shared)])


def by_ends(tail: Ints, head: Ints, takes: Ints, places: int) -> Ends:
    """Return the arcs with lists by tail and by head."""
    return Ends(tail, head, takes, *_by_end(tail, places), *_by_end(head, places))


def _by_end(ends: Ints, places: int) -> tuple[Ints, Ints]:
    """Return the first index of the arcs of each end, and the arcs ordered by end."""
    order = np.argsort(ends, kind="stable")
    return np.searchsorted(ends[order], np.arange(places + 1)), order
