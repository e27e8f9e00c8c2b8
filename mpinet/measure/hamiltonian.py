"""Hamiltonian cycles: found as a certificate, or shown not to exist.

A cycle is one of the simple graph (busses: a link between every two members) through all nodes,
switches included; it has at least three nodes.
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
"""Bytes per node of a cycle that a network offers, while it is followed."""


def is_hamiltonian_cycle(topology: NetworkLike, nodes: Sequence[int]) -> bool:
    """Return whether these nodes, in this cyclic order, form a Hamiltonian cycle.

    Parameters
    ----------
    topology : Topology or str
        The network; the members of a bus are linked to each other.
    nodes : sequence of int
        The nodes in the cycle's order, the first one not repeated at the end.
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
    """A Hamiltonian cycle as its certificate, or the proof that there is none.

    The network's own cycle is followed link by link where it offers one. Otherwise a constraint
    solver searches all cycles, unless the graph is too small, is not biconnected, or is bipartite
    with unequal sides, and therefore has none. Every rank finds the same for itself.

    Parameters
    ----------
    topology : Topology or str
        The network; the members of a bus are linked to each other.
    seconds : float
        The solver's effort in its deterministic seconds, which count work, not time: the outcome
        is the same on every computer.

    Returns
    -------
    list of int or None
        The nodes in the cycle's order from node 0; None if the search was exhausted or the graph
        shows that there is none.

    Raises
    ------
    OutOfReach
        The effort does not decide it.
    WiringError
        The cycle that the network offers is none.
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
    # one.
    own = _own_cycle(network)
    if own is not None:
        return own
    return None if _has_none(network) else _solve(network, seconds)


def _own_cycle(network: Topology) -> list[int] | None:
    """The cycle that the network offers, followed from node 0."""
    cycle = network.cycle()
    if cycle is None:
        return None
    require_memory(BYTES_A_NODE * network.size, f"A cycle through {network.name}")
    nodes = np.arange(network.size)
    following = network.neighbor(nodes, cycle.successor(nodes))
    order = _follow(following)
    if not is_hamiltonian_cycle(network, order):
        raise WiringError(f"The cycle {cycle.name} that {network.name} offers is not Hamiltonian.")
    return order


def _follow(following: Ints) -> list[int]:
    """The nodes from 0 on until one comes again or there is none."""
    ahead = following.tolist()
    order, node = [0], ahead[0]
    while node > 0 and len(order) < len(ahead):
        order.append(node)
        node = ahead[node]
    return order


def _has_none(network: Topology) -> bool:
    """Return whether a cut node, or a bipartition with unequal sides, rules a cycle out."""
    graph = to_graph(network)
    if not graph.is_biconnected():
        return True
    # A cycle alternates between the sides of a bipartite graph. Unequal sides rule it out without
    # any search.
    bipartite, sides = graph.is_bipartite(return_types=True)
    return bool(bipartite and 2 * sum(sides) != network.size)


def _solve(network: Topology, seconds: float) -> list[int] | None:
    """Search by constraint solver: one arc out of and into every node, all in one circuit."""
    cp_model: Any = library("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    ends = edges(network).tolist()
    arcs = [
        (u, v, model.new_bool_var("")) for low, high in ends for u, v in ((low, high), (high, low))
    ]
    model.add_circuit(arcs)
    solver = cp_model.CpSolver()
    # Every rank solves it for itself and has to find the same cycle: several workers would race,
    # and a limit by the clock would depend on the load.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = seconds
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise OutOfReach(
            f"{seconds} seconds of search neither found a Hamiltonian cycle of {network.name} nor "
            "showed that it has none: give more seconds."
        )
    following = np.zeros(network.size, np.int64)
    for u, v, chosen in arcs:
        if solver.boolean_value(chosen):
            following[u] = v
    return _follow(following)
