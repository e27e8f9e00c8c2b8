"""Broadcast on any network by passes, which reverse and shorten a schedule repeatedly.

One-port broadcast in the fewest steps is a hard problem. A pass builds a schedule greedily, with
one matching of senders and receivers per step. A pass starts from the end (nodes served last) or
from the beginning (nodes served first), and takes the urgency of all nodes from the previous pass.
Between passes the schedule's tree is labelled anew with an optimal order of serving children. With
all ports, and on busses, a tree of shortest paths is served at once, which is optimal.

Each rank examines the whole network in the same way, so no result depends on the ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints
from mpinet.errors import RoutingError, TooLarge, UsageError
from mpinet.machine import PortModel
from mpinet.networks.adjacency import Adjacency, measure_distances
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import growth_bound
from mpinet.programs.buspasses import bus_schedule, bus_wave
from mpinet.programs.collective import require_connected
from mpinet.programs.passkernels import (
    draw_keys,
    forward_pass,
    label_tree,
    lowest_nearer,
    ported_pass,
    reverse_pass,
    sort_places,
    write_depths,
)
from mpinet.programs.schedules.timetable import Timetable
from mpinet.programs.tree import first_hops

Short = NDArray[np.int32]
"""Nodes, steps or levels, one per node."""

MOST_PORTS = 2**24
"""Number of wired ports of the largest network that a rank examines as a whole."""

STARTS = 32
"""Number of starts on a small network, with seeds 0, 1 and so on; the best one is returned."""

LOOKS = 2**28
"""Approximate maximum number of ports examined by all starts."""

PORT_LOOKS = 2**30
"""Approximate maximum number of ports examined by a pass in the order of ports."""

PATIENCE = 4
"""Number of rounds without progress after which a start ends."""

ROUTED = 2**12
"""Maximum number of nodes of a network whose routing table is built for an initial tree."""

RANDOM = 1 << 16


@dataclass(frozen=True, eq=False)
class FoundTree:
    """A broadcast tree, with the step in which each node is informed."""

    steps: int
    """Number of steps of the whole broadcast."""
    parent: Short
    """Node that informs each node; -1 at the root, and at switches that need not be informed. Shape
    (N,).
    """
    since: Short
    """Step in which each node is informed; 0 at the root, -1 at switches that need not be informed.
    Shape (N,).
    """


def sees_whole(topology: Topology) -> bool:
    """Return whether a network is small enough for a rank to examine as a whole."""
    return topology.most_wired <= MOST_PORTS


def broadcast_timetable(topology: Topology, root: int, model: PortModel) -> Timetable:
    """Return a broadcast with few steps.

    Parameters
    ----------
    topology : Topology
        Any network.
    root : int
        Processor that holds the message.
    model : PortModel
        Port model. With all ports for sending, the result has the fewest possible steps.

    Raises
    ------
    Disconnected
        A node cannot be reached.
    UsageError
        The network is too large.
    """
    if not sees_whole(topology):
        raise UsageError(
            f"{topology.name} is too large for passes, which examine all ports of a network at "
            f"once (at most {MOST_PORTS}): give --algorithm tree."
        )
    if not topology.links:
        if model.send is None:
            return bus_wave(topology, root)
        return bus_schedule(topology, root, STARTS)
    adjacency = Adjacency.of(topology)
    distance = distances(topology, adjacency, root)
    if model.send is None:
        found = _at_once(adjacency, distance, root)
    else:
        found = PassSearch(topology, adjacency, distance, root).best()
    parent, since = found.parent.astype(np.int64), found.since.astype(np.int64)
    ports = "all" if model.send is None else "one"
    return Timetable.of_tree(topology, root, parent, since, ports=ports)


def distances(topology: Topology, adjacency: Adjacency, root: int) -> Short:
    """Return the hops from the root to each node.

    Raises
    ------
    Disconnected
        A node cannot be reached.
    """
    distance = np.full(topology.size, -1, np.int32)
    reached = measure_distances(adjacency.begin, adjacency.others, root, distance)
    require_connected(topology, root, reached)
    return distance


def _at_once(adjacency: Adjacency, distance: Short, root: int) -> FoundTree:
    """Return the all-port tree: each node's parent is its lowest neighbour one hop nearer."""
    parent = np.full(len(distance), -1, np.int32)
    lowest_nearer(adjacency.begin, adjacency.others, distance, parent)
    return FoundTree(int(distance.max(initial=0)), parent, distance)


class PassSearch:
    """Search from one root on one network of links.

    Parameters
    ----------
    topology : Topology
        The network.
    adjacency : Adjacency
        Neighbours in the network.
    distance : ndarray of int32, shape (N,)
        Hops from the root.
    root : int
        Processor that holds the message.
    """

    def __init__(self, topology: Topology, adjacency: Adjacency, distance: Short, root: int):
        self._topology, self._hosts, self._root = topology, topology.hosts, root
        self._lists = adjacency.begin, adjacency.others
        self._distance = distance
        farthest = int(distance[: topology.hosts].max(initial=0))
        # One port at most doubles the informed set in a step, and a message moves one hop per step.
        self.bound = max(farthest, growth_bound(topology.hosts, 1))
        size = len(distance)
        self._parent, self._turn = np.empty(size, np.int32), np.empty(size, np.int32)
        self._since, self._rest = np.empty(size, np.int32), np.empty(size, np.int32)
        self._keys = np.empty(size, np.int64)
        self._draws = 0
        self._seed = 0

    def best(self) -> FoundTree:
        """Return the best of up to `STARTS` starts; on a tie the earliest.

        The routing's tree is also tried, and the orders of ports if no start has reached the bound.
        """
        # The routing's tree needs no search, and is optimal on many families, such as cubes.
        best = self._routed()
        looks = len(self._lists[1]) * max(self.bound, 1) * 4 * PATIENCE
        for seed in range(max(1, min(STARTS, LOOKS // max(looks, 1)))):
            if best is not None and best.steps <= self.bound:
                break
            best = self._start(seed, best)
        assert best is not None
        if self._topology.size * self._topology.ports * self.bound <= PORT_LOOKS:
            for order in (-1, 1):
                if best.steps > self.bound:
                    best = self._ported(order, best)
        return best

    def _routed(self) -> FoundTree | None:
        """Return the tree of the default routing's first hops; None if they form no tree."""
        topology, size = self._topology, self._topology.size
        # A routing without rules of its own makes a table of all pairs.
        if size > ROUTED:
            return None
        try:
            routing = topology.routing()
        except (TooLarge, RoutingError):
            return None  # a wrong user-defined routing only costs one of many trees
        up = np.empty(size, np.int64)
        start, decide = routing.start.native, routing.decide.native
        first_hops(start, decide, routing.params, routing.words, np.arange(size), self._root, up)
        others = np.flatnonzero(up >= 0)
        self._parent[:] = -1
        # Reversed first hops towards the root are the sends of a broadcast.
        self._parent[others] = topology.neighbor(others, up[others])
        depth = depths_of(self._parent, self._root)
        if depth is None or len(others) < size - 1:
            return None
        # Children are deeper than their parents, so descending depth puts children first.
        return self._better(self._labelled(-depth), None)

    def _ported(self, order: int, best: FoundTree) -> FoundTree:
        """Return the better of `best` and a pass in the order of ports, ascending or descending.

        Only this pass is balanced on structures that repeat by ports, such as a cube's dimensions.
        """
        rule, params = self._topology.neighbor.native, self._topology.params
        ports = np.arange(self._topology.ports)[::order].copy()
        ported_pass(rule, params, ports, self._hosts, self._root, self._parent, self._since)
        return self._better(self._labelled(-self._since), best)

    def _start(self, seed: int, best: FoundTree | None) -> FoundTree:
        """Return the best result after one start: passes until several rounds bring no progress."""
        self._seed, self._draws = seed, 0
        self._reverse(self._distance)
        best = self._better(self._labelled(self._turn), best)
        own, stale = self._last, 0
        while stale < PATIENCE and best.steps > self.bound:
            self._forward()
            best = self._better(self._labelled(-self._since), best)
            fewest = self._last
            self._reverse(self._levels())
            best = self._better(self._labelled(self._turn), best)
            fewest = min(fewest, self._last)
            # Progress is judged against this start's own best, since another start may have done
            # better.
            stale = 0 if fewest < own else stale + 1
            own = min(own, fewest)
        return best

    def _better(self, found: FoundTree, best: FoundTree | None) -> FoundTree:
        """Return the tree with fewer steps, the earlier on a tie; store the steps of `found`."""
        self._last = found.steps
        if best is not None and best.steps <= found.steps:
            return best
        return FoundTree(found.steps, found.parent.copy(), found.since.copy())

    def _levels(self) -> Short:
        """Return each node's step; uninformed nodes come last, ordered by distance."""
        # Levels must also fall towards the root at uninformed nodes; otherwise a pass could not
        # remove them.
        late = self._since.max() + self._distance
        return np.where(self._since < 0, late, self._since).astype(np.int32)

    def _random(self) -> Ints:
        """Return new random numbers below `RANDOM`, one per node."""
        self._draws += 1
        draw_keys(self._seed, self._draws, self._keys)
        return self._keys

    def _falling(self, keys: Ints) -> Short:
        """Return all nodes except the root, by descending key."""
        order = rising(-keys)
        # The root is served by no node, so it never appears in an order.
        return order[order != self._root]

    def _reverse(self, level: Short) -> None:
        """Run a pass from the end; `level` must fall towards the root."""
        # Levels decide, and random numbers below `RANDOM` order equal levels.
        wide = level.astype(np.int64) * RANDOM
        order = self._falling(wide + self._random())
        pick = self._random() - wide * self._picky(2, level is not self._distance)
        reverse_pass(*self._lists, self._hosts, level, order, pick, self._parent, self._turn)

    def _picky(self, bit: int, always: bool) -> int:
        """Return 0 to choose servers at random, or 1 to prefer those with less remaining work.

        Starts differ in this choice, because each is better on some networks.
        """
        return int(always or not self._seed & bit)

    def _forward(self) -> None:
        """Run a pass from the beginning, the most urgent nodes of the last tree first."""
        urgency = self._rest.astype(np.int64) * (int(self._turn.max(initial=0)) + 1) - self._turn
        order = self._falling(urgency * RANDOM + self._random())
        pick = self._random() - self._rest.astype(np.int64) * RANDOM * self._picky(1, False)
        forward_pass(*self._lists, self._hosts, self._root, order, pick, self._parent, self._since)
        # The next pass from the end reads turns counted from the end.
        self._turn = self._since.max() + 1 - self._since

    def _labelled(self, rank: Short | Ints) -> FoundTree:
        """Return the tree with its best order; `rank` must be smaller at children than parents."""
        informed = np.flatnonzero(self._parent >= 0)
        upwards = informed[rising(rank[informed].astype(np.int64))].astype(np.int32)
        steps = label_tree(self._parent, upwards, self._hosts, self._root, self._rest, self._since)
        # Switches without a processor below need no message.
        self._parent[self._since < 0] = -1
        return FoundTree(steps, self._parent, self._since)


def rising(keys: Ints) -> Short:
    """Return the indices of the keys in ascending order; equal keys keep their order."""
    places, others = np.empty((2, len(keys)), np.int32)
    return others if sort_places(keys, places, others) else places


def depths_of(parent: Short, root: int) -> Ints | None:
    """Return the depths of a tree given by parents; None if the parents form no tree."""
    depth = np.full(len(parent), -1, np.int64)
    return depth if write_depths(parent, root, depth) else None
