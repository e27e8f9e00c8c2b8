"""Matching: which receive gets which message, by MPI's rules, on one processor.

The *unexpected queue* keeps messages that have arrived before their receives, by arrival; the
*posted queue* keeps receives whose messages have not arrived, by posting. A new receive takes the
earliest unexpected message that it matches, an arriving message the earliest posted receive. Both
queues are indexed by envelope, and only receives with wildcards search: a processor that is sent
a thousand messages before it receives any would otherwise compare half a million pairs.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import TypeVar

from mpinet.mpi.world.events import PostedReceive
from mpinet.mpi.world.message import Envelope, Message, envelope_of

T = TypeVar("T")


class UnexpectedQueue:
    """Messages that have come before their receives, by arrival."""

    __slots__ = ("_come", "_messages", "_queues")

    def __init__(self) -> None:
        # Numbers of arrival are the keys of the store. They stay in order when messages leave the
        # middle, which positions in a list would not.
        self._come = 0
        self._messages: OrderedDict[int, Message] = OrderedDict()
        self._queues: dict[Envelope, int | deque[int]] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages.values())

    def add(self, message: Message) -> None:
        """Keep a message."""
        self._messages[self._come] = message
        _enqueue(self._queues, envelope_of(message), self._come)
        self._come += 1

    def find(self, receive: PostedReceive) -> Message | None:
        """The earliest message that a receive may get."""
        # Exact receives find their envelope's queue in constant time. Only wildcards pay for a
        # search, by arrival.
        if receive.exact:
            line = self._queues.get(receive.envelope)
            return None if line is None else self._messages[_head(line)]
        # The first that fits by arrival is also the first of its source. So taking it keeps MPI's
        # order between two processors.
        return next((message for message in self if receive.matches(message)), None)

    def take(self, message: Message) -> None:
        """Give away a message that `find` has found: of its envelope the earliest."""
        envelope = envelope_of(message)
        # Also a wildcard takes the earliest message of an envelope: a later one would overtake it.
        number = _head(self._queues[envelope])
        _dequeue(self._queues, envelope, number)
        del self._messages[number]


class PostedQueue:
    """Receives that wait for their messages, by posting."""

    __slots__ = ("_numbered", "_queues", "_wild")

    def __init__(self) -> None:
        self._numbered = 0
        self._queues: dict[Envelope, PostedReceive | deque[PostedReceive]] = {}
        self._wild: list[PostedReceive] = []

    def __bool__(self) -> bool:
        return bool(self._queues) or bool(self._wild)

    def add(self, receive: PostedReceive) -> None:
        """Post a receive."""
        # The number is the age among all posted receives, exact or wild. The two kinds live in
        # different tables and have to be compared.
        receive.number = self._numbered
        self._numbered += 1
        if receive.exact:
            _enqueue(self._queues, receive.envelope, receive)
        else:
            self._wild.append(receive)

    def take(self, message: Message) -> PostedReceive | None:
        """The earliest receive that a message fits, which is then posted no longer."""
        envelope = envelope_of(message)
        line = self._queues.get(envelope)
        # Of one envelope the receive that was posted first goes first, which is the head of its
        # queue.
        found = None if line is None else _head(line)
        # Wildcard receives compete by age with the earliest exact one.
        for receive in self._wild:
            # Wild receives are in the order of posting. Once they are younger than the exact
            # candidate, none of them can win.
            if found is not None and found.number < receive.number:
                break
            if receive.matches(message):
                self._wild.remove(receive)
                return receive
        if found is not None:
            _dequeue(self._queues, envelope, found)
        return found

    def cancel(self, receive: PostedReceive) -> None:
        """Post a receive no longer."""
        if receive.exact:
            _dequeue(self._queues, receive.envelope, receive)
        else:
            self._wild.remove(receive)


# ---- a line of one is the one itself: most lines are no longer, and a deque takes 760 bytes


def _head(line: T | deque[T]) -> T:
    """Return the first in a line."""
    return line[0] if type(line) is deque else line  # type: ignore[return-value]


def _enqueue(lines: dict[Envelope, T | deque[T]], envelope: Envelope, entry: T) -> None:
    """Let something join the end of a line."""
    line = lines.setdefault(envelope, entry)
    # Identity is enough: most envelopes have one entry, which then stands in place of its queue.
    if line is entry:
        return
    if type(line) is deque:
        line.append(entry)
    else:
        lines[envelope] = deque((line, entry))  # type: ignore[arg-type]


def _dequeue(lines: dict[Envelope, T | deque[T]], envelope: Envelope, entry: T) -> None:
    """Let something leave its line."""
    line = lines[envelope]
    if line is entry:
        del lines[envelope]
        return
    assert type(line) is deque
    if line[0] is entry:
        line.popleft()
    else:
        line.remove(entry)
    if not line:
        del lines[envelope]
