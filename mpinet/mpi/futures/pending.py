"""Results of tasks: while a processor waits for a result, other processors have turns."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Event as Flag
from threading import Lock
from time import monotonic
from types import ModuleType, SimpleNamespace
from typing import Any

from greenlet import getcurrent

from mpinet.mpi.communicators.communicator import own
from mpinet.mpi.real import ANY_SOURCE
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.events import Awaited, Event
from mpinet.mpi.world.loading import ADAPTED

HELPERS = 4
"""Number of helper fibers for asynchronous maps of ``mpi4py.util.pool``, as in mpi4py."""


def ending(context: int) -> Awaited:
    """Return an event for the end of a task, awaited by the running processor."""
    return Awaited(running.turns.current, "a worker to end a task", ANY_SOURCE, context)


class EndFlag(Flag):
    """A flag set at the ends of tasks; waiting for it gives turns to other processors.

    Parameters
    ----------
    context : int, optional
        Context of the crew (default: the context of the processor alone).
    """

    def __init__(self, context: int | None = None):
        super().__init__()
        self._context = own()._context if context is None else context
        self._endings: list[Event] = []

    def set(self) -> None:
        """Set the flag and wake all waiters."""
        super().set()
        endings, self._endings = self._endings, []
        for each in endings:
            running.turns.happened(each)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the flag is set or the time is over; return whether it is set."""
        turns = running.turns
        if getcurrent() is not turns.current.thread:  # a thread of the script
            return super().wait(timeout)
        end = None if timeout is None else monotonic() + timeout
        while not self.is_set():
            if end is None:
                self._endings.append(ending(self._context))
                turns.wait(self._endings[-1])
            elif monotonic() >= end:
                break
            else:
                turns.poll()
        return self.is_set()


class Waiters(list[Any]):
    """Waiters for one of several results, as in `concurrent.futures.wait`.

    Parameters
    ----------
    context : int
        Context of the crew.
    """

    def __init__(self, context: int):
        super().__init__()
        self._context = context

    def append(self, waiter: Any) -> None:
        """Add a waiter, and replace its flag by an `EndFlag`."""
        if not isinstance(waiter.event, EndFlag):
            waiter.event = EndFlag(self._context)
        super().append(waiter)


class Pending(Future[Any]):
    """The result of a task for a crew."""

    _ended: EndFlag

    def bind(self, context: int) -> None:
        """Set the context of the task's crew."""
        self._ended = EndFlag(context)
        self._waiters = Waiters(context)
        self.add_done_callback(lambda _: self._ended.set())

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the result and return it."""
        self._ended.wait(timeout)
        return super().result(None if self.done() else 0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait for the end and return the error; None without an error."""
        self._ended.wait(timeout)
        return super().exception(None if self.done() else 0)


def let_wait(pool: ModuleType) -> None:
    """Make results of ``mpi4py.util.pool`` wait with `EndFlag`, with `HELPERS` fibers."""
    pool._threading = SimpleNamespace(Event=EndFlag, Lock=Lock)  # type: ignore[attr-defined]
    pool._cpu_count = lambda: HELPERS  # type: ignore[attr-defined]


ADAPTED["mpi4py.util.pool"] = let_wait
