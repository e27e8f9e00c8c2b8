"""What a communicator is to its members: ranks, and messages in its context."""

from __future__ import annotations

from collections.abc import Hashable

from mpinet.process.mpi.calls import running
from mpinet.process.mpi.contexts import COLLECTIVES
from mpinet.process.mpi.events import Matching, Receive
from mpinet.process.mpi.groups import Group
from mpinet.process.mpi.message import Message
from mpinet.process.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL
from mpinet.process.mpi.world import World

TAG_LIMIT: int = 2**31 - 1
"""Highest tag."""


class Membership:
    """A communicator, as one of its members holds it.

    Parts of a communicator's face rest on this class: they send by `_send`, receive by `_receive`
    and `_post`, and within collectives by `_tell` and `_hear`.

    Attributes
    ----------
    _name_of_context : hashable
        The same for all members, different from all other communicators'.
    _context : int
        The context's number on this rank.
    _group : Group
        The members by rank.
    _others : Group
        Those whom ranks in calls name: the group itself, of an intercommunicator the remote group.
    """

    _name_of_context: Hashable
    _context: int
    _group: Group
    _others: Group

    @property
    def world(self) -> World:
        """The run."""
        return running.world

    @property
    def rank(self) -> int:
        """The running processor's rank."""
        return self._group.rank_of(running.world.current.id)

    @property
    def size(self) -> int:
        """Members."""
        return len(self._group.members)

    def _processor(self, rank: int) -> int:
        """The processor of a rank.

        Raises
        ------
        Exception
            There is no such rank.
        """
        members = self._others.members
        if not 0 <= rank < len(members):
            raise REAL.Exception(REAL.ERR_RANK)
        return members[rank]

    def _send(
        self, data: bytes, target: int, tag: int, synchronous: bool = False
    ) -> Matching | None:
        """Send a body to a rank; what tells of the matching receive, if that is wanted."""
        if target == PROC_NULL:
            return None
        processor = self._processor(target)
        if not 0 <= tag <= TAG_LIMIT:
            raise REAL.Exception(REAL.ERR_TAG)
        return running.world.send(
            self._context, self.rank, tag, processor, data, synchronous, target
        )

    def _receive(self, source: int, tag: int) -> Message | None:
        """Wait for a message from a rank; None from `PROC_NULL`."""
        if source == PROC_NULL:
            return None
        self._require_receivable(source, tag)
        return running.world.receive(self._context, source, tag)

    def _post(self, source: int, tag: int) -> Receive | None:
        """Expect a message from a rank without waiting; None from `PROC_NULL`."""
        if source == PROC_NULL:
            return None
        self._require_receivable(source, tag)
        receive = Receive(running.world.current, self._context, source, tag)
        running.world.post(receive)
        return receive

    def _require_receivable(self, source: int, tag: int) -> None:
        """Raise an error unless messages may come from this rank with this tag."""
        if source != ANY_SOURCE:
            self._processor(source)
        if tag != ANY_TAG and not 0 <= tag <= TAG_LIMIT:
            raise REAL.Exception(REAL.ERR_TAG)

    def _tell(self, target: int, tag: int, data: bytes) -> None:
        """Within a collective, send a body to a rank."""
        running.world.send(
            self._context + COLLECTIVES, self.rank, tag, self._processor(target), data
        )

    def _hear(self, source: int, tag: int) -> bytes:
        """Within a collective, wait for a body from a rank."""
        body: bytes = running.world.receive(self._context + COLLECTIVES, source, tag).data
        return body
