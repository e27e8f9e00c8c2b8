"""Collectives of buffers: a communicator's upper-case calls."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpinet.mpi.collectives.collective import Plan
from mpinet.mpi.collectives.operators import SUM, Op
from mpinet.mpi.collectives.planned import PlannedCollectives
from mpinet.mpi.collectives.plans import EQUAL, TYPED, VECTOR
from mpinet.mpi.world.calls import call


class BufferCollectives(PlannedCollectives):
    """Collectives of buffers, as `mpi4py.MPI.Intracomm` has them."""

    __slots__ = ()

    @call
    def Barrier(self) -> None:
        """Wait until all members have called."""
        self._do("Barrier", self._plans.barrier())

    @call
    def Bcast(self, buf: Any, root: int = 0) -> None:
        """Bring the root's buffer to all members."""
        self._do("Bcast", self._plans.bcast(self, buf, root))

    @call
    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Bring a buffer of every member to the root, by rank."""
        self._do("Gather", self._plans.gather(self, sendbuf, recvbuf, root, EQUAL))

    @call
    def Gatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Bring buffers of various lengths to the root."""
        self._do("Gatherv", self._plans.gather(self, sendbuf, recvbuf, root, VECTOR))

    @call
    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Bring a block of the root's to every member."""
        self._do("Scatter", self._plans.scatter(self, sendbuf, recvbuf, root, EQUAL))

    @call
    def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        """Bring a block of the root's, of any length, to every member."""
        self._do("Scatterv", self._plans.scatter(self, sendbuf, recvbuf, root, VECTOR))

    @call
    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a buffer of every member to all, by rank."""
        self._do("Allgather", self._plans.allgather(self, sendbuf, recvbuf, EQUAL))

    @call
    def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring buffers of various lengths to all members."""
        self._do("Allgatherv", self._plans.allgather(self, sendbuf, recvbuf, VECTOR))

    @call
    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a block of every member to every other."""
        self._do("Alltoall", self._plans.alltoall(self, sendbuf, recvbuf, EQUAL))

    @call
    def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a block of every member, of any length, to every other."""
        self._do("Alltoallv", self._plans.alltoall(self, sendbuf, recvbuf, VECTOR))

    @call
    def Alltoallw(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bring a block of every member, of any length and datatype, to every other."""
        self._do("Alltoallw", self._plans.alltoall(self, sendbuf, recvbuf, TYPED))

    @call
    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0) -> None:
        """Combine all members' buffers at the root."""
        self._do("Reduce", self._plans.reduce(self, sendbuf, recvbuf, op, root))

    @call
    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        """Combine all members' buffers for all of them."""
        self._do("Allreduce", self._plans.allreduce(self, sendbuf, recvbuf, op))

    @call
    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        """Combine all members' buffers; each gets an equal block of the result."""
        plan = self._plans.reduce_scatter_block(self, sendbuf, recvbuf, op)
        self._do("Reduce_scatter_block", plan)

    @call
    def Reduce_scatter(
        self, sendbuf: Any, recvbuf: Any, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> None:
        """Combine all members' buffers; each gets as much as it has room for."""
        plan = self._plans.reduce_scatter(self, sendbuf, recvbuf, recvcounts, op)
        self._do("Reduce_scatter", plan)

    @call
    def Scan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        """Combine the buffers of all members up to the caller."""
        self._do("Scan", self._plans.scan(self, sendbuf, recvbuf, op, True))

    @call
    def Exscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        """Combine the buffers of all members before the caller."""
        self._do("Exscan", self._plans.scan(self, sendbuf, recvbuf, op, False))

    def _do(self, kind: str, plan: Plan) -> None:
        """Let the running processor take part in a collective."""
        plan.do(self._collective(kind, plan.terms))
