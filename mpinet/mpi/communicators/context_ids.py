"""Allocating context ids: how members of a communicator agree on the name of a new one.

A context id has to be the same for all members, and nobody else's. The lowest rank gives it: its
processor's number, and how many it has given before. It reaches the others by a broadcast in a part
of the old context of its own; where the new group depends on what members want (`Split`), a gather
goes before. These are messages of the machine, which count its steps like all others.
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
"""The processor that has given it, and how many it had given by then."""

MADE = "communicators"
"""Under this a processor keeps how many communicators it has named."""


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
    """Begin an agreement of some processors, the running one with them."""
    scope = Scope(context, members, members)
    return Collective(scope, members.rank_of(running.turns.current.id), tag)


def agreed_id(part: Collective) -> ContextId:
    """Agree on the context id that rank 0 gives."""
    own = packed(new_context_id()) if part.rank == 0 else None
    giver, count = unpacked(part.broadcast(0, own)).tolist()
    return giver, count


def agreed_and_gathered(part: Collective, wish: Sequence[int]) -> tuple[ContextId, Ints]:
    """Agree on the context id that rank 0 gives, and gather what all members want.

    Returns
    -------
    context_id : tuple of (int, int)
        The name.
    rows : ndarray of int64, shape (members, wishes)
        What each member wishes, by rank.
    """
    # Gather and broadcast, not an allgather: the id has to come from one member anyway, and it
    # rides on the same broadcast.
    rows = part.gather(0, packed(wish))
    own = packed(new_context_id()) + b"".join(rows) if rows is not None else None
    numbers = unpacked(part.broadcast(0, own))
    return (int(numbers[0]), int(numbers[1])), numbers[2:].reshape(part.size, -1)


def packed(numbers: Sequence[int]) -> bytes:
    """Numbers as the body of a message."""
    return np.array(numbers, np.int64).tobytes()


def unpacked(body: bytes) -> Ints:
    """The numbers of a body."""
    return np.frombuffer(body, np.int64)
