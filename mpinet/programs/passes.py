"""Broadcast on any network by passes: a schedule turned round and round, shortened on the way.

One-port broadcast in the fewest steps is hard to find. A pass builds a schedule greedily, a
matching of senders and receivers a step, from the end (who is served last) or from the beginning
(who is served first), and takes from the pass before how urgent everybody is. Between passes the
schedule's tree is labelled anew: no order of serving its children needs fewer steps. With all ports
a tree of shortest paths is served at once, which nothing beats; so are busses.

All of it looks at the whole network, on every rank alike, so that no result depends on ranks.
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
"""Nodes, steps and levels: one a node."""

MOST_PORTS = 2**24
"""Wired ports of the largest network that a rank looks at as a whole."""

STARTS = 32
"""Starts of a small network, with the seeds 0, 1, ..; the best of them counts."""

LOOKS = 2**28
"""Ports that all starts may look at, as far as a number of steps tells that before."""

PORT_LOOKS = 2**30
"""The same for a pass in the order of ports: few of them are looked at in every step."""

PATIENCE = 4
"""Rounds that bring nothing before a start is given up."""

ROUTED = 2**12
"""Most nodes of a network for whose routing a table is made, to begin with its tree."""

RANDOM = 1 << 16


@dataclass(frozen=True, eq=False)
class FoundTree:
    """A broadcast tree, and when everybody is informed."""

    steps: int
    """Steps of the whole broadcast."""
    parent: Short
    """Node that informs each node; -1 at the root, and at switches that need not be informed. Shape
    (N,)."""
    since: Short
    """Step in which each node is informed; 0 at the root, -1 at switches that need not be informed.
    Shape (N,)."""


def sees_whole(topology: Topology) -> bool:
    """Tell if a network is small enough for a rank to look at as a whole."""
    return topology.most_wired <= MOST_PORTS


def broadcast_timetable(topology: Topology, root: int, model: PortModel) -> Timetable:
    """Find a broadcast that takes few steps.

    Parameters
    ----------
    topology : Topology
        Any network.
    root : int
        The processor that has the message.
    model : PortModel
        With all ports to send on the steps are the fewest that there are.

    Raises
    ------
    Disconnected
        Some node cannot be reached.
    UsageError
        The network is too large.
    """
    if not sees_whole(topology):
        raise UsageError(
            f"{topology.name} is too large for passes, which look at all of a network's ports at "
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
    """Hops from the root.

    Raises
    ------
    Disconnected
        Some node cannot be reached.
    """
    distance = np.full(topology.size, -1, np.int32)
    reached = measure_distances(adjacency.begin, adjacency.others, root, distance)
    require_connected(topology, root, reached)
    return distance


def _at_once(adjacency: Adjacency, distance: Short, root: int) -> FoundTree:
    """Everybody by the lowest neighbour that is one hop nearer, as soon as it can."""
    parent = np.full(len(distance), -1, np.int32)
    lowest_nearer(adjacency.begin, adjacency.others, distance, parent)
    return FoundTree(int(distance.max(initial=0)), parent, distance)


class PassSearch:
    """The search from one root of one network of links.

    Parameters
    ----------
    topology : Topology
        The network.
    adjacency : Adjacency
        Its neighbours.
    distance : ndarray of int32, shape (N,)
        Hops from the root.
    root : int
        The processor that has the message.
    """

    def __init__(self, topology: Topology, adjacency: Adjacency, distance: Short, root: int):
        self._topology, self._hosts, self._root = topology, topology.hosts, root
        self._lists = adjacency.begin, adjacency.others
        self._distance = distance
        farthest = int(distance[: topology.hosts].max(initial=0))
        # One port at most doubles the informed in a step, and a message moves one hop per step.
        self.bound = max(farthest, growth_bound(topology.hosts, 1))
        size = len(distance)
        self._parent, self._turn = np.empty(size, np.int32), np.empty(size, np.int32)
        self._since, self._rest = np.empty(size, np.int32), np.empty(size, np.int32)
        self._keys = np.empty(size, np.int64)
        self._draws = 0
        self._seed = 0

    def best(self) -> FoundTree:
        """Return the best of up to `STARTS` starts, the earliest of several.

        The routing's tree is tried, too, and where nothing has reached the bound, the orders of
        ports.
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
        """The tree of the default routing's first hops, where they make one."""
        topology, size = self._topology, self._topology.size
        # A routing without rules of its own makes a table of all pairs.
        if size > ROUTED:
            return None
        try:
            routing = topology.routing()
        except (TooLarge, RoutingError):
            return None  # of a user's own, a wrong routing costs one of many trees
        up = np.empty(size, np.int64)
        start, decide = routing.start.native, routing.decide.native
        first_hops(start, decide, routing.params, routing.words, np.arange(size), self._root, up)
        others = np.flatnonzero(up >= 0)
        self._parent[:] = -1
        # First hops towards the root, turned round, are who informs whom.
        self._parent[others] = topology.neighbor(others, up[others])
        depth = depths_of(self._parent, self._root)
        if depth is None or len(others) < size - 1:
            return None
        # Children are deeper than their parents, so that falling depth puts children first.
        return self._better(self._labelled(-depth), None)

    def _ported(self, order: int, best: FoundTree) -> FoundTree:
        """A pass in the order of the ports, rising (1) or falling (-1).

        What repeats by ports, such as a cube's dimensions, comes out even here and nowhere else.
        """
        rule, params = self._topology.neighbor.native, self._topology.params
        ports = np.arange(self._topology.ports)[::order].copy()
        ported_pass(rule, params, ports, self._hosts, self._root, self._parent, self._since)
        return self._better(self._labelled(-self._since), best)

    def _start(self, seed: int, best: FoundTree | None) -> FoundTree:
        """One start: passes until some rounds bring nothing."""
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
        """The one with fewer steps, of equals the earlier; the later one's are noted."""
        self._last = found.steps
        if best is not None and best.steps <= found.steps:
            return best
        return FoundTree(found.steps, found.parent.copy(), found.since.copy())

    def _levels(self) -> Short:
        """When everybody was informed; who was not, behind them all and behind those nearer."""
        # Levels must fall towards the root at uninformed nodes, too, or a pass could not take them
        # away.
        late = self._since.max() + self._distance
        return np.where(self._since < 0, late, self._since).astype(np.int32)

    def _random(self) -> Ints:
        """New random numbers below `RANDOM`, one a node."""
        self._draws += 1
        draw_keys(self._seed, self._draws, self._keys)
        return self._keys

    def _falling(self, keys: Ints) -> Short:
        """All nodes but the root, those with the largest keys first."""
        order = rising(-keys)
        # The root is served by no node, so that it never stands in an order.
        return order[order != self._root]

    def _reverse(self, level: Short) -> None:
        """A pass from the end: `level` falls towards the root."""
        # Levels decide, and random numbers below `RANDOM` order equal levels.
        wide = level.astype(np.int64) * RANDOM
        order = self._falling(wide + self._random())
        pick = self._random() - wide * self._picky(2, level is not self._distance)
        reverse_pass(*self._lists, self._hosts, level, order, pick, self._parent, self._turn)

    def _picky(self, bit: int, always: bool) -> int:
        """Tell if servers are picked at random (0), or those before others that have less to do.

        The starts differ in it: either has networks on which it does better.
        """
        return int(always or not self._seed & bit)

    def _forward(self) -> None:
        """A pass from the beginning, the most urgent of the last tree first."""
        urgency = self._rest.astype(np.int64) * (int(self._turn.max(initial=0)) + 1) - self._turn
        order = self._falling(urgency * RANDOM + self._random())
        pick = self._random() - self._rest.astype(np.int64) * RANDOM * self._picky(1, False)
        forward_pass(*self._lists, self._hosts, self._root, order, pick, self._parent, self._since)
        # The next pass from the end reads turns counted from the end.
        self._turn = self._since.max() + 1 - self._since

    def _labelled(self, rank: Short | Ints) -> FoundTree:
        """The tree's best order; `rank` is smaller at children than at their parents."""
        informed = np.flatnonzero(self._parent >= 0)
        upwards = informed[rising(rank[informed].astype(np.int64))].astype(np.int32)
        steps = label_tree(self._parent, upwards, self._hosts, self._root, self._rest, self._since)
        # Switches without a processor below need no message.
        self._parent[self._since < 0] = -1
        return FoundTree(steps, self._parent, self._since)


def rising(keys: Ints) -> Short:
    """Return the places of the keys in rising order, equal keys in the order of their places."""
    places, others = np.empty((2, len(keys)), np.int32)
    return others if sort_places(keys, places, others) else places


def depths_of(parent: Short, root: int) -> Ints | None:
    """Depths in a tree by its parents; None where they make none."""
    depth = np.full(len(parent), -1, np.int64)
    return depth if write_depths(parent, root, depth) else None
