"""Broadcast over busses: choice of sender and bus in every step.

A transmission informs all members of a bus, so no bus needs a second transmission. With all ports
every bus transmits in the step after its first member is informed, which is optimal. With one port
a greedy search picks busses by the remaining steps of their uninformed members, largest first. The
remaining steps come from the previous schedule of the same start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import growth_bound
from mpinet.programs.collective import require_connected
from mpinet.programs.passkernels import take_server
from mpinet.programs.schedules.timetable import Timetable

ROUNDS = 8
"""Number of schedules per start; each is derived from the previous one."""


class BusMembers(NamedTuple):
    """Members of all busses as arrays for kernels: busses of each node and members of each bus."""

    node_begin: Ints
    busses: Ints
    bus_begin: Ints
    members: Ints

    @classmethod
    def of(cls, topology: Topology) -> BusMembers:
        """Return the members of the busses of a network."""
        pairs = topology.incidences(np.arange(topology.size))
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        by_bus = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
        nodes, busses = np.arange(topology.size + 1), np.arange((topology.busses or 0) + 1)
        return cls(
            np.searchsorted(pairs[:, 0], nodes),
            np.ascontiguousarray(pairs[:, 1]),
            np.searchsorted(by_bus[:, 1], busses),
            np.ascontiguousarray(by_bus[:, 0]),
        )


def bus_wave(topology: Topology, root: int) -> Timetable:
    """Return an all-port broadcast, whose number of steps is the root's eccentricity.

    Raises
    ------
    Disconnected
        A processor cannot be reached.
    """
    lists, size = BusMembers.of(topology), topology.size
    parent, bus, since = (np.full(size, -1) for _ in range(3))
    informed = tell_busses(lists, root, parent, bus, since)
    require_connected(topology, root, informed)
    return Timetable.of_tree(topology, root, parent, since, bus, ports="all")


def bus_schedule(topology: Topology, root: int, starts: int) -> Timetable:
    """Return a one-port broadcast with few steps.

    Raises
    ------
    Disconnected
        A processor cannot be reached.
    """
    lists, size = BusMembers.of(topology), topology.size
    parent, bus = np.empty(size, np.int64), np.empty(size, np.int64)
    since, rest = np.empty(size, np.int64), np.empty(size, np.int64)
    best, kept = -1, (since, parent, bus)
    # A transmission on a bus informs at most all other members.
    fanout = max(1, int(np.diff(lists.bus_begin).max(initial=1)) - 1)
    bound = growth_bound(size, fanout)
    for start in range(starts):
        # The first round knows no tree yet. Later rounds first serve the subtrees that took
        # longest.
        rest[:] = 0
        for turn in range(ROUNDS):
            informed = inform_over_busses(
                lists, root, start * ROUNDS + turn, rest, parent, bus, since
            )
            require_connected(topology, root, informed)
            steps = time_left(parent, bus, since, root, rest)
            if best < 0 or steps < best:
                best, kept = steps, (since.copy(), parent.copy(), bus.copy())
        if best <= bound:
            break
    since, parent, bus = kept
    return Timetable.of_tree(topology, root, parent, since, bus, ports="one")


@kernel
def tell_busses(lists: BusMembers, root: int, parent: Ints, bus: Ints, since: Ints) -> int:
    """Inform all processors as early as possible with all ports; return the number informed.

    The first informed member of a bus informs all other members in the next step.
    """
    node_begin, busses, bus_begin, members = lists
    carried = np.zeros(bus_begin.size - 1, np.bool_)
    queue = np.empty(since.size, np.int64)
    since[root], queue[0] = 0, root
    first, last = 0, 1
    while first < last:
        node = queue[first]
        first += 1
        for place in range(node_begin[node], node_begin[node + 1]):
            b = busses[place]
            # The first informed member has informed all others; a second transmission is useless.
            if carried[b]:
                continue
            carried[b] = True
            for at in range(bus_begin[b], bus_begin[b + 1]):
                member = members[at]
                if since[member] < 0:
                    since[member], parent[member], bus[member] = since[node] + 1, node, b
                    queue[last] = member
                    last += 1
    return last


@kernel
def inform_over_busses(
    lists: BusMembers,
    root: int,
    seed: int,
    rest: Ints,
    parent: Ints,
    bus: Ints,
    since: Ints,
) -> int:
    """Inform all processors with one port, step by step; return the number informed."""
    bus_begin, members = lists.bus_begin, lists.members
    size, count = since.size, bus_begin.size - 1
    bus[:] = -1
    since[:] = -1
    since[root] = 0
    informed, step, before = 1, 0, 0
    urgency = np.empty(count, np.int64)
    sender, alike = np.full(count, -1), np.zeros(size, np.int64)
    busy, serves = np.zeros(size, np.int64), np.zeros(size, np.int64)
    while informed < size and informed > before:
        step += 1
        before = informed
        for b in range(count):
            longest, new, known = 0, 0, False
            for at in range(bus_begin[b], bus_begin[b + 1]):
                member = members[at]
                if since[member] >= 0:
                    known = True
                else:
                    longest = max(longest, rest[member])
                    new += 1
            noise = draw32(int(seed), int(b), int(step), 6) & 0xFF
            # The longest remaining time decides, then the number of new members, then a random
            # number.
            urgency[b] = ((longest << 24 | new) << 8) | noise if known and new > 0 else -1
        order = np.argsort(-urgency)
        for i in range(count):
            b = order[i]
            if urgency[b] < 0:
                break
            new = False
            for at in range(bus_begin[b], bus_begin[b + 1]):
                new |= since[members[at]] < 0
            if not new:
                continue
            if take_server(bus_begin, members, b, step, since, alike, busy, serves, sender) < 0:
                continue
            for at in range(bus_begin[b], bus_begin[b + 1]):
                member = members[at]
                if since[member] < 0:
                    since[member], bus[member] = step, b
                    informed += 1
    for node in range(size):  # at the end: the sender on a bus may change during its step
        parent[node] = sender[bus[node]] if bus[node] >= 0 else -1
    return informed


@kernel
def time_left(parent: Ints, bus: Ints, since: Ints, root: int, rest: Ints) -> int:
    """Write the steps of each node's subtree once the node is informed; return the root's steps."""
    rest[:] = 0
    # Late nodes first: children are always later than their parents, so one pass is enough.
    order = np.argsort(-since)
    for i in range(order.size):
        node = order[i]
        if parent[node] >= 0:
            above = parent[node]
            rest[above] = max(rest[above], rest[node] + since[node] - since[above])
    return rest[root]
