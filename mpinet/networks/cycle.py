"""Hamiltonian cycles as a local rule: the port to the next processor.

A Hamiltonian cycle visits every processor once and returns to the first. A family with a known
cycle states it by a rule (`ring_cycle`: one port leads all the way round). A cycle found by search
is a table of N ports (`table_cycle`). Walks along the cycle then need only a node's number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Mapped, Rule, kernel, rule
from mpinet.networks.wired import Wired

AHEAD = 0
"""Direction argument of a cycle's rule: forwards. The way back follows from the incoming port."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """A cycle through all processors of a network without switches."""

    name: str
    """Name of the cycle in results."""
    rule: Rule
    """``rule(node, AHEAD, params)``: the port to the next processor on the cycle."""
    params: Ints
    """The rule's parameters."""

    def successor(self, nodes: Ints) -> Ints:
        """Return the ports to the next processors, in the shape of the argument."""
        return Mapped(self.rule, self.params, ports=AHEAD + 1)(nodes, AHEAD)


@rule
def port_all_round(node, way, params):
    """Return the one port that leads all the way round."""
    return params[2]


def ring_cycle(params: Ints, port: int = 0) -> Cycle:
    """Return the Hamiltonian `Cycle` that leaves every processor through the same port.

    The caller guarantees that this port leads through all processors and back to the first.

    Parameters
    ----------
    params : ndarray of int64
        Parameters of the topology.
    port : int
        The port that leads round. Default: 0.
    """
    return Cycle("ring", port_all_round, np.append(params[:2], port))


@rule
def port_in_table(node, way, params):
    """Return the node's port from the table."""
    return params[2 + node]


def table_cycle(name: str, topology: Wired, order: Ints) -> Cycle:
    """Return the cycle that visits the nodes in the given order, as a table of N ports.

    Parameters
    ----------
    name : str
        Name of the cycle in results.
    topology : Topology
        The network.
    order : ndarray of int64, shape (N,)
        Every node once; each is linked to the next, and the last to the first.
    """
    table = np.empty(topology.size, np.int64)
    # Ports are stored instead of successors. The rule then needs no wiring.
    table[order] = ports_to(topology, order, np.roll(order, -1))
    return Cycle(name, port_in_table, np.concatenate([topology.params[:2], table]))


def ports_to(topology: Wired, nodes: Ints, others: Ints) -> Ints:
    """Return the lowest port from each node to the given neighbour, in the shape of both."""
    behind = topology.neighbor(nodes[:, np.newaxis], np.arange(topology.ports))
    # The first match is the lowest of parallel ports. Every rank has to choose the same port.
    return np.argmax(behind == others[:, np.newaxis], axis=1)


def cycle_order(topology: Wired, cycle: Cycle) -> Ints:
    """Return the nodes in the order in which a cycle visits them, from node 0, shape (N,)."""
    nodes = np.arange(topology.size)
    order = np.zeros(topology.size, np.int64)
    # Successors are computed for all nodes at once. Only the walk from one to the next is
    # sequential.
    follow(topology.neighbor(nodes, cycle.successor(nodes)), order)
    return order


@kernel
def follow(following: Ints, order: Ints) -> None:
    """Fill `order` by following successors from its first entry."""
    for place in range(1, order.size):
        order[place] = following[order[place - 1]]
