"""Events: what a processor can block on: receives, acknowledgements, the ends of helper fibers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL
from mpinet.mpi.world.message import Envelope, Message


class Waiter(Protocol):
    """Waiter for events, as they know it: a processor, or a helper fiber of one."""

    awaited: Event | tuple[Event, ...] | None
    """Event that the waiter waits for, or events of which it waits for one; None if it does not
    wait."""


class Event:
    """Something that happens to a processor once."""

    __slots__ = ("done", "owner")

    def __init__(self, owner: Waiter):
        self.owner: Waiter = owner
        """Waiter that the event happens to."""
        self.done: bool = False
        """True if the event has happened."""

    @property
    def said(self) -> str:
        """Words for what is waited for."""
        raise NotImplementedError

    @property
    def peer(self) -> int:
        """Rank, in the context's communicator, that has to do it; `ANY_SOURCE` if anybody may."""
        raise NotImplementedError

    @property
    def place(self) -> int:
        """The context that `peer` is a rank in."""
        raise NotImplementedError


# One shared object for all eager sends. It needs no owner, because no processor is ever woken by
# it.
HAPPENED = Event.__new__(Event)
"""Event that has happened already."""
HAPPENED.done = True


class PostedReceive(Event):
    """A receive."""

    __slots__ = ("envelope", "message", "number")

    number: int
    """Place among the processor's posted receives."""

    def __init__(self, owner: Waiter, envelope: Envelope):
        # The base's initialiser is not called: a receive is made for many messages, and the call
        # would be a good part of its cost.
        self.owner = owner
        self.done = False
        self.envelope: Envelope = envelope
        """Envelope that a message must fit; source and tag may be wildcards."""
        self.message: Message | None = None
        """Message that was received; None before."""

    @property
    def exact(self) -> bool:
        """True if neither its source nor its tag is a wildcard."""
        _, source, tag = self.envelope
        return source != ANY_SOURCE and tag != ANY_TAG

    def matches(self, message: Message) -> bool:
        """Tell if it may get a message."""
        context, source, tag = self.envelope
        come, sender, sent, _, _ = message
        return (
            context == come
            and (sender == source or source == ANY_SOURCE)
            and (sent == tag or tag == ANY_TAG)
        )

    @property
    def said(self) -> str:
        """Words for what is waited for."""
        _, source, tag = self.envelope
        sender = "any rank" if source == ANY_SOURCE else f"rank {source}"
        tagged = "" if tag in (ANY_TAG, 0) else f" with tag {tag}"
        return f"a message from {sender}{tagged}"

    @property
    def peer(self) -> int:
        """The rank that is to send."""
        return self.envelope[1]

    @property
    def place(self) -> int:
        """The context."""
        return self.envelope[0]


class Arrival(PostedReceive):
    """The arrival of a message that a receive would get, and that stays there."""

    __slots__ = ()


class Awaited(Event):
    """Event that a rank is to bring about, or no rank in particular.

    Parameters
    ----------
    owner : Waiter
        The waiter.
    words : str
        Words for the event; ``{rank}`` stands for the rank.
    peer : int
        The rank; `ANY_SOURCE` for any rank, `PROC_NULL` for none.
    place : int
        The context in which `peer` is a rank.
    """

    __slots__ = ("peer", "place", "words")

    def __init__(self, owner: Waiter, words: str, peer: int = PROC_NULL, place: int = 0):
        super().__init__(owner)
        self.words = words
        self.peer: int = peer
        self.place: int = place

    @property
    def said(self) -> str:
        """Words for what is waited for."""
        # Composed only when a report asks. Most waits end long before, and a formatted text for
        # each would cost more than the wait.
        return self.words.replace("{rank}", str(self.peer))


class Answering(Awaited):
    """The answer of a target's memory, which its lock may keep back."""

    __slots__ = ("target", "wanted")

    def __init__(self, owner: Waiter, context: int, target: int, wanted: str):
        self.target: int = target
        """Rank of the memory."""
        self.wanted: str = f"rank {{rank}} to {wanted}"
        """Words for the answer where no other rank holds the lock."""
        super().__init__(owner, self.wanted, target, context)

    def blame(self, holders: Sequence[tuple[int, str]]) -> None:
        """Wait for the first holder of the lock, each with the line since which it holds it."""
        # Reset first: a warning may have named a holder that has released the lock since.
        self.peer, self.words = self.target, self.wanted
        if holders:
            self.peer, line = holders[0]
            more = f", and {len(holders) - 1} more" if len(holders) > 1 else ""
            self.words = (
                f"the lock of rank {self.target}, which rank {{rank}} holds since {line}{more}"
            )


class Completion(Event):
    """The end of what a processor does beside its script."""

    __slots__ = ("error", "fiber")

    def __init__(self, owner: Waiter, fiber: Waiter):
        super().__init__(owner)
        self.fiber: Waiter = fiber
        """Fiber that does the work."""
        self.error: Exception | None = None
        """Error of the fiber; None without one. The script gets it when it asks for the end."""

    @property
    def _awaited(self) -> Event | None:
        """Event that the fiber waits for, if it is one."""
        # A begun collective waits for what its fiber waits for. A report that stopped at the
        # request would end every chain there.
        awaited = self.fiber.awaited
        return awaited if isinstance(awaited, Event) else None

    @property
    def said(self) -> str:
        """Words for what is waited for."""
        return "a collective that it has begun" if self._awaited is None else self._awaited.said

    @property
    def peer(self) -> int:
        """Processor that the fiber waits for."""
        return PROC_NULL if self._awaited is None else self._awaited.peer

    @property
    def place(self) -> int:
        """The context of what it waits for."""
        return 0 if self._awaited is None else self._awaited.place


def awaited_by(waiter: Waiter) -> tuple[Event, ...]:
    """Return the events that a processor waits for, in its script or beside it."""
    awaited = waiter.awaited
    if awaited is None:
        return ()
    found: tuple[Event, ...] = ()
    for event in awaited if isinstance(awaited, tuple) else (awaited,):
        # Fibers may wait for fibers, as a split access does. The report needs the events at the end
        # of that chain.
        beside = awaited_by(event.fiber) if isinstance(event, Completion) else ()
        found += beside or (event,)
    return found
