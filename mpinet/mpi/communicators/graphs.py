"""Graph and distributed graph topologies: sources, destinations, and weights of edges."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Sequence
from operator import index as integer
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.mpi.real import REAL
from mpinet.mpi.world.endpoint import Endpoint

Weights = Sequence[int] | int | None


class SharedGraph:
    """A graph known to all members.

    Parameters
    ----------
    index : sequence of int
        End of each rank's neighbors in `edges`; a leading 0 is allowed.
    edges : sequence of int
        The neighbors of all ranks.

    Raises
    ------
    Exception
        `index` decreases, or a neighbor is not in the graph.
    """

    kind = REAL.GRAPH

    __slots__ = ("edges", "index")

    def __init__(self, index: Sequence[int], edges: Sequence[int]):
        ends = [integer(end) for end in index]
        self.edges = tuple(integer(edge) for edge in edges)
        if ends and ends[0] == 0 and ends[-1] == len(self.edges):
            del ends[0]
        self.index = tuple(ends)
        grows = all(end <= other for end, other in zip((0, *ends), ends, strict=False))
        if not grows or (ends and ends[-1] != len(self.edges)):
            raise REAL.Exception(REAL.ERR_ARG)
        if any(not 0 <= edge < len(ends) for edge in self.edges):
            raise REAL.Exception(REAL.ERR_ARG)

    @property
    def size(self) -> int:
        """Number of ranks in the graph."""
        return len(self.index)

    def sources(self, rank: int) -> list[int]:
        """Return a rank's neighbors."""
        return list(self.edges[self.index[rank - 1] if rank else 0 : self.index[rank]])

    targets = sources

    ways = 1

    def way(self, place: int) -> int:
        """Return the direction of the link to the target at an index; graphs have only one."""
        return 0

    way_from = way


class OwnEdges:
    """A member's edges in a graph that no member knows as a whole.

    Parameters
    ----------
    sources, targets : sequence of int
        Ranks of the sources and of the destinations.
    weights : tuple of (list of int, list of int) or None
        Weights of the incoming and of the outgoing edges; None if unweighted.
    """

    kind = REAL.DIST_GRAPH
    ways = 1

    __slots__ = ("_sources", "_targets", "weights")

    def __init__(
        self,
        sources: Sequence[int],
        targets: Sequence[int],
        weights: tuple[list[int], list[int]] | None,
    ):
        self._sources = tuple(sources)
        self._targets = tuple(targets)
        self.weights = weights

    @classmethod
    def of(
        cls, sources: Any, targets: Any, sourceweights: Weights, destweights: Weights
    ) -> OwnEdges:
        """Return the edges given to `Create_dist_graph_adjacent`."""
        incoming = [] if sources is None else [integer(source) for source in sources]
        outgoing = [] if targets is None else [integer(target) for target in targets]
        before, behind = (
            weights_of(sourceweights, len(incoming)),
            weights_of(destweights, len(outgoing)),
        )
        return cls(
            incoming, outgoing, None if before is None or behind is None else (before, behind)
        )

    @classmethod
    def unpacked(cls, numbers: Ints, weighted: bool) -> OwnEdges:
        """Return the edges packed by `neighborhoods`."""
        end = 1 + 2 * int(numbers[0])
        sources, before = numbers[1:end].reshape(2, -1).tolist()
        targets, behind = numbers[end:].reshape(2, -1).tolist()
        return cls(sources, targets, (before, behind) if weighted else None)

    def sources(self, rank: int) -> list[int]:
        """Return the ranks from which the member receives."""
        return list(self._sources)

    def targets(self, rank: int) -> list[int]:
        """Return the ranks to which the member sends."""
        return list(self._targets)

    def way(self, place: int) -> int:
        """Return the direction of the link to the target at an index; graphs have only one."""
        return 0

    way_from = way


def weights_of(given: Weights, count: int) -> list[int] | None:
    """Return the weights of `count` edges; None if unweighted.

    Raises
    ------
    ValueError
        The number of weights differs from `count`.
    """
    if given is None or (isinstance(given, int) and given == REAL.UNWEIGHTED):
        return None
    if isinstance(given, int) and given == REAL.WEIGHTS_EMPTY:
        if count:
            raise ValueError("empty weights but nonzero degree")
        return []
    if isinstance(given, int) or len(given) != count:
        raise ValueError(f"expecting {count} weights, got {given!r}")
    return [integer(number) for number in given]


def edges_of(
    sources: Sequence[int], degrees: Sequence[int], targets: Sequence[int], weights: Weights
) -> tuple[list[int], bool]:
    """Return the edges given to `Create_dist_graph`.

    Returns
    -------
    edges : list of int
        Source, destination and weight of each edge.
    weighted : bool
        Whether weights were given; otherwise all weights are 1.

    Raises
    ------
    ValueError
        The number of degrees, destinations or weights is wrong.
    """
    if len(degrees) != len(sources) or len(targets) != sum(degrees):
        raise ValueError(f"expecting {len(sources)} degrees and {sum(degrees)} destinations")
    heavy = weights_of(weights, len(targets))
    begun = [source for source, degree in zip(sources, degrees, strict=True) for _ in range(degree)]
    rows = zip(begun, targets, heavy or [1] * len(targets), strict=True)
    return [integer(number) for row in rows for number in row], heavy is not None


def neighborhoods(edges: Ints, size: int) -> list[bytes]:
    """Return each member's part of a graph.

    Parameters
    ----------
    edges : ndarray of int64
        Source, destination and weight of each edge.
    size : int
        Number of members.

    Returns
    -------
    list of bytes
        For each rank as int64: number of sources, sources, their weights, destinations, their
        weights.

    Raises
    ------
    Exception
        An end of an edge is not a rank.
    """
    rows = edges.reshape(-1, 3)
    if ((rows[:, :2] < 0) | (rows[:, :2] >= size)).any():
        raise REAL.Exception(REAL.ERR_RANK)
    found = []
    by_target, by_source = (
        rows[rows[:, 1].argsort(kind="stable")],
        rows[rows[:, 0].argsort(kind="stable")],
    )
    bounds = np.arange(size + 1)
    into, out = by_target[:, 1].searchsorted(bounds), by_source[:, 0].searchsorted(bounds)
    for rank in range(size):
        incoming = by_target[into[rank] : into[rank + 1]]
        outgoing = by_source[out[rank] : out[rank + 1]]
        parts = ([len(incoming)], incoming[:, 0], incoming[:, 2], outgoing[:, 1], outgoing[:, 2])
        found.append(np.concatenate(parts).astype(np.int64).tobytes())
    return found


class GraphCalls(Endpoint):
    """Calls on a communicator with a graph, as in `mpi4py.MPI.Graphcomm`."""

    __slots__ = ()

    @property
    def _graph(self) -> SharedGraph:
        """The communicator's graph of ranks."""
        graph: SharedGraph = self._state.topology
        return graph

    def Get_dims(self) -> tuple[int, int]:
        """Return the number of ranks and the number of edges."""
        return len(self._graph.index), len(self._graph.edges)

    dims = property(Get_dims)

    @property
    def nnodes(self) -> int:
        """Number of ranks of the graph."""
        return self.Get_dims()[0]

    @property
    def nedges(self) -> int:
        """Number of edges of the graph."""
        return self.Get_dims()[1]

    def Get_topo(self) -> tuple[list[int], list[int]]:
        """Return the arguments `index` and `edges` of the graph."""
        return self.index, self.edges

    topo = property(Get_topo)

    @property
    def index(self) -> list[int]:
        """End of each rank's neighbors in `edges`."""
        return list(self._graph.index)

    @property
    def edges(self) -> list[int]:
        """The neighbors of all ranks of the graph, rank by rank."""
        return list(self._graph.edges)

    def Get_neighbors(self, rank: int) -> list[int]:
        """Return the neighbors of a rank."""
        self._others.processor(rank)
        return self._graph.sources(rank)

    def Get_neighbors_count(self, rank: int) -> int:
        """Return the number of a rank's neighbors."""
        return len(self.Get_neighbors(rank))

    @property
    def neighbors(self) -> list[int]:
        """The caller's neighbors."""
        return self.Get_neighbors(self.rank)

    @property
    def nneighbors(self) -> int:
        """Number of the caller's neighbors."""
        return len(self.neighbors)


class NeighborhoodCalls(Endpoint):
    """Calls on a communicator with a distributed graph, as in `mpi4py.MPI.Distgraphcomm`."""

    __slots__ = ()

    @property
    def _neighborhood(self) -> OwnEdges:
        """The caller's edges in the distributed graph."""
        place: OwnEdges = self._state.topology
        return place

    def Get_dist_neighbors_count(self) -> tuple[int, int, bool]:
        """Return the caller's in-degree and out-degree, and whether edges have weights."""
        sources, targets, weights = self.Get_dist_neighbors()
        return len(sources), len(targets), weights is not None

    def Get_dist_neighbors(
        self,
    ) -> tuple[list[int], list[int], tuple[list[int], list[int]] | None]:
        """Return the caller's sources and destinations, and the weights of both."""
        place = self._neighborhood
        weights = place.weights and (list(place.weights[0]), list(place.weights[1]))
        return place.sources(self.rank), place.targets(self.rank), weights
