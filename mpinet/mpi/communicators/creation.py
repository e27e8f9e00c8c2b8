"""Making communicator objects, once the members have agreed on the context id.

On every rank a communicator has one shared state (`contexts`); each of its processors has objects
of its own that lead there, any number of them, as mpi4py has.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from mpinet.mpi.communicators.cartesian import RankGrid
from mpinet.mpi.communicators.errhandlers import Errhandler
from mpinet.mpi.communicators.graphs import SharedGraph
from mpinet.mpi.communicators.intercommunicator import local_context_name
from mpinet.mpi.real import REAL, UNDEFINED
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import ALL, NOWHERE, TAG_LIMIT, Scope
from mpinet.mpi.world.ranks import RankTable

Groups = Callable[[], tuple[RankTable, ...]]
"""Gives a communicator's group, of an intercommunicator both."""


def null_comm(cls: type[Any]) -> Any:
    """Make an object that is COMM_NULL until it is bound to a communicator."""
    comm = REAL.Comm.__new__(cls, REAL.COMM_SELF)
    comm._scope = NOWHERE
    comm._constant = False
    # Python's collector may free the object in any processor's turn. The holder says on whose
    # behalf.
    comm._holder = running.turns.current
    return comm


def comm_object(cls: type[Any], context: int) -> Any:
    """Make an object for a communicator that the running processor has.

    Raises
    ------
    Exception
        ``ERR_COMM``: it has the communicator no longer.
    """
    comm = null_comm(cls)
    contexts, here = running.world.contexts, running.turns.current.id
    if not contexts.held(context, here):
        raise REAL.Exception(REAL.ERR_COMM)
    comm._scope = contexts.scope(context, here)
    return comm


def new_comm(cls: type[Any], name: Hashable, groups: Groups) -> Any:
    """Make a new communicator, with an object for the running processor.

    Parameters
    ----------
    cls : type
        Its class.
    name : hashable
        The name of its context.
    groups : callable
        Gives its group, of an intercommunicator both.
    """
    comm = null_comm(cls)
    bind(comm, name, groups)
    return comm


def bind(comm: Any, name: Any, groups: Groups) -> None:
    """Bind an object to a new communicator."""
    contexts, here = running.world.contexts, running.turns.current.id
    context = contexts.open(name, groups, here)
    scope = contexts.scope(context, here)
    # Collectives of an intercommunicator need one within the own group. It is opened along, because
    # it could not be agreed on later by one side alone.
    if scope.group is not scope.others:
        local = local_context_name(name, contexts.shared(context).groups[0] is scope.group)
        contexts.open(local, lambda: (scope.group,), here)
    comm._scope = scope


def new_comm_for_member(cls: type[Any], name: Hashable, members: RankTable) -> Any:
    """Make a new communicator for a member; COMM_NULL for others."""
    if members.rank_of(running.turns.current.id) == UNDEFINED:
        return cls()
    return new_comm(cls, name, lambda: (members,))


def new_topology_comm(
    cls: type[Any], name: Hashable, members: RankTable, topology: RankGrid | SharedGraph
) -> Any:
    """Make a communicator with a virtual topology, which is kept once on this rank."""
    made = new_comm(cls, name, lambda: (members,))
    place = running.world.contexts.shared(made._context)
    # The first of the rank's members keeps its arrangement for all. A graph of a million ranks
    # would not fit once per member.
    place.topology = place.topology or topology
    made._state.topology = place.topology
    return made


def with_hints(comm: Any, info: Any, errhandler: Errhandler | None) -> Any:
    """Give a communicator hints and an error handler."""
    comm.Set_info(info)
    if errhandler:
        comm.Set_errhandler(errhandler)
    return comm


def constant(cls: type[Any], name: str, groups: Groups) -> Any:
    """One of MPI's own communicators."""
    comm = null_comm(cls)
    contexts = running.world.contexts
    context = contexts.open(name, groups, ALL)
    (group,) = contexts.shared(context).groups
    comm._scope = Scope(context, group, group, TAG_LIMIT)
    comm._constant = True
    return comm
