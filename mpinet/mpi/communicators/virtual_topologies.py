"""Virtual topologies: communicators whose members have neighbors in a grid or graph."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

from mpinet.mpi.communicators.cartesian import Periods, RankGrid
from mpinet.mpi.communicators.context_ids import agreed_id, next_agreement, packed, unpacked
from mpinet.mpi.communicators.creation import Groups, new_comm, new_topology_comm
from mpinet.mpi.communicators.graphs import (
    OwnEdges,
    SharedGraph,
    Weights,
    edges_of,
    neighborhoods,
)
from mpinet.mpi.real import REAL, UNDEFINED
from mpinet.mpi.world.calls import call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.ranks import RankTable, rank_table
from mpinet.networks.topology import Topology
from mpinet.programs.messages.placing import along_grid

KINDS: dict[int, type[Any]] = {}
"""Classes of communicators with a topology, by kind of topology."""


@lru_cache(8)
def _along(network: Topology, sides: tuple[int, ...]) -> RankTable | None:
    """Return all processors in an order that embeds a grid in the network; None if unknown."""
    order = along_grid(network, sides)
    return None if order is None else rank_table(order.tolist())


class TopologyCreation(Endpoint):
    """Calls of an intracommunicator that create communicators with a topology."""

    __slots__ = ()

    _groups: Groups

    @call
    def Create_cart(
        self, dims: Sequence[int], periods: Periods = None, reorder: bool = False
    ) -> Any:
        """Return a communicator of the first members, with a Cartesian grid.

        Parameters
        ----------
        dims : sequence of int
            Number of ranks in each dimension.
        periods : sequence of bool or bool, optional
            Whether each dimension is periodic (default: none).
        reorder : bool
            Whether ranks may be reordered. Ranks are reordered if all processors are members and
            the grid fits into the network's own grid, hypercube or cycle. Then grid neighbors are
            network neighbors.
        """
        return self._arranged(RankGrid(dims, periods), reorder)

    @call
    def Create_graph(
        self, index: Sequence[int], edges: Sequence[int], reorder: bool = False
    ) -> Any:
        """Return a communicator of the first members, with a graph known to all.

        Parameters
        ----------
        index : sequence of int
            End of each rank's neighbors in `edges`.
        edges : sequence of int
            The neighbors of all ranks.
        reorder : bool
            Whether ranks may be reordered; has no effect.
        """
        return self._arranged(SharedGraph(index, edges))

    def _arranged(self, topology: RankGrid | SharedGraph, reorder: bool = False) -> Any:
        """Return a communicator of the first members, with a topology known to all."""
        cls = KINDS[topology.kind]
        if topology.size > self.size:
            raise REAL.Exception(REAL.ERR_ARG)
        name = (*agreed_id(next_agreement(self)), 0)
        if self.rank >= topology.size:
            return cls()
        group, size = self._group, topology.size
        first = group if size == self.size else rank_table(group.members[:size])
        if reorder and isinstance(topology, RankGrid) and size == running.world.size:
            first = _along(running.world.machine.topology, topology.dims) or first
        return new_topology_comm(cls, name, first, topology)

    @call
    def Create_dist_graph_adjacent(
        self,
        sources: Sequence[int] | None,
        destinations: Sequence[int] | None,
        sourceweights: Weights = None,
        destweights: Weights = None,
        info: Any = REAL.INFO_NULL,
        reorder: bool = False,
    ) -> Any:
        """Return a communicator with a distributed graph; each member gives its own edges.

        Parameters
        ----------
        sources, destinations : sequence of int
            The caller's sources and destinations.
        sourceweights, destweights : sequence of int, optional
            Weights of these edges.
        info : Info
            Hints.
        reorder : bool
            Whether ranks may be reordered; has no effect.
        """
        place = OwnEdges.of(sources, destinations, sourceweights, destweights)
        return self._in_neighborhoods((*agreed_id(next_agreement(self)), 0), place)

    @call
    def Create_dist_graph(
        self,
        sources: Sequence[int],
        degrees: Sequence[int],
        destinations: Sequence[int],
        weights: Weights = None,
        info: Any = REAL.INFO_NULL,
        reorder: bool = False,
    ) -> Any:
        """Return a communicator with a distributed graph; each member gives any edges.

        The first member gathers all edges and scatters each member's edges.

        Parameters
        ----------
        sources : sequence of int
            Source ranks of the given edges.
        degrees : sequence of int
            Number of edges for each source.
        destinations : sequence of int
            Destination ranks of the edges.
        weights : sequence of int, optional
            Weights of the edges.
        info : Info
            Hints.
        reorder : bool
            Whether ranks may be reordered; has no effect.
        """
        edges, weighted = edges_of(sources, degrees, destinations, weights)
        part = next_agreement(self)
        parts = part.gather(0, packed(edges))
        items = None if parts is None else neighborhoods(unpacked(b"".join(parts)), self.size)
        place = OwnEdges.unpacked(unpacked(part.scatter(0, items)), weighted)
        return self._in_neighborhoods((*agreed_id(next_agreement(self)), 0), place)

    def _in_neighborhoods(self, name: Hashable, place: OwnEdges) -> Any:
        """Return a communicator with a distributed graph, given the caller's edges."""
        made = new_comm(KINDS[place.kind], name, self._groups)
        made._state.topology = place
        return made

    def Cart_map(self, dims: Sequence[int], periods: Periods = None) -> int:
        """Return the caller's rank in a grid; `UNDEFINED` outside of the grid."""
        return self._mapped(RankGrid(dims, periods))

    def Graph_map(self, index: Sequence[int], edges: Sequence[int]) -> int:
        """Return the caller's rank in a graph; `UNDEFINED` outside of the graph."""
        return self._mapped(SharedGraph(index, edges))

    def _mapped(self, topology: RankGrid | SharedGraph) -> int:
        if topology.size > self.size:
            raise REAL.Exception(REAL.ERR_ARG)
        return self.rank if self.rank < topology.size else UNDEFINED
