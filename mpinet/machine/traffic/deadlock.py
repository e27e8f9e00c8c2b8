"""The channels of a deadlock: who waits for whom, from lane to lane."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.arrays import Ints
from mpinet.machine.machine import Machine
from mpinet.machine.traffic import layout

ROW = 8
"""Words that tell of a lane: itself, the lane that its front flit waits for, the channel that leads
to it, and its front message."""


def waiting_cycle(
    machine: Machine, state: layout.State, links: layout.Links, rules: Ints
) -> list[dict[str, Any]]:
    """The cycle that the lane of the lowest (node, lane) with a flit leads to (collective)."""
    mine = _waits(machine, state, links, rules)
    texts = machine.transport.gather(mine.tobytes())
    every = np.frombuffer(machine.transport.share(b"".join(texts)), np.int64).reshape(-1, ROW)
    of = {int(row[0]): row for row in every}
    lane = min(of)
    seen: dict[int, None] = {}
    while lane not in seen:
        seen[lane] = None
        lane = int(of[lane][1])
    order = list(seen)
    ring = [of[each] for each in order[order.index(lane) :]]
    names = ("node", "port", "vc", "source", "target", "born")
    channels = [dict(zip(names, row[2:].tolist(), strict=True)) for row in ring]
    first = min(range(len(ring)), key=lambda i: tuple(ring[i][2:5]))
    return channels[first:] + channels[:first]


def _waits(machine: Machine, state: layout.State, links: layout.Links, rules: Ints) -> Ints:
    """Of every lane of an input port that holds a flit: a row of `ROW` words."""
    topology, vcs = machine.topology, int(rules[layout.VCS])
    count = (topology.ports + 1) * vcs
    slots, lanes = np.divmod(np.arange(len(state.lanes)), count)
    held = (lanes < topology.ports * vcs) & (state.lanes[:, layout.FILLED] > 0)
    rows = np.flatnonzero(held)
    nodes, lanes = links.nodes[slots[rows]], lanes[rows]
    words = state.lanes[rows].astype(np.int64)
    begun = words[:, layout.SENT] > 0
    of_class = words[:, layout.CLASS] * rules[layout.VCS_OF_CLASS]
    vc = np.where(begun, words[:, layout.VC], of_class)
    out = words[:, layout.OUT]
    there = np.atleast_1d(topology.neighbor(nodes, out))
    back = np.atleast_1d(topology.reverse_port(nodes, out))
    in_port = lanes // vcs
    before = np.atleast_1d(topology.neighbor(nodes, in_port))
    by = np.atleast_1d(topology.reverse_port(nodes, in_port))
    front = state.ring[rows * rules[layout.BUFFER] + words[:, layout.FIRST]]
    message = state.messages[front]
    own = nodes * count + lanes
    waited = there * count + back * vcs + vc
    columns = [own, waited, before, by, lanes % vcs]
    columns += [message[:, each] for each in (layout.SOURCE, layout.TARGET, layout.BORN_IN)]
    return np.ascontiguousarray(np.stack(columns, axis=1))
