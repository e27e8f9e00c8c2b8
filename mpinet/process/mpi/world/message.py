"""A message between processors, as its receiver gets it.

Messages are tuples: one is made for everything that a script sends, and an object of a class of
its own takes four times as long.
"""

from __future__ import annotations

from typing import Any

Envelope = tuple[int, int, int]
"""What a message and its receive have in common: the number, on this rank, of a communicator's
context, the sender's rank in the communicator, and the tag; of a receive rank and tag may be
wildcards."""

Told = tuple[int, int, int]
"""Sender, key and account of a synchronous send, which is told of the matching receive."""

Message = tuple[Envelope, Any, Told | None]
"""Envelope, body (bytes, or what says by its length how many), and who is told if anybody is."""
