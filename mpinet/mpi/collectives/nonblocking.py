"""Nonblocking collectives of buffers: each runs in a helper fiber beside the script."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpinet.mpi.collectives.collective import Plan
from mpinet.mpi.collectives.operators import SUM, Op
from mpinet.mpi.collectives.planned import PlannedCollectives
from mpinet.mpi.collectives.plans import EQUAL, TYPED, VECTOR
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.world.calls import call


class BegunCollectives(PlannedCollectives):
    """Collectives of buffers that go on beside the script."""

    __slots__ = ()

    @call
    def Ibarrier(self) -> Request:
        """Begin to wait until all members have called."""
        return self._begin("Ibarrier", self._plans.barrier())

    @call
    def Ibcast(self, buf: Any, root: int = 0) -> Request:
        """Begin to bring the root's buffer to all members."""
        return self._begin("Ibcast", self._plans.bcast(self, buf, root))

    @call
    def Igather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Begin to bring a buffer of every member to the root, by rank."""
        return self._begin("Igather", self._plans.gather(self, sendbuf, recvbuf, root, EQUAL))

    @call
    def Igatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Begin to bring buffers of various lengths to the root."""
        return self._begin("Igatherv", self._plans.gather(self, sendbuf, recvbuf, root, VECTOR))

    @call
    def Iscatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Begin to bring a block of the root's to every member."""
        return self._begin("Iscatter", self._plans.scatter(self, sendbuf, recvbuf, root, EQUAL))

    @call
    def Iscatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        """Begin to bring a block of the root's, of any length, to every member."""
        return self._begin("Iscatterv", self._plans.scatter(self, sendbuf, recvbuf, root, VECTOR))

    @call
    def Iallgather(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a buffer of every member to all, by rank."""
        return self._begin("Iallgather", self._plans.allgather(self, sendbuf, recvbuf, EQUAL))

    @call
    def Iallgatherv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring buffers of various lengths to all members."""
        return self._begin("Iallgatherv", self._plans.allgather(self, sendbuf, recvbuf, VECTOR))

    @call
    def Ialltoall(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a block of every member to every other."""
        return self._begin("Ialltoall", self._plans.alltoall(self, sendbuf, recvbuf, EQUAL))

    @call
    def Ialltoallv(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a block of every member, of any length, to every other."""
        return self._begin("Ialltoallv", self._plans.alltoall(self, sendbuf, recvbuf, VECTOR))

    @call
    def Ialltoallw(self, sendbuf: Any, recvbuf: Any) -> Request:
        """Begin to bring a block of every member, of any length and datatype, to every other."""
        return self._begin("Ialltoallw", self._plans.alltoall(self, sendbuf, recvbuf, TYPED))

    @call
    def Ireduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0) -> Request:
        """Begin to combine all members' buffers at the root."""
        return self._begin("Ireduce", self._plans.reduce(self, sendbuf, recvbuf, op, root))

    @call
    def Iallreduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        """Begin to combine all members' buffers for all of them."""
        return self._begin("Iallreduce", self._plans.allreduce(self, sendbuf, recvbuf, op))

    @call
    def Ireduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        """Begin to combine all members' buffers; each gets an equal block of the result."""
        plan = self._plans.reduce_scatter_block(self, sendbuf, recvbuf, op)
        return self._begin("Ireduce_scatter_block", plan)

    @call
    def Ireduce_scatter(
        self, sendbuf: Any, recvbuf: Any, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> Request:
        """Begin to combine all members' buffers; each gets as much as it has room for."""
        plan = self._plans.reduce_scatter(self, sendbuf, recvbuf, recvcounts, op)
        return self._begin("Ireduce_scatter", plan)

    @call
    def Iscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        """Begin to combine the buffers of all members up to the caller."""
        return self._begin("Iscan", self._plans.scan(self, sendbuf, recvbuf, op, True))

    @call
    def Iexscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        """Begin to combine the buffers of all members before the caller."""
        return self._begin("Iexscan", self._plans.scan(self, sendbuf, recvbuf, op, False))

    def _begin(self, kind: str, plan: Plan) -> Request:
        """Let the running processor take part in a collective beside its script."""
        collective = self._collective(kind, plan.terms)
        return Request.of_fiber(lambda: plan.do(collective))
