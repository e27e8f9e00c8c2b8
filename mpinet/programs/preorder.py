"""Processors of a tree in preorder, and the step in which each one's item reaches the root.

A processor's number in preorder is at least its depth. Each item leaves in time to reach the root
in the step of its processor's number. No two items then meet: two items at one node in the same
step would reach the root in the same step. The result is an optimal gather, and reversed an optimal
scatter.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.programs.preparation import Preparation
from mpinet.programs.tree import RoutingTree

SWITCH = -1
"""Label of a node that is not a processor."""


class Preorder:
    """Preorder numbers, depths and turns of the nodes of a tree (collective).

    A node's children are numbered by depth of their subtrees, shallowest first. A scatter runs
    backwards, and so serves the deepest subtree first. Messages on the tree's own machine prepare
    the numbers: subtree sizes go upwards, numbers downwards. Their steps do not count for the
    collective.

    Parameters
    ----------
    machine : Machine
        Its port model applies: in a step the root serves one branch with one port, and all of its
        branches with all ports.
    root : int
        Root of the tree, a processor.
    """

    up: Ints
    """Port to the parent, by slot; negative at the root. Shape (hosted,)."""
    survey: Machine
    """Machine that prepared the tree; further preparations may use it."""
    depths: Ints
    """Number of hops to the root. Shape (hosted,)."""
    labels: Ints
    """Preorder numbers by slot, 0 at the root; `SWITCH` for nodes that are not processors. Shape
    (hosted,).
    """
    turns: Ints
    """Step of a gather in which the processor's item reaches the root; 0 without an item. Shape
    (hosted,).
    """

    def __init__(self, machine: Machine, root: int):
        self.root: int = root
        """Root of the tree."""
        self._tree = RoutingTree(machine, root)
        self.up, self.survey = self._tree.up, self._tree.survey
        self._hosts = machine.nodes < machine.topology.hosts
        self._parents, _, self._ports = self._tree.branches
        # Number of processors below each child; a switch without children has none, and does not
        # send.
        leaves = np.flatnonzero(self._hosts & (self.up >= 0))
        own = self._hosts.astype(np.int64)
        sizes, _ = self._tree.send_upwards(own, leaves, lambda below: below, np.add)
        offsets = self._offsets(sizes)
        branches = self._number(offsets)
        order = np.lexsort((self._firsts, self._parents))
        self._keys = self._key(self._parents[order], self._firsts[order])
        self._ports = self._ports[order]
        one_port = machine.model.send is not None or machine.model.receive is not None
        turns = self.labels if one_port else self.labels - branches + 1
        goes = self.labels > 0
        late = int((self.depths - turns)[goes].max(initial=0))
        late = self.survey.max(late)[0]
        self.turns = np.where(goes, turns + late, 0)
        self.last: int = self.survey.max(int(self.turns.max(initial=0)))[0]
        """Largest turn on the machine: the number of steps of a gather."""
        del self._tree, self._hosts, self._parents, self._firsts  # as large as the fields that stay

    def preparation(self) -> Preparation:
        """Return the steps and messages of the tree's own machine so far (collective)."""
        return Preparation.on(self.survey)

    def child_port(self, slots: Ints, labels: Ints) -> Ints:
        """Return the ports to the children whose subtrees contain the labelled processors."""
        return self._ports[np.searchsorted(self._keys, self._key(slots, labels), "right") - 1]

    def _key(self, slots: Ints, labels: Ints) -> Ints:
        return slots * self.survey.topology.size + labels

    def _offsets(self, sizes: Ints) -> Ints:
        """Return each child's number relative to its parent's; children served later come first."""
        ends = np.cumsum(self._tree.children)
        total = np.append(0, np.cumsum(sizes))
        later = total[ends][self._parents] - total[1:]
        return later + self._hosts[self._parents]

    def _number(self, offsets: Ints) -> Ints:
        """Send labels and depths downwards.

        Return the first number in each node's branch of the root.
        """
        machine, tree = self.survey, self._tree
        count = len(machine.nodes)
        first = np.full(count, SWITCH, np.int64)
        self.depths, branches = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._firsts = np.zeros(len(self._parents), np.int64)
        begin = np.cumsum(tree.children) - tree.children
        fresh = np.flatnonzero(machine.nodes == self.root)
        first[fresh] = 0
        while True:
            repeats = tree.children[fresh]
            if machine.sum(int(repeats.sum()))[0] == 0:
                break
            slots = np.repeat(fresh, repeats)
            within = np.arange(len(slots)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
            places = begin[slots] + within
            self._firsts[places] = first[slots] + offsets[places]
            at_root = machine.nodes[slots] == self.root
            branch = np.where(at_root, self._firsts[places], branches[slots])
            rows = np.stack([self._firsts[places], branch, self.depths[slots] + 1], axis=1)
            inbox = machine.step(machine.nodes[slots], self._ports[places], rows)
            fresh = machine.slots(inbox.nodes)
            first[fresh], branches[fresh], self.depths[fresh] = inbox.payload.T
        self.labels = np.where(self._hosts, first, SWITCH)
        return branches
