"""A message between processors, as its receiver gets it."""

from __future__ import annotations

from typing import Any


class Message:
    """A message's envelope and body.

    Attributes
    ----------
    context : int
        Number, on this rank, of the communicator's context it was sent in.
    source, tag : int
        The sender's rank in the communicator, and the tag.
    data : bytes
        The body.
    sync : tuple of (int, int, int) or None
        Sender, key and account of a synchronous send, which is told of the matching receive.
    missing : int
        Packets that have not come yet.
    taken : bool
        Whether a receive has got it.
    """

    __slots__ = ("context", "data", "missing", "source", "sync", "tag", "taken")

    def __init__(
        self, context: int, source: int, tag: int, data: Any, sync: Any = None, missing: int = 1
    ):
        self.context = context
        self.source = source
        self.tag = tag
        self.data = data
        self.sync = sync
        self.missing = missing
        self.taken = False
