"""Beeps: steps in which processors send an empty message on all their wired ports.

A beep means `Machine.step` on these ports. In an all-port machine a beep cannot break the port
model. The only remaining work is to find the receivers.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import kernel
from mpinet.machine.step import ascend, by_owner
from mpinet.machine.stepping import Stepping
from mpinet.networks.topology import Topology

DENSE = 16
"""Threshold of processors per receiver: with fewer, all flags are scanned; with more, the receivers
are sorted.
"""


def beep(machine: Stepping, nodes: Ints) -> Ints:
    """Send an empty message on all wired ports of `nodes`; see `Machine.beep`."""
    nodes = np.ascontiguousarray(nodes, np.int64)
    if not ascend(nodes):
        nodes = np.sort(nodes)
    if not (goes_unchecked(machine) and _each_once_here(machine, nodes)):
        inbox = machine.step(*wired(machine.topology, nodes))
        return np.unique(inbox.nodes)
    placement, received = machine.placement, machine.received
    room = len(nodes) * machine.topology.ports
    # A processor is listed once, when first marked, so both numbers bound the list.
    near = np.empty(min(room, placement.count), np.int64)
    away = np.empty(room if placement.ranks > 1 else 0, np.int64)
    sent, new, left = spread_beeps(
        machine.topology.neighbor.native,
        machine.topology.params,
        nodes,
        placement.first,
        received,
        near,
        away,
    )
    machine.count(sent)
    near = near[:new]
    if placement.ranks > 1:
        leaving, counts = by_owner(machine, away[:left])
        came = machine.exchange(away[leaving], counts).records - placement.first
        near = np.concatenate([near, came[: mark_first(came, received)]])
    # Near saturation a scan of the flags is sequential; sorting many random slots is not.
    if len(near) * DENSE > placement.count:
        slots = np.flatnonzero(received)
        received[:] = False
    else:
        slots = np.sort(near)
        received[slots] = False
    return machine.nodes[slots]


def wired(topology: Topology, nodes: Ints) -> tuple[Ints, Ints]:
    """Return all wired ports of these nodes, as (node, port) pairs."""
    pairs_nodes = np.repeat(nodes, topology.ports)
    pairs_ports = np.tile(np.arange(topology.ports), len(nodes))
    there = topology.neighbor(pairs_nodes, pairs_ports) >= 0
    return pairs_nodes[there], pairs_ports[there]


def goes_unchecked(machine: Stepping) -> bool:
    """Return True if every processor may use all its links at once, without meter and trace."""
    model = machine.model
    all_port = model.send is None and model.receive is None and not model.half_duplex
    unobserved = not machine.metered and machine.trace is None
    return machine.topology.links and all_port and unobserved and machine.mapping.contiguous


def _each_once_here(machine: Stepping, nodes: Ints) -> bool:
    """Return True if all `nodes`, in ascending order, are distinct and hosted on this rank."""
    placement = machine.placement
    if len(nodes) == 0:
        return True
    inside = nodes[0] >= placement.first and nodes[-1] < placement.first + placement.count
    return bool(inside and (nodes[1:] > nodes[:-1]).all())


@kernel
def spread_beeps(
    neighbor_rule: PortRule,
    params: Ints,
    nodes: Ints,
    first: int,
    received: Flags,
    near: Ints,
    away: Ints,
) -> tuple[int, int, int]:
    """Mark and list the receivers of beeps on this rank; list the receivers on other ranks.

    Returns the number of sent messages, and the lengths of both lists.
    """
    neighbor = neighbor_rule.call
    sent, new, left = 0, 0, 0
    for i in range(nodes.size):
        for port in range(params[1]):
            target = neighbor(nodes[i], port, params)
            if target < 0:
                continue
            sent += 1
            slot = target - first
            if slot < 0 or slot >= received.size:
                away[left] = target
                left += 1
            elif not received[slot]:
                received[slot] = True
                near[new] = slot
                new += 1
    return sent, new, left


@kernel
def mark_first(slots: Ints, marks: Flags) -> int:
    """Mark slots, move the newly marked ones to the front of `slots` and return their number."""
    # Without a branch: each slot is written, but overwritten later unless the count increases.
    kept = 0
    for i in range(slots.size):
        slot = slots[i]
        slots[kept] = slot
        kept += not marks[slot]
        marks[slot] = True
    return kept
