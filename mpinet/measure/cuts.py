"""Connectivity: the fewest nodes or links whose removal disconnects a network.

Networks are treated as simple graphs. In a bus network all members of a bus are neighbours; in
`incidence_connectivity`, processors and busses are both nodes. Flows are computed by igraph.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from mpinet.measure.libraries import library
from mpinet.measure.wiring import incidence_graph, to_graph
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike


def connectivity(topology: NetworkLike) -> int:
    """Return the least number of nodes whose removal disconnects a network or leaves one node.

    Returns
    -------
    int
        0 if the network is not connected, N - 1 if all nodes are neighbours.

    Examples
    --------
    >>> connectivity("hypercube:4"), connectivity("mesh:3x3")
    (4, 2)
    """
    return len(_narrowest(to_graph(topology)))


def connectivity_work(topology: NetworkLike) -> int:
    """Return the work of `connectivity`: the nodes and arcs of all its flows.

    Examples
    --------
    >>> connectivity_work("ring:5"), connectivity_work("complete:5")
    (45, 0)
    """
    graph = to_graph(topology)
    return len(_separable(graph)) * (graph.vcount() + 2 * graph.ecount())


def incidence_connectivity(topology: NetworkLike) -> int:
    """Return the connectivity of a bus network if both processors and busses may be removed.

    Raises
    ------
    UsageError
        The network has links.
    """
    return len(_narrowest(incidence_graph(topology)))


def separating_nodes(topology: NetworkLike) -> tuple[int, ...] | None:
    """Return a smallest set of nodes whose removal disconnects a network.

    Returns
    -------
    tuple of int, or None
        Nodes, ascending. None if no removal disconnects the network because all nodes are
        neighbours.
    """
    network = open_topology(topology)
    found = _narrowest(to_graph(network))
    return None if len(found) == network.size - 1 else found


def edge_connectivity(topology: NetworkLike) -> int:
    """Return the least number of links whose removal disconnects a network.

    Several links between the same two nodes count once. For a single node the result is 0.

    Examples
    --------
    >>> edge_connectivity("torus:4x4"), edge_connectivity("mesh:3x3")
    (4, 2)
    """
    return int(to_graph(topology).edge_connectivity())


def biconnected(topology: NetworkLike) -> bool:
    """Return whether a network is connected, and stays connected without any single node."""
    graph = to_graph(topology)
    return graph.is_connected() and not graph.articulation_points()


def _narrowest(graph: Any) -> tuple[int, ...]:
    """Return a smallest separating set of vertices, ascending; without one, all vertices but one.

    Take a vertex of least degree. If it is outside the set, the set separates it from another
    vertex. Otherwise the set separates two of its neighbours (Esfahanian and Hakimi, "On computing
    the connectivities of graphs and digraphs", Networks 14, 1984).
    """
    center, around = _center(graph)
    pairs = _separable(graph)
    if not pairs:
        return tuple(vertex for vertex in range(graph.vcount()) if vertex != center)
    # Only flows between these few pairs are needed. All pairs of nodes would need quadratically
    # many flows.
    flow, ends = min((graph.vertex_connectivity(*pair), pair) for pair in pairs)
    if flow == len(around):
        return tuple(sorted(around))
    return _separator(graph, *ends)


def _separable(graph: Any) -> list[tuple[int, int]]:
    """Return pairs of vertices of which a smallest set separates one; empty for complete graphs."""
    center, around = _center(graph)
    if len(around) == graph.vcount() - 1:
        return []
    others = set(range(graph.vcount())) - {center, *around}
    pairs = [(center, other) for other in sorted(others)]
    return pairs + [pair for pair in combinations(around, 2) if not graph.are_adjacent(*pair)]


def _center(graph: Any) -> tuple[int, list[int]]:
    """Return the first vertex of least degree, and its neighbours."""
    degree = graph.degree()
    center = degree.index(min(degree))
    return center, graph.neighbors(center)


def _separator(graph: Any, source: int, target: int) -> tuple[int, ...]:
    """Return a smallest set of vertices that separates two vertices, ascending.

    The set is a minimum cut of the graph in which every vertex v is an arc from v to v + n, of
    capacity 1.
    """
    count = graph.vcount()
    ends = graph.get_edgelist()
    # The arcs within nodes have capacity 1, all others more than any cut. A minimum cut therefore
    # consists of nodes alone.
    arcs = [(v, v + count) for v in range(count)]
    arcs += [(u + count, v) for u, v in ends] + [(v + count, u) for u, v in ends]
    capacities = [1] * count + [count] * (2 * len(ends))
    split = library("igraph").Graph(n=2 * count, edges=arcs, directed=True)
    cut = split.mincut(source + count, target, capacities)
    return tuple(sorted(split.es[arc].source for arc in cut.cut))
