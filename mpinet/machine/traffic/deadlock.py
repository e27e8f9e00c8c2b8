"""The channels of a deadlock: a cycle of lanes, each waiting for the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.machine import Machine
from mpinet.machine.traffic import layout

ROW = 8
"""Words per lane: its number, the lane that its front flit waits for, the channel leading to the
lane (node, port, virtual channel), and its front message (source, target, birth).
"""


def waiting_cycle(
    machine: Machine, state: layout.TrafficState, rules: layout.TrafficConstants
) -> list[dict[str, Any]]:
    """Return the cycle of waiting channels reached from the lowest nonempty lane (collective).

    The lowest lane by node and then lane is the same for any number of ranks.
    """
    every = machine.transport.everywhere(_waits(machine, state, rules))
    of = {int(row[0]): row for row in every}
    lane = min(of)
    seen: dict[int, None] = {}
    # Each blocked lane waits for one other lane, so the walk ends in the cycle, the same on any
    # number of ranks.
    while lane not in seen:
        seen[lane] = None
        lane = int(of[lane][1])
    order = list(seen)
    ring = [of[each] for each in order[order.index(lane) :]]
    names = ("node", "port", "vc", "source", "target", "born")
    channels = [dict(zip(names, row[2:].tolist(), strict=True)) for row in ring]
    # A cycle has no begin: the least channel comes first, which makes the report unique.
    first = min(range(len(ring)), key=lambda i: tuple(ring[i][2:5]))
    return channels[first:] + channels[:first]


def _waits(machine: Machine, state: layout.TrafficState, rules: layout.TrafficConstants) -> Ints:
    """Return a row of `ROW` words for each lane of an input port that contains a flit."""
    topology, vcs, count = machine.topology, rules.vcs, rules.lanes
    slots, numbers = np.divmod(np.arange(len(state.lanes)), count)
    rows = np.flatnonzero((numbers < topology.ports * vcs) & (state.lanes["filled"] > 0))
    nodes, numbers, lanes = state.nodes["number"][slots[rows]], numbers[rows], state.lanes[rows]
    # A waiting head has no channel yet; the lowest channel of its class represents all of them.
    of_class = lanes["group"] * rules.vcs_of_class
    vc = np.where(lanes["sent"] > 0, lanes["vc"], of_class)
    out = lanes["out"].astype(np.int64)
    there = np.atleast_1d(topology.neighbor(nodes, out))
    back = np.atleast_1d(topology.reverse_port(nodes, out))
    in_port = numbers // vcs
    before = np.atleast_1d(topology.neighbor(nodes, in_port))
    by = np.atleast_1d(topology.reverse_port(nodes, in_port))
    message = state.messages[state.ring[rows * rules.buffer + lanes["first"]]]
    columns = [nodes * count + numbers, there * count + back * vcs + vc, before, by, numbers % vcs]
    columns += [message[each] for each in ("source", "target", "born")]
    return np.ascontiguousarray(np.stack(columns, axis=1), np.int64)
