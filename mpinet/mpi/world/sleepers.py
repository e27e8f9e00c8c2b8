"""Processors that sleep, by ``time.sleep``: meanwhile all others run.

Sleepers wake in the order of the times to which they sleep. A sleeper wakes when all processors
wait and no message is in flight, because computation and messages take no time next to a sleep. The
order of turns therefore does not depend on real time, although the run really sleeps. Only while
threads, sockets or child processes are at work does real time decide.
"""

from __future__ import annotations

import sys
import time

from mpinet.machine import Machine
from mpinet.mpi.world.processor import Fiber, Processor, number_of
from mpinet.mpi.world.timedloops import in_timed_loop
from mpinet.mpi.world.turns import Turns

SECOND = 10**9
"""A second in nanoseconds."""

NEVER = 1 << 62
"""A time that does not come, in nanoseconds."""

LOOK = 0.001
"""Seconds between two looks at threads and sockets."""


class Sleepers:
    """Sleeping processors of this rank.

    Parameters
    ----------
    machine, turns : Machine, Turns
        The machine and the scheduler.
    """

    def __init__(self, machine: Machine, turns: Turns):
        self._machine, self._turns = machine, turns
        self._now = 0
        self._due: dict[Processor, int] = {}
        self._ends: dict[Processor, float] = {}
        self.hopeful: int = 0
        """Number of sleepers that do not just sleep between two polls in vain."""

    def __len__(self) -> int:
        return len(self._due)

    @property
    def may_sleep(self) -> bool:
        """True if the running processor may give up its turn for a sleep."""
        here, turns = self._turns.current, self._turns
        others = turns.running > 1 or self._machine.transport.size > 1
        return others and here.main is not None and type(here) in (Processor, Fiber)

    def sleep(self, seconds: float) -> None:
        """Let the running processor sleep."""
        here = self._turns.current
        self._due[here] = self._now + min(round(seconds * SECOND), NEVER - self._now)
        self._ends[here] = time.monotonic() + seconds
        # A loop until a time ends by itself.
        is_vain = here.polled and not in_timed_loop(sys._getframe(1))
        here.polled = False
        self.hopeful += not is_vain
        self._turns.sleep()
        self.hopeful -= not is_vain

    def wake(self, others: bool) -> None:
        """Wake the processors with the earliest time (collective).

        Parameters
        ----------
        others : bool
            Whether threads or sockets may act meanwhile.
        """
        own = min(self._due.values(), default=NEVER)
        first = -self._machine.max(-own)[0]
        woken = [one for one, due in self._due.items() if due == first]
        rest = max((self._ends[one] for one in woken), default=0) - time.monotonic()
        if others and self._machine.max(int(rest > 0))[0]:
            time.sleep(LOOK)
            return
        if rest > 0:
            time.sleep(rest)
        self._now = first
        for one in sorted(woken, key=number_of):
            del self._due[one], self._ends[one]
            if one.thread:  # it has not failed meanwhile
                self._turns.runnable.append(one)
