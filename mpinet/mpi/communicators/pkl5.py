"""Parts of a communicator needed by mpi4py's own collectives of large objects (pkl5).

These collectives send point-to-point messages in a hidden communicator. The name derives from the
name of the calling communicator, and needs no agreement.
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
    """Return the lock that separates calls on a communicator; a processor has one thread."""
    return _comm_lock_table(comm).setdefault(key, Lock())


def _comm_lock_table(comm: Comm) -> dict[Hashable, Lock]:
    """Return the locks of a communicator by key."""
    kept = running.turns.current.storage()
    table: dict[Hashable, Lock] = kept.setdefault((Lock, comm._context), {})
    return table


def _commctx_intra(comm: Intracomm) -> tuple[Any, int]:
    """Return the hidden communicator of an intracommunicator, and its next tag."""
    return _beside(Intracomm, comm)


def _commctx_inter(comm: Intercomm) -> tuple[Any, int, Any, bool]:
    """Return the hidden communicator of an intercommunicator, in the form used by mpi4py.

    Returns
    -------
    comm : Intercomm
        The hidden communicator.
    tag : int
        Its next tag.
    local : Intracomm
        The communicator of the caller's group.
    first : bool
        Whether the caller's group is the first.
    """
    other, tag = _beside(Intercomm, comm)
    return other, tag, other._local, comm._first


def _beside(cls: type[Any], comm: Comm) -> tuple[Any, int]:
    """Return a communicator's hidden communicator, and its next tag."""
    kept = running.turns.current.storage()
    key = PKL5, comm._context
    if key not in kept:
        kept[key] = [new_comm(cls, (*_name(comm), PKL5), comm._groups), 0]
    kept[key][1] = (kept[key][1] + 1) % TAG_LIMIT
    other, tag = kept[key]
    return other, tag


def _name(comm: Comm) -> tuple[Hashable, ...]:
    """Return the name of a communicator's context, as a tuple."""
    name = comm._name_of_context
    return name if isinstance(name, tuple) else (name,)
