"""All-pairs distances by graph libraries, each for a number of sources that takes little time."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.bench.benchmark import Absent, Round

Edges = Ints
Sum = Callable[[], int]


def if_installed(library: str, measured: Round) -> Round | Absent:
    """Return the contender, or `Absent` if its library is not installed."""
    if find_spec(library) is None:
        return Absent(f'{library} is not installed: pip install "mpinet[bench]"')
    return measured


def by_igraph(size: int, edges: Edges, sources: int) -> Sum:
    """Return a function that sums the distances from the first nodes with igraph."""
    import igraph

    graph: Any = igraph.Graph(n=size, edges=edges.tolist())
    return lambda: sum(map(sum, graph.distances(source=range(sources))))


def by_networkx(size: int, edges: Edges, sources: int) -> Sum:
    """Return a function that sums the distances from the first nodes with networkx."""
    import networkx

    graph: Any = networkx.Graph(edges.tolist())
    lengths = networkx.single_source_shortest_path_length
    return lambda: sum(sum(lengths(graph, source).values()) for source in range(sources))


def by_rustworkx(size: int, edges: Edges, sources: int) -> Sum:
    """Return a function that sums all distances with rustworkx on one core."""
    import rustworkx

    graph: Any = rustworkx.PyGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from_no_data([tuple(edge) for edge in edges.tolist()])
    # The threshold keeps rustworkx on one core, because the emulator is measured on one core.
    return lambda: int(rustworkx.distance_matrix(graph, parallel_threshold=10**9).sum())


def by_scipy(size: int, edges: Edges, sources: int) -> Sum:
    """Return a function that sums the distances from the first nodes with scipy."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    ends = np.concatenate([edges, edges[:, ::-1]])
    graph: Any = coo_array((np.ones(len(ends)), ends.T), shape=(size, size)).tocsr()
    return lambda: int(shortest_path(graph, unweighted=True, indices=range(sources)).sum())
