"""Dual-constructions and quotients built literally from Section 2, as stored graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.claims.remembered import remembered
from mpinet.measure import edges
from mpinet.networks import open as open_topology
from mpinet.networks.graph import StoredGraph
from mpinet.networks.topology import Topology
from mpinet.papers.hdn.measured import dual_net


def dual_construction(links: Ints, size: int, number: Sequence[int] | None = None) -> Ints:
    """Return the links of the dual-construction of a graph.

    The result has 2n copies of the graph, n in each class. Node number i of cluster j of class 0 is
    linked to node number j of cluster i of class 1.

    Parameters
    ----------
    links : ndarray of int64, shape (L, 2)
        Links of the graph.
    size : int
        Number n of nodes of the graph.
    number : sequence of int, optional
        Numbers of the nodes in the construction. Default: their own numbers.

    Returns
    -------
    ndarray of int64, shape (2nL + n^2, 2)
        Ends u < v. A node u of cluster j of class c has the number (cn + j)n + u.
    """
    copies = np.concatenate([links + copy * size for copy in range(2 * size)])
    named = np.arange(size) if number is None else np.asarray(number)
    node_with = np.empty(size, np.int64)
    node_with[named] = np.arange(size)
    cluster, i = np.divmod(np.arange(size * size), size)
    # Section 2 links node i of cluster j to node j of cluster i in the other class.
    first = cluster * size + node_with[i]
    second = (size + i) * size + node_with[cluster]
    return np.concatenate([copies, np.stack([first, second], axis=1)])


def as_network(links: Ints, name: str) -> Topology:
    """Return the network with the given links."""
    return StoredGraph(name, range(int(links.max()) + 1), np.unique(np.sort(links), axis=0))


@remembered(most=8)
def dual_of(topology: str) -> Topology:
    """Return the dual-construction of a network with its own numbering."""
    network = open_topology(topology)
    return as_network(dual_construction(edges(network), network.size), f"dual {topology}")


def quotient(topology: str, members: tuple[int, ...]) -> Topology | None:
    """Return HDN(B,i-1,S)/SN^i, a node for each copy of a sub-product; None for a single node.

    Parameters
    ----------
    topology : str
        The HDN(B,i-1,S).
    members : tuple of int
        Factors of the super-node SN^i.
    """
    network = dual_net(topology)
    inside = {len(network.digits(0)) - len(network.levels.base) + j for j in members}
    number: dict[tuple[int, ...], int] = {}
    of = np.empty(network.size, np.int64)
    for node in range(network.size):
        rest = tuple(d for at, d in enumerate(network.digits(node)) if at not in inside)
        of[node] = number.setdefault(rest, len(number))
    between = of[edges(network)]
    # Links within a super-node vanish, because the super-node becomes a single node.
    between = between[between[:, 0] != between[:, 1]]
    return as_network(between, f"quotient of {topology}") if len(between) else None
