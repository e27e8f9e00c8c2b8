"""A communicator's endpoint: one member's view of ranks and messages in its context.

Every member has its own communicator object, seen by scripts as ``MPI.Comm``. Messages, collectives
and inquiries of communicators are built on the classes here.
"""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpinet.mpi.real import PROC_NULL
from mpinet.mpi.world.calls import asking, running
from mpinet.mpi.world.contexts import Scope
from mpinet.mpi.world.events import PostedReceive
from mpinet.mpi.world.message import Message
from mpinet.mpi.world.ranks import RankTable


@dataclass(slots=True, eq=False)
class CommState:
    """State of a communicator kept by a processor, shared by all objects of the communicator."""

    name: str = ""
    """Name of the communicator."""
    topology: Any = None
    """Topology of the communicator, a grid or graph; None without one."""
    attributes: dict[int, Any] | None = None
    """Attribute values, by key number."""
    info: Any = None
    """Hints of the communicator."""
    errhandler: Any = None
    """Error handler of the communicator."""
    agreed: int = 0
    """Number of calls on the communicator that created communicators."""
    neighbored: int = 0
    """Number of neighborhood collectives called on the communicator."""


class Endpoint:
    """A member's endpoint of a communicator."""

    __slots__ = ()

    _scope: Scope
    """Scope of the members' messages."""

    @property
    def _context(self) -> int:
        """The context's number on this rank."""
        return self._scope.context

    @property
    def _group(self) -> RankTable:
        """The members by rank."""
        return self._scope.group

    @property
    def _others(self) -> RankTable:
        """Processors addressed by ranks in calls."""
        return self._scope.others

    @property
    def rank(self) -> int:
        """The running processor's rank."""
        return self._group.rank_of(asking("Get_rank").id)

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self._group.members)

    @property
    def _state(self) -> CommState:
        """The running processor's state of the communicator."""
        kept = running.turns.current.storage()
        holding: CommState | None = kept.get(self._context)
        if holding is None:
            holding = kept[self._context] = CommState()
        return holding

    def _receive(self, source: int, tag: int) -> Message | None:
        """Wait for a message from a rank; return None for `PROC_NULL`."""
        mail, scope = running.mail, self._scope
        return mail.nothing(scope) if source == PROC_NULL else mail.receive(scope, source, tag)

    def _post(self, source: int, tag: int) -> PostedReceive | None:
        """Post a receive for a message from a rank; return None for `PROC_NULL`."""
        if source == PROC_NULL:
            running.mail.nothing(self._scope)
            return None
        receive = PostedReceive(running.turns.current, self._scope.envelope(source, tag))
        running.mail.nothing(self._scope)
        running.mail.post(receive)
        return receive


class IntercommEndpoint(Endpoint):
    """A member's endpoint of an intercommunicator."""

    __slots__ = ()

    def Get_remote_size(self) -> int:
        """Return the size of the remote group."""
        return len(self._others.members)

    remote_size = property(Get_remote_size)

    @property
    def _sides(self) -> tuple[RankTable, ...]:
        """Both groups, in the order known to all members."""
        return running.world.contexts.shared(self._context).groups

    @property
    def _first(self) -> bool:
        """True if the caller's group is the first."""
        return self._sides[0] is self._group

    @property
    def _local(self) -> Endpoint:
        """The communicator of the local group, for the local part of calls by both groups."""
        raise NotImplementedError
