"""Alarms of processors: each has a timer and a handler of its own, as a process has.

The operating system has one timer for the process. It rings for the earliest alarm. A processor is
interrupted only while it runs outside of MPI calls, as a real MPI library delays Python's handlers
until its calls return. While an alarm is due, its processor looks for the alarm after each call.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
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
    alarms, set_handler, get_handler = Alarms(turns), signal.signal, signal.getsignal
    begin, left = signal.setitimer, signal.getitimer

    def is_own(what: Any, own: Any) -> bool:
        return what == own and turns.current.main is not None

    def own_signal(number: Any, handler: Any) -> Any:
        if is_own(number, signal.SIGALRM):
            return alarms.set_handler(handler)
        return set_handler(number, handler)

    def own_getsignal(number: Any) -> Any:
        return alarms.handler() if is_own(number, signal.SIGALRM) else get_handler(number)

    def own_setitimer(which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        is_real = is_own(which, signal.ITIMER_REAL)
        return (alarms.begin if is_real else lambda *given: begin(which, *given))(seconds, interval)

    def own_getitimer(which: int) -> tuple[float, float]:
        return alarms.left() if is_own(which, signal.ITIMER_REAL) else left(which)

    def alarm(seconds: int) -> int:
        before, _ = own_setitimer(signal.ITIMER_REAL, seconds)
        return -int(-before // 1)

    own = own_signal, own_getsignal, own_setitimer, own_getitimer, alarm
    names = "signal", "getsignal", "setitimer", "getitimer", "alarm"
    try:
        with replaced(
            *((signal, name, function) for name, function in zip(names, own, strict=True))
        ):
            yield
    finally:
        alarms.end()
