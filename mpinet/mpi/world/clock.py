"""The clock for ``MPI.Wtime``: one step of the machine is one unit of time.

Computation takes no time, so a script that reads the clock in a loop would wait forever. Therefore
time passes for a processor that reads the clock repeatedly. Time also passes while the port of the
reading processor is busy with its sent messages. Each reading takes a tick, so no difference of two
readings is zero.
"""

from __future__ import annotations

from collections import Counter
from time import thread_time
from typing import Any

from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.transit import Transit
from mpinet.mpi.world.turns import Turns

STEP, TICK = 1e-6, 1e-9
"""Duration of a step of the machine, and of a reading of the clock, in seconds."""

HURRY = 1000
"""After this many idle steps, each idle round grows by a step, so distant times are reached
quickly.
"""

IDLE = 10**12
"""Idle steps without a message in flight before processors that wait for a time count as
starved.
"""


class Clock:
    """Advances time for processors that read the clock.

    Parameters
    ----------
    turns, mail, transit : Turns, Mail, Transit
        The scheduler, the messages sent in this round, and the messages in flight.
    """

    def __init__(self, turns: Turns, mail: Mail, transit: Transit):
        self.asked: int = 0
        """Clock readings of this rank's processors in this round."""
        self._turns = turns
        self._mail = mail
        self._transit = transit
        self._idled = 0
        self._senders: set[int] = set()
        self._seen = 0
        self._used: Counter[int] | None = None
        self._since = 0.0

    def measure(self) -> None:
        """From now on, add the CPU time of each processor to its time."""
        used = self._used = Counter[int]()
        self._since, sleep = thread_time(), self._turns.sleep

        def sleep_measured(awaited: Any = None) -> None:
            now = thread_time()
            used[self._turns.current.id] += now - self._since  # type: ignore[assignment]
            self._since = now
            sleep(awaited)

        self._turns.sleep = sleep_measured  # type: ignore[method-assign]

    def read(self, asker: Processor) -> float:
        """Return the time of a processor in seconds."""
        # A tick for each reading of the processor, and not of the rank: the time must not depend on
        # the hosting.
        asker.readings += 1
        time = self._transit.now * STEP + asker.readings * TICK
        if self._used is None:
            return time
        return time + self._used[asker.id] + thread_time() - self._since

    @property
    def may_idle(self) -> bool:
        """True if idle time may still pass without a message."""
        return self._idled < IDLE

    def idle(self) -> None:
        """Let time pass: no message is in flight, and a processor waits for a time."""
        # Idle steps grow geometrically. A loop until a distant time needs logarithmically many
        # rounds.
        steps = 1 + self._idled // HURRY
        self._idled += steps
        self._transit.idle(steps)

    def move(self) -> None:
        """Record a step of the machine with all sent messages."""
        # Progress: the next idle time starts with single steps again, because an answer may be
        # near.
        self._idled = self._seen = 0
        self._senders.clear()

    def must_wait(self, patience: int) -> bool:
        """Return whether the running processor must wait before it reads the clock.

        Parameters
        ----------
        patience : int
            Number of readings allowed while nothing else happens.
        """
        here = self._turns.current
        self.asked += 1
        return self.is_urged_by(here, patience) or self._is_sending(here.id)

    def is_urged_by(self, asker: Processor, patience: int) -> bool:
        """Return whether a processor or thread has read the clock so often that time must pass."""
        asker.asked += 1
        # Once idle time has begun, every reading makes time pass. Otherwise each reader would need
        # a thousand readings again.
        if asker.asked > patience or self._idled:
            asker.asked = 0
            return True
        return False

    def wait(self) -> None:
        """Resume the running processor after a step, when its port is no longer busy.

        The step is made even if no message is in flight.
        """
        turns = self._turns
        self.asked += 1
        turns.poll()
        # A one-port processor is busy until its messages have left. Otherwise the clock would show
        # sending as free.
        while self._is_sending(turns.current.id):
            turns.poll()

    def _is_sending(self, sender: int) -> bool:
        """Return whether a message sent by a processor has not left its port."""
        outbox = self._mail.outbox
        # Only messages sent since the last reading are examined. Otherwise a loop of readings would
        # scan the whole outbox each time.
        if self._seen < len(outbox):
            self._senders.update(outbox.senders(self._seen))
            self._seen = len(outbox)
        return sender in self._senders or not self._transit.has_begun(sender)
