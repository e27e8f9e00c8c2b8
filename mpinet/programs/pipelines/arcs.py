"""A network as arcs, for flows of items: each direction of each link, or the ways over busses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.beep import wired
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import Busses


class Ends(NamedTuple):
    """Ends of the arcs: who sends to whom, and the arcs of each place by either end."""

    tail: Ints
    """The ends of each arc, and the steps that it takes. Shape (a,)."""
    head: Ints
    """See `tail`."""
    takes: Ints
    """See `tail`."""
    out_begin: Ints
    """The arcs out of place u: ``out[out_begin[u] : out_begin[u + 1]]``. Shape (places + 1,) and
    (a,)."""
    out: Ints
    """See `out_begin`."""
    in_begin: Ints
    """The arcs into it, likewise. Shape (places + 1,) and (a,)."""
    into: Ints
    """See `in_begin`."""


@dataclass(frozen=True, eq=False)
class Arcs:
    """The arcs of a network, each of which carries one item a step.

    Places are the nodes and, behind them, both sides of each bus, between which it lets one item
    pass: an arc leads from every member onto its bus, and one from the bus off to every member.
    """

    size: int
    """Nodes, and processors among them."""
    hosts: int
    """See `size`."""
    links: bool
    """Whether there are links, and places are nodes."""
    ends: Ends
    """Of the arcs. Parallel links are arcs of their own, loops none."""
    port: Ints
    """The senders' ports; none of arcs over busses. Shape (a,)."""

    @classmethod
    def of(cls, topology: Topology) -> Arcs:
        """Ask the network's rule for all of them."""
        size, hosts = topology.size, topology.hosts
        if topology.busses is not None:
            tail, head, takes = _over_busses(Busses.of(topology), size)
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


def _over_busses(lists: Busses, size: int) -> tuple[Ints, Ints, Ints]:
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
