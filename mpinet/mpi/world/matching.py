"""Matching of messages and receives on a processor, by MPI's rules.

The *unexpected queue* contains messages that arrived before their receives, in order of arrival.
The *posted queue* contains receives without a message, in order of posting. A new receive takes the
earliest matching unexpected message. An arriving message takes the earliest matching posted
receive. Both queues are indexed by envelope. Otherwise a processor with a thousand unexpected
messages would compare half a million pairs. The first receive with a kind of wildcards adds an
index for this kind.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import TypeVar

from mpinet.mpi.real import ANY_SOURCE, ANY_TAG
from mpinet.mpi.world.events import PostedReceive
from mpinet.mpi.world.message import Envelope, Message, envelope_of

T = TypeVar("T")

Wildcards = tuple[bool, bool]
"""A kind of wildcards: whether a receive takes messages from any source, and with any tag."""


class UnexpectedQueue:
    """Messages that arrived before their receives, in order of arrival."""

    __slots__ = ("_come", "_messages", "_queues", "_wild")

    def __init__(self) -> None:
        # Arrival numbers are the keys of the store. They stay in order when messages leave the
        # middle, unlike positions in a list.
        self._come = 0
        self._messages: OrderedDict[int, Message] = OrderedDict()
        self._queues: dict[Envelope, int | deque[int]] = {}
        self._wild: dict[Wildcards, dict[Envelope, deque[int]]] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages.values())

    def add(self, message: Message) -> None:
        """Add an arrived message."""
        self._messages[self._come] = message
        _enqueue(self._queues, envelope_of(message), self._come)
        for kind in self._wild:
            self._index(kind, message, self._come)
        self._come += 1

    def _index(self, kind: Wildcards, message: Message, number: int) -> None:
        """Add a message to the index for a kind of wildcards."""
        context, source, tag = envelope_of(message)
        envelope = context, ANY_SOURCE if kind[0] else source, ANY_TAG if kind[1] else tag
        self._living(self._wild[kind].setdefault(envelope, deque())).append(number)

    def _living(self, line: deque[int]) -> deque[int]:
        """Remove the messages that other receives have taken from the front of a line."""
        while line and line[0] not in self._messages:
            line.popleft()
        return line

    def find(self, receive: PostedReceive) -> Message | None:
        """Return the earliest message that a receive may get."""
        # Exact receives find their envelope's queue in constant time.
        if receive.exact:
            return self.first(receive.envelope)
        # The first match by arrival is also the first of its source. Taking it keeps MPI's order
        # between two processors.
        _, source, tag = receive.envelope
        kind = source == ANY_SOURCE, tag == ANY_TAG
        if kind not in self._wild:
            self._wild[kind] = {}
            for number, message in self._messages.items():
                self._index(kind, message, number)
        line = self._living(self._wild[kind].get(receive.envelope, deque()))
        return self._messages[line[0]] if line else None

    def first(self, envelope: Envelope) -> Message | None:
        """Return the earliest message with an envelope."""
        line = self._queues.get(envelope)
        return None if line is None else self._messages[_head(line)]

    def take(self, message: Message) -> None:
        """Remove the earliest message with the envelope of a message found by `find`."""
        envelope = envelope_of(message)
        # A wildcard also takes the earliest message of an envelope, because a later message would
        # overtake it.
        number = _head(self._queues[envelope])
        _dequeue(self._queues, envelope, number)
        del self._messages[number]


class PostedQueue:
    """Receives that wait for their messages, in order of posting."""

    __slots__ = ("_numbered", "exact", "wild")

    def __init__(self) -> None:
        self._numbered = 0
        self.exact: dict[Envelope, PostedReceive | deque[PostedReceive]] = {}
        """Receives without wildcards, by envelope."""
        self.wild: list[PostedReceive] = []
        """Receives with wildcards, in order of posting."""

    def __bool__(self) -> bool:
        return bool(self.exact) or bool(self.wild)

    def __iter__(self) -> Iterator[PostedReceive]:
        found = list(self.wild)
        for line in self.exact.values():
            found += line if isinstance(line, deque) else (line,)
        return iter(sorted(found, key=lambda receive: receive.number))

    def add(self, receive: PostedReceive) -> None:
        """Add a posted receive."""
        # The number is the age among all posted receives, exact or wildcard. The two kinds are in
        # different tables and must be compared.
        receive.number = self._numbered
        self._numbered += 1
        envelope = receive.envelope
        _, source, tag = envelope
        if source == ANY_SOURCE or tag == ANY_TAG:
            self.wild.append(receive)
        elif self.exact.setdefault(envelope, receive) is not receive:
            _enqueue(self.exact, envelope, receive)

    def take(self, message: Message) -> PostedReceive | None:
        """Remove and return the earliest receive that matches a message."""
        envelope = envelope_of(message)
        line = self.exact.get(envelope)
        # Among receives with the same envelope the receive posted first goes first: the head of its
        # queue.
        found = None if line is None else _head(line)
        # Wildcard receives compete by age with the earliest exact receive.
        for receive in self.wild:
            # Wildcard receives are in the order of posting. Once they are younger than the exact
            # candidate, none of them can win.
            if found is not None and found.number < receive.number:
                break
            if receive.matches(message):
                self.wild.remove(receive)
                return receive
        if found is not None:
            _dequeue(self.exact, envelope, found)
        return found

    def cancel(self, receive: PostedReceive) -> None:
        """Remove a cancelled receive."""
        if receive.exact:
            _dequeue(self.exact, receive.envelope, receive)
        else:
            self.wild.remove(receive)


# ---- a queue of length 1 is stored as its entry: most queues are short, and a deque takes 760
# bytes


def _head(line: T | deque[T]) -> T:
    """Return the first entry of a queue."""
    return line[0] if type(line) is deque else line  # type: ignore[return-value]


def _enqueue(lines: dict[Envelope, T | deque[T]], envelope: Envelope, entry: T) -> None:
    """Append an entry to a queue."""
    line = lines.setdefault(envelope, entry)
    # Identity is enough: most envelopes have a single entry, stored in place of its queue.
    if line is entry:
        return
    if type(line) is deque:
        line.append(entry)
    else:
        lines[envelope] = deque((line, entry))  # type: ignore[arg-type]


def _dequeue(lines: dict[Envelope, T | deque[T]], envelope: Envelope, entry: T) -> None:
    """Remove an entry from its queue."""
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
