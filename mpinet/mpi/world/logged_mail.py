"""Mail that notes what processors send and receive, as a program of messages in time.

A processor's *frontier* is what its next operation waits for: the receives and the computing that
it has finished, and the begin of its last send, which returns before its message has left. What a
helper fiber does has a frontier of its own, until the processor waits for it.
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
"""Mark of a need that is met when the operation has begun."""


class Noted(NamedTuple):
    """An operation of a processor."""

    kind: str
    """``calc``, ``send``, ``recv``; ``none``: a receive that has got nothing."""
    amount: int
    """Bytes, or nanoseconds."""
    peer: int
    """The receiver of a send; else -1."""
    envelope: tuple[Any, ...]
    """Context by its name, the sender's rank there, and the tag; empty of a calc."""
    needs: list[int]
    """Numbers of earlier operations, twice, and `BEGUN` more where their begin is enough."""
    account: int
    """Number of the account of the call; -1: none."""


class LoggedMail(Mail):
    """Mail of this rank's processors, which notes their operations.

    Parameters
    ----------
    turns, contexts, exits, synchronous
        As of `Mail`.
    compute : float
        How much of the time that a script computes between two calls counts; 0: none is measured.
    """

    logged = True

    def __init__(
        self, turns: Turns, contexts: Contexts, exits: Exits, synchronous: bool, compute: float
    ):
        super().__init__(turns, contexts, exits, synchronous)
        self.noted: dict[int, list[Noted]] = {}
        """The operations of each processor."""
        self.one_sided: bool = False
        """True if processors have accessed windows, which the log leaves out."""
        self._contexts, self._compute = contexts, compute
        self._frontiers: dict[Processor, list[int]] = {}
        self._posted: dict[PostedReceive, tuple[int, int]] = {}
        self._returned = 0

    def _frontier(self, here: Processor) -> list[int]:
        """Return what a processor or fiber waits for; a fiber begins where its processor is."""
        if here not in self._frontiers:
            # A fiber may start as soon as its processor began it: it waits for what the processor
            # waited for then, and for nothing later.
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
        """Note what a processor has computed since its last call."""
        # Before its first call a processor has returned from none, so there is no moment to measure
        # from.
        if self._compute and here in self._frontiers:
            # The thread's CPU time, since processors of a rank share one thread: only the running
            # one uses any between two calls.
            time = round((thread_time_ns() - self._returned) * self._compute)
            number = self._note(here, "calc", time, -1, ())
            self._frontiers[here] = [number << 1]
        self._frontier(here)

    def returned(self) -> None:
        """Note that a call returns to its script."""
        if self._compute:
            self._returned = thread_time_ns()

    # ---- messages

    def send(self, scope: Scope, target: int, tag: int, data: Any, ack: Ack | None = None) -> Event:
        """Send as `Mail.send` does."""
        target, tag = as_int(target), as_int(tag)
        sending = super().send(scope, target, tag, data, ack)
        if target == PROC_NULL:
            return sending
        here = self._turns.current
        envelope = self._named(scope.context, scope.group.rank_of(here.id), tag)
        # Programs of messages have no empty messages. A byte costs what an empty message costs.
        size = max(1, len(data))
        number = self._note(here, "send", size, scope.others.processor(target), envelope)
        # The next operation waits only for the begin of an eager send. Waiting for its end would
        # serialise what a real NIC overlaps.
        self._frontiers[here] = [number << 1 | BEGUN]
        return sending

    def send_active(self, *args: Any) -> None:
        """Send as `Mail.send_active` does."""
        self.one_sided = True
        super().send_active(*args)

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Receive as `Mail.receive` does."""
        here = self._turns.current
        # Noted before the wait, so that operations stand in the order of their calls. What it got
        # is filled in later.
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
        """Post as `Mail.post` does."""
        here = self._turns.current
        self._posted[receive] = here.id, self._note(here, "none", 0, -1, ())
        super().post(receive)

    def take(self, message: Message) -> None:
        """Match as `Mail.take` does."""
        here = self._turns.current
        number = self._note(here, "none", 0, -1, ())
        super().take(message)
        self._got(here, number, message)

    def completed(self, event: Event) -> None:
        """Let what follows wait for a receive or a fiber that the processor has waited for."""
        here = self._turns.current
        frontier = self._frontier(here)
        if isinstance(event, Completion):
            frontier += self._frontiers.pop(event.fiber, [])  # type: ignore[call-overload]
            # Receives that the fiber still owns were posted by it. Their messages are what its
            # completion has brought.
            awaited = [one for one in self._posted if one.owner is event.fiber]
        else:
            awaited = [event] if isinstance(event, PostedReceive) and event in self._posted else []
        for receive in awaited:
            frontier.append(self._posted[receive][1] << 1)
            self._found(receive)

    def _got(self, here: Processor, number: int, message: Message) -> None:
        """Note what a receive has got for which the processor has waited."""
        self._fill(here.id, number, message)
        self._frontiers[here] = [number << 1]

    def _found(self, receive: PostedReceive) -> None:
        """Note what a posted receive has got; nothing if it was cancelled."""
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
        """Return all operations, with what receives have got that nobody asked for any more."""
        # Requests that were freed or forgotten have still received. A program without these
        # receives would leave their sends unmatched.
        for receive in [*self._posted]:
            self._found(receive)
        return self.noted
