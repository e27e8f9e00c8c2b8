"""Creation of communicator objects, after the members have agreed on the context id.

A communicator has one shared state per rank (`contexts`). Each of its processors may have any
number of objects for it, as in mpi4py.
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
"""Returns a communicator's group, or both groups of an intercommunicator."""


def null_comm(cls: type[Any]) -> Any:
    """Return an object that is COMM_NULL until it is bound to a communicator."""
    comm = REAL.Comm.__new__(cls, REAL.COMM_SELF)
    comm._scope = NOWHERE
    comm._constant = False
    # Python's garbage collector may free the object during any processor's turn. The holder
    # identifies its processor.
    comm._holder = running.turns.current
    return comm


def comm_object(cls: type[Any], context: int) -> Any:
    """Return an object for a communicator of the running processor.

    Raises
    ------
    Exception
        ``ERR_COMM``: the processor has freed the communicator.
    """
    comm = null_comm(cls)
    contexts, here = running.world.contexts, running.turns.current.id
    if not contexts.held(context, here):
        raise REAL.Exception(REAL.ERR_COMM)
    comm._scope = contexts.scope(context, here)
    return comm


def new_comm(cls: type[Any], name: Hashable, groups: Groups) -> Any:
    """Create a new communicator; return an object for the running processor.

    Parameters
    ----------
    cls : type
        Class of the object.
    name : hashable
        Name of the context.
    groups : callable
        Returns the group, or both groups of an intercommunicator.
    """
    comm = null_comm(cls)
    bind(comm, name, groups)
    return comm


def bind(comm: Any, name: Any, groups: Groups) -> None:
    """Bind an object to a new communicator."""
    contexts, here = running.world.contexts, running.turns.current.id
    context = contexts.open(name, groups, here)
    scope = contexts.scope(context, here)
    # Collectives of an intercommunicator need a communicator of the local group. This communicator
    # is opened now, because a later agreement would need both sides.
    if scope.group is not scope.others:
        local = local_context_name(name, contexts.shared(context).groups[0] is scope.group)
        contexts.open(local, lambda: (scope.group,), here)
    comm._scope = scope


def new_comm_for_member(cls: type[Any], name: Hashable, members: RankTable) -> Any:
    """Create a new communicator for its members; return COMM_NULL for all others."""
    if members.rank_of(running.turns.current.id) == UNDEFINED:
        return cls()
    return new_comm(cls, name, lambda: (members,))


def new_topology_comm(
    cls: type[Any], name: Hashable, members: RankTable, topology: RankGrid | SharedGraph
) -> Any:
    """Create a communicator with a virtual topology, stored once on this rank."""
    made = new_comm(cls, name, lambda: (members,))
    place = running.world.contexts.shared(made._context)
    # The first member on the rank stores the topology for all. A graph of a million ranks would not
    # fit once per member.
    place.topology = place.topology or topology
    made._state.topology = place.topology
    return made


def with_hints(comm: Any, info: Any, errhandler: Errhandler | None) -> Any:
    """Set a communicator's hints and error handler, and return it."""
    comm.Set_info(info)
    if errhandler:
        comm.Set_errhandler(errhandler)
    return comm


def constant(cls: type[Any], name: str, groups: Groups) -> Any:
    """Return the object of a predefined communicator."""
    comm = null_comm(cls)
    contexts = running.world.contexts
    context = contexts.open(name, groups, ALL)
    (group,) = contexts.shared(context).groups
    comm._scope = Scope(context, group, group, TAG_LIMIT)
    comm._constant = True
    return comm
