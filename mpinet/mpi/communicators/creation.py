"""How the running processor gets a face of a communicator that has been agreed on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from mpinet.mpi.communicators.cartesian import Grid
from mpinet.mpi.communicators.errhandlers import Errhandler
from mpinet.mpi.communicators.graphs import Graph
from mpinet.mpi.communicators.intercommunicator import side_name
from mpinet.mpi.real import REAL, UNDEFINED
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import ALL, NOWHERE, TAG_LIMIT, Scope
from mpinet.mpi.world.ranks import Members

Groups = Callable[[], tuple[Members, ...]]
"""Gives a communicator's group, of an intercommunicator both."""


def unopened(cls: type[Any]) -> Any:
    """A face that is to be a communicator's, and is the null one's until then."""
    comm = REAL.Comm.__new__(cls, REAL.COMM_SELF)
    comm._scope = NOWHERE
    comm._constant = False
    comm._holder = running.turns.current
    return comm


def face(cls: type[Any], context: int) -> Any:
    """A face of a communicator that the running processor has.

    Raises
    ------
    Exception
        ``ERR_COMM``: it has the communicator no longer.
    """
    comm = unopened(cls)
    contexts, here = running.world.contexts, running.turns.current.id
    if not contexts.held(context, here):
        raise REAL.Exception(REAL.ERR_COMM)
    comm._scope = contexts.scope(context, here)
    return comm


def opened(cls: type[Any], name: Hashable, groups: Groups) -> Any:
    """A new communicator for the running processor.

    Parameters
    ----------
    cls : type
        Its class.
    name : hashable
        The name of its context.
    groups : callable
        Gives its group, of an intercommunicator both.
    """
    comm = unopened(cls)
    enter(comm, name, groups)
    return comm


def enter(comm: Any, name: Any, groups: Groups) -> None:
    """Let a face be that of a new communicator."""
    contexts, here = running.world.contexts, running.turns.current.id
    context = contexts.open(name, groups, here)
    scope = contexts.scope(context, here)
    if scope.group is not scope.others:
        local = side_name(name, contexts.place(context).groups[0] is scope.group)
        contexts.open(local, lambda: (scope.group,), here)
    comm._scope = scope


def opened_for_member(cls: type[Any], name: Hashable, members: Members) -> Any:
    """A new communicator for a member; the null one for others."""
    if members.rank_of(running.turns.current.id) == UNDEFINED:
        return cls()
    return opened(cls, name, lambda: (members,))


def placed(cls: type[Any], name: Hashable, members: Members, topology: Grid | Graph) -> Any:
    """A new communicator in an arrangement that all members know, kept once on this rank."""
    made = opened(cls, name, lambda: (members,))
    place = running.world.contexts.place(made._context)
    place.topology = place.topology or topology
    made._holding.topology = place.topology
    return made


def equipped(comm: Any, info: Any, errhandler: Errhandler | None) -> Any:
    """A communicator with hints and an error handler."""
    comm.Set_info(info)
    if errhandler:
        comm.Set_errhandler(errhandler)
    return comm


def constant(cls: type[Any], name: str, groups: Groups) -> Any:
    """One of MPI's own communicators."""
    comm = unopened(cls)
    contexts = running.world.contexts
    context = contexts.open(name, groups, ALL)
    (group,) = contexts.place(context).groups
    comm._scope = Scope(context, group, group, TAG_LIMIT)
    comm._constant = True
    return comm
