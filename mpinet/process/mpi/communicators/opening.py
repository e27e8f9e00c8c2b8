"""How the running processor gets a face of a communicator that has been agreed on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from mpinet.process.mpi.communicators.cartesian import Grid
from mpinet.process.mpi.communicators.errhandlers import Errhandler
from mpinet.process.mpi.communicators.graphs import Graph
from mpinet.process.mpi.communicators.intercommunicator import side_name
from mpinet.process.mpi.communicators.members import Members
from mpinet.process.mpi.real import REAL, UNDEFINED
from mpinet.process.mpi.world.calls import running
from mpinet.process.mpi.world.contexts import ALL

Groups = Callable[[], tuple[Members, ...]]
"""Gives a communicator's group, of an intercommunicator both."""


def face(cls: type[Any], context: int) -> Any:
    """A face of a communicator that the running processor has.

    Raises
    ------
    Exception
        ``ERR_COMM``: it has the communicator no longer.
    """
    comm = REAL.Comm.__new__(cls, REAL.COMM_SELF)
    contexts, here = running.world.contexts, running.world.current.id
    if not contexts.held(context, here):
        raise REAL.Exception(REAL.ERR_COMM)
    place = contexts.place(context)
    comm._context = context
    comm._group, comm._others = place.group_of(here), place.others_of(here)
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
    comm = REAL.Comm.__new__(cls, REAL.COMM_SELF)
    enter(comm, name, groups)
    return comm


def enter(comm: Any, name: Any, groups: Groups) -> None:
    """Let a face be that of a new communicator."""
    contexts, here = running.world.contexts, running.world.current.id
    context = contexts.open(name, groups, here)
    place = contexts.place(context)
    comm._group, comm._others = place.group_of(here), place.others_of(here)
    comm._context = context
    if comm._group is not comm._others:
        local = side_name(name, place.groups[0] is comm._group)
        contexts.open(local, lambda: (comm._group,), here)


def opened_for_member(cls: type[Any], name: Hashable, members: Members) -> Any:
    """A new communicator for a member; the null one for others."""
    if members.rank_of(running.world.current.id) == UNDEFINED:
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
    comm = REAL.Comm.__new__(cls, REAL.COMM_SELF)
    contexts = running.world.contexts
    comm._context = contexts.open(name, groups, ALL)
    comm._group = comm._others = contexts.place(comm._context).groups[0]
    comm._constant = True
    return comm
