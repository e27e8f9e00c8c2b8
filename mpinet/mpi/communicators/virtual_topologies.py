"""Virtual topologies: communicators whose members have neighbors, in a grid or a graph."""

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
"""The classes of communicators whose members are arranged, by the kind of arrangement."""


@lru_cache(8)
def _along(network: Topology, sides: tuple[int, ...]) -> RankTable | None:
    """All processors of a network as a grid whose neighbors are the network's, if one is known."""
    order = along_grid(network, sides)
    return None if order is None else rank_table(order.tolist())


class TopologyCreation(Endpoint):
    """Calls of a communicator within a group that give an arranged one of its members."""

    __slots__ = ()

    _groups: Groups

    @call
    def Create_cart(
        self, dims: Sequence[int], periods: Periods = None, reorder: bool = False
    ) -> Any:
        """A communicator of the first members, arranged in a grid.

        Parameters
        ----------
        dims : sequence of int
            Ranks in each dimension.
        periods : sequence of bool or bool, optional
            Whether each dimension is a ring (default: none).
        reorder : bool
            Whether members may get other ranks. Where all processors are members, and the grid
            fits into the network's own, its hypercube or cycle, neighbors become neighbors.
        """
        return self._arranged(RankGrid(dims, periods), reorder)

    @call
    def Create_graph(
        self, index: Sequence[int], edges: Sequence[int], reorder: bool = False
    ) -> Any:
        """A communicator of the first members, arranged in a graph that all know.

        Parameters
        ----------
        index : sequence of int
            Where the neighbors of each rank end in `edges`.
        edges : sequence of int
            The neighbors of all ranks.
        reorder : bool
            Whether members may get other ranks; they never do.
        """
        return self._arranged(SharedGraph(index, edges))

    def _arranged(self, topology: RankGrid | SharedGraph, reorder: bool = False) -> Any:
        """A communicator of the first members, in an arrangement that all know."""
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
        """A communicator of the members, arranged in a graph of which each knows its own links.

        Parameters
        ----------
        sources, destinations : sequence of int
            Ranks that the caller receives from, and that receive from it.
        sourceweights, destweights : sequence of int, optional
            The weights of these links.
        info : Info
            Hints.
        reorder : bool
            Whether members may get other ranks; they never do.
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
        """A communicator of the members, arranged in a graph of which each knows some links.

        The first member gathers all links, and scatters each member's.

        Parameters
        ----------
        sources : sequence of int
            Ranks whose links the caller knows.
        degrees : sequence of int
            How many it knows of each.
        destinations : sequence of int
            Ranks that these links lead to.
        weights : sequence of int, optional
            Their weights.
        info : Info
            Hints.
        reorder : bool
            Whether members may get other ranks; they never do.
        """
        edges, weighted = edges_of(sources, degrees, destinations, weights)
        part = next_agreement(self)
        parts = part.gather(0, packed(edges))
        items = None if parts is None else neighborhoods(unpacked(b"".join(parts)), self.size)
        place = OwnEdges.unpacked(unpacked(part.scatter(0, items)), weighted)
        return self._in_neighborhoods((*agreed_id(next_agreement(self)), 0), place)

    def _in_neighborhoods(self, name: Hashable, place: OwnEdges) -> Any:
        """A communicator in which the caller has a place."""
        made = new_comm(KINDS[place.kind], name, self._groups)
        made._state.topology = place
        return made

    def Cart_map(self, dims: Sequence[int], periods: Periods = None) -> int:
        """The rank that the caller would have in a grid; `UNDEFINED` for none."""
        return self._mapped(RankGrid(dims, periods))

    def Graph_map(self, index: Sequence[int], edges: Sequence[int]) -> int:
        """The rank that the caller would have in a graph; `UNDEFINED` for none."""
        return self._mapped(SharedGraph(index, edges))

    def _mapped(self, topology: RankGrid | SharedGraph) -> int:
        if topology.size > self.size:
            raise REAL.Exception(REAL.ERR_ARG)
        return self.rank if self.rank < topology.size else UNDEFINED
