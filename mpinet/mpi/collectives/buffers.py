"""Collectives of buffers: a communicator's upper-case calls, made from their plans.

Each method here plans one collective, and `Planned` makes three calls of it: `Bcast` does the plan
at once, `Ibcast` beside the script, `Bcast_init` whenever it is started.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpinet.mpi.collectives import plans
from mpinet.mpi.collectives.collective import Plan
from mpinet.mpi.collectives.operators import SUM, Op
from mpinet.mpi.collectives.planned import Planned
from mpinet.mpi.messages.buffers import Blocks, TypedBlocks, VectorBlocks
from mpinet.mpi.world.endpoint import Endpoint


class BufferCollectives(Endpoint):
    """Collectives of buffers, as `mpi4py.MPI.Intracomm` has them."""

    __slots__ = ()

    _plans = plans
    """Module with the plans: `plans` within a group, `intercomm_plans` between two groups."""

    @Planned
    def Barrier(self) -> Plan:
        """Wait until all members have called."""
        return self._plans.barrier()

    @Planned
    def Bcast(self, buf: Any, root: int = 0) -> Plan:
        """Bring the root's buffer to all members."""
        return self._plans.bcast(self, buf, root)

    @Planned
    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Plan:
        """Bring a buffer of every member to the root, by rank."""
        return self._plans.gather(self, sendbuf, recvbuf, root, Blocks)

    @Planned
    def Gatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Plan:
        """Bring buffers of various lengths to the root."""
        return self._plans.gather(self, sendbuf, recvbuf, root, VectorBlocks)

    @Planned
    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Plan:
        """Bring a block of the root's to every member."""
        return self._plans.scatter(self, sendbuf, recvbuf, root, Blocks)

    @Planned
    def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Plan:
        """Bring a block of the root's, of any length, to every member."""
        return self._plans.scatter(self, sendbuf, recvbuf, root, VectorBlocks)

    @Planned
    def Allgather(self, sendbuf: Any, recvbuf: Any) -> Plan:
        """Bring a buffer of every member to all, by rank."""
        return self._plans.allgather(self, sendbuf, recvbuf, Blocks)

    @Planned
    def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> Plan:
        """Bring buffers of various lengths to all members."""
        return self._plans.allgather(self, sendbuf, recvbuf, VectorBlocks)

    @Planned
    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> Plan:
        """Bring a block of every member to every other."""
        return self._plans.alltoall(self, sendbuf, recvbuf, Blocks)

    @Planned
    def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> Plan:
        """Bring a block of every member, of any length, to every other."""
        return self._plans.alltoall(self, sendbuf, recvbuf, VectorBlocks)

    @Planned
    def Alltoallw(self, sendbuf: Any, recvbuf: Any) -> Plan:
        """Bring a block of every member, of any length and datatype, to every other."""
        return self._plans.alltoall(self, sendbuf, recvbuf, TypedBlocks)

    @Planned
    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0) -> Plan:
        """Combine all members' buffers at the root."""
        return self._plans.reduce(self, sendbuf, recvbuf, op, root)

    @Planned
    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Plan:
        """Combine all members' buffers for all of them."""
        return self._plans.allreduce(self, sendbuf, recvbuf, op)

    @Planned
    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Plan:
        """Combine all members' buffers; each gets an equal block of the result."""
        return self._plans.reduce_scatter_block(self, sendbuf, recvbuf, op)

    @Planned
    def Reduce_scatter(
        self, sendbuf: Any, recvbuf: Any, recvcounts: Sequence[int] | None = None, op: Op = SUM
    ) -> Plan:
        """Combine all members' buffers; each gets as much as it has room for."""
        return self._plans.reduce_scatter(self, sendbuf, recvbuf, recvcounts, op)

    @Planned
    def Scan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Plan:
        """Combine the buffers of all members up to the caller."""
        return self._plans.scan(self, sendbuf, recvbuf, op, True)

    @Planned
    def Exscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Plan:
        """Combine the buffers of all members before the caller."""
        return self._plans.scan(self, sendbuf, recvbuf, op, False)
