"""The clock that scripts read by ``MPI.Wtime``: a step of the machine is a unit of time.

Computation takes no time, so a script that reads the clock in a loop would wait for ever. Time
passes for a processor that asks again and again, and while the asker's port is busy with what it
has sent.
"""

from __future__ import annotations

from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.transit import Transit
from mpinet.mpi.world.turns import Turns

HURRY = 1000
"""Idling for so many steps makes the next idle round one step longer: so any time comes soon."""

IDLE = 10**12
"""Steps of idling, with no message in flight, after which those who wait for a time are starved."""


class Clock:
    """Lets time pass for those who ask for it.

    Parameters
    ----------
    turns, mail, transit : Turns, Mail, Transit
        The scheduler, what has been sent in this round, and the messages in flight.
    """

    def __init__(self, turns: Turns, mail: Mail, transit: Transit):
        self.asked: int = 0
        """Number of times that this rank's processors have asked for the time in this round."""
        self._turns = turns
        self._mail = mail
        self._transit = transit
        self._idled = 0
        self._senders: set[int] = set()
        self._seen = 0

    @property
    def may_idle(self) -> bool:
        """True if time may pass yet without a message."""
        return self._idled < IDLE

    def idle(self) -> None:
        """Pass time: no message is in flight, and a processor waits for a time."""
        # Idle steps grow geometrically, so a loop until a far time needs logarithmically many
        # rounds.
        steps = 1 + self._idled // HURRY
        self._idled += steps
        self._transit.idle(steps)

    def move(self) -> None:
        """Note that the machine makes a step, with all that has been sent."""
        # Progress: the next idle time starts with single steps again, as an answer may be near.
        self._idled = self._seen = 0
        self._senders.clear()

    def must_wait(self, patience: int) -> bool:
        """Tell if the running processor, which asks for the time, has to wait for it to pass.

        Parameters
        ----------
        patience : int
            How often it may ask while nothing else happens.
        """
        here = self._turns.current
        self.asked += 1
        return self.is_urged_by(here, patience) or self._is_sending(here.id)

    def is_urged_by(self, asker: Processor, patience: int) -> bool:
        """Tell if a processor, or its thread, has asked so often that time has to pass."""
        asker.asked += 1
        # Once time has begun to pass idly, every question makes it pass. Each asker would otherwise
        # need a thousand questions again.
        if asker.asked > patience or self._idled:
            asker.asked = 0
            return True
        return False

    def wait(self) -> None:
        """Resume the running processor after a step, when its port is no longer busy.

        The step comes even if no message is in flight.
        """
        turns = self._turns
        self.asked += 1
        turns.poll()
        # A one-port processor is busy until its messages have left. A clock read in between would
        # claim that sending is free.
        while self._is_sending(turns.current.id):
            turns.poll()

    def _is_sending(self, sender: int) -> bool:
        """Tell if something that a processor has sent has not left its port."""
        outbox = self._mail.outbox
        # Only what was sent since the last question is looked at. A loop that asks would otherwise
        # read the whole outbox each time.
        if self._seen < len(outbox):
            self._senders.update(outbox.senders(self._seen))
            self._seen = len(outbox)
        return sender in self._senders or not self._transit.has_begun(sender)
