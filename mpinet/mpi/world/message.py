"""A message between processors, as its receiver gets it.

Messages are tuples. Every send creates a message, and creating an object of a class takes four
times as long.
"""

from __future__ import annotations

from typing import Any, Final

Envelope = tuple[int, int, int]
"""Matching key of messages and receives: the context's number on this rank, the sender's rank in
the communicator, and the tag. Rank and tag of a receive may be wildcards.
"""

Ack = tuple[int, int, int]
"""Address for acknowledging a synchronous send: the sender, the send's key on the sender's rank,
and the charged account.
"""

Message = tuple[int, int, int, Any, Ack | None]
"""(context, source, tag, body, ack): the envelope; the packed payload, or any object whose `len()`
is its size in bytes; and the address for an acknowledgement, or None.
"""

BODY: Final = 3
ACK: Final = 4
"""Indices of the body and of the acknowledgement."""

COLUMNS: Final = 4
"""Items of a message in the outbox: sender, receiver, charged account, message."""


class Outbox(list[Any]):
    """Outbox of a rank: the messages sent since the last step, as a flat list.

    The list is filled by ``extend((sender, receiver, account, message))``. A flat list is four
    times as fast as a list of tuples, because no tuple is created or examined by the garbage
    collector.
    """

    __slots__ = ()

    @property
    def messages(self) -> int:
        """Number of messages in the outbox."""
        return len(self) // COLUMNS

    @property
    def columns(self) -> tuple[list[Any], ...]:
        """Lists of senders, receivers, accounts and messages."""
        return tuple(self[place::COLUMNS] for place in range(COLUMNS))

    def senders(self, start: int) -> list[int]:
        """Return the senders of messages added since the outbox had `start` items."""
        # A stride over the flat list: the sender is the first of each message's items.
        return self[start::COLUMNS]


def envelope_of(message: Message) -> Envelope:
    """Return a message's envelope."""
    context, source, tag, _, _ = message
    return context, source, tag
