"""Loads of processors and channels under a routing, measured on the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.fielddocs import described
from mpinet.errors import RoutingError
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.measure.pairs import Pairs, as_routing
from mpinet.networks.catalogue import open_topology
from mpinet.networks.routing import Routing
from mpinet.networks.topology import NetworkLike, Topology

INJECTED_AT_ONCE = 1 << 17
"""Number of messages on the machine at a time, limited to save memory."""


@described
@dataclass(frozen=True, eq=False)
class Loads:
    """Loads of the nodes and channels when every pair exchanges one message."""

    messages: int
    """Number of messages."""
    hops: int
    """Total number of hops of all messages."""
    processors: Ints
    """Number of messages that each node forwarded for other nodes; sources and targets do not
    count. Shape (N,).
    """
    channels: Ints
    """Number of messages over each channel: a direction of a link, or a bus (every traversal
    counts). Shape (C,).
    """
    ports: Ints
    """For links: the (node, port) at the start of each channel, ascending. For busses: empty,
    because channel c is bus c. Shape (C, 2) or (0, 2).
    """


def loads(
    topology: NetworkLike,
    routing: Routing | str | None = None,
    pairs: Any = "all",
    seed: int = 0,
) -> Loads:
    """Measure the loads of all nodes and channels (collective).

    One message per pair is routed on a machine on which every message hops in every step. The
    machine counts the messages on its channels.

    Parameters
    ----------
    topology : Topology or str
        The network; links or busses.
    routing : Routing or str, optional
        Default: the network's first.
    pairs : str or array-like of int, shape (k, 2)
        A traffic pattern (``all``: every ordered pair of different processors), or rows (source,
        target).
    seed : int
        Seed of random pairs.

    Returns
    -------
    Loads
        The loads, the same on all ranks.

    Raises
    ------
    RoutingError
        A message does not arrive.

    Examples
    --------
    >>> found = loads("ring:5")
    >>> found.messages, found.hops, found.channels
    (20, 30, array([3, 3, 3, 3, 3, 3, 3, 3, 3, 3]))
    """
    network = open_topology(topology)
    routing = as_routing(network, routing)
    machine = Machine(network, loads=True)
    asked = Pairs(network, pairs, seed)
    sent = np.zeros(network.size, np.int64)
    for sources, targets in asked.parts(INJECTED_AT_ONCE):
        _carry(machine, routing, sources, targets)
        sent += np.bincount(sources[sources != targets], minlength=network.size)
    left = np.zeros((network.size, network.ports), np.int64)
    left[machine.nodes] = machine.meters.loads.reshape(len(machine.nodes), network.ports)
    left = machine.transport.sum(left)
    channels, ports = _by_channel(network, left)
    return Loads(asked.total, int(left.sum()), left.sum(axis=1) - sent, channels, ports)


def _carry(machine: Machine, routing: Routing, sources: Ints, targets: Ints) -> None:
    """Route one message per pair; raise `RoutingError` if a message does not arrive."""
    router = Router(machine, routing, mode="ideal")
    mine = np.flatnonzero(np.isin(sources, machine.nodes))
    router.inject(sources[mine], targets[mine], mine, len(sources))
    router.run()
    lost = router.totals["undeliverable"]
    if lost:
        raise RoutingError(
            f"Routing {routing.name} on {machine.topology.name} could not deliver {lost} of "
            f"{len(sources)} messages: the loads are incomplete."
        )


def _by_channel(topology: Topology, left: Ints) -> tuple[Ints, Ints]:
    """Return the loads of the channels and their starting ports, from the loads of all ports."""
    nodes, ports = np.nonzero(_wired_ports(topology))
    if topology.links:
        return left[nodes, ports], np.stack([nodes, ports], axis=1)
    carried = np.zeros(topology.busses or 0, np.int64)
    np.add.at(carried, topology.channel(nodes, ports), left[nodes, ports])
    return carried, np.zeros((0, 2), np.int64)


def _wired_ports(topology: Topology) -> Ints:
    """Return for each port of each node whether it is wired, shape (N, ports)."""
    nodes = np.arange(topology.size)[:, np.newaxis]
    wired: Ints = topology.neighbor(nodes, np.arange(topology.ports)) >= 0
    return wired
