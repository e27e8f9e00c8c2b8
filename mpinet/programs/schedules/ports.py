"""Ports by neighbour: schedules know partners, while networks number ports."""

from __future__ import annotations

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Ints
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine


def ports_towards(machine: Machine, nodes: Ints, targets: Ints, name: str, first: int = 0) -> Ints:
    """Return the ports of this rank's processors to given neighbours.

    If a port is missing, all ranks raise the error, other ranks in their next collective.

    Parameters
    ----------
    machine : Machine
        Machine with the links.
    nodes, targets : ndarray of int64, shape (k,)
        Processors, and the neighbour of each.
    name : str
        Name of the schedule, for the error.
    first : int
        Port to try first.

    Raises
    ------
    UsageError
        A link does not exist.
    """
    topology = machine.topology
    ports = np.empty_like(nodes)
    stray = find_ports(topology.neighbor.native, topology.params, nodes, targets, first, ports)
    if stray >= 0:
        sentence = (
            f"{topology.name} has no link between {nodes[stray]} and {targets[stray]}, which the "
            f"algorithm {name} needs; give --algorithm routed."
        )
        machine.transport.fail(UsageError(sentence))
    return ports


@kernel
def find_ports(
    neighbor_rule: PortRule, params: Ints, nodes: Ints, targets: Ints, first: int, ports: Ints
) -> int:
    """Write each node's port to its target; return the index of the first without one, or -1.

    Port `first` is tried first.
    """
    neighbor = neighbor_rule.call
    for k in range(nodes.size):
        ports[k] = -1
        for turn in range(params[1]):
            port = (first + turn) % params[1]
            if neighbor(nodes[k], port, params) == targets[k]:
                ports[k] = port
                break
        if ports[k] < 0:
            return k
    return -1
