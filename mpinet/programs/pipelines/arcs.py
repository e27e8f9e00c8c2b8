"""A network as arcs, for flows of items: each direction of each link, or the ways over busses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.beep import wired
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import BusMembers


class Ends(NamedTuple):
    """Ends of the arcs: who sends to whom, and the arcs of each place by either end."""

    tail: Ints
    """Place at which each arc begins. Shape (a,)."""
    head: Ints
    """Place at which each arc ends. Shape (a,)."""
    takes: Ints
    """Steps that each arc takes. Shape (a,)."""
    out_begin: Ints
    """First index in `out` of the arcs out of each place: ``out[out_begin[u] : out_begin[u + 1]]``
    for place u. Shape (places + 1,)."""
    out: Ints
    """Arcs, by the place at which they begin. Shape (a,)."""
    in_begin: Ints
    """First index in `into` of the arcs into each place: ``into[in_begin[u] : in_begin[u + 1]]``
    for place u. Shape (places + 1,)."""
    into: Ints
    """Arcs, by the place at which they end. Shape (a,)."""


@dataclass(frozen=True, eq=False)
class Arcs:
    """The arcs of a network, each of which carries one item a step.

    Places are the nodes and, behind them, both sides of each bus, between which it lets one item
    pass: an arc leads from every member onto its bus, and one from the bus off to every member.
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
    """The senders' ports; none of arcs over busses. Shape (a,)."""

    @classmethod
    def of(cls, topology: Topology) -> Arcs:
        """Ask the network's rule for all of them."""
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
        """Arcs out of each node: its links, or its busses; shape (N,)."""
        return np.diff(self.ends.out_begin)[: self.size]

    @property
    def in_degrees(self) -> Ints:
        """Arcs into each node, shape (N,)."""
        return np.diff(self.ends.in_begin)[: self.size]


def _over_busses(lists: BusMembers, size: int) -> tuple[Ints, Ints, Ints]:
    """Ends of the arcs, and the steps that they take; busses of one member carry nothing."""
    seats = np.diff(lists.bus_begin)
    shared = np.flatnonzero(seats > 1)
    on = np.repeat(np.arange(len(seats)), seats)
    apart = seats[on] > 1
    member, on, beyond = lists.members[apart], size + on[apart], len(seats)
    tail = np.concatenate([member, on + beyond, size + shared])
    head = np.concatenate([on, member, size + shared + beyond])
    return tail, head, np.repeat([0, 1], [2 * len(member), len(shared)])


def by_ends(tail: Ints, head: Ints, takes: Ints, places: int) -> Ends:
    """The arcs with lists of them by either end."""
    return Ends(tail, head, takes, *_by_end(tail, places), *_by_end(head, places))


def _by_end(ends: Ints, places: int) -> tuple[Ints, Ints]:
    """Return where the arcs of each end begin, and the arcs by end."""
    order = np.argsort(ends, kind="stable")
    return np.searchsorted(ends[order], np.arange(places + 1)), order
