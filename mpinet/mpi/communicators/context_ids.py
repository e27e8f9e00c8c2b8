"""How members of a communicator agree on another one that they make from it.

A new communicator needs a name that all members know and no other has. The first member of the old
one gives it: its own number, and how many it has named. It tells the others by messages of the
machine, in a broadcast; where members must know of one another's wishes, it gathers those first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpinet.arrays import Ints
from mpinet.mpi.collectives import algorithms
from mpinet.mpi.collectives.collective import Collective
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import AGREEMENTS, Scope
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.ranks import Members

Origin = tuple[int, int]
"""Who has named a communicator, and how many it had named by then."""

MADE = "communicators"
"""Under this a processor keeps how many communicators it has named."""


def named() -> Origin:
    """A name for a communicator that the running processor gives."""
    here = running.turns.current
    kept = here.remembered()
    kept[MADE] = kept.get(MADE, 0) + 1
    return here.id, kept[MADE]


def turn(comm: Endpoint) -> Collective:
    """The next agreement of a communicator's members."""
    holding = comm._holding
    holding.agreed += 1
    return among(comm._group, comm._context + AGREEMENTS, holding.agreed)


def among(members: Members, context: int, tag: int) -> Collective:
    """An agreement of some processors, the running one with them."""
    scope = Scope(context, members, members)
    return Collective(scope, members.rank_of(running.turns.current.id), tag)


def origin(part: Collective) -> Origin:
    """A name that the first member gives."""
    own = packed(named()) if part.rank == 0 else None
    giver, count = unpacked(algorithms.broadcast(part, 0, own)).tolist()
    return giver, count


def wishes(part: Collective, wish: Sequence[int]) -> tuple[Origin, Ints]:
    """A name that the first member gives, and what all members wish.

    Returns
    -------
    origin : tuple of (int, int)
        The name.
    rows : ndarray of int64, shape (members, wishes)
        What each member wishes, by rank.
    """
    rows = algorithms.gather(part, 0, packed(wish))
    own = packed(named()) + b"".join(rows) if rows is not None else None
    numbers = unpacked(algorithms.broadcast(part, 0, own))
    return (int(numbers[0]), int(numbers[1])), numbers[2:].reshape(part.size, -1)


def packed(numbers: Sequence[int]) -> bytes:
    """Numbers as the body of a message."""
    return np.array(numbers, np.int64).tobytes()


def unpacked(body: bytes) -> Ints:
    """The numbers of a body."""
    return np.frombuffer(body, np.int64)
