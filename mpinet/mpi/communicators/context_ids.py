"""Allocation of context ids: members of a communicator agree on the name of a new one.

A context id must be equal for all members and unique. The lowest rank allocates the id: its
processor number, and the number of ids it has allocated. A broadcast in a separate part of the old
context distributes the id. If the new group depends on arguments of all members (`Split`), a gather
comes first. These are messages of the machine, which count like any message.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.mpi.collectives.algorithms import Collective
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import AGREEMENTS, Scope
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.ranks import RankTable

ContextId = tuple[int, int]
"""The allocating processor, and its number of allocated ids, including this one."""

MADE = "communicators"
"""Storage key for a processor's number of allocated ids."""


def new_context_id() -> ContextId:
    """Allocate a context id on the running processor."""
    here = running.turns.current
    kept = here.storage()
    # The pair of processor and count is unique without any agreement. Only its distribution to the
    # members costs messages.
    kept[MADE] = kept.get(MADE, 0) + 1
    return here.id, kept[MADE]


def next_agreement(comm: Endpoint) -> Collective:
    """Begin the next agreement of a communicator's members."""
    holding = comm._state
    holding.agreed += 1
    return agreement(comm._group, comm._context + AGREEMENTS, holding.agreed)


def agreement(members: RankTable, context: int, tag: int) -> Collective:
    """Begin an agreement of some processors, including the running one."""
    scope = Scope(context, members, members)
    return Collective(scope, members.rank_of(running.turns.current.id), tag)


def agreed_id(part: Collective) -> ContextId:
    """Agree on a context id allocated by rank 0."""
    own = packed(new_context_id()) if part.rank == 0 else None
    giver, count = unpacked(part.broadcast(0, own)).tolist()
    return giver, count


def agreed_and_gathered(part: Collective, wish: Sequence[int]) -> tuple[ContextId, Ints]:
    """Agree on a context id allocated by rank 0, and gather numbers of all members.

    Returns
    -------
    context_id : tuple of (int, int)
        The id.
    rows : ndarray of int64, shape (members, numbers)
        The numbers of each member, by rank.
    """
    # Gather and broadcast instead of an allgather: the id comes from a single member, and uses the
    # same broadcast.
    rows = part.gather(0, packed(wish))
    own = packed(new_context_id()) + b"".join(rows) if rows is not None else None
    numbers = unpacked(part.broadcast(0, own))
    return (int(numbers[0]), int(numbers[1])), numbers[2:].reshape(part.size, -1)


def packed(numbers: Sequence[int]) -> bytes:
    """Pack numbers into a message body."""
    return np.array(numbers, np.int64).tobytes()


def unpacked(body: bytes) -> Ints:
    """Return the numbers in a message body."""
    return np.frombuffer(body, np.int64)
