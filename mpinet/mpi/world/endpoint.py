"""A communicator's endpoint: what it is to one of its members, ranks and messages in its context.

Every member has a communicator object of its own, which scripts see as ``MPI.Comm``. All of its
parts (messages, collectives, inquiries) rest on the classes here, and need nothing else of it.
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
    """State that a processor keeps of a communicator that it has, whichever face it uses."""

    name: str = ""
    """Name of the communicator."""
    topology: Any = None
    """Arrangement of the communicator as a grid or graph; None without one."""
    attributes: dict[int, Any] | None = None
    """Values by the numbers of their keys."""
    info: Any = None
    """Hints of the communicator."""
    errhandler: Any = None
    """Error handler of the communicator."""
    agreed: int = 0
    """Number of calls on the communicator that make communicators."""
    neighbored: int = 0
    """Number of calls of neighbour collectives on the communicator."""


class Endpoint:
    """A communicator, as one of its members has it."""

    __slots__ = ()

    _scope: Scope
    """Scope in which the members exchange messages."""

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
        """Those whom ranks in calls name."""
        return self._scope.others

    @property
    def rank(self) -> int:
        """The running processor's rank."""
        return self._group.rank_of(asking("Get_rank").id)

    @property
    def size(self) -> int:
        """Members."""
        return len(self._group.members)

    @property
    def _state(self) -> CommState:
        """State that the running processor keeps of it."""
        kept = running.turns.current.storage()
        holding: CommState | None = kept.get(self._context)
        if holding is None:
            holding = kept[self._context] = CommState()
        return holding

    def _receive(self, source: int, tag: int) -> Message | None:
        """Wait for a message from a rank; None from `PROC_NULL`."""
        mail, scope = running.mail, self._scope
        return mail.nothing(scope) if source == PROC_NULL else mail.receive(scope, source, tag)

    def _post(self, source: int, tag: int) -> PostedReceive | None:
        """Expect a message from a rank without waiting; None from `PROC_NULL`."""
        if source == PROC_NULL:
            running.mail.nothing(self._scope)
            return None
        receive = PostedReceive(running.turns.current, self._scope.envelope(source, tag))
        running.mail.nothing(self._scope)
        running.mail.post(receive)
        return receive


class IntercommEndpoint(Endpoint):
    """An intercommunicator, as a member of one of its two groups has it."""

    __slots__ = ()

    def Get_remote_size(self) -> int:
        """Members of the remote group."""
        return len(self._others.members)

    remote_size = property(Get_remote_size)

    @property
    def _sides(self) -> tuple[RankTable, ...]:
        """Both groups, in the order that all members know."""
        return running.world.contexts.shared(self._context).groups

    @property
    def _first(self) -> bool:
        """True if the caller's group is the first."""
        return self._sides[0] is self._group

    @property
    def _local(self) -> Endpoint:
        """The communicator of the local group, for its own part in calls of both."""
        raise NotImplementedError
