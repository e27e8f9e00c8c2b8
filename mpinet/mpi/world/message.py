"""A message between processors, as its receiver gets it.

Messages are tuples: one is made for everything that a script sends, and an object of a class of
its own takes four times as long.
"""

from __future__ import annotations

from typing import Any, Final

Envelope = tuple[int, int, int]
"""What a message and its receive have in common: the number, on this rank, of a communicator's
context, the sender's rank in the communicator, and the tag; of a receive rank and tag may be
wildcards."""

Told = tuple[int, int, int]
"""Sender, key and account of a synchronous send, which is told of the matching receive."""

Message = tuple[int, int, int, Any, Told | None]
"""What is on the envelope, the body (bytes, or what says by its length how many), and who is told
if anybody is."""

BODY: Final = 3
TOLD: Final = 4
"""The places of the body, and of who is told."""

SENT: Final = 4
"""What a message is among all that have been sent, one list, which is kinder to a processor's cache
than lists in a list: sender, receiver, the number of the account that pays, and the message."""


def envelope_of(message: Message) -> Envelope:
    """What is on a message's envelope."""
    context, source, tag, _, _ = message
    return context, source, tag
