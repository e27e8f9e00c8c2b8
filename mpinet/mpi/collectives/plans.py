"""The plans of collectives of buffers: a plan is made from what the call gets, and then done.

A plan can be done at once, beside the script, or again and again. It reads the memory that it
sends when it is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from mpinet.mpi.collectives import algorithms
from mpinet.mpi.collectives.collective import Collective, Plan, Terms, known_root
from mpinet.mpi.collectives.operators import Op, known_op, require_alike
from mpinet.mpi.collectives.payloads import Fold, Part
from mpinet.mpi.messages.buffers import Blocks, Buffer
from mpinet.mpi.real import REAL
from mpinet.mpi.world.endpoint import Endpoint


def in_place(spec: Any) -> bool:
    """Tell if a specification says that there is no buffer but the other one."""
    return spec is None or spec is REAL.IN_PLACE


def barrier() -> Plan:
    """Wait until all members have called."""
    return Plan(algorithms.barrier)


def bcast(comm: Endpoint, buf: Any, root: int) -> Plan:
    """Bring the root's buffer to all members."""
    root = known_root(comm, root)
    sends = comm.rank == root
    buffer = Buffer(buf, writable=not sends)

    def plan(collective: Collective) -> None:
        body = algorithms.broadcast(collective, root, buffer.read() if sends else None)
        if not sends:
            buffer.write(body)
            if len(body) < buffer.nbytes:
                collective.differs(f"with {buffer.nbytes} bytes of room, {len(body)} of them used")

    return Plan(plan, Terms(root))


def gather(comm: Endpoint, sendbuf: Any, recvbuf: Any, root: int, kind: type[Blocks]) -> Plan:
    """Bring a buffer of every member to the root's blocks."""
    root = known_root(comm, root)
    blocks = kind(recvbuf, comm.size, True) if comm.rank == root else None
    own = blocks.block(root) if blocks and in_place(sendbuf) else Buffer(sendbuf)

    def plan(collective: Collective) -> None:
        items = algorithms.gather(collective, root, own.read())
        if items is not None and blocks is not None:
            write(blocks, items)

    return Plan(plan, Terms(root))


def scatter(comm: Endpoint, sendbuf: Any, recvbuf: Any, root: int, kind: type[Blocks]) -> Plan:
    """Bring a block of the root's to every member's buffer."""
    root = known_root(comm, root)
    size = comm.size
    blocks = kind(sendbuf, size) if comm.rank == root else None
    own = None if blocks and in_place(recvbuf) else Buffer(recvbuf, writable=True)

    def plan(collective: Collective) -> None:
        items = None if blocks is None else read(blocks, size)
        item = algorithms.scatter(collective, root, items)
        if own is not None:
            own.write(item)

    return Plan(plan, Terms(root))


def allgather(comm: Endpoint, sendbuf: Any, recvbuf: Any, kind: type[Blocks]) -> Plan:
    """Bring a buffer of every member to the blocks of all."""
    blocks = kind(recvbuf, comm.size, True)
    own = blocks.block(comm.rank) if in_place(sendbuf) else Buffer(sendbuf)

    def plan(collective: Collective) -> None:
        write(blocks, algorithms.allgather(collective, own.read()))

    return Plan(plan)


def alltoall(comm: Endpoint, sendbuf: Any, recvbuf: Any, kind: type[Blocks]) -> Plan:
    """Bring a block of every member to a block of every other."""
    size = comm.size
    into = kind(recvbuf, size, True)
    out_of = into if in_place(sendbuf) else kind(sendbuf, size)

    def plan(collective: Collective) -> None:
        write(into, algorithms.alltoall(collective, read(out_of, size)))

    return Plan(plan)


def reduce(comm: Endpoint, sendbuf: Any, recvbuf: Any, op: Op, root: int) -> Plan:
    """Combine all members' buffers at the root."""
    root = known_root(comm, root)
    result = Buffer(recvbuf, writable=True) if comm.rank == root else None
    own = _operand(sendbuf, result)
    _require_apart(own, result)
    reduction = Reduction(op, own.datatype)

    def plan(collective: Collective) -> None:
        part = reduction.part(collective, own.read())
        body = algorithms.reduce(collective, root, part, reduction.fold)
        if body is not None and result is not None:
            result.write(body)

    return Plan(plan, Terms(root, op, own.nbytes))


def allreduce(comm: Endpoint, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
    """Combine all members' buffers for all of them."""
    result = Buffer(recvbuf, writable=True)
    own = _operand(sendbuf, result)
    _require_apart(own, result)
    reduction = Reduction(op, own.datatype)

    def plan(collective: Collective) -> None:
        part = reduction.part(collective, own.read())
        result.write(algorithms.allreduce(collective, part, reduction.fold))

    return Plan(plan, Terms(op=op, nbytes=own.nbytes))


def reduce_scatter_block(comm: Endpoint, sendbuf: Any, recvbuf: Any, op: Op) -> Plan:
    """Combine all members' blocks; every member gets its own of the result."""
    size = comm.size
    alone = in_place(sendbuf)
    blocks = Blocks(recvbuf if alone else sendbuf, size, alone)
    own = blocks.block(0)
    result = own if alone else Buffer(recvbuf, writable=True)
    require_alike(own, result)
    reduction = Reduction(op, own.datatype)

    def plan(collective: Collective) -> None:
        part = reduction.part(collective, b"".join(read(blocks, size)))
        sizes = [own.nbytes] * size
        result.write(algorithms.reduce_scatter(collective, part, reduction.fold, sizes))

    return Plan(plan, Terms(op=op, nbytes=own.nbytes))


def reduce_scatter(
    comm: Endpoint, sendbuf: Any, recvbuf: Any, counts: Sequence[int] | None, op: Op
) -> Plan:
    """Combine all members' buffers; every member gets as many elements as its count says."""
    size, rank = comm.size, comm.rank
    alone = in_place(sendbuf)
    result = Buffer(recvbuf, writable=True)
    own = result if alone else Buffer(sendbuf)
    if own.datatype != result.datatype:
        raise ValueError("mismatch in send and receive MPI datatypes")
    given = None if counts is None and not alone else integers(counts, size)
    if given is not None:
        require_counts(own, None if alone else result, given, rank)
    reduction = Reduction(op, own.datatype)

    def plan(collective: Collective) -> None:
        numbers = given
        if numbers is None:
            numbers = gathered_counts(collective, result.count)
            require_counts(own, result, numbers, rank)
        part = reduction.part(collective, own.read())
        sizes = [number * own.datatype.size for number in numbers]
        result.write(algorithms.reduce_scatter(collective, part, reduction.fold, sizes))

    return Plan(plan, Terms(op=op))


def scan(comm: Endpoint, sendbuf: Any, recvbuf: Any, op: Op, inclusive: bool) -> Plan:
    """Combine the buffers of all members up to each one, with its own if that counts."""
    result = Buffer(recvbuf, writable=True)
    own = _operand(sendbuf, result)
    reduction = Reduction(op, own.datatype)

    def plan(collective: Collective) -> None:
        body = algorithms.scan(collective, own.read(), reduction.fold.combine, inclusive)
        if body is not None:
            result.write(body)

    return Plan(plan, Terms(op=op, nbytes=own.nbytes))


class Reduction:
    """A reduction of buffers.

    Parameters
    ----------
    op : Op
        The operator.
    datatype : Datatype
        The elements' type.
    """

    def __init__(self, op: Op, datatype: Any):
        self._op: Op = known_op(op)
        if not op:
            raise REAL.Exception(REAL.ERR_OP)
        if datatype is not None:
            self._op._require_fit(datatype)
        self._datatype = datatype
        self.fold: Fold = Fold(self._combine)
        """Fold that combines bodies into one."""

    def part(self, collective: Collective, body: bytes) -> Part:
        """A member's part."""
        return self.fold.part(collective.rank, body, self._op.in_any_order)

    def _combine(self, low: bytes, high: bytes) -> bytes:
        return self._op._combined(low, high, self._datatype)


def read(blocks: Blocks, size: int) -> list[bytes]:
    """The bodies of all ranks' blocks."""
    return [blocks.read(rank) for rank in range(size)]


def write(blocks: Blocks, items: Sequence[bytes]) -> None:
    """Put a body into the block of every rank."""
    for rank, item in enumerate(items):
        blocks.write(rank, item)


def _operand(sendbuf: Any, result: Buffer | None) -> Buffer:
    """Return a member's operand: its send buffer, or the place of its result."""
    if result is None:
        return Buffer(sendbuf)
    if in_place(sendbuf):
        return result
    own = Buffer(sendbuf)
    require_alike(own, result)
    return own


def _require_apart(own: Buffer, result: Buffer | None) -> None:
    """Raise an error if an operand is where its result will be, which is not said by `IN_PLACE`.

    Raises
    ------
    Exception
        ``ERR_BUFFER``.
    """
    if result is not None and own is not result and own.count and own.address == result.address:
        raise REAL.Exception(REAL.ERR_BUFFER)


def integers(counts: Any, size: int) -> list[int]:
    """One count for every member.

    Raises
    ------
    ValueError
        There are more or fewer.
    """
    numbers = [index(count) for count in counts]
    if len(numbers) != size:
        raise ValueError(f"expecting {size} items, got {len(numbers)}")
    return numbers


def gathered_counts(collective: Collective, count: int) -> list[int]:
    """All members' counts, which they tell one another."""
    items = algorithms.allgather(collective, np.int64(count).tobytes())
    return [int(np.frombuffer(item, np.int64)[0]) for item in items]


def require_counts(own: Buffer, result: Buffer | None, counts: Sequence[int], rank: int) -> None:
    """Raise an error unless counts agree with a member's buffers.

    Raises
    ------
    ValueError
        They do not.
    """
    total = sum(counts)
    if own.count != total:
        raise ValueError(f"mismatch in send count {own.count} and sum(counts) {total}")
    if result is not None and result.count != counts[rank]:
        raise ValueError(
            f"mismatch in receive count {result.count} and counts[{rank}] {counts[rank]}"
        )
