"""Topologies as graphs of networkx."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mpinet.networks.shortest import neighbor_table
from mpinet.networks.wired import Wired

if TYPE_CHECKING:
    import networkx


def graph_of(topology: Wired, names: Sequence[Hashable]) -> networkx.Graph:
    """Return the networkx graph of a topology.

    Parameters
    ----------
    topology : Topology
        The network.
    names : sequence of hashable
        The graph's nodes, in the order of the numbers 0..N-1.
    """
    import networkx

    graph = networkx.Graph(name=topology.name)
    graph.add_nodes_from(
        (name, {"address": topology.address(u), "number": u}) for u, name in enumerate(names)
    )
    table = neighbor_table(topology)
    # Each link is taken at its lower end only. Both ends would give every edge twice.
    nodes, ports = np.nonzero(table > np.arange(topology.size)[:, np.newaxis])
    others = table[nodes, ports]
    back = topology.reverse_port(nodes, ports)
    for u, v, p, q in zip(*(a.tolist() for a in (nodes, others, ports, back)), strict=True):
        ends = names[u], names[v]
        if not graph.has_edge(*ends):
            graph.add_edge(*ends, ports=([], []))
        here, there = graph.edges[ends]["ports"]
        here.append(p)
        there.append(q)
    return graph
