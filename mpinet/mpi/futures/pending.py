"""Results of tasks, and waiting for them: while a processor waits, others have their turns."""

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
"""Helper fibers that see to what ``mpi4py.util.pool`` maps asynchronously: mpi4py's own limit."""


def ending(context: int) -> Awaited:
    """The end of a task, which the running processor awaits in the context of a crew."""
    return Awaited(running.turns.current, "a worker to end a task", ANY_SOURCE, context)


class EndFlag(Flag):
    """A flag that tasks' ends set; who waits for it lets others run.

    Parameters
    ----------
    context : int, optional
        The context of the crew that does them (default: that of the processor alone).
    """

    def __init__(self, context: int | None = None):
        super().__init__()
        self._context = own()._context if context is None else context
        self._endings: list[Event] = []

    def set(self) -> None:
        """Set it, and wake up who waits."""
        super().set()
        endings, self._endings = self._endings, []
        for each in endings:
            running.turns.happened(each)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, or for some seconds; whether it is."""
        turns = running.turns
        if getcurrent() is not turns.current.thread:  # a thread of the script's
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
    """List of those who wait for one of several results, as `concurrent.futures.wait` does.

    Parameters
    ----------
    context : int
        The context of the crew.
    """

    def __init__(self, context: int):
        super().__init__()
        self._context = context

    def append(self, waiter: Any) -> None:
        """Add one; its flag is to be one that lets others run."""
        if not isinstance(waiter.event, EndFlag):
            waiter.event = EndFlag(self._context)
        super().append(waiter)


class Pending(Future[Any]):
    """The result of a task that a crew is to do."""

    _ended: EndFlag

    def bind(self, context: int) -> None:
        """Note which crew does it."""
        self._ended = EndFlag(context)
        self._waiters = Waiters(context)
        self.add_done_callback(lambda _: self._ended.set())

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the result."""
        self._ended.wait(timeout)
        return super().result(None if self.done() else 0)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait for the error, if it is one."""
        self._ended.wait(timeout)
        return super().exception(None if self.done() else 0)


def let_wait(pool: ModuleType) -> None:
    """Let results of ``mpi4py.util.pool`` wait as `EndFlag` does, by the same number of helpers."""
    pool._threading = SimpleNamespace(Event=EndFlag, Lock=Lock)  # type: ignore[attr-defined]
    pool._cpu_count = lambda: HELPERS  # type: ignore[attr-defined]


ADAPTED["mpi4py.util.pool"] = let_wait
