"""The plans of buffer collectives: a plan is created from a call's arguments and carried out later.

A plan can be carried out at once, in a helper fiber, or repeatedly. The plan reads the send buffer
at that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypeAlias

import numpy as np

from mpinet.mpi.collectives.algorithms import Collective, CollectiveCalls
from mpinet.mpi.collectives.collective import CallPlan, Terms
from mpinet.mpi.collectives.intercomm_algorithms import Between
from mpinet.mpi.collectives.operators import SUM, Op, known_op, require_alike
from mpinet.mpi.collectives.payloads import Fold, Part
from mpinet.mpi.messages.buffers import Blocks, Buffer
from mpinet.mpi.real import REAL

Call: TypeAlias = Collective | Between


def in_place(comm: CollectiveCalls, spec: Any) -> bool:
    """Return whether a specification requests an in-place operation.

    Calls between two groups have no in-place operations.
    """
    return comm._group is comm._others and (spec is None or spec is REAL.IN_PLACE)


def barrier(comm: CollectiveCalls) -> CallPlan:
    """Plan a barrier."""
    return CallPlan(lambda call: call.barrier())


def bcast(comm: CollectiveCalls, buf: Any, root: int = 0) -> CallPlan:
    """Plan the broadcast of the root's buffer to all members."""
    role = comm._role(root)
    out_of = Buffer(buf) if role.is_root else None
    into = Buffer(buf, writable=True) if role.serves and not role.is_root else None

    def plan(call: Call) -> None:
        body = call.broadcast(role.root, out_of and out_of.read())
        if into is not None:
            into.write(body)
            # MPI calls different lengths an error. The write refuses a longer body, but a shorter
            # body would pass unnoticed.
            if len(body) < into.nbytes:
                call.differs(f"with room for {into.nbytes} bytes, but {len(body)} bytes received")

    return CallPlan(plan, Terms(role.root))


def gather(
    kind: type[Blocks], comm: CollectiveCalls, sendbuf: Any, recvbuf: Any, root: int = 0
) -> CallPlan:
    """Plan to gather a buffer of every member in the root's blocks."""
    role = comm._role(root)
    blocks = kind(recvbuf, len(comm._others.members), True) if role.is_root else None
    own = None
    if role.serves:
        own = blocks.block(role.root) if blocks and in_place(comm, sendbuf) else Buffer(sendbuf)

    def plan(call: Call) -> None:
        items = call.gather(role.root, b"" if own is None else own.read())
        if items is not None and blocks is not None:
            blocks.fill(items)

    return CallPlan(plan, Terms(role.root))


def scatter(
    kind: type[Blocks], comm: CollectiveCalls, sendbuf: Any, recvbuf: Any, root: int = 0
) -> CallPlan:
    """Plan to scatter the root's blocks to the members' buffers."""
    role, size = comm._role(root), len(comm._others.members)
    blocks = kind(sendbuf, size) if role.is_root else None
    has_own = role.serves and not (blocks and in_place(comm, recvbuf))
    own = Buffer(recvbuf, writable=True) if has_own else None

    def plan(call: Call) -> None:
        item = call.scatter(role.root, None if blocks is None else blocks.read(size))
        if item is not None and own is not None:
            own.write(item)

    return CallPlan(plan, Terms(role.root))


def allgather(kind: type[Blocks], comm: CollectiveCalls, sendbuf: Any, recvbuf: Any) -> CallPlan:
    """Plan to gather a buffer of every member in the blocks of all members."""
    blocks = kind(recvbuf, len(comm._others.members), True)
    own = blocks.block(comm.rank) if in_place(comm, sendbuf) else Buffer(sendbuf)
    return CallPlan(lambda call: blocks.fill(call.allgather(own.read())))


def alltoall(kind: type[Blocks], comm: CollectiveCalls, sendbuf: Any, recvbuf: Any) -> CallPlan:
    """Plan to send a block of every member to a block of every member."""
    size = len(comm._others.members)
    into = kind(recvbuf, size, True)
    out_of = into if in_place(comm, sendbuf) else kind(sendbuf, size)
    return CallPlan(lambda call: into.fill(call.alltoall(out_of.read(size))))


def reduce(
    comm: CollectiveCalls, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0
) -> CallPlan:
    """Plan to combine the buffers of all members at the root."""
    role = comm._role(root)
    result = Buffer(recvbuf, writable=True) if role.is_root else None
    own = _operand(comm, sendbuf, result) if role.serves else None
    reduction = BufferReduction(op, own and own.datatype)

    def plan(call: Call) -> None:
        part: Any = None if own is None else reduction.part(call, own.read())
        body = call.reduce(role.root, part, reduction.fold)
        if body is not None and result is not None:
            result.write(body)

    return CallPlan(plan, Terms(role.root, op, -1 if own is None else own.nbytes))


def allreduce(comm: CollectiveCalls, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> CallPlan:
    """Plan to combine the buffers of all members; all members get the result."""
    result = Buffer(recvbuf, writable=True)
    own = _operand(comm, sendbuf, result)
    reduction = BufferReduction(op, own.datatype)

    def plan(call: Call) -> None:
        result.write(call.allreduce(reduction.part(call, own.read()), reduction.fold))

    return CallPlan(plan, Terms(op=op, nbytes=own.nbytes))


def reduce_scatter_block(
    comm: CollectiveCalls, sendbuf: Any, recvbuf: Any, op: Op = SUM
) -> CallPlan:
    """Plan to combine the blocks of all members; every member gets its own block of the result."""
    size = comm.size
    alone = in_place(comm, sendbuf)
    blocks = Blocks(recvbuf if alone else sendbuf, size, alone)
    own = blocks.block(0)
    result = own if alone else Buffer(recvbuf, writable=True)
    require_alike(own, result)
    reduction = BufferReduction(op, own.datatype)

    def plan(call: Call) -> None:
        part = reduction.part(call, b"".join(blocks.read(size)))
        result.write(call.reduce_scatter(part, reduction.fold, [own.nbytes] * size))

    return CallPlan(plan, Terms(op=op, nbytes=own.nbytes))


def reduce_scatter(
    comm: CollectiveCalls,
    sendbuf: Any,
    recvbuf: Any,
    recvcounts: Sequence[int] | None = None,
    op: Op = SUM,
) -> CallPlan:
    """Plan to combine the buffers of all members; every member gets `recvcounts` elements."""
    size, rank = comm.size, comm.rank
    alone = in_place(comm, sendbuf)
    result = Buffer(recvbuf, writable=True)
    own = result if alone else Buffer(sendbuf)
    if own.datatype != result.datatype:
        raise ValueError("mismatch in send and receive MPI datatypes")
    given = None if recvcounts is None and not alone else integers(recvcounts, size)
    if given is not None:
        require_counts(own, None if alone else result, given, rank)
    reduction = BufferReduction(op, own.datatype)

    def plan(call: Call) -> None:
        numbers = given
        if numbers is None:
            numbers = gathered_counts(call.within, result.count)
            if call.within is call:
                # Checked against the counts of all members, which are known only now.
                require_counts(own, result, numbers, rank)
        sizes = [number * own.datatype.size for number in numbers]
        part = reduction.part(call, own.read())
        result.write(call.reduce_scatter(part, reduction.fold, sizes))

    return CallPlan(plan, Terms(op=op))


def scan(
    inclusive: bool, comm: CollectiveCalls, sendbuf: Any, recvbuf: Any, op: Op = SUM
) -> CallPlan:
    """Plan to combine the buffers of all members up to each member."""
    comm._require_one_group()
    result = Buffer(recvbuf, writable=True)
    own = _operand(comm, sendbuf, result, apart=False)
    reduction = BufferReduction(op, own.datatype)

    def plan(call: Collective) -> None:
        body = call.scan(own.read(), reduction.fold.combine, inclusive)
        if body is not None:
            result.write(body)

    return CallPlan(plan, Terms(op=op, nbytes=own.nbytes))


class BufferReduction:
    """A reduction operator applied to packed elements of a datatype.

    Parameters
    ----------
    op : Op
        The operator.
    datatype : Datatype
        Datatype of the elements.
    """

    def __init__(self, op: Op, datatype: Any):
        self._op: Op = known_op(op)
        if not op:
            raise REAL.Exception(REAL.ERR_OP)
        if datatype is not None:
            self._op._require_fit(datatype)
        self._datatype = datatype
        self.fold: Fold = Fold(self._combine)
        """The reduction, applied to packed bodies."""

    def part(self, call: Call, body: bytes) -> Part:
        """Return a member's packed operand as a partial result of the reduction."""
        return self.fold.part(call.rank, body, self._op.in_any_order)

    def _combine(self, low: bytes, high: bytes) -> bytes:
        return self._op._combined(low, high, self._datatype)


def _operand(
    comm: CollectiveCalls, sendbuf: Any, result: Buffer | None, apart: bool = True
) -> Buffer:
    """Return a member's operand: its send buffer, or its result buffer if in place.

    Raises
    ------
    Exception
        ``ERR_BUFFER``: send and receive buffers are the same without `IN_PLACE`.
    """
    if result is None:
        return Buffer(sendbuf)
    if in_place(comm, sendbuf):
        return result
    own = Buffer(sendbuf)
    require_alike(own, result)
    apart = apart and comm._group is comm._others
    # Aliased buffers work here, because bodies are copies. On a real machine they give wrong
    # results.
    if apart and own.count and own.address == result.address:
        raise REAL.Exception(REAL.ERR_BUFFER)
    return own


def integers(counts: Any, size: int) -> list[int]:
    """Return a list of counts after checking its length against the number of members.

    Raises
    ------
    ValueError
        The number of counts differs from the number of members.
    """
    numbers = [index(count) for count in counts]
    if len(numbers) != size:
        raise ValueError(f"expecting {size} items, got {len(numbers)}")
    return numbers


def gathered_counts(collective: Collective, count: int) -> list[int]:
    """Return the counts of all members (collective)."""
    items = collective.allgather(np.int64(count).tobytes())
    return [int(np.frombuffer(item, np.int64)[0]) for item in items]


def require_counts(own: Buffer, result: Buffer | None, counts: Sequence[int], rank: int) -> None:
    """Raise an error unless counts agree with a member's buffers.

    Raises
    ------
    ValueError
        The counts differ.
    """
    total = sum(counts)
    if own.count != total:
        raise ValueError(f"mismatch in send count {own.count} and sum(counts) {total}")
    if result is not None and result.count != counts[rank]:
        raise ValueError(
            f"mismatch in receive count {result.count} and counts[{rank}] {counts[rank]}"
        )
