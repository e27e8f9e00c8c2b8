"""Communicators with a virtual topology: `Cartcomm`, `Graphcomm`, `Distgraphcomm`."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpinet.mpi.communicators.cartesian import CartesianCalls
from mpinet.mpi.communicators.communicator import Comm, Intracomm
from mpinet.mpi.communicators.context_ids import agreed_id, next_agreement
from mpinet.mpi.communicators.creation import new_topology_comm
from mpinet.mpi.communicators.graphs import GraphCalls, NeighborhoodCalls
from mpinet.mpi.communicators.neighbors import NeighborCollectives
from mpinet.mpi.communicators.virtual_topologies import KINDS
from mpinet.mpi.real import REAL, UNDEFINED
from mpinet.mpi.world.calls import call
from mpinet.mpi.world.ranks import rank_table


class Topocomm(NeighborCollectives, Intracomm):
    """A communicator with a virtual topology, as `mpi4py.MPI.Topocomm`."""

    __slots__ = ()

    _kind: int = UNDEFINED
    _said = "topology"

    @classmethod
    def _require(cls, comm: Comm) -> None:
        super()._require(comm)
        if not comm.is_topo:
            raise TypeError("expecting a topology communicator")
        if cls._kind not in (UNDEFINED, comm.topology):
            raise TypeError(f"expecting a {cls._said} communicator")


class Cartcomm(CartesianCalls, Topocomm):
    """A communicator with a Cartesian grid, as `mpi4py.MPI.Cartcomm`."""

    __slots__ = ()

    _kind = REAL.CART
    _said = "Cartesian"

    @call
    def Sub(self, remain_dims: Sequence[bool]) -> Any:
        """Return a communicator of the caller's subgrid.

        Parameters
        ----------
        remain_dims : sequence of bool
            For each dimension, whether the subgrid keeps it. In all other dimensions the members
            have the caller's coordinates.
        """
        grid, rank = self._grid, self.rank
        remains = [bool(remain) for remain in remain_dims]
        if len(remains) != len(grid.dims):
            raise ValueError(f"expecting {len(grid.dims)} items, got {len(remains)}")
        agreed = agreed_id(next_agreement(self))
        ranks = grid.line(rank, remains)
        members = rank_table([self._group.members[rank] for rank in ranks])
        return new_topology_comm(Cartcomm, (*agreed, ranks[0]), members, grid.without(remains))


class Graphcomm(GraphCalls, Topocomm):
    """A communicator with a graph, as `mpi4py.MPI.Graphcomm`."""

    __slots__ = ()

    _kind = REAL.GRAPH
    _said = "general graph"


class Distgraphcomm(NeighborhoodCalls, Topocomm):
    """A communicator with a distributed graph, as `mpi4py.MPI.Distgraphcomm`."""

    __slots__ = ()

    _kind = REAL.DIST_GRAPH
    _said = "distributed graph"


KINDS.update({cls._kind: cls for cls in (Cartcomm, Graphcomm, Distgraphcomm)})
