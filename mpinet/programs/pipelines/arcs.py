"""A network's links as arcs, one for each direction of each, for flows of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.arrays import Ints
from mpinet.machine.beep import wired
from mpinet.networks.topology import Topology


@dataclass(frozen=True, eq=False)
class Arcs:
    """The arcs of a network of links, each of which carries one item a step.

    Attributes
    ----------
    size, hosts : int
        Nodes, and processors among them.
    tail, head, port : ndarray of int64, shape (a,)
        Who sends to whom, and the sender's port. Parallel links are arcs of their own, loops none.
    out_begin, out : ndarray of int64, shape (N + 1,) and (a,)
        The arcs out of node u: ``out[out_begin[u] : out_begin[u + 1]]``.
    in_begin, into : ndarray of int64, shape (N + 1,) and (a,)
        The arcs into it, likewise.
    """

    size: int
    hosts: int
    tail: Ints
    head: Ints
    port: Ints
    out_begin: Ints
    out: Ints
    in_begin: Ints
    into: Ints

    @classmethod
    def of(cls, topology: Topology) -> Arcs:
        """Ask the network's rule for all of them."""
        tail, port = wired(topology, np.arange(topology.size))
        head = topology.neighbor(tail, port)
        apart = tail != head
        tail, head, port = (np.ascontiguousarray(each[apart]) for each in (tail, head, port))
        return cls(
            topology.size,
            topology.hosts,
            tail,
            head,
            port,
            *_by_end(tail, topology.size),
            *_by_end(head, topology.size),
        )

    def __len__(self) -> int:
        return len(self.tail)

    @property
    def out_degrees(self) -> Ints:
        """Arcs out of each node, shape (N,)."""
        return np.diff(self.out_begin)


def _by_end(ends: Ints, size: int) -> tuple[Ints, Ints]:
    """Where the arcs of each end begin, and the arcs by end."""
    order = np.argsort(ends, kind="stable")
    return np.searchsorted(ends[order], np.arange(size + 1)), order
