"""Persistent collectives of buffers: planned once, started again and again."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from mpinet.mpi.collectives.collective import Plan
from mpinet.mpi.collectives.nonblocking import BegunCollectives
from mpinet.mpi.collectives.operators import SUM, Op
from mpinet.mpi.collectives.plans import EQUAL, TYPED, VECTOR
from mpinet.mpi.messages.requests import Prequest, Request
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call

INFO_NULL = REAL.INFO_NULL


class PreparedCollectives(BegunCollectives):
    """Collectives of buffers that are begun again and again."""

    __slots__ = ()

    @call
    def Barrier_init(self, info: Any = INFO_NULL) -> Prequest:
        """Prepare to wait until all members have started."""
        return self._prepared("Barrier_init", self._plans.barrier())

    @call
    def Bcast_init(self, buf: Any, root: int = 0, info: Any = INFO_NULL) -> Prequest:
        """Prepare to bring the root's buffer to all members."""
        return self._prepared("Bcast_init", self._plans.bcast(self, buf, root))

    @call
    def Gather_init(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to bring a buffer of every member to the root, by rank."""
        return self._prepared(
            "Gather_init", self._plans.gather(self, sendbuf, recvbuf, root, EQUAL)
        )

    @call
    def Gatherv_init(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to bring buffers of various lengths to the root."""
        return self._prepared(
            "Gatherv_init", self._plans.gather(self, sendbuf, recvbuf, root, VECTOR)
        )

    @call
    def Scatter_init(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to bring a block of the root's to every member."""
        return self._prepared(
            "Scatter_init", self._plans.scatter(self, sendbuf, recvbuf, root, EQUAL)
        )

    @call
    def Scatterv_init(
        self, sendbuf: Any, recvbuf: Any, root: int = 0, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to bring a block of the root's, of any length, to every member."""
        return self._prepared(
            "Scatterv_init", self._plans.scatter(self, sendbuf, recvbuf, root, VECTOR)
        )

    @call
    def Allgather_init(self, sendbuf: Any, recvbuf: Any, info: Any = INFO_NULL) -> Prequest:
        """Prepare to bring a buffer of every member to all, by rank."""
        return self._prepared(
            "Allgather_init", self._plans.allgather(self, sendbuf, recvbuf, EQUAL)
        )

    @call
    def Allgatherv_init(self, sendbuf: Any, recvbuf: Any, info: Any = INFO_NULL) -> Prequest:
        """Prepare to bring buffers of various lengths to all members."""
        return self._prepared(
            "Allgatherv_init", self._plans.allgather(self, sendbuf, recvbuf, VECTOR)
        )

    @call
    def Alltoall_init(self, sendbuf: Any, recvbuf: Any, info: Any = INFO_NULL) -> Prequest:
        """Prepare to bring a block of every member to every other."""
        return self._prepared("Alltoall_init", self._plans.alltoall(self, sendbuf, recvbuf, EQUAL))

    @call
    def Alltoallv_init(self, sendbuf: Any, recvbuf: Any, info: Any = INFO_NULL) -> Prequest:
        """Prepare to bring a block of every member, of any length, to every other."""
        return self._prepared(
            "Alltoallv_init", self._plans.alltoall(self, sendbuf, recvbuf, VECTOR)
        )

    @call
    def Alltoallw_init(self, sendbuf: Any, recvbuf: Any, info: Any = INFO_NULL) -> Prequest:
        """Prepare to bring a block of every member, of any length and datatype, to every other."""
        return self._prepared("Alltoallw_init", self._plans.alltoall(self, sendbuf, recvbuf, TYPED))

    @call
    def Reduce_init(
        self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to combine all members' buffers at the root."""
        return self._prepared("Reduce_init", self._plans.reduce(self, sendbuf, recvbuf, op, root))

    @call
    def Allreduce_init(
        self, sendbuf: Any, recvbuf: Any, op: Op = SUM, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to combine all members' buffers for all of them."""
        return self._prepared("Allreduce_init", self._plans.allreduce(self, sendbuf, recvbuf, op))

    @call
    def Reduce_scatter_block_init(
        self, sendbuf: Any, recvbuf: Any, op: Op = SUM, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to combine all members' buffers; each gets an equal block of the result."""
        plan = self._plans.reduce_scatter_block(self, sendbuf, recvbuf, op)
        return self._prepared("Reduce_scatter_block_init", plan)

    @call
    def Reduce_scatter_init(
        self,
        sendbuf: Any,
        recvbuf: Any,
        recvcounts: Sequence[int] | None = None,
        op: Op = SUM,
        info: Any = INFO_NULL,
    ) -> Prequest:
        """Prepare to combine all members' buffers; each gets as much as it has room for."""
        plan = self._plans.reduce_scatter(self, sendbuf, recvbuf, recvcounts, op)
        return self._prepared("Reduce_scatter_init", plan)

    @call
    def Scan_init(
        self, sendbuf: Any, recvbuf: Any, op: Op = SUM, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to combine the buffers of all members up to the caller."""
        return self._prepared("Scan_init", self._plans.scan(self, sendbuf, recvbuf, op, True))

    @call
    def Exscan_init(
        self, sendbuf: Any, recvbuf: Any, op: Op = SUM, info: Any = INFO_NULL
    ) -> Prequest:
        """Prepare to combine the buffers of all members before the caller."""
        return self._prepared("Exscan_init", self._plans.scan(self, sendbuf, recvbuf, op, False))

    def _prepared(self, kind: str, plan: Plan) -> Prequest:
        """A collective that the running processor takes part in whenever it is started."""
        collective, starts = self._collective(kind, plan.terms), count()

        def begin() -> Request:
            started = collective.again(next(starts))
            return Request.of_fiber(lambda: plan.do(started))

        return Prequest.repeating(begin)
