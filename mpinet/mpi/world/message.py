"""A message between processors, as its receiver gets it.

Messages are tuples: one is made for everything that a script sends, and an object of a class of
its own takes four times as long.
"""

from __future__ import annotations

from typing import Any, Final

Envelope = tuple[int, int, int]
"""Envelope that a message and its receive have in common: the number, on this rank, of a
communicator's context, the sender's rank in the communicator, and the tag; of a receive rank and
tag may be wildcards.
"""

Ack = tuple[int, int, int]
"""Address of the acknowledgement of a synchronous send's receive: the sender, the send's key there,
and the account that pays.
"""

Message = tuple[int, int, int, Any, Ack | None]
"""(context, source, tag, body, ack): the envelope; the packed payload, or any object whose `len()`
is its size in bytes; and where to acknowledge a synchronous send, else None."""

BODY: Final = 3
ACK: Final = 4
"""The places of the body and of the acknowledgement."""

COLUMNS: Final = 4
"""Items of a message in the outbox: sender, receiver, the account that pays, the message."""


class Outbox(list[Any]):
    """Outbox of a rank: what its processors have sent since the last step, as one flat list.

    It is filled by ``extend((sender, receiver, account, message))``: a flat list is four times as
    fast as a list of tuples, as neither a tuple is made nor the collector has one to look at.
    """

    __slots__ = ()

    @property
    def messages(self) -> int:
        """Number of messages in it."""
        return len(self) // COLUMNS

    @property
    def columns(self) -> tuple[list[Any], ...]:
        """Senders, receivers, accounts and messages."""
        return tuple(self[place::COLUMNS] for place in range(COLUMNS))

    def senders(self, start: int) -> list[int]:
        """The senders of what has been sent since the outbox had `start` items."""
        # A stride over the flat list: the sender is the first of each message's items.
        return self[start::COLUMNS]


def envelope_of(message: Message) -> Envelope:
    """A message's envelope."""
    context, source, tag, _, _ = message
    return context, source, tag
