"""Alarms of processors: each has a timer and a handler of its own, as a process has.

The operating system has one timer for the process. It rings for the earliest alarm. A processor is
interrupted only while it runs outside of MPI calls, as a real MPI library delays Python's handlers
until its calls return. While an alarm is due, its processor looks for the alarm after each call.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil, inf
from time import monotonic
from types import FrameType
from typing import Any

from greenlet import getcurrent

from mpinet.errors import ProgramError
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.settings import SET_HANDLER
from mpinet.mpi.world.turns import Turns
from mpinet.mpi.world.world import NO_ALARM

AGAIN = 0.002
"""Seconds after which an alarm rings again, because its processor did not run."""


class Alarms:
    """Alarms of this rank's processors.

    Parameters
    ----------
    turns : Turns
        The scheduler.
    """

    def __init__(self, turns: Turns):
        self._turns = turns
        self._handlers: dict[Processor, Any] = {}
        self._set_timer = signal.setitimer
        self._before: Any = None
        self._noted = False

    def left(self) -> tuple[float, float]:
        """Return the seconds until the running processor's alarm, and the interval; 0: no alarm."""
        time, interval = self._turns.alarms.get(self._turns.current, NO_ALARM)
        return (0.0 if time == inf else max(time - monotonic(), 1e-6)), interval

    def begin(self, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        """Set the running processor's alarm; return the earlier one as `left` does."""
        left = self.left()
        alarm = (monotonic() + seconds, interval) if seconds else NO_ALARM
        self._turns.alarms[self._turns.current] = alarm
        if self._before is None:
            self._before = SET_HANDLER(signal.SIGALRM, self._ring)
        self._wind()
        return left

    def handler(self) -> Any:
        """Return the running processor's handler."""
        return self._handlers.get(self._turns.current, signal.SIG_DFL)

    def set_handler(self, handler: Any) -> Any:
        """Set the running processor's handler; return the earlier one."""
        before = self.handler()
        self._handlers[self._turns.current] = handler
        return before

    def end(self) -> None:
        """Stop the timer, and restore the handler of the process."""
        if self._before is not None:
            self._turns.alarms.clear()
            self._wind()
            self._set_timer(signal.ITIMER_REAL, 0)
            SET_HANDLER(signal.SIGALRM, self._before)

    def _wind(self) -> None:
        """Let the timer ring for the earliest alarm of a processor that has not ended."""
        alive = self._turns.processors
        times = [time for one, (time, _) in self._turns.alarms.items() if alive[one.slot] is one]
        first = min(times, default=inf)
        now = monotonic()
        self._set_timer(signal.ITIMER_REAL, 0 if first == inf else max(first - now, AGAIN))
        is_due = first <= now
        if is_due != (running.ringing is not None):
            if is_due:
                self._noted = running.noted
            running.ringing = self._look if is_due else None
            running.noted = is_due or self._noted

    def _ring(self, number: int, frame: FrameType | None) -> None:
        """Look for the running processor's alarm, unless the processor is in an MPI call."""
        here = self._turns.current
        self._wind()
        if type(here) is Processor and here.account is None and getcurrent() is here.thread:
            self._look(here)

    def _look(self, here: Processor) -> None:
        """Call the running processor's handler if its alarm is due."""
        time, interval = self._turns.alarms.get(here, NO_ALARM)
        if time > monotonic():
            return
        self._turns.alarms[here] = (time + interval, interval) if interval else NO_ALARM
        self._wind()
        handler = self.handler()
        if callable(handler):
            handler(signal.SIGALRM, sys._getframe(2))
        elif handler is signal.SIG_DFL:
            self._turns.stop(ProgramError("An alarm (SIGALRM) ends the script.", 142))


@contextmanager
def own_alarms(turns: Turns) -> Iterator[None]:
    """Context manager: alarms of processors are their own."""
    alarms, ring, real = Alarms(turns), signal.SIGALRM, signal.ITIMER_REAL

    def routed(name: str, own: Callable[..., Any], which: int) -> Callable[..., Any]:
        function = getattr(signal, name)

        def called(first: int, *given: Any) -> Any:
            is_own = first == which and turns.current.main is not None
            return own(*given) if is_own else function(first, *given)

        return called

    set_timer = routed("setitimer", alarms.begin, real)
    places = [
        (signal, "signal", routed("signal", alarms.set_handler, ring)),
        (signal, "getsignal", routed("getsignal", alarms.handler, ring)),
        (signal, "setitimer", set_timer),
        (signal, "getitimer", routed("getitimer", alarms.left, real)),
        (signal, "alarm", lambda seconds: ceil(set_timer(real, seconds)[0])),
    ]
    try:
        with replaced(*places):
            yield
    finally:
        alarms.end()
