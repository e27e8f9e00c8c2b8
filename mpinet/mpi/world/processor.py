"""A virtual processor that runs a script, and its helper fibers."""

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
    """Number on the machine."""
    slot: int
    """Index among this rank's processors."""
    thread: Any = None
    """The script's thread. Type: greenlet."""
    main: ModuleType | None = None
    """The script's ``__main__``."""
    account: Account | None = None
    """The account of the current call; None outside of calls."""
    asked: int = 0
    """Clock readings of the processor since the last turns of other processors."""
    readings: int = 0
    """Clock readings of the processor in all."""
    idle_polls: int = 0
    """Polls without a new message since the last turns of other processors."""
    polled: bool = False
    """True if the processor has polled since its last sleep."""
    since: int = 0
    """Step after which the processor began to wait."""
    awaited: Event | tuple[Event, ...] | None = None
    """Awaited event, or a tuple of events of which one is awaited; None if the processor does not
    wait.
    """
    posted: PostedQueue | None = None
    """Posted receives without a message, except the processor's own blocking receive."""
    unexpected: UnexpectedQueue | None = None
    """Arrived messages without a receive."""
    receiving: PostedReceive | None = None
    """Receive object reused for all blocking receives."""
    kept: dict[Any, Any] | None = None
    """Private storage of communicators: counts of communicators, attributes, buffers."""
    own: ProcessState | None = None
    """Modules, random numbers, streams and settings of its own."""

    def storage(self) -> dict[Any, Any]:
        """Return the processor's private storage, created on first use."""
        if self.kept is None:
            self.kept = {}
        return self.kept


number_of: Callable[[Processor], int] = vars(Processor)["id"].__get__
"""Returns a processor's number, even if reading `id` has side effects (`Loading`)."""


def _of_processor(name: str) -> Any:
    """Return a property of fibers that reads and writes its processor's field."""
    # The slot's descriptor reaches the processor's own value. The property of the same name on the
    # fiber would call itself.
    field = vars(Processor)[name]

    def put(fiber: Fiber, value: Any) -> None:
        # The base's initialiser assigns all fields before the fiber knows its processor. Forwarding
        # these values would empty the processor's queues.
        if hasattr(fiber, "processor"):
            field.__set__(fiber.processor, value)

    return property(lambda fiber: field.__get__(fiber.processor), put)


class Fiber(Processor):
    """Concurrent work of a processor next to its script, for example a nonblocking collective."""

    __slots__ = ("processor",)

    def __init__(self, processor: Processor):
        super().__init__(processor.id, processor.slot)
        self.processor: Processor = processor
        """Processor that the fiber works for; messages arrive at the processor."""
        self.main = processor.main
        # The line that begins an operation pays for it, even after its call has returned.
        self.account = processor.account

    posted, unexpected, own, readings = map(
        _of_processor, ("posted", "unexpected", "own", "readings")
    )

    def storage(self) -> dict[Any, Any]:
        """Return the private storage of the fiber's processor."""
        return self.processor.storage()
