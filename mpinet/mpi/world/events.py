"""Events on which a processor can block: receives, acknowledgements, ends of helper fibers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL
from mpinet.mpi.world.message import Envelope, Message


class Waiter(Protocol):
    """Interface of waiters for events: a processor, or a helper fiber of a processor."""

    awaited: Event | tuple[Event, ...] | None
    """Awaited event, or a tuple of events of which one is awaited; None if the waiter does not
    wait.
    """


class Event:
    """An event that happens to a processor once."""

    __slots__ = ("done", "owner")

    def __init__(self, owner: Waiter):
        self.owner: Waiter = owner
        """Waiter to wake when the event happens."""
        self.done: bool = False
        """True if the event has happened."""

    @property
    def said(self) -> str:
        """Description of the event for deadlock reports."""
        raise NotImplementedError

    @property
    def peer(self) -> int:
        """Rank that has to cause the event, in the context; `ANY_SOURCE` for any member."""
        raise NotImplementedError

    @property
    def place(self) -> int:
        """Context in which `peer` is a rank."""
        raise NotImplementedError


# A single shared object for all eager sends. The event never wakes a processor and needs no owner.
HAPPENED = Event.__new__(Event)
"""An event that has already happened."""
HAPPENED.done = True


class PostedReceive(Event):
    """A receive that waits for a matching message."""

    __slots__ = ("envelope", "message", "number")

    number: int
    """Position among the processor's posted receives."""

    def __init__(self, owner: Waiter, envelope: Envelope):
        # The base's initialiser is not called: receives are created for many messages, and the call
        # would be a large part of their cost.
        self.owner = owner
        self.done = False
        self.envelope: Envelope = envelope
        """Envelope to match; source and tag may be wildcards."""
        self.message: Message | None = None
        """Received message; None before."""

    @property
    def exact(self) -> bool:
        """True if neither its source nor its tag is a wildcard."""
        _, source, tag = self.envelope
        return source != ANY_SOURCE and tag != ANY_TAG

    def matches(self, message: Message) -> bool:
        """Return whether a message matches the receive."""
        context, source, tag = self.envelope
        come, sender, sent, _, _ = message
        return (
            context == come
            and (sender == source or source == ANY_SOURCE)
            and (sent == tag or tag == ANY_TAG)
        )

    @property
    def said(self) -> str:
        """Description of the awaited message for deadlock reports."""
        _, source, tag = self.envelope
        sender = "any rank" if source == ANY_SOURCE else f"rank {source}"
        tagged = "" if tag in (ANY_TAG, 0) else f" with tag {tag}"
        return f"a message from {sender}{tagged}"

    @property
    def peer(self) -> int:
        """Rank of the awaited message's sender."""
        return self.envelope[1]

    @property
    def place(self) -> int:
        """Context of the awaited message."""
        return self.envelope[0]


class Gathering(PostedReceive):
    """A wait for one message from each of several ranks, which may arrive in any order.

    Parameters
    ----------
    owner : Waiter
        The waiter.
    context, tag : int
        Context and tag of the messages.
    bodies : list
        The bodies by rank; None for a missing message.
    """

    __slots__ = ("_context", "_tag", "bodies", "missing")

    def __init__(self, owner: Waiter, context: int, tag: int, bodies: list[Any]):
        self.owner = owner
        self.done = False
        self._context, self._tag = context, tag
        self.bodies: list[Any] = bodies
        self.missing: int = bodies.count(None)
        """Number of missing messages."""

    @property
    def envelope(self) -> Envelope:  # type: ignore[override]
        """Envelope of the missing message with the lowest rank."""
        return self._context, self.bodies.index(None), self._tag

    def take(self, message: Message) -> bool:
        """Keep the body of a message if the message is missing; return whether it is."""
        context, source, tag, body, _ = message
        if context != self._context or tag != self._tag or self.bodies[source] is not None:
            return False
        self.bodies[source] = body
        self.missing -= 1
        return True


class Arrival(PostedReceive):
    """The arrival of a message for a probe; the message stays in its queue."""

    __slots__ = ()


class Awaited(Event):
    """Event caused by a given rank, or by no particular rank.

    Parameters
    ----------
    owner : Waiter
        The waiter.
    words : str
        Description of the event; ``{rank}`` stands for the rank.
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
        """Description of the event for deadlock reports."""
        # Composed only for a report. Most waits end long before, and formatting a text for each
        # wait would cost more than the wait.
        return self.words.replace("{rank}", str(self.peer))


class Answering(Awaited):
    """The answer of a target in one-sided communication, possibly delayed by a lock."""

    __slots__ = ("target", "wanted")

    def __init__(self, owner: Waiter, context: int, target: int, wanted: str):
        self.target: int = target
        """Rank of the target."""
        self.wanted: str = f"rank {{rank}} to {wanted}"
        """Description of the event while no other rank holds the lock."""
        super().__init__(owner, self.wanted, target, context)

    def blame(self, holders: Sequence[tuple[int, str]]) -> None:
        """Describe the wait as a wait for the lock's first holder and the line that locked."""
        # Reset first: a warning may have named a holder that has since released the lock.
        self.peer, self.words = self.target, self.wanted
        if holders:
            self.peer, line = holders[0]
            more = f", and {len(holders) - 1} more" if len(holders) > 1 else ""
            self.words = f"the lock of rank {self.target}, held by rank {{rank}} since {line}{more}"


class Question(Awaited):
    """The answer of all ranks to a question of the debugger.

    Parameters
    ----------
    owner : Waiter
        The processor that asks.
    kind, text : str
        Kind and argument of the question.
    first : bool
        Whether this is the first question of a stop.
    """

    __slots__ = ("answer", "first", "kind", "text")

    answer: str

    def __init__(self, owner: Waiter, kind: str, text: str, first: bool):
        super().__init__(owner, "the debugger")
        self.kind, self.text, self.first = kind, text, first


class Completion(Event):
    """The end of a helper fiber of a processor."""

    __slots__ = ("error", "fiber")

    def __init__(self, owner: Waiter, fiber: Waiter):
        super().__init__(owner)
        self.fiber: Waiter = fiber
        """Fiber that does the work."""
        self.error: Exception | None = None
        """Error of the fiber, raised by the call that completes the operation; None without an
        error.
        """

    @property
    def _awaited(self) -> Event | None:
        """Single event awaited by the fiber; None otherwise."""
        # A nonblocking collective waits for its fiber's event. A deadlock report must look behind
        # the request, or every chain would end there.
        awaited = self.fiber.awaited
        return awaited if isinstance(awaited, Event) else None

    @property
    def said(self) -> str:
        """Description of the fiber's awaited event."""
        return "its nonblocking collective" if self._awaited is None else self._awaited.said

    @property
    def peer(self) -> int:
        """Rank awaited by the fiber."""
        return PROC_NULL if self._awaited is None else self._awaited.peer

    @property
    def place(self) -> int:
        """Context of the fiber's awaited event."""
        return 0 if self._awaited is None else self._awaited.place


def awaited_by(waiter: Waiter) -> tuple[Event, ...]:
    """Return the events awaited by a processor, in its script or its fibers."""
    awaited = waiter.awaited
    if awaited is None:
        return ()
    found: tuple[Event, ...] = ()
    for event in awaited if isinstance(awaited, tuple) else (awaited,):
        # Fibers may wait for fibers, for example in a split file access. The report needs the
        # events at the end of this chain.
        beside = awaited_by(event.fiber) if isinstance(event, Completion) else ()
        found += beside or (event,)
    return found
