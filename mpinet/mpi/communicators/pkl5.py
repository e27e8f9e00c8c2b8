"""The parts of a communicator that mpi4py's own collectives of large objects (pkl5) ask for.

They send messages between two processors, in a communicator beside the one that they are called
on. Its name follows from the other one's: nobody has to agree on it.
"""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Any

from mpinet.mpi.communicators.communicator import PKL5, Comm, Intercomm, Intracomm
from mpinet.mpi.communicators.creation import new_comm
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import TAG_LIMIT


def _comm_lock(comm: Comm, key: Hashable = None) -> Lock:
    """Return the lock that keeps calls on a communicator apart; a processor has one thread."""
    return _comm_lock_table(comm).setdefault(key, Lock())


def _comm_lock_table(comm: Comm) -> dict[Hashable, Lock]:
    """A communicator's locks."""
    kept = running.turns.current.storage()
    table: dict[Hashable, Lock] = kept.setdefault((Lock, comm._context), {})
    return table


def _commctx_intra(comm: Intracomm) -> tuple[Any, int]:
    """The communicator beside one within a group, and the next tag in it."""
    return _beside(Intracomm, comm)


def _commctx_inter(comm: Intercomm) -> tuple[Any, int, Any, bool]:
    """The communicator beside one between groups, as mpi4py's collectives ask for it.

    Returns
    -------
    comm : Intercomm
        The communicator.
    tag : int
        The next tag in it.
    local : Intracomm
        That within the caller's group.
    first : bool
        Whether that group is the first of both.
    """
    other, tag = _beside(Intercomm, comm)
    return other, tag, other._local, comm._first


def _beside(cls: type[Any], comm: Comm) -> tuple[Any, int]:
    """The communicator beside another one, and the next tag in it."""
    kept = running.turns.current.storage()
    key = PKL5, comm._context
    if key not in kept:
        kept[key] = [new_comm(cls, (*_name(comm), PKL5), comm._groups), 0]
    kept[key][1] = (kept[key][1] + 1) % TAG_LIMIT
    other, tag = kept[key]
    return other, tag


def _name(comm: Comm) -> tuple[Hashable, ...]:
    """The name of a communicator's context, as a tuple."""
    name = comm._name_of_context
    return name if isinstance(name, tuple) else (name,)
