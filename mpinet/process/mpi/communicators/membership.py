"""What a communicator is to its members: ranks, and messages in its context."""

from __future__ import annotations

from typing import Any

from mpinet.process.mpi.communicators.members import Members
from mpinet.process.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL
from mpinet.process.mpi.world.calls import running
from mpinet.process.mpi.world.events import Matching, Receive
from mpinet.process.mpi.world.message import Message

TAG_LIMIT: int = 2**31 - 1
"""Highest tag."""


class Holding:
    """What a processor keeps of a communicator that it has, whichever face it uses.

    Attributes
    ----------
    name : str
        Its name.
    topology : Any
        Its arrangement as a grid or graph, if it has one.
    attributes : dict from int to Any, or None
        Values by the numbers of their keys.
    info : Any
        Its hints.
    errhandler : Any
        Its error handler.
    agreed, neighbored : int
        How many calls that make communicators, and neighbour collectives, it has made on it.
    """

    __slots__ = (
        "agreed",
        "attributes",
        "errhandler",
        "info",
        "name",
        "neighbored",
        "topology",
    )

    def __init__(self) -> None:
        self.name = ""
        self.topology: Any = None
        self.attributes: dict[int, Any] | None = None
        self.info: Any = None
        self.errhandler: Any = None
        self.agreed = 0
        self.neighbored = 0


class Membership:
    """A communicator, as one of its members holds it.

    Parts of a communicator's face rest on this class: they send by `_send`, and receive by
    `_receive` and `_post`.

    Attributes
    ----------
    _context : int
        The context's number on this rank.
    _group : Members
        The members by rank.
    _others : Members
        Those whom ranks in calls name: the group itself, of an intercommunicator the remote group.
    """

    _context: int
    _group: Members
    _others: Members

    @property
    def rank(self) -> int:
        """The running processor's rank."""
        return self._group.rank_of(running.world.current.id)

    @property
    def size(self) -> int:
        """Members."""
        return len(self._group.members)

    @property
    def _holding(self) -> Holding:
        """What the running processor keeps of it."""
        kept = running.world.current.remembered()
        holding: Holding | None = kept.get(self._context)
        if holding is None:
            holding = kept[self._context] = Holding()
        return holding

    def _send(
        self, data: bytes, target: int, tag: int, synchronous: bool = False
    ) -> Matching | None:
        """Send a body to a rank; what tells of the matching receive, if that is wanted."""
        if target == PROC_NULL:
            return None
        processor = self._others.processor(target)
        if not 0 <= tag <= TAG_LIMIT:
            raise REAL.Exception(REAL.ERR_TAG)
        world = running.world
        envelope = self._context, self._group.rank_of(world.current.id), tag
        return world.send(envelope, processor, data, synchronous, target)

    def _receive(self, source: int, tag: int) -> Message | None:
        """Wait for a message from a rank; None from `PROC_NULL`."""
        if source == PROC_NULL:
            return None
        self._require_receivable(source, tag)
        return running.world.receive((self._context, source, tag))

    def _post(self, source: int, tag: int) -> Receive | None:
        """Expect a message from a rank without waiting; None from `PROC_NULL`."""
        if source == PROC_NULL:
            return None
        self._require_receivable(source, tag)
        receive = Receive(running.world.current, (self._context, source, tag))
        running.world.post(receive)
        return receive

    def _require_receivable(self, source: int, tag: int) -> None:
        """Raise an error unless messages may come from this rank with this tag."""
        if source != ANY_SOURCE:
            self._others.processor(source)
        if tag != ANY_TAG and not 0 <= tag <= TAG_LIMIT:
            raise REAL.Exception(REAL.ERR_TAG)
