"""A virtual processor that runs a script, and helper fibers that run beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.events import Event, PostedReceive
from mpinet.mpi.world.matching import PostedQueue, UnexpectedQueue
from mpinet.mpi.world.process_state import ProcessState


@dataclass(slots=True, eq=False)
class Processor:
    """A processor and its script."""

    id: int
    """Number on the machine: the rank in the script's world."""
    slot: int
    """Place among this rank's processors."""
    thread: Any = None
    """The script's thread. Type: greenlet."""
    main: ModuleType | None = None
    """The script's ``__main__``."""
    account: Account | None = None
    """The account of the call that it is in, if it is in one."""
    asked: int = 0
    """Number of times that the processor has asked for the time since other processors have
    run."""
    idle_polls: int = 0
    """Number of polls without a new message since other processors have run."""
    since: int = 0
    """Step after which the processor began to wait."""
    awaited: Event | tuple[Event, ...] | None = None
    """Event that the processor waits for, or events of which it waits for one; None if it does
    not wait."""
    posted: PostedQueue | None = None
    """Posted receives that wait, except the receive that the processor itself waits for."""
    unexpected: UnexpectedQueue | None = None
    """Messages that no receive has waited for."""
    receiving: PostedReceive | None = None
    """Receive that is used again whenever the processor waits for nothing but a message."""
    kept: dict[Any, Any] | None = None
    """Storage of communicators for the processor: counts of communicators, attributes,
    buffers."""
    own: ProcessState | None = None
    """Modules, random numbers and streams of its own."""

    def storage(self) -> dict[Any, Any]:
        """Storage of communicators and the like for this processor alone, by keys of their own."""
        if self.kept is None:
            self.kept = {}
        return self.kept


number_of: Callable[[Processor], int] = vars(Processor)["id"].__get__
"""A processor's number, even where it may not be asked for (`Loading`)."""


def _of_processor(name: str) -> Any:
    """A field of a fiber that is its processor's."""
    # The slot's descriptor reaches the processor's own value. The property of the same name on the
    # fiber would call itself.
    field = vars(Processor)[name]

    def put(fiber: Fiber, value: Any) -> None:
        # The base's initialiser assigns all fields before the fiber knows its processor. Passing
        # these on would empty the processor's queues.
        if hasattr(fiber, "processor"):
            field.__set__(fiber.processor, value)

    return property(lambda fiber: field.__get__(fiber.processor), put)


class Fiber(Processor):
    """Something that a processor does beside its script: a collective that was begun."""

    __slots__ = ("processor",)

    def __init__(self, processor: Processor):
        super().__init__(processor.id, processor.slot)
        self.processor: Processor = processor
        """Processor that the fiber works for; messages come to the processor."""
        self.main = processor.main
        # The line that begins an operation pays for it, even after its call has returned.
        self.account = processor.account

    posted, unexpected, own = map(_of_processor, ("posted", "unexpected", "own"))

    def storage(self) -> dict[Any, Any]:
        """The processor's."""
        return self.processor.storage()
