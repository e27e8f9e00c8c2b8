"""The tree that a routing spans towards a root, and the order in which to serve children."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.routing import Routing

Numbers = NDArray[np.int64]

BARREN = -1
"""Depth of a subtree without a processor (switches only): it need not be served."""


class Tree:
    """Every node's way to the root under a routing, turned round (collective).

    A node's parent is its first hop towards the root. Children are served deepest subtree first,
    in port order among equals. The tree is prepared by messages on an all-port machine of its own,
    whose steps are not the broadcast's.

    Parameters
    ----------
    machine : Machine
        Whose network, ranks and mapping are used.
    root : int
        The tree's root.
    routing : Routing, optional
        Default: the network's first.

    Attributes
    ----------
    children : ndarray of int64, shape (hosted,)
        Number of children to serve, by slot.
    steps : int
        Steps that the preparation took.

    Raises
    ------
    UsageError
        The first hops do not form a tree.
    """

    def __init__(self, machine: Machine, root: int, routing: Routing | None = None):
        self._survey = Machine(machine.topology, "all", machine.transport, machine.mapping)
        self._routing = routing or machine.topology.routing()
        self._root = root
        nodes = machine.nodes
        self._up = np.empty(len(nodes), np.int64)
        first_hops(
            self._routing.start.native,
            self._routing.decide.native,
            self._routing.params,
            self._routing.words,
            nodes,
            root,
            self._up,
        )
        has_parent = np.flatnonzero(self._up >= 0)
        inbox = self._survey.step(nodes[has_parent], self._up[has_parent])
        self._slots = machine.slots(inbox.nodes)
        self._ports = inbox.ports
        depths = self._depths(has_parent)
        order = np.lexsort((self._ports, -depths, self._slots))
        order = order[depths[order] != BARREN]
        self._ports = self._ports[order]
        self.children = np.bincount(self._slots[order], minlength=len(nodes))
        self._begin = np.cumsum(self.children) - self.children
        self.steps = self._survey.steps

    @property
    def survey(self) -> Machine:
        """The machine that further preparations may use."""
        return self._survey

    @property
    def up(self) -> Numbers:
        """Ports to the parents, by slot; negative at the root."""
        return self._up

    def child_port(self, slots: Numbers, index: Numbers) -> Numbers:
        """The ports to the index-th children (from 0) of the nodes in these slots."""
        return self._ports[self._begin[slots] + index]

    def _depths(self, has_parent: Numbers) -> Numbers:
        """Depths of the children's subtrees, told upwards from the leaves."""
        machine = self._survey
        nodes = machine.nodes
        own = np.where(nodes < machine.topology.hosts, 0, BARREN)
        waiting = np.bincount(self._slots, minlength=len(nodes))
        depths = np.empty(len(self._slots), np.int64)
        keys = self._slots * machine.topology.ports + self._ports
        by_key = np.argsort(keys)
        told = 0
        ready = has_parent[waiting[has_parent] == 0]
        while machine.sum(len(ready))[0]:
            told += len(ready)
            message = np.where(own[ready] == BARREN, BARREN, own[ready] + 1)
            inbox = machine.step(nodes[ready], self._up[ready], message)
            slots = machine.slots(inbox.nodes)
            place = by_key[
                np.searchsorted(keys, slots * machine.topology.ports + inbox.ports, sorter=by_key)
            ]
            depths[place] = inbox.payload
            np.maximum.at(own, slots, inbox.payload)
            np.subtract.at(waiting, slots, 1)
            ready = np.unique(slots)
            ready = ready[(waiting[ready] == 0) & (self._up[ready] >= 0)]
        if machine.sum(told)[0] != machine.topology.size - 1:
            raise UsageError(
                f"The first hops of routing {self._routing.name} on {machine.topology.name} "
                f"towards node {self._root} do not form a tree to broadcast along."
            )
        return depths


@kernel("void(start_rule, decide_rule, int64[::1], int64, int64[::1], int64, int64[::1])")
def first_hops(start_rule, decide_rule, params, header_words, nodes, target, ports):
    """Write the port of every node's first hop towards the target; negative at the target."""
    start, decide = start_rule.call, decide_rule.call
    header = np.empty(header_words, np.int64)
    for i in range(nodes.size):
        header[:] = 0
        start(nodes[i], target, header, params)
        ports[i] = decide(nodes[i], header, params)
