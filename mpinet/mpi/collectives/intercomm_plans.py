"""The plans of collectives of buffers between two groups, made as within a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mpinet.mpi.collectives import intercomm_algorithms as algorithms
from mpinet.mpi.collectives.collective import Plan
from mpinet.mpi.collectives.intercomm_algorithms import Between, known_remote_root
from mpinet.mpi.collectives.operators import Op, require_alike
from mpinet.mpi.collectives.plans import (
    Reduction,
    gathered_counts,
    integers,
    read,
    require_counts,
    write,
)
from mpinet.mpi.messages.buffers import Blocks, Buffer
from mpinet.mpi.real import REAL
from mpinet.mpi.world.endpoint import IntercommEndpoint


class BetweenPlan(Plan):
    """Plan of a collective call between two groups."""

    __slots__ = ()

    def part(self, comm: IntercommEndpoint, kind: str) -> Between:
        """The running processor's part in its next call of a kind on a communicator."""
        return Between(comm, kind)


def barrier() -> Plan:
    """Wait until all members of the other group have called."""
    return BetweenPlan(algorithms.barrier)


def bcast(comm: IntercommEndpoint, buf: Any, root: int) -> Plan:
    """Bring the root's buffer to all members of the other group."""
    root = known_remote_root(comm, root)
    out_of = Buffer(buf) if root == REAL.ROOT else None
    into = Buffer(buf, writable=True) if root >= 0 else None

    def plan(collective: Between) -> None:
        body = algorithms.broadcast(collective, root, out_of and out_of.read())
        if into is not None:
            into.write(body)

    return BetweenPlan(plan)


def gather(
    comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, root: int, kind: type[Blocks]
) -> Plan:
    """Bring a buffer of every member of the other group to the root's blocks."""
    root = known_remote_root(comm, root)
    blocks = kind(recvbuf, comm.remote_size, True) if root == REAL.ROOT else None
    own = Buffer(sendbuf) if root >= 0 else None

    def plan(collective: Between) -> None:
        items = algorithms.gather(collective, root, b"" if own is None else own.read())
        if items is not None and blocks is not None:
            write(blocks, items)

    return BetweenPlan(plan)


def scatter(
    comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, root: int, kind: type[Blocks]
) -> Plan:
    """Bring a block of the root's to the buffer of every member of the other group."""
    root = known_remote_root(comm, root)
    size = comm.remote_size
    blocks = kind(sendbuf, size) if root == REAL.ROOT else None
    own = Buffer(recvbuf, writable=True) if root >= 0 else None

    def plan(collective: Between) -> None:
        item = algorithms.scatter(collective, root, () if blocks is None else read(blocks, size))
        if item is not None and own is not None:
            own.write(item)

    return BetweenPlan(plan)


def allgather(comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, kind: type[Blocks]) -> Plan:
    """Bring a buffer of every member to the blocks of all of the other group."""
    own, blocks = Buffer(sendbuf), kind(recvbuf, comm.remote_size, True)

    def plan(collective: Between) -> None:
        write(blocks, algorithms.allgather(collective, own.read()))

    return BetweenPlan(plan)


def alltoall(comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, kind: type[Blocks]) -> Plan:
    """Bring a block of every member to a block of every one of the other group."""
    size = comm.remote_size
    out_of, into = kind(sendbuf, size), kind(recvbuf, size, True)

    def plan(collective: Between) -> None:
        write(into, algorithms.alltoall(collective, read(out_of, size)))

    return BetweenPlan(plan)


def reduce(comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, op: Op, root: int) -> Plan:
    """Combine the buffers of all members of the other group at the root."""
    root = known_remote_root(comm, root)
    result = Buffer(recvbuf, writable=True) if root == REAL.ROOT else None
    own = Buffer(sendbuf) if root >= 0 else None
    reduction = Reduction(op, None if own is None else own.datatype)

    def plan(collective: Between) -> None:
        part = None if own is None else reduction.part(collective.within, own.read())
        body = algorithms.reduce(collective, root, part, reduction.fold)
        if body is not None and result is not None:
            result.write(body)

    return BetweenPlan(plan)


def allreduce(comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
    """Combine the buffers of each group for all members of the other one."""
    own, result = Buffer(sendbuf), Buffer(recvbuf, writable=True)
    require_alike(own, result)
    reduction = Reduction(op, own.datatype)

    def plan(collective: Between) -> None:
        part = reduction.part(collective.within, own.read())
        result.write(algorithms.allreduce(collective, part, reduction.fold))

    return BetweenPlan(plan)


def reduce_scatter_block(comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
    """Combine the blocks of each group; every member of the other one gets a block."""
    size = comm.size
    blocks, result = Blocks(sendbuf, size), Buffer(recvbuf, writable=True)
    require_alike(blocks.block(0), result)
    reduction = Reduction(op, result.datatype)

    def plan(collective: Between) -> None:
        part = reduction.part(collective.within, b"".join(read(blocks, size)))
        sizes = [result.nbytes] * size
        result.write(algorithms.reduce_scatter(collective, part, reduction.fold, sizes))

    return BetweenPlan(plan)


def reduce_scatter(
    comm: IntercommEndpoint, sendbuf: Any, recvbuf: Any, counts: Sequence[int] | None, op: Op
) -> Plan:
    """Combine the buffers of each group; every member of the other one gets its count of them."""
    size, rank = comm.size, comm.rank
    own, result = Buffer(sendbuf), Buffer(recvbuf, writable=True)
    if own.datatype != result.datatype:
        raise ValueError("mismatch in send and receive MPI datatypes")
    given = None if counts is None else integers(counts, size)
    if given is not None:
        require_counts(own, result, given, rank)
    reduction = Reduction(op, own.datatype)

    def plan(collective: Between) -> None:
        numbers = gathered_counts(collective.within, result.count) if given is None else given
        part = reduction.part(collective.within, own.read())
        sizes = [number * own.datatype.size for number in numbers]
        result.write(algorithms.reduce_scatter(collective, part, reduction.fold, sizes))

    return BetweenPlan(plan)


def scan(*arguments: Any) -> NoReturn:
    """There is none between groups."""
    raise REAL.Exception(REAL.ERR_COMM)
