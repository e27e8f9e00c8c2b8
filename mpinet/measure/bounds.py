"""Lower bounds of collectives on a network, in steps (docs/papers/hdn, 8).

Each bound holds for every schedule under the port model. The functions call
`mpinet.programs.bounds` with a new machine. All functions are collective and measure distances by
flooding. Busses count as in the port model: a transmission may inform all members, and a bus
carries one message per step.
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
    """Return a lower bound on the steps of a broadcast: eccentricity of `root`, and growth.

    The growth bound limits the number of informed processors after each step.

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
    """Return a lower bound on the steps of a multicast: farthest target, and growth.

    Parameters
    ----------
    topology, root, ports
        As in `broadcast_bound`.
    targets : array-like of int, shape (m,)
        The processors that should receive the message.
    """
    machine = _machine(topology, ports)
    wanted = np.asarray(targets, np.int64)
    for node in (root, *wanted.tolist()):
        machine.topology.require_node(node)
    return bounds.multicast_bound(machine, root, wanted)


def gossip_bound(topology: NetworkLike, ports: str | PortModel = "one") -> int:
    """Return a lower bound on the steps of a gossip, one item per message; N-1 for one port."""
    return bounds.gossip_bound(_machine(topology, ports))


def combining_gossip_bound(topology: NetworkLike, ports: str | PortModel = "one") -> int:
    """Return a lower bound on the steps of a gossip with any number of items per message."""
    return bounds.combining_gossip_bound(_machine(topology, ports))


def exchange_bound(topology: NetworkLike, ports: str | PortModel = "one") -> int:
    """Return a lower bound on the steps of a total exchange.

    With one port the bound is max(N-1, ceil(sum of distances / N)).
    """
    return bounds.exchange_bound(_machine(topology, ports))


def scatter_bound(topology: NetworkLike, root: int = 0, ports: str | PortModel = "one") -> int:
    """Return a lower bound on the steps of a scatter from `root`: N-1 with one port."""
    machine = _machine(topology, ports)
    machine.topology.require_node(root)
    return bounds.scatter_bound(machine, root)


def gather_bound(topology: NetworkLike, root: int = 0, ports: str | PortModel = "one") -> int:
    """Return a lower bound on the steps of a gather to `root`: N-1 with one port."""
    machine = _machine(topology, ports)
    machine.topology.require_node(root)
    return bounds.gather_bound(machine, root)


def _machine(topology: NetworkLike, ports: str | PortModel) -> Machine:
    return Machine(open_topology(topology), ports)
