"""The machine's own broadcast trees, used by collectives of the whole world.

A tree is the communication pattern of the network's own broadcast from a root: which processor
informs which, in which order. It is found by running this broadcast once on a separate machine,
without cost for the measured machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.step import by_owner
from mpinet.machine.trace import Trace
from mpinet.mpi.world.foundation import Foundation
from mpinet.mpi.world.processor import Processor
from mpinet.process.telling import gathered
from mpinet.programs.broadcast import PASSES, TREE, broadcast, require_algorithm

MOST_KEPT = 64
"""Maximum number of kept trees, unless more are grown at once; each takes much memory."""


MOST_EXCHANGED = 2_000_000
"""Limit on a collective's messages for exchange between partners; larger collectives use a tree.

An exchange of N processors takes half the steps, but about N log N messages. Each message costs the
host some microseconds.
"""


class TargetPattern(Enum):
    """Communication pattern of collectives."""

    TREE = "tree"
    """Messages along the machine's own broadcast tree."""
    EXCHANGE = "exchange"
    """Exchange with the partners whose ranks differ in one bit, if all members get the result."""
    BINOMIAL = "binomial"
    """Messages along the binomial tree over ranks."""
    DIRECT = "direct"
    """Messages from the root to all members, and from all members to the root."""


@dataclass(frozen=True, eq=False)
class BroadcastTree:
    """A broadcast tree, as known to this rank's processors."""

    parents: Ints
    """Parent of each processor, by slot; -1 for the root. Shape (hosted,)."""
    begin: Ints
    """First index in `informed` of each slot's children. Shape (hosted + 1,)."""
    informed: Ints
    """The children, in the order in which their parents inform them."""
    below: Ints
    """Number of processors in each child's subtree, including the child."""
    walk: Ints
    """On the root's rank: all processors, each before its subtree. The subtree of the child
    informed last comes first. Shape (processors,) or (0,).
    """

    def parent(self, slot: int) -> int:
        """Return the processor that informs a slot's processor; -1 for the root."""
        return int(self.parents[slot])

    def children(self, slot: int) -> list[int]:
        """Return the processors informed by a slot's processor, in order."""
        return list(self.informed[self.begin[slot] : self.begin[slot + 1]].tolist())

    def weights(self, slot: int) -> list[int]:
        """Return the number of processors in each child's subtree."""
        return list(self.below[self.begin[slot] : self.begin[slot + 1]].tolist())


class Trees:
    """The trees requested so far, by root.

    Parameters
    ----------
    machine : Machine
        Provides network, port model, ranks and mapping.
    foundation : Foundation
        Allows compilation of the network's rules while a script runs.
    pattern : TargetPattern, optional
        Pattern of all collectives (default: the pattern that suits the network).
    """

    def __init__(
        self, machine: Machine, foundation: Foundation, pattern: TargetPattern | None = None
    ):
        self.pattern: TargetPattern | None = pattern
        """Pattern of all collectives; None if the network decides."""
        self._foundation = foundation
        self.wanted: dict[int, list[Processor]] = {}
        """Roots of requested trees, each with the processors that wait for the tree."""
        self._machine = machine
        self._trees: dict[int, BroadcastTree | None] = {}

    @cached_property
    def suit(self) -> bool:
        """True if the machine's broadcasts run over processors alone, without switches."""
        topology = self._machine.topology
        if topology.hosts < topology.size:
            return False
        try:
            algorithm, _ = require_algorithm(topology, 0, None, self._machine.model)
        except UsageError:
            return False
        return topology.links or algorithm != PASSES

    @cached_property
    def doubling(self) -> bool:
        """True if processors whose numbers differ in one bit are neighbors, as in a hypercube.

        False if their exchange would need too many messages.
        """
        topology = self._machine.topology
        if topology.size & (topology.size - 1) or not self.suit:
            return False
        if topology.size * topology.size.bit_length() > MOST_EXCHANGED:
            return False
        nodes = np.arange(topology.size)[:, np.newaxis]
        bits = 1 << np.arange(topology.size.bit_length() - 1)
        with self._foundation.restored():
            differ = topology.neighbor(nodes, np.arange(topology.ports)) ^ nodes
            return all(bool((differ == bit).any(axis=1).all()) for bit in bits)

    def __contains__(self, root: int) -> bool:
        return root in self._trees

    def __getitem__(self, root: int) -> BroadcastTree | None:
        return self._trees[root]

    def want(self, root: int, processor: Processor) -> None:
        """Register a processor that waits for the tree from a root."""
        self.wanted.setdefault(root, []).append(processor)

    def grow(self) -> list[Processor]:
        """Grow all requested trees (collective); return this rank's waiting processors."""
        transport = self._machine.transport
        own = np.array(sorted(self.wanted), np.int64)
        texts = transport.gather(own.tobytes())
        together = np.unique(np.frombuffer(b"".join(texts), np.int64))
        roots = np.frombuffer(transport.share(together.tobytes()), np.int64).tolist()
        # Before growing, so the trees requested now are never dropped.
        self._make_room(len(roots))
        for root in roots:
            self._trees[root] = self._grown(root)
        waited = [processor for each in self.wanted.values() for processor in each]
        self.wanted = {}
        return waited

    def _make_room(self, new: int) -> None:
        """Drop the oldest trees; their waiting processors have already used them."""
        for root in list(self._trees)[: max(0, len(self._trees) + new - MOST_KEPT)]:
            del self._trees[root]

    def _grown(self, root: int) -> BroadcastTree | None:
        """Return the tree from a root; None if the network has no broadcast from it."""
        try:
            return grown(self._machine, root)
        except UsageError:
            return None


def grown(machine: Machine, root: int) -> BroadcastTree:
    """Return the tree of the network's own broadcast from a root (collective)."""
    trace = Trace()
    beside = Machine(
        machine.topology, machine.model, machine.transport, machine.mapping, trace=trace
    )
    own, _ = require_algorithm(machine.topology, root, None, machine.model)
    # A script may use a tree from every root. Passes would take too long for this.
    broadcast(beside, root, TREE if own == PASSES else own)
    records = _brought_to(beside, trace.records, "receiver")
    records = records[np.lexsort((records["sender"], records["step"], records["receiver"]))]
    # A broadcast may inform a processor twice. The first message defines the tree.
    _, first = np.unique(records["receiver"], return_index=True)
    records = records[first]
    records = records[records["receiver"] != root]
    parents = np.full(len(machine.nodes), -1)
    parents[machine.slots(records["receiver"])] = records["sender"]
    sent = _brought_to(beside, records, "sender")
    sent = sent[np.lexsort((sent["port"], sent["step"], machine.slots(sent["sender"])))]
    slots = machine.slots(sent["sender"])
    begin = np.searchsorted(slots, np.arange(len(machine.nodes) + 1))
    informed = np.ascontiguousarray(sent["receiver"])
    below, walk = _walked(machine, root, np.ascontiguousarray(sent["sender"]), informed)
    return BroadcastTree(parents, begin, informed, below, walk)


def _brought_to(machine: Machine, records: NDArray[np.void], whom: str) -> NDArray[np.void]:
    """Return the records of all ranks with this rank's processors as `whom` (collective)."""
    away, counts = by_owner(machine, np.ascontiguousarray(records[whom]))
    stay = np.delete(records, away)
    return np.concatenate([stay, machine.transport.exchange(records[away], counts).records])


def _walked(machine: Machine, root: int, senders: Ints, informed: Ints) -> tuple[Ints, Ints]:
    """Return the sizes of the children's subtrees, and the walk on the root's rank (collective)."""
    transport = machine.transport
    edges = gathered(transport, (senders.tolist(), informed.tolist()))
    walk, sizes = _walk(machine.topology.size, root, edges) if edges else (informed, informed)
    sizes = np.frombuffer(transport.share(sizes.tobytes()), np.int64)
    walk = np.frombuffer(transport.share(walk.tobytes()), np.int64)
    here = machine.placement.owners(np.array([root]))[0] == transport.rank
    return sizes[informed], walk if here else walk[:0].copy()


def _walk(size: int, root: int, edges: list[tuple[list[int], list[int]]]) -> tuple[Ints, Ints]:
    """Return all processors in walk order, and the sizes of all subtrees."""
    children: dict[int, list[int]] = {}
    for senders, informed in edges:
        for sender, receiver in zip(senders, informed, strict=True):
            children.setdefault(sender, []).append(receiver)
    walk: list[int] = []
    parents = np.full(size, -1)
    ahead = [root]
    while ahead:
        node = ahead.pop()
        walk.append(node)
        ahead += children.get(node, ())
        parents[children.get(node, [])] = node
    sizes = np.ones(size, np.int64)
    for node in reversed(walk[1:]):
        sizes[parents[node]] += sizes[node]
    return np.array(walk), sizes
