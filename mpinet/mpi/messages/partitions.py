"""The two ends of a partitioned message: the pieces that a sender makes ready, and their places.

The first sender of an envelope is matched with the first receiver, the second with the second,
when they are made and without a message. A piece is a message of the machine that goes to its
place when it comes, whatever the processor there does. The two ends may divide the message into
different numbers of partitions: one of the receiver's is there when all pieces have come that it
shares elements with.
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
"""The sender's rank, the tag, and how many partitioned messages the two have made before."""


@dataclass(slots=True)
class ReadyPartition:
    """A partition that is ready."""

    envelope: Envelope
    """Envelope of the partitioned message."""
    turn: int
    """Number of times that the sender had started."""
    place: int
    """Number of the partition."""
    of: int
    """Number of partitions of the message."""
    data: bytes
    """Bytes of the partition's elements."""

    def __len__(self) -> int:
        return len(self.data)


class AllPartitions(Awaited):
    """The moment in which all partitions of a send are ready, or all of a receive are there.

    Its words name the missing ones where they say ``{missing}``.
    """

    __slots__ = ("end",)

    end: PartitionedEnd
    """End of the partitioned message."""

    @property
    def said(self) -> str:
        """Words for what is waited for."""
        return super().said.replace("{missing}", self.end.missing)


class PartitionedEnd:
    """One end of a partitioned message.

    Parameters
    ----------
    buffer : Buffer or None
        The first partition's memory; None to and from `PROC_NULL`.
    partitions : int
        Number of partitions.

    Raises
    ------
    Exception
        ``ERR_ARG``: there is none.
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
        """Words for the partitions that are not there yet."""
        first, more = min(self._left, default=0), len(self._left) - 1
        return f"partition {first}" + (f" and {more} more" if more > 0 else "")

    def ready(self, partition: int) -> None:
        """Send a partition; only a sender can.

        Raises
        ------
        Exception
            ``ERR_REQUEST``: this is no sender, or it is not active. ``ERR_ARG``: there is no such
            partition, or it has been sent.
        """
        raise REAL.Exception(REAL.ERR_REQUEST)

    def arrived(self, partition: int) -> bool:
        """Tell if a partition is there; only a receiver can.

        Raises
        ------
        Exception
            ``ERR_REQUEST``: this is no receiver. ``ERR_ARG``: there is no such partition.
        """
        raise REAL.Exception(REAL.ERR_REQUEST)

    def _begin(self, words: str, *peer: int) -> Event:
        """Start once more; the event of the end."""
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
    """The sender of a partitioned message."""

    def __init__(self, scope: Scope, buffer: Buffer | None, partitions: int, dest: int, tag: int):
        super().__init__(buffer, partitions)
        if buffer is None:
            return
        here = running.turns.current
        self._context, source = scope.context, scope.group.rank_of(here.id)
        self._receiver = scope.others.processor(dest)
        self._envelope = source, tag, _number((Sender, scope.context, dest, tag))

    def begin(self) -> Request:
        """Start it."""
        return Request._of(self._begin("its own Pready of {missing}"))

    def ready(self, partition: int) -> None:
        """Send a partition."""
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
            # No step of the machine carries it, but it is progress for the script.
            mail.to_self += 1
        else:
            account.sent += len(piece)
        mail.send_active(here.id, self._receiver, account.number, place, piece.envelope[0], piece)


class Receiver(PartitionedEnd):
    """The receiver of a partitioned message."""

    def __init__(self, scope: Scope, buffer: Buffer | None, partitions: int, source: int, tag: int):
        super().__init__(buffer, partitions)
        self._come: dict[int, dict[int, ReadyPartition]] = {}
        self._context, self._source, self._tag = scope.context, source, tag
        if buffer is not None:
            _, source, tag = scope.envelope(source, tag)
            number = _number((Receiver, scope.context, source, tag))
            _register(scope.context, (source, tag, number), self)

    def begin(self) -> Request:
        """Start it."""
        # Pieces of the turn before are kept until then, because a status may be asked for after its
        # end.
        self._come.pop(self._turn, None)
        event = self._begin("rank {rank} to have {missing} ready", self._source, self._context)
        if self._buffer is None:
            self._left.clear()
            self._complete()
            return Request._of(event, partial(tell, receive=None))
        self._place()
        return Request._of(event, self._finish)

    def come(self, piece: ReadyPartition) -> None:
        """Take a piece, which may be one of a later turn."""
        # A fast sender may start its next turn before the receiver does. Those pieces wait under
        # their own turn.
        self._come.setdefault(piece.turn, {})[piece.place] = piece
        if piece.turn == self._turn:
            self._place()

    def arrived(self, partition: int) -> bool:
        """Tell if a partition is there, after the machine's next step at the latest."""
        self._require(partition)
        if partition in self._left:
            running.turns.poll()
        return partition not in self._left

    def _place(self) -> None:
        """Put what has come where it belongs, as far as partitions are whole."""
        pieces = self._come.get(self._turn, {})
        for partition in sorted(self._left):
            parts = [pieces.get(place) for place in self._sharing(partition, pieces)]
            if parts and None not in parts:
                self._left.remove(partition)
                self._write(partition, parts)
        self._complete()

    def _sharing(self, partition: int, pieces: dict[int, ReadyPartition]) -> range:
        """Places of the pieces that a partition shares elements with; none if nobody knows."""
        if not pieces:
            return range(0)
        # The sender's number of partitions comes with its pieces. The two ends never agree on one
        # beforehand.
        of, own = next(iter(pieces.values())).of, self.partitions
        return range(partition * of // own, -(-(partition + 1) * of // own))

    def _write(self, partition: int, parts: list[Any]) -> None:
        """Put the part of some pieces that belongs to a partition into its memory."""
        assert self._buffer is not None
        first, size = parts[0], self._buffer.nbytes
        begin = partition * size - first.place * len(first)
        body = b"".join(piece.data for piece in parts)[begin : begin + size]
        self._buffer.after(partition * self._buffer.count).write(body)

    def _finish(self, status: Any) -> None:
        """Tell a status of it.

        Raises
        ------
        Exception
            ``ERR_TRUNCATE``: more has come than there is memory for.
        """
        assert self._buffer is not None
        pieces = self._come.get(self._turn, {}).values()
        body = b"".join(piece.data for piece in pieces)
        if status is not None:
            fill(status, (self._context, self._source, self._tag, body, None))
        if len(body) > self.partitions * self._buffer.nbytes:
            raise REAL.Exception(REAL.ERR_TRUNCATE)


class Registered:
    """The receivers of a processor in one communicator, and what has come before them."""

    def __init__(self) -> None:
        self.receivers: dict[Envelope, Receiver] = {}
        self.early: dict[Envelope, list[ReadyPartition]] = {}

    def come(self, message: Message) -> None:
        """Give a piece to its receiver, or keep it."""
        piece = message[BODY]
        receiver = self.receivers.get(piece.envelope)
        if receiver is None:
            self.early.setdefault(piece.envelope, []).append(piece)
        else:
            receiver.come(piece)


def _register(context: int, envelope: Envelope, receiver: Receiver) -> None:
    """Let what is sent to a receiver of the running processor come to it."""
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
    """Count the times that the running processor has asked for this key's number before."""
    numbers: Iterator[int] = running.turns.current.storage().setdefault(key, count())
    return next(numbers)
