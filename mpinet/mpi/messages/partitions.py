"""The two ends of a partitioned message: pieces sent as they become ready, and their places.

The first sender of an envelope is matched with the first receiver, the second with the second, at
initialization and without a message. A piece is an active message of the machine, stored on arrival
independent of the target's script. The two ends may divide the message into different numbers of
partitions. A partition of the receiver is complete when all pieces that overlap with it have
arrived.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from mpinet.mpi.messages.buffers import Buffer
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.messages.statuses import fill, tell
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.contexts import ONE_SIDED, Scope
from mpinet.mpi.world.events import Awaited, Event
from mpinet.mpi.world.message import BODY, Message

Envelope = tuple[int, int, int]
"""The sender's rank, the tag, and the number of earlier partitioned messages with both."""


@dataclass(slots=True)
class ReadyPartition:
    """A partition that is ready to be sent."""

    envelope: Envelope
    """Envelope of the partitioned message."""
    turn: int
    """Number of starts of the sender, including the current one."""
    place: int
    """Index of the partition."""
    of: int
    """Number of partitions of the message."""
    data: bytes
    """Packed elements of the partition."""

    def __len__(self) -> int:
        return len(self.data)


class AllPartitions(Awaited):
    """Event: all partitions of a send are ready, or all partitions of a receive have arrived.

    In its description, ``{missing}`` stands for the missing partitions.
    """

    __slots__ = ("end",)

    end: PartitionedEnd
    """End of the partitioned message."""

    @property
    def said(self) -> str:
        """Description of the event with the missing partitions."""
        return super().said.replace("{missing}", self.end.missing)


class PartitionedEnd:
    """The sender's or the receiver's end of a partitioned message.

    Parameters
    ----------
    buffer : Buffer or None
        Memory of the first partition; None for `PROC_NULL`.
    partitions : int
        Number of partitions.

    Raises
    ------
    Exception
        ``ERR_ARG``: the number of partitions is less than 1.
    """

    def __init__(self, buffer: Buffer | None, partitions: int):
        if partitions < 1:
            raise REAL.Exception(REAL.ERR_ARG)
        self.partitions = partitions
        self._buffer = buffer
        self._turn = 0
        self._left: set[int] = set()
        self._event: Event | None = None

    @property
    def missing(self) -> str:
        """Description of the missing partitions."""
        first, more = min(self._left, default=0), len(self._left) - 1
        return f"partition {first}" + (f" and {more} more" if more > 0 else "")

    def ready(self, partition: int) -> None:
        """Mark a partition as ready; only for senders.

        Raises
        ------
        Exception
            ``ERR_REQUEST``: this is not an active sender. ``ERR_ARG``: the partition does not exist
            or is already sent.
        """
        raise REAL.Exception(REAL.ERR_REQUEST)

    def arrived(self, partition: int) -> bool:
        """Return whether a partition has arrived; only for receivers.

        Raises
        ------
        Exception
            ``ERR_REQUEST``: this is not a receiver. ``ERR_ARG``: the partition does not exist.
        """
        raise REAL.Exception(REAL.ERR_REQUEST)

    def _begin(self, words: str, *peer: int) -> Event:
        """Start the request again; return the event of its completion."""
        self._turn += 1
        self._left = set(range(self.partitions))
        event = self._event = AllPartitions(running.turns.current, words, *peer)
        event.end = self
        return event

    def _require(self, partition: int) -> None:
        if not 0 <= partition < self.partitions:
            raise REAL.Exception(REAL.ERR_ARG)

    def _complete(self) -> None:
        if self._event is not None and not self._left:
            running.turns.happened(self._event)
            self._event = None


class Sender(PartitionedEnd):
    """The sender's end of a partitioned message."""

    def __init__(self, scope: Scope, buffer: Buffer | None, partitions: int, dest: int, tag: int):
        super().__init__(buffer, partitions)
        if buffer is None:
            return
        here = running.turns.current
        self._context, source = scope.context, scope.group.rank_of(here.id)
        self._receiver = scope.others.processor(dest)
        self._envelope = source, tag, _number((Sender, scope.context, dest, tag))

    def begin(self) -> Request:
        """Start the partitioned send; return its request."""
        return Request._of(self._begin("its own Pready of {missing}"))

    def ready(self, partition: int) -> None:
        """Send a partition that is ready."""
        if self._event is None:
            raise REAL.Exception(REAL.ERR_REQUEST)
        self._require(partition)
        if partition not in self._left:
            raise REAL.Exception(REAL.ERR_ARG)
        self._left.remove(partition)
        if self._buffer is not None:
            data = self._buffer.after(partition * self._buffer.count).read()
            self._send(ReadyPartition(self._envelope, self._turn, partition, self.partitions, data))
        self._complete()

    def _send(self, piece: ReadyPartition) -> None:
        here, mail = running.turns.current, running.mail
        account, place = here.account, self._context + ONE_SIDED
        assert account is not None
        if self._receiver == here.id:
            # No step of the machine carries the piece, but it is progress for the script.
            mail.to_self += 1
        else:
            account.sent += len(piece)
        mail.send_active(here.id, self._receiver, account.number, place, piece.envelope[0], piece)


class Receiver(PartitionedEnd):
    """The receiver's end of a partitioned message."""

    def __init__(self, scope: Scope, buffer: Buffer | None, partitions: int, source: int, tag: int):
        super().__init__(buffer, partitions)
        self._come: dict[int, dict[int, ReadyPartition]] = {}
        self._context, self._source, self._tag = scope.context, source, tag
        if buffer is not None:
            _, source, tag = scope.envelope(source, tag)
            number = _number((Receiver, scope.context, source, tag))
            _register(scope.context, (source, tag, number), self)

    def begin(self) -> Request:
        """Start the partitioned receive; return its request."""
        # Pieces of the previous turn are kept until now, because a status may be requested after
        # its end.
        self._come.pop(self._turn, None)
        event = self._begin("rank {rank} to have {missing} ready", self._source, self._context)
        if self._buffer is None:
            self._left.clear()
            self._complete()
            return Request._of(event, partial(tell, receive=None))
        self._place()
        return Request._of(event, self._finish)

    def come(self, piece: ReadyPartition) -> None:
        """Store a piece, possibly of a later turn."""
        # A fast sender may start its next turn before the receiver does. These pieces are stored
        # under their own turn.
        self._come.setdefault(piece.turn, {})[piece.place] = piece
        if piece.turn == self._turn:
            self._place()

    def arrived(self, partition: int) -> bool:
        """Return whether a partition has arrived, after at most one step of the machine."""
        self._require(partition)
        if partition in self._left:
            running.turns.poll()
        return partition not in self._left

    def _place(self) -> None:
        """Unpack the pieces of all complete partitions."""
        pieces = self._come.get(self._turn, {})
        for partition in sorted(self._left):
            parts = [pieces.get(place) for place in self._sharing(partition, pieces)]
            if parts and None not in parts:
                self._left.remove(partition)
                self._write(partition, parts)
        self._complete()

    def _sharing(self, partition: int, pieces: dict[int, ReadyPartition]) -> range:
        """Return the range of pieces that overlap with a partition; empty while unknown."""
        if not pieces:
            return range(0)
        # The sender's number of partitions arrives with its pieces. The two ends do not exchange it
        # beforehand.
        of, own = next(iter(pieces.values())).of, self.partitions
        return range(partition * of // own, -(-(partition + 1) * of // own))

    def _write(self, partition: int, parts: list[Any]) -> None:
        """Unpack the part of some pieces that belongs to a partition."""
        assert self._buffer is not None
        first, size = parts[0], self._buffer.nbytes
        begin = partition * size - first.place * len(first)
        body = b"".join(piece.data for piece in parts)[begin : begin + size]
        self._buffer.after(partition * self._buffer.count).write(body)

    def _finish(self, status: Any) -> None:
        """Fill a status of the completed partitioned receive.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: the pieces exceed the memory.
        """
        assert self._buffer is not None
        pieces = self._come.get(self._turn, {}).values()
        body = b"".join(piece.data for piece in pieces)
        if status is not None:
            fill(status, (self._context, self._source, self._tag, body, None))
        if len(body) > self.partitions * self._buffer.nbytes:
            raise REAL.Exception(REAL.ERR_TRUNCATE)


class Registered:
    """The receivers of a processor in a communicator, and pieces that arrived early."""

    def __init__(self) -> None:
        self.receivers: dict[Envelope, Receiver] = {}
        self.early: dict[Envelope, list[ReadyPartition]] = {}

    def come(self, message: Message) -> None:
        """Pass a piece to its receiver, or keep it."""
        piece = message[BODY]
        receiver = self.receivers.get(piece.envelope)
        if receiver is None:
            self.early.setdefault(piece.envelope, []).append(piece)
        else:
            receiver.come(piece)


def _register(context: int, envelope: Envelope, receiver: Receiver) -> None:
    """Register a receiver of the running processor for pieces with its envelope."""
    here = running.turns.current
    kept = here.storage()
    registered = kept.get((Registered, context))
    if registered is None:
        registered = kept[Registered, context] = Registered()
        running.mail.on_active(context + ONE_SIDED, here.id, registered.come)
    registered.receivers[envelope] = receiver
    for piece in registered.early.pop(envelope, ()):
        receiver.come(piece)


def _number(key: Any) -> int:
    """Return how often the running processor has already used a key."""
    numbers: Iterator[int] = running.turns.current.storage().setdefault(key, count())
    return next(numbers)
