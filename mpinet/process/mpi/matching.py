"""Which message a receive gets: MPI's rules, on one processor.

Messages that no receive waits for are kept in the order of their arrival, receives that no message
has come for in the order of their posting. A receive gets the earliest message that fits it, a
message the earliest receive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mpinet.process.mpi.events import Receive
from mpinet.process.mpi.message import Message

Key = tuple[int, int, int]


class Unexpected:
    """Messages that have come before their receives, by arrival."""

    __slots__ = ("_arrivals", "_lines", "_taken")

    def __init__(self) -> None:
        self._arrivals: deque[Message] = deque()
        self._lines: dict[Key, deque[Message]] = {}
        self._taken = 0

    def __len__(self) -> int:
        return len(self._arrivals) - self._taken

    def __iter__(self) -> Iterator[Message]:
        return (message for message in self._arrivals if not message.taken)

    def add(self, message: Message) -> None:
        """Keep a message."""
        self._arrivals.append(message)
        key = message.context, message.source, message.tag
        line = self._lines.get(key)
        if line is None:
            self._lines[key] = deque((message,))
        else:
            line.append(message)

    def find(self, receive: Receive) -> Message | None:
        """The earliest message that a receive may get."""
        if receive.exact:
            line = self._lines.get((receive.context, receive.source, receive.tag))
            return line[0] if line else None
        return next((message for message in self if receive.fits(message)), None)

    def take(self, message: Message) -> None:
        """Give away a message that `find` has found."""
        key = message.context, message.source, message.tag
        line = self._lines[key]
        line.popleft()
        if not line:
            del self._lines[key]
        message.taken = True
        self._taken += 1
        while self._arrivals and self._arrivals[0].taken:
            self._arrivals.popleft()
            self._taken -= 1
        if 2 * self._taken > len(self._arrivals):
            self._arrivals = deque(self)
            self._taken = 0


class Posted:
    """Receives that wait for their messages, by posting."""

    __slots__ = ("_lines", "_numbered", "_wild")

    def __init__(self) -> None:
        self._numbered = 0
        self._lines: dict[Key, deque[Receive]] = {}
        self._wild: list[Receive] = []

    def __len__(self) -> int:
        return len(self._wild) + sum(map(len, self._lines.values()))

    def add(self, receive: Receive) -> None:
        """Post a receive."""
        receive.number = self._numbered
        self._numbered += 1
        if receive.exact:
            key = receive.context, receive.source, receive.tag
            self._lines.setdefault(key, deque()).append(receive)
        else:
            self._wild.append(receive)

    def take(self, message: Message) -> Receive | None:
        """The earliest receive that a message fits, which is then posted no longer."""
        line = self._lines.get((message.context, message.source, message.tag))
        wild = next((receive for receive in self._wild if receive.fits(message)), None)
        if line and (wild is None or line[0].number < wild.number):
            wild = line[0]
        if wild is not None:
            self.cancel(wild)
        return wild

    def cancel(self, receive: Receive) -> None:
        """Post a receive no longer."""
        if not receive.exact:
            self._wild.remove(receive)
            return
        key = receive.context, receive.source, receive.tag
        line = self._lines[key]
        line.remove(receive)
        if not line:
            del self._lines[key]
