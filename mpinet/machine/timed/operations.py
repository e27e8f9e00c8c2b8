"""Operations of a program as the records that kernels read, with those that wait for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Bytes, Counts, Ints, Shorts
from mpinet.compiled import kernel
from mpinet.machine.timed.layout import CPU_SHIFT, HAS_STARTERS, Operation, Operations
from mpinet.machine.timed.program import Program


class Connected(NamedTuple):
    """Operations of a rank's part of a program.

    Attributes
    ----------
    operations : ndarray of Operation
        A row for each, one behind the last, and `spare` ones.
    needs : ndarray of int32
        The requirements, as in `Program.needs`.
    followers : ndarray of int32
        What waits for each operation, twice its number at the processor, and 1 more where it waits
        for the begin.
    spare : int
        As many as may be released twice, or more.
    """

    operations: Array
    needs: Shorts
    followers: Shorts
    spare: int


def connected(part: Program) -> Connected:
    """Make the records of a rank's part of a program."""
    needs = part.needs.astype(np.int32)
    spare, followers = int(np.count_nonzero(needs & 1)), np.empty_like(needs)
    operations = Operation.array(part.operations + 1 + spare)
    connect(
        part.first, part.kind.view(np.uint8), part.amount, part.peer, part.cpu, part.tag,
        part.needs_first, needs, operations, followers,
    )  # fmt: skip
    return Connected(operations, needs, followers, spare)


@kernel
def connect(
    first: Ints,
    kind: Bytes,
    amount: Ints,
    peer: Shorts,
    cpu: Shorts,
    tag: Counts,
    needs_first: Ints,
    needs: Shorts,
    operations: Operations,
    followers: Shorts,
) -> None:
    """Write the operations, and list for each those that wait for it.

    Parameters are this rank's part of a program (see `Program`), `needs` in 32 bits.
    """
    rows = needs_first.size - 1
    for slot in range(first.size - 1):
        for row in range(first[slot], first[slot + 1]):
            operation = operations[row]
            operation.amount, operation.peer, operation.tag = amount[row], peer[row], tag[row]
            operation.what |= np.int32(kind[row]) | cpu[row] << CPU_SHIFT
            operation.number = row - first[slot]
            operation.needs = needs_first[row]
            operation.missing = needs_first[row + 1] - needs_first[row]
            for at in range(needs_first[row], needs_first[row + 1]):
                needed = operations[first[slot] + (needs[at] >> 1)]
                needed.followers += 1
                if needs[at] & 1:
                    needed.what |= HAS_STARTERS
    operations[rows].needs = needs_first[rows]
    total = 0
    for row in range(rows + 1):
        count = operations[row].followers
        operations[row].followers = operations[row].left = total
        total += count
    for slot in range(first.size - 1):
        for row in range(first[slot], first[slot + 1]):
            for at in range(needs_first[row], needs_first[row + 1]):
                needed = operations[first[slot] + (needs[at] >> 1)]
                followers[needed.left] = (row - first[slot]) << 1 | needs[at] & 1
                needed.left += 1
