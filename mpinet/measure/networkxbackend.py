"""Backend for networkx: its functions on distances, computed by floods from many nodes at once.

``networkx.diameter(graph, backend="mpinet")`` converts the graph once (networkx caches the
converted graph), and floods from all nodes on this process. Graphs beyond the floods (directed
edges, weights) are refused by `can_run`. networkx then uses its own function, or raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any

import networkx
import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import Disconnected
from mpinet.machine.transport import alone
from mpinet.measure.distance import average_distance as mean_distance
from mpinet.measure.distance import diameter as largest_distance
from mpinet.measure.distance import distance_matrix, eccentricities
from mpinet.networks.graph import StoredGraph

ROWS = 4096
"""Largest number of sources whose distances are in memory together."""


class FloodedGraph:
    """A networkx graph, together with the network on which the floods run.

    Parameters
    ----------
    graph : networkx.Graph
        An undirected graph. It is kept, so converting back gives the same graph.
    """

    __networkx_backend__ = "mpinet"

    def __init__(self, graph: Any):
        self.graph = graph

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copying asks for such names before `graph` is set
            raise AttributeError(name)
        return getattr(self.graph, name)

    def __len__(self) -> int:
        return len(self.graph)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.graph)

    def __contains__(self, node: object) -> bool:
        return node in self.graph

    @cached_property
    def network(self) -> StoredGraph:
        """The network; its nodes are numbered in the order of the graph."""
        return StoredGraph("a graph of networkx", [*self.graph], self.graph.edges())


def convert_from_nx(graph: Any, **kept: Any) -> FloodedGraph:
    """Convert a graph for this backend; attributes and weights stay with the original graph."""
    return FloodedGraph(graph)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Return the original graph of a converted graph; other results are returned unchanged."""
    return result.graph if isinstance(result, FloodedGraph) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether the floods support a call of networkx.

    Parameters
    ----------
    name : str
        Name of the networkx function.
    args, kwargs
        Arguments of the call.
    """
    graph, given = args[0] if args else kwargs["G"], _named(name, args, kwargs)
    if graph.is_directed() or len(graph) < 2:
        return False
    if graph.number_of_edges() == networkx.number_of_selfloops(graph):
        return False
    if any(given.get(option) is not None for option in ("weight", "sp", "e")):
        return False
    cutoff = given.get("cutoff")
    return given.get("method") in (None, "unweighted") and (
        cutoff is None or (isinstance(cutoff, int) and cutoff >= 0)
    )


def _named(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments after the graph by name."""
    return dict(zip(POSITIONAL[name], args[1:], strict=False)) | kwargs


POSITIONAL = {
    "all_pairs_shortest_path_length": ("cutoff",),
    "average_shortest_path_length": ("weight", "method"),
    "diameter": ("e", "usebounds", "weight"),
    "eccentricity": ("v", "sp", "weight"),
}
"""Positional parameters of networkx's functions after the graph, in order."""


def all_pairs_shortest_path_length(
    G: FloodedGraph, cutoff: int | None = None
) -> Iterator[tuple[Hashable, dict[Hashable, int]]]:
    """Yield each node with the distances of its reachable nodes, like networkx."""
    nodes = [*G]
    most = len(nodes) if cutoff is None else cutoff
    for begin in range(0, len(nodes), ROWS):
        sources = range(begin, min(begin + ROWS, len(nodes)))
        with alone():
            block = distance_matrix(G.network, sources)
        for source, row in zip(sources, block, strict=True):
            near = np.flatnonzero((row >= 0) & (row <= most))
            every = len(near) == len(nodes)
            reached = nodes if every else [nodes[number] for number in near.tolist()]
            yield nodes[source], dict(zip(reached, row[near].tolist(), strict=True))


def average_shortest_path_length(
    G: FloodedGraph, weight: None = None, method: str | None = None
) -> float:
    """Return the mean distance between different nodes, like networkx.

    Raises
    ------
    networkx.NetworkXError
        The graph is not connected.
    """
    return _measured(mean_distance, G.network, "Graph is not connected.")


def diameter(G: FloodedGraph, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    """Return the largest distance, like networkx.

    Raises
    ------
    networkx.NetworkXError
        The graph is not connected.
    """
    return _measured(largest_distance, G.network, INFINITE)


def eccentricity(G: FloodedGraph, v: Any = None, sp: None = None, weight: None = None) -> Any:
    """Return the eccentricities by node, or the eccentricity of a single node.

    Raises
    ------
    networkx.NetworkXError
        The graph is not connected, or has no such node.
    """
    asked = [*G.graph.nbunch_iter(v)]
    place = {node: number for number, node in enumerate(G)}

    def measured(network: StoredGraph) -> Ints:
        return eccentricities(network, None if v is None else [place[node] for node in asked])

    found = dict(zip(asked, _measured(measured, G.network, INFINITE).tolist(), strict=True))
    return found[v] if v is not None and v in G else found


INFINITE = "Found infinite path length because the graph is not connected"


def _measured(
    measure: Callable[[StoredGraph], Any], network: StoredGraph, disconnected: str
) -> Any:
    """Compute a measure on this process alone; raise networkx's error for a disconnected graph."""
    try:
        with alone():
            return measure(network)
    except Disconnected:
        raise networkx.NetworkXError(disconnected) from None
