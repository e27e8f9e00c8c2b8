"""Which message a receive gets: MPI's rules, on one processor.

Messages that no receive waits for are kept in the order of their arrival, receives that no message
has come for in the order of their posting. A receive gets the earliest message that fits it, a
message the earliest receive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TypeVar

from mpinet.process.mpi.world.events import Receive
from mpinet.process.mpi.world.message import Message

T = TypeVar("T")

Key = tuple[int, int, int]


class Unexpected:
    """Messages that have come before their receives, by arrival."""

    __slots__ = ("_arrivals", "_first", "_lines", "_taken")

    def __init__(self) -> None:
        self._arrivals: list[Message] = []
        self._first = 0
        self._lines: dict[Key, Message | deque[Message]] = {}
        self._taken = 0

    def __len__(self) -> int:
        return len(self._arrivals) - self._taken

    def __iter__(self) -> Iterator[Message]:
        arrivals = self._arrivals
        for place in range(self._first, len(arrivals)):
            if not arrivals[place].taken:
                yield arrivals[place]

    def add(self, message: Message) -> None:
        """Keep a message."""
        self._arrivals.append(message)
        _line_up(self._lines, (message.context, message.source, message.tag), message)

    def find(self, receive: Receive) -> Message | None:
        """The earliest message that a receive may get."""
        if receive.exact:
            line = self._lines.get((receive.context, receive.source, receive.tag))
            return line[0] if type(line) is deque else line  # type: ignore[return-value]
        return next((message for message in self if receive.fits(message)), None)

    def take(self, message: Message) -> None:
        """Give away a message that `find` has found."""
        _step_out(self._lines, (message.context, message.source, message.tag), message)
        message.taken = True
        arrivals = self._arrivals
        if not self._lines:
            arrivals.clear()
            self._first = self._taken = 0
            return
        self._taken += 1
        while self._first < len(arrivals) and arrivals[self._first].taken:
            self._first += 1
        if 2 * self._taken > len(arrivals):
            self._arrivals = list(self)
            self._first = self._taken = 0


class Posted:
    """Receives that wait for their messages, by posting."""

    __slots__ = ("_lines", "_numbered", "_wild")

    def __init__(self) -> None:
        self._numbered = 0
        self._lines: dict[Key, Receive | deque[Receive]] = {}
        self._wild: list[Receive] = []

    def __bool__(self) -> bool:
        return bool(self._lines) or bool(self._wild)

    def add(self, receive: Receive) -> None:
        """Post a receive."""
        receive.number = self._numbered
        self._numbered += 1
        if receive.exact:
            _line_up(self._lines, (receive.context, receive.source, receive.tag), receive)
        else:
            self._wild.append(receive)

    def take(self, message: Message) -> Receive | None:
        """The earliest receive that a message fits, which is then posted no longer."""
        line = self._lines.get((message.context, message.source, message.tag))
        found = line[0] if type(line) is deque else line
        for receive in self._wild:
            if found is not None and found.number < receive.number:  # type: ignore[union-attr]
                break
            if receive.fits(message):
                found = receive
                break
        if found is not None:
            self.cancel(found)  # type: ignore[arg-type]
        return found  # type: ignore[return-value]

    def cancel(self, receive: Receive) -> None:
        """Post a receive no longer."""
        if receive.exact:
            _step_out(self._lines, (receive.context, receive.source, receive.tag), receive)
        else:
            self._wild.remove(receive)


# ---- lines of one are the one itself: most are no longer, and a deque is large


def _line_up(lines: dict[Key, T | deque[T]], key: Key, one: T) -> None:
    """Let something join the end of a line."""
    line = lines.setdefault(key, one)
    if line is one:
        return
    if type(line) is deque:
        line.append(one)
    else:
        lines[key] = deque((line, one))  # type: ignore[arg-type]


def _step_out(lines: dict[Key, T | deque[T]], key: Key, one: T) -> None:
    """Let something leave its line."""
    line = lines[key]
    if line is one:
        del lines[key]
        return
    assert type(line) is deque
    if line[0] is one:
        line.popleft()
    else:
        line.remove(one)
    if not line:
        del lines[key]
