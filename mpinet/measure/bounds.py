"""Lower bounds of collectives on a network, in steps (docs/papers/hdn, 8).

Each holds for every schedule under the port model; they are `mpinet.programs.bounds`, with a
machine made for the question. All are collective, and measure distances by flooding. Busses count
as they do there: a transmission may inform all members, and a bus carries one message in a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike
from mpinet.programs import bounds


def broadcast_bound(topology: NetworkLike, root: int = 0, ports: str | PortModel = "one") -> int:
    """Steps that no broadcast from `root` beats: its eccentricity, and the growth of the informed.

    Parameters
    ----------
    topology : Topology or str
        The network.
    root : int
        The processor that has the message.
    ports : str or PortModel
        ``"one"``, ``"all"``, or a port model.
    """
    machine = _machine(topology, ports)
    machine.topology.require_node(root)
    return bounds.broadcast_bound(machine, root)


def multicast_bound(
    topology: NetworkLike, root: int, targets: Any, ports: str | PortModel = "one"
) -> int:
    """Steps that no multicast beats: the farthest target, and the growth of the informed.

    Parameters
    ----------
    topology, root, ports
        As in `broadcast_bound`.
    targets : array-like of int, shape (m,)
        The processors that are to have the message.
    """
    machine = _machine(topology, ports)
    wanted = np.asarray(targets, np.int64)
    for node in (root, *wanted.tolist()):
        machine.topology.require_node(node)
    return bounds.multicast_bound(machine, root, wanted)


def gossip_bound(topology: NetworkLike, ports: str | PortModel = "one") -> int:
    """Steps that no all-to-all broadcast beats if a message holds one item; N-1 with one port."""
    return bounds.gossip_bound(_machine(topology, ports))


def combining_gossip_bound(topology: NetworkLike, ports: str | PortModel = "one") -> int:
    """Steps that no all-to-all broadcast beats if a message may hold any number of items."""
    return bounds.combining_gossip_bound(_machine(topology, ports))


def exchange_bound(topology: NetworkLike, ports: str | PortModel = "one") -> int:
    """Steps that no total exchange beats: one port, max(N-1, ceil(sum of distances / N))."""
    return bounds.exchange_bound(_machine(topology, ports))


def scatter_bound(topology: NetworkLike, root: int = 0, ports: str | PortModel = "one") -> int:
    """Steps that no scatter from `root` beats: N-1 with one port."""
    machine = _machine(topology, ports)
    machine.topology.require_node(root)
    return bounds.scatter_bound(machine, root)


def gather_bound(topology: NetworkLike, root: int = 0, ports: str | PortModel = "one") -> int:
    """Steps that no gather to `root` beats: N-1 with one port."""
    machine = _machine(topology, ports)
    machine.topology.require_node(root)
    return bounds.gather_bound(machine, root)


def _machine(topology: NetworkLike, ports: str | PortModel) -> Machine:
    return Machine(open_topology(topology), ports)
