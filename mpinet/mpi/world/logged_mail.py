"""Mail that records the sends and receives of processors as a program of messages in time.

A processor's *frontier* is the set of operations that its next operation depends on. These are its
finished receives and computations, and the begin of its last send, which returns before the message
has left. A helper fiber has a frontier of its own until the processor waits for the fiber.
"""

from __future__ import annotations

from time import thread_time_ns
from typing import Any, NamedTuple

from mpinet.mpi.real import PROC_NULL, as_int
from mpinet.mpi.world.contexts import Contexts, Scope
from mpinet.mpi.world.events import Completion, Event, PostedReceive
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.message import BODY, Ack, Message
from mpinet.mpi.world.processor import Fiber, Processor
from mpinet.mpi.world.turns import Turns

BEGUN = 1
"""Flag of a dependency that is met when the earlier operation has begun."""


class Noted(NamedTuple):
    """A recorded operation of a processor."""

    kind: str
    """``calc``, ``send``, ``recv``, or ``none`` for a receive without a message."""
    amount: int
    """Size in bytes, or computing time in nanoseconds."""
    peer: int
    """Receiver of a send; otherwise -1."""
    envelope: tuple[Any, ...]
    """Context name, sender's rank in the context, and tag; empty for a calc."""
    needs: list[int]
    """Dependencies: twice the number of an earlier operation, plus `BEGUN` if its begin is
    sufficient.
    """
    account: int
    """Number of the call's account; -1 if none."""


class LoggedMail(Mail):
    """Mail of this rank's processors that records their operations.

    Parameters
    ----------
    turns, contexts, exits, eager
        As for `Mail`.
    compute : float
        Factor applied to the computing time between two calls; 0 measures no computation.
    """

    logged = one_by_one = True

    def __init__(
        self, turns: Turns, contexts: Contexts, exits: Exits, eager: float, compute: float
    ):
        super().__init__(turns, contexts, exits, eager)
        self.noted: dict[int, list[Noted]] = {}
        """Recorded operations by processor."""
        self.one_sided: bool = False
        """True if processors have accessed windows. The record leaves these accesses out."""
        self._contexts, self._compute = contexts, compute
        self._frontiers: dict[Processor, list[int]] = {}
        self._posted: dict[PostedReceive, tuple[int, int]] = {}
        self._returned = 0

    def _frontier(self, here: Processor) -> list[int]:
        """Return the frontier of a processor or fiber; a new fiber starts with its processor's."""
        if here not in self._frontiers:
            # A fiber may start as soon as its processor began it. It depends on the processor's
            # frontier at that moment, and on nothing later.
            begun = self._frontier(here.processor) if isinstance(here, Fiber) else []
            self._frontiers[here] = [*begun]
        return self._frontiers[here]

    def _note(self, here: Processor, kind: str, amount: int, peer: int, envelope: Any) -> int:
        operations = self.noted.setdefault(here.id, [])
        account = -1 if here.account is None else here.account.number
        needs = [*self._frontier(here)]
        operations.append(Noted(kind, amount, peer, envelope, needs, account))
        return len(operations) - 1

    def _named(self, context: int, source: int, tag: int) -> tuple[Any, ...]:
        return repr(self._contexts.name(context)), source, tag

    # ---- computing

    def calling(self, here: Processor) -> None:
        """Record the computing time of a processor since its last call."""
        # Before its first call a processor has not returned from any call, so no start time exists.
        if self._compute and here in self._frontiers:
            # The thread's CPU time: the processors of a rank share one thread, and only the running
            # processor uses CPU time between two calls.
            time = round((thread_time_ns() - self._returned) * self._compute)
            number = self._note(here, "calc", time, -1, ())
            self._frontiers[here] = [number << 1]
        self._frontier(here)

    def returned(self) -> None:
        """Record the time at which a call returns to its script."""
        if self._compute:
            self._returned = thread_time_ns()

    # ---- messages

    def send(self, scope: Scope, target: int, tag: int, data: Any, ack: Ack | None = None) -> Event:
        """Send as `Mail.send` does, and record the send."""
        target, tag = as_int(target), as_int(tag)
        sending = super().send(scope, target, tag, data, ack)
        if target == PROC_NULL:
            return sending
        here = self._turns.current
        envelope = self._named(scope.context, scope.group.rank_of(here.id), tag)
        # Programs of messages have no empty messages. One byte costs the same as an empty message.
        size = max(1, len(data))
        number = self._note(here, "send", size, scope.others.processor(target), envelope)
        # The next operation depends only on the begin of an eager send. Depending on its end would
        # serialise operations that a real network card overlaps.
        self._frontiers[here] = [number << 1 | BEGUN]
        return sending

    def send_active(self, *args: Any) -> None:
        """Send as `Mail.send_active` does, and record that windows were accessed."""
        self.one_sided = True
        super().send_active(*args)

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Receive as `Mail.receive` does, and record the receive."""
        here = self._turns.current
        # Recorded before the wait, so operations keep the order of their calls. The received
        # message is filled in later.
        number = self._note(here, "none", 0, -1, ())
        if isinstance(here, Fiber):
            awaited = PostedReceive(here, scope.envelope(source, tag))
            super().post(awaited)
            self._turns.wait(awaited)
            assert awaited.message is not None
            message = awaited.message
        else:
            message = super().receive(scope, source, tag)
        self._got(here, number, message)
        return message

    def post(self, receive: PostedReceive) -> None:
        """Post a receive as `Mail.post` does, and record it."""
        here = self._turns.current
        self._posted[receive] = here.id, self._note(here, "none", 0, -1, ())
        super().post(receive)

    def take(self, message: Message) -> None:
        """Match a message as `Mail.take` does, and record the receive."""
        here = self._turns.current
        number = self._note(here, "none", 0, -1, ())
        super().take(message)
        self._got(here, number, message)

    def completed(self, event: Event) -> None:
        """Add a completed receive or fiber to its processor's frontier."""
        here = self._turns.current
        frontier = self._frontier(here)
        if isinstance(event, Completion):
            frontier += self._frontiers.pop(event.fiber, [])  # type: ignore[call-overload]
            # The fiber posted its remaining receives. Its completion brings their
            # messages.
            awaited = [one for one in self._posted if one.owner is event.fiber]
        else:
            awaited = [event] if isinstance(event, PostedReceive) and event in self._posted else []
        for receive in awaited:
            frontier.append(self._posted[receive][1] << 1)
            self._found(receive)

    def _got(self, here: Processor, number: int, message: Message) -> None:
        """Record the message of a blocking receive; the receive becomes the frontier."""
        self._fill(here.id, number, message)
        self._frontiers[here] = [number << 1]

    def _found(self, receive: PostedReceive) -> None:
        """Record the message of a posted receive; nothing if the receive was cancelled."""
        processor, number = self._posted.pop(receive)
        if receive.message is not None:
            self._fill(processor, number, receive.message)

    def _fill(self, processor: int, number: int, message: Message) -> None:
        context, source, tag = message[:3]
        operations = self.noted[processor]
        operations[number] = operations[number]._replace(
            kind="recv",
            amount=max(1, len(message[BODY])),
            envelope=self._named(context, source, tag),
        )

    def finish(self) -> dict[int, list[Noted]]:
        """Return all operations, including receives that no later call has completed."""
        # Requests that were freed or forgotten have still received. Without these receives the
        # program would contain unmatched sends.
        for receive in [*self._posted]:
            self._found(receive)
        return self.noted
