"""The dependency graph of a program as records for kernels: each operation's successors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Array, Bytes, Counts, Ints, Shorts
from mpinet.compiled import kernel
from mpinet.machine.timed.layout import CPU_SHIFT, HAS_STARTERS, Statement, Statements
from mpinet.machine.timed.scripted import Scripted


class Connected(NamedTuple):
    """Scripts of a rank's processors."""

    statements: Array
    """A row for each operation, and one more at the end. Type: ndarray of Statement."""
    followers: Shorts
    """Operations that wait for each operation: twice the index at the processor, plus 1 for waiting
    for the begin.
    """


def connected(part: Scripted) -> Connected:
    """Return the statements and followers for a rank's part of a program."""
    scripts = part.scripts
    needs = scripts.needs.astype(np.int32)
    followers, statements = np.empty_like(needs), Statement.array(scripts.operations + 1)
    connect(
        scripts.first, scripts.kind.view(np.uint8), scripts.amount, scripts.peer, part.way,
        scripts.cpu, scripts.tag, scripts.needs_first, needs, statements, followers,
    )  # fmt: skip
    if scripts.turns is not None:
        owners = np.repeat(np.arange(scripts.operations), np.diff(scripts.needs_first))
        begins = scripts.first[scripts.owners_of(owners)]
        order = np.lexsort((scripts.turns, begins + (needs >> 1)))
        followers = ((owners - begins) << 1 | needs & 1)[order].astype(np.int32)
    return Connected(statements, followers)


@kernel
def connect(
    first: Ints,
    kind: Bytes,
    amount: Ints,
    peer: Shorts,
    way: Shorts,
    cpu: Shorts,
    tag: Counts,
    needs_first: Ints,
    needs: Shorts,
    statements: Statements,
    followers: Shorts,
) -> None:
    """Write operations as statements, and list the operations that wait for each.

    Parameters are scripts (see `Program`), `needs` in 32 bits.
    """
    rows = needs_first.size - 1
    for slot in range(first.size - 1):
        for row in range(first[slot], first[slot + 1]):
            statement = statements[row]
            statement.amount, statement.peer, statement.way = amount[row], peer[row], way[row]
            statement.tag = tag[row]
            # An or, not an assignment: an earlier row may already have set this row's flag.
            statement.what |= np.int32(kind[row]) | cpu[row] << CPU_SHIFT
            statement.needs = needs_first[row]
            for at in range(needs_first[row], needs_first[row + 1]):
                needed = statements[first[slot] + (needs[at] >> 1)]
                needed.followers += 1
                if needs[at] & 1:
                    needed.what |= HAS_STARTERS
    statements[rows].needs = needs_first[rows]
    # Counting sort in three passes, as for compressed sparse rows: counts, prefix sums, then each
    # follower to its place.
    total = np.int32(0)
    for row in range(rows + 1):
        total, statements[row].followers = total + statements[row].followers, total
    for slot in range(first.size - 1):
        for row in range(first[slot], first[slot + 1]):
            for at in range(needs_first[row], needs_first[row + 1]):
                needed = statements[first[slot] + (needs[at] >> 1)]
                followers[needed.followers] = (row - first[slot]) << 1 | needs[at] & 1
                needed.followers += 1
    for row in range(rows, 0, -1):  # each index has advanced to the begin of the next row
        statements[row].followers = statements[row - 1].followers
    statements[0].followers = 0
