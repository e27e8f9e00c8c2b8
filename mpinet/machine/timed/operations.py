"""Operations of a program as the records that kernels read, with those that wait for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Shorts
from mpinet.machine.timed import layout
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.windows import connect


class Connected(NamedTuple):
    """Operations of a rank's part of a program.

    Attributes
    ----------
    operations : ndarray of Operation
        A row for each, and one behind the last.
    followers : ndarray of int32
        What waits for each operation, twice its number at the processor, and 1 more where it waits
        for the begin.
    twice : int
        How many may be released twice.
    """

    operations: Array
    followers: Shorts
    twice: int


def connected(part: Program) -> Connected:
    """Make the records of a rank's part of a program."""
    rows = part.operations
    operations, followers = layout.Operation.array(rows + 1), np.empty(len(part.needs), np.int64)
    operations["what"][:rows] = part.kind.astype(np.int32) | part.cpu << layout.CPU_SHIFT
    operations["number"][:rows] = np.arange(rows) - part.first[part.owners]
    twice = connect(part.first, part.needs_first, part.needs, operations, followers)
    operations["amount"][:rows], operations["tag"][:rows] = part.amount, part.tag
    operations["peer"][:rows] = part.peer
    return Connected(operations, followers.astype(np.int32), twice)
