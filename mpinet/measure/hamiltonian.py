"""Hamiltonian cycles: found as a certificate, or proved not to exist.

A Hamiltonian cycle is a cycle of the simple graph (members of a bus are neighbours) through all
nodes, including switches. It has at least three nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import OutOfReach, WiringError
from mpinet.measure.libraries import library
from mpinet.measure.wiring import edges, to_graph
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology

BYTES_A_NODE = 96
"""Bytes per node of a network's own cycle while the cycle is followed."""


def is_hamiltonian_cycle(topology: NetworkLike, nodes: Sequence[int]) -> bool:
    """Return whether these nodes, in this cyclic order, form a Hamiltonian cycle.

    Parameters
    ----------
    topology : Topology or str
        The network; the members of a bus are neighbours.
    nodes : sequence of int
        The nodes in cyclic order; the first node is not repeated at the end.
    """
    network = open_topology(topology)
    order = np.asarray(nodes, np.int64)
    if order.ndim != 1 or len(order) < 3 or len(order) != network.size:
        return False
    if not np.array_equal(np.sort(order), np.arange(network.size)):
        return False
    behind = network.neighbor(order[:, np.newaxis], np.arange(network.ports))
    return bool((behind == np.roll(order, -1)[:, np.newaxis]).any(axis=1).all())


def hamiltonian_cycle(topology: NetworkLike, seconds: float = 60.0) -> list[int] | None:
    """Return a Hamiltonian cycle, or None as proof that none exists.

    If the network provides its own cycle, the cycle is followed link by link. Otherwise a
    constraint solver searches all cycles. The search is unnecessary if the graph is too small, not
    biconnected, or bipartite with unequal sides, because it then has no such cycle. Every rank
    computes the same result by itself.

    Parameters
    ----------
    topology : Topology or str
        The network; the members of a bus are neighbours.
    seconds : float
        Effort of the solver in deterministic seconds, which count work, not time. The result is the
        same on every computer.

    Returns
    -------
    list of int or None
        The nodes in cyclic order from node 0. None if the search was exhausted or the graph's
        structure excludes a cycle.

    Raises
    ------
    OutOfReach
        The effort does not suffice for a decision.
    WiringError
        The cycle provided by the network is not Hamiltonian.
    UsageError
        A library is not installed.

    Examples
    --------
    >>> hamiltonian_cycle("ring:5"), hamiltonian_cycle("petersen")
    ([0, 1, 2, 3, 4], None)
    """
    network = open_topology(topology)
    if network.size < 3:
        return None
    # A cycle from the paper costs linear time and is checked. The solver is for networks without
    # such a cycle.
    own = _own_cycle(network)
    if own is not None:
        return own
    return None if _has_none(network) else _solve(network, seconds)


def _own_cycle(network: Topology) -> list[int] | None:
    """Return the cycle provided by the network, followed from node 0; None without one."""
    cycle = network.cycle()
    if cycle is None:
        return None
    require_memory(BYTES_A_NODE * network.size, f"A cycle through {network.name}")
    nodes = np.arange(network.size)
    following = network.neighbor(nodes, cycle.successor(nodes))
    order = _follow(following)
    if not is_hamiltonian_cycle(network, order):
        raise WiringError(f"The cycle {cycle.name} of {network.name} is not Hamiltonian.")
    return order


def _follow(following: Ints) -> list[int]:
    """Return the successors of node 0 in order, until node 0 or a missing successor (-1)."""
    ahead = following.tolist()
    order, node = [0], ahead[0]
    while node > 0 and len(order) < len(ahead):
        order.append(node)
        node = ahead[node]
    return order


def _has_none(network: Topology) -> bool:
    """Return whether a cut node, or a bipartition with unequal sides, excludes a cycle."""
    graph = to_graph(network)
    if not graph.is_biconnected():
        return True
    # A cycle alternates between the sides of a bipartite graph. Unequal sides exclude a cycle
    # without any search.
    bipartite, sides = graph.is_bipartite(return_types=True)
    return bool(bipartite and 2 * sum(sides) != network.size)


def _solve(network: Topology, seconds: float) -> list[int] | None:
    """Search with a constraint solver: one arc out of and into every node, in a single circuit."""
    cp_model: Any = library("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    ends = edges(network).tolist()
    arcs = [
        (u, v, model.new_bool_var("")) for low, high in ends for u, v in ((low, high), (high, low))
    ]
    model.add_circuit(arcs)
    solver = cp_model.CpSolver()
    # Every rank solves by itself and must find the same cycle: several workers would race, and a
    # clock would depend on the load.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = seconds
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise OutOfReach(
            f"{seconds} seconds of search neither found a Hamiltonian cycle of {network.name} nor "
            "excluded one: give more seconds."
        )
    following = np.zeros(network.size, np.int64)
    for u, v, chosen in arcs:
        if solver.boolean_value(chosen):
            following[u] = v
    return _follow(following)
