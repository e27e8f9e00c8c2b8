"""A spanning tree of the network from a root, and the order of serving children.

The tree consists of the default routing's first hops towards the root, if these form a tree.
Otherwise, or if the network is too large for the routing's table, one flood from the root
determines the tree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.base.arguments import DecideRule, StartRule
from mpinet.base.arrays import Ints
from mpinet.base.effort import require_walk
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.beep import wired
from mpinet.programs.collective import require_connected

BARREN = -1
"""Depth of a subtree without a processor (only switches), which is not served."""

NO_PARENT = -1
"""Marker in place of a port: the root has no parent."""


class RoutingTree:
    """Spanning tree of every node's path to the root (collective).

    A node's parent is its first hop towards the root. In a tree by flooding, the parent is the
    neighbour of the first arrival, on a tie at the lowest port. Children are served deepest subtree
    first, in port order among equals. Messages on an all-port machine of its own prepare the tree.
    The steps of this machine do not count for the broadcast.

    Parameters
    ----------
    machine : Machine
        Machine whose network, ranks and mapping are used.
    root : int
        Root of the tree.

    Raises
    ------
    Disconnected
        Some node cannot be reached from the root.
    """

    children: Ints
    """Number of children to serve, by slot. Shape (hosted,)."""

    def __init__(self, machine: Machine, root: int):
        self._survey = Machine(machine.topology, "all", machine.transport, machine.mapping)
        up = routed(self._survey, root)
        if up is None or not self._spans(up):
            self._spans(flooded(self._survey, root))

    @property
    def survey(self) -> Machine:
        """Machine of the preparation; further preparations may use it."""
        return self._survey

    @property
    def up(self) -> Ints:
        """Ports to the parents, by slot; negative at the root."""
        return self._up

    def child_port(self, slots: Ints, index: Ints) -> Ints:
        """Return the ports to the index-th children (from 0) of the nodes in these slots."""
        return self._ports[self._begin[slots] + index]

    def _spans(self, up: Ints) -> bool:
        """Use the given ports as parents' ports; return whether they form one spanning tree."""
        self._up, nodes = up, self._survey.nodes
        has_parent = np.flatnonzero(up >= 0)
        inbox = self._survey.step(nodes[has_parent], up[has_parent])
        self._slots = self._survey.slots(inbox.nodes)
        self._ports = inbox.ports
        hosts = nodes < self._survey.topology.hosts
        own = np.where(hosts, 0, BARREN)
        depths, informed = self.heights(own, has_parent)
        order = np.lexsort((self._ports, -depths, self._slots))
        # Subtrees of switches alone need no message, and would cost steps.
        order = order[depths[order] != BARREN]
        self._ports, self._slots = self._ports[order], self._slots[order]
        self.children = np.bincount(self._slots, minlength=len(nodes))
        self._begin = np.cumsum(self.children) - self.children
        return bool(self._survey.sum(informed)[0] == self._survey.topology.size - 1)

    def heights(self, own: Ints, starts: Ints) -> tuple[Ints, int]:
        """Return each child's depth with its link, and the number of senders (collective)."""
        return self.send_upwards(
            own, starts, lambda below: np.where(below == BARREN, BARREN, below + 1), np.maximum
        )

    @property
    def branches(self) -> tuple[Ints, Ints, Ints]:
        """Return each child's parent slot, its index among the children, and the parent's port."""
        return self._slots, np.arange(len(self._slots)) - self._begin[self._slots], self._ports

    def send_upwards(
        self,
        own: Ints,
        starts: Ints,
        message: Callable[[Ints], Ints],
        combine: np.ufunc,
        finish: Callable[[Ints, Ints], None] = lambda ready, came: None,
    ) -> tuple[Ints, int]:
        """Send numbers from leaves to root, each node after all of its children (collective).

        Parameters
        ----------
        own : ndarray of int64, shape (hosted,)
            Initial number of each node; changed in place.
        starts : ndarray of int64, shape (k,)
            Slots that send without having children.
        message : callable
            Returns the messages of nodes with the given numbers.
        combine : ufunc
            Combines a node's number with the message of a child.
        finish : callable
            ``finish(ready, came)`` changes `own` at slots whose children have all sent.

        Returns
        -------
        came : ndarray of int64, shape (children,)
            Message of each child.
        sent : int
            Number of this rank's nodes that have sent.
        """
        machine, ports = self._survey, self._survey.topology.ports
        waiting = np.bincount(self._slots, minlength=len(own))
        keys = self._slots * ports + self._ports
        by_key = np.argsort(keys)
        came, sent = np.zeros(len(keys), np.int64), 0
        ready = starts[waiting[starts] == 0]
        while machine.sum(len(ready))[0]:
            sent += len(ready)
            inbox = machine.step(machine.nodes[ready], self._up[ready], message(own[ready]))
            slots = machine.slots(inbox.nodes)
            came[by_key[np.searchsorted(keys, slots * ports + inbox.ports, sorter=by_key)]] = (
                inbox.payload
            )
            combine.at(own, slots, inbox.payload)
            np.subtract.at(waiting, slots, 1)
            ready = np.unique(slots)
            # A node sends after its last child has sent; the root sends nothing.
            ready = ready[waiting[ready] == 0]
            finish(ready, came)
            ready = ready[self._up[ready] >= 0]
        return came, sent


class FloodTree(RoutingTree):
    """Tree of shortest paths; a node serves the child first whose subtree needs most steps.

    Nodes learn two trees by floods: parents at their lowest port towards the root, or at their
    highest. Each node then learns from its children how many steps their subtrees need. The root
    chooses the tree of fewer steps; one bit of the message names this tree.

    Parameters
    ----------
    machine, root
        As in `RoutingTree`.
    """

    def __init__(self, machine: Machine, root: int):
        self._survey = Machine(machine.topology, "all", machine.transport, machine.mapping)
        steps = self._steps(root, highest=False)
        lowest = dict(vars(self))
        if steps <= self._steps(root, highest=True):
            vars(self).update(lowest)

    def _steps(self, root: int, highest: bool) -> int:
        """Make one of the trees, and return the steps of its broadcast (collective)."""
        self._own = np.zeros(0, np.int64)
        self._spans(flooded(self._survey, root, highest))
        return self._survey.max(int(self._own.max(initial=0)))[0]

    def heights(self, own: Ints, starts: Ints) -> tuple[Ints, int]:
        """Return the steps that each child's subtree needs after the child is informed."""
        # With the children in falling order, child i (from 1) is informed in step i. No order of
        # serving takes fewer steps.
        self._own = own

        def finish(ready: Ints, came: Ints) -> None:
            rows = np.flatnonzero(np.isin(self._slots, ready) & (came != BARREN))
            rows = rows[np.lexsort((-came[rows], self._slots[rows]))]
            slots = self._slots[rows]
            turns = np.arange(1, len(rows) + 1) - np.searchsorted(slots, slots)
            np.maximum.at(own, slots, came[rows] + turns)

        return self.send_upwards(own, starts, lambda below: below, np.maximum, finish)


def routed(machine: Machine, root: int) -> Ints | None:
    """Return the ports of all first hops towards the root by the default routing (collective).

    Returns
    -------
    ndarray of int64, shape (hosted,) or None
        Ports by slot, negative at the root. None if the network is too large for the routing.
    """
    try:
        routing = machine.topology.routing()
    except UsageError:
        routing = None
    if machine.sum(int(routing is None))[0] or routing is None:
        return None
    up = np.empty(len(machine.nodes), np.int64)
    start, decide = routing.start.native, routing.decide.native
    first_hops(start, decide, routing.params, routing.words, machine.nodes, root, up)
    return up


def flooded(machine: Machine, root: int, highest: bool = False) -> Ints:
    """Return the port of each node's first arrival in a flood from the root (collective).

    Among several ports in the same step, the lowest or the highest is chosen. A node's depth is
    therefore its distance from the root, and the tree is the same for any number of ranks and any
    mapping.

    Parameters
    ----------
    machine : Machine
        An all-port machine of links.
    root : int
        The node that starts.
    highest : bool
        True to choose the highest port.

    Returns
    -------
    ndarray of int64, shape (hosted,)
        Ports by slot; `NO_PARENT` at the root.

    Raises
    ------
    Disconnected
        Some node is not reached.
    TooLarge
        The flood would take too long.
    """
    topology = machine.topology
    machine.placement.require_room()
    looks = topology.size * topology.ports
    require_walk(looks, f"A flood of {topology.name}", machine.transport.size)
    up = np.full(len(machine.nodes), NO_PARENT)
    fresh = np.flatnonzero(machine.nodes == root)
    known = machine.nodes == root
    reached = 1
    while reached < topology.size:
        inbox = machine.step(*wired(topology, machine.nodes[fresh]))
        slots = machine.slots(inbox.nodes)
        news = ~known[slots]
        order = np.flatnonzero(news)[:: -1 if highest else 1]
        fresh, first = np.unique(slots[order], return_index=True)
        up[fresh], known[fresh] = inbox.ports[order][first], True
        new = machine.sum(len(fresh))[0]
        if new == 0:
            require_connected(topology, root, reached)
        reached += new
    return up


@kernel
def first_hops(
    start_rule: StartRule,
    decide_rule: DecideRule,
    params: Ints,
    header_words: int,
    nodes: Ints,
    target: int,
    ports: Ints,
) -> None:
    """Write the port of every node's first hop towards the target; negative at the target."""
    start, decide = start_rule.call, decide_rule.call
    header = np.empty(header_words, np.int64)
    for i in range(nodes.size):
        header[:] = 0
        start(nodes[i], target, header, params)
        ports[i] = decide(nodes[i], header, params)
