"""Other orders: messages that a receive could have got as well come in an order that is drawn.

A receive from any rank waits until nobody goes on and nothing is under way. Then all messages have
come that it could get in some order, and it takes one that is drawn by the seed, its processor and
how many have been drawn there before: the same on any number of ranks. A wait for one of several
requests waits for the same moment, and draws one of those that are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from mpinet.mpi.real import ANY_SOURCE, PROC_NULL
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.contexts import Contexts, Scope
from mpinet.mpi.world.events import Arrival, Event, Receive
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.matching import Unexpected
from mpinet.mpi.world.message import Message
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.turns import Turns


class Quiet(Event):
    """The moment in which nobody goes on and nothing is under way."""

    __slots__ = ()

    @property
    def said(self) -> str:
        """Name of what is waited for."""
        return "all others to wait"

    @property
    def peer(self) -> int:
        """Nobody in particular."""
        return PROC_NULL

    @property
    def place(self) -> int:
        """No context in particular."""
        return 0


class ShakenMail(Mail):
    """Mail whose receives from any rank get messages in an order that is drawn.

    Parameters
    ----------
    turns, contexts, exits, synchronous
        As for `Mail`.
    seed : int
        Seed of what is drawn.

    Attributes
    ----------
    drawn : dict
        By the number of an account how often its calls could have got another message, and among
        how many messages at most.
    """

    def __init__(
        self, turns: Turns, contexts: Contexts, exits: Exits, synchronous: bool, seed: int
    ):
        super().__init__(turns, contexts, exits, synchronous)
        self.drawn: dict[int, tuple[int, int]] = {}
        self._seed = seed
        self._draws: dict[int, int] = {}
        self._open: dict[int, list[tuple[Receive, Account | None]]] = {}
        self._quiet: list[Quiet] = []

    # ---- receives

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Block the running processor until it has received a message."""
        receive = Receive(self._turns.current, scope.envelope(source, tag))
        self.post(receive)
        self._turns.wait(receive)
        message = receive.message
        assert message is not None
        return message

    def post(self, receive: Receive) -> None:
        """Post a receive of the running processor, without blocking."""
        here = self._turns.current
        self._open.setdefault(here.id, []).append((receive, here.account))
        self._match_exact(here)

    def cancel(self, receive: Receive) -> None:
        """Cancel a receive of the running processor that has not matched yet."""
        here = self._turns.current
        if not receive.done:
            left = [one for one in self._open[here.id] if one[0] is not receive]
            self._open[here.id] = left
            self._turns.happened(receive)
            self._match_exact(here)

    def probe(self, receive: Receive) -> Message | None:
        """The message that a receive of the running processor would match, if any, or one drawn."""
        here = self._turns.current
        found = self._candidates(here, receive)
        return self._one(here, found, here.account) if found else None

    def quiet(self) -> None:
        """Let the running processor wait until nobody goes on."""
        quiet = Quiet(self._turns.current)
        self._quiet.append(quiet)
        self._turns.wait(quiet)

    def pick(self, places: Sequence[int]) -> int:
        """One of several requests that are complete."""
        here = self._turns.current
        return places[self._draw(here, len(places), here.account)]

    def deliver(self, slots: list[int], messages: list[Message]) -> None:
        """Deliver what has arrived to the processors in slots."""
        for slot, message in zip(slots, messages, strict=True):
            self._deliver_any(slot, message)

    def _match(self, processor: Processor, message: Message) -> None:
        """Keep a message, and match those that can get nothing else."""
        if processor.unexpected is None:
            processor.unexpected = Unexpected()
        processor.unexpected.add(message)
        self._match_exact(processor)
        awaited = processor.awaited
        if type(awaited) is Arrival and not _is_wild(awaited) and awaited.matches(message):
            self._turns.happened(awaited)

    # ---- what is drawn

    def _match_exact(self, processor: Processor) -> None:
        """Match the receives that name their source, but none before an open one from any rank."""
        left: list[tuple[Receive, Account | None]] = []
        for receive, account in self._open.get(processor.id, ()):
            found = [] if _is_wild(receive) else self._candidates(processor, receive)
            before = any(_is_wild(one) and found and one.matches(found[0]) for one, _ in left)
            if found and not before:
                self._get(processor, receive, found[0])
            else:
                left.append((receive, account))
        self._open[processor.id] = left

    def _candidates(self, processor: Processor, receive: Receive) -> list[Message]:
        """The messages that a receive may get: of every source the first that it fits."""
        first: dict[int, Message] = {}
        for message in processor.unexpected or ():
            if receive.matches(message):
                first.setdefault(message[1], message)
        return [first[source] for source in sorted(first)]

    def _get(self, processor: Processor, receive: Receive, message: Message) -> None:
        """Let a receive get a message."""
        unexpected = processor.unexpected
        assert unexpected is not None
        unexpected.take(message)
        if not len(unexpected):
            processor.unexpected = None
        receive.message = message
        self._turns.happened(receive)
        self._acknowledge(processor, message)

    def _one(self, processor: Processor, found: list[Message], account: Account | None) -> Message:
        return found[self._draw(processor, len(found), account)]

    def _draw(self, processor: Processor, many: int, account: Account | None) -> int:
        """Draw one of several places, and note that there were several."""
        if many == 1:
            return 0
        number = self._draws[processor.id] = self._draws.get(processor.id, 0) + 1
        if account is not None:
            times, most = self.drawn.get(account.number, (0, 0))
            self.drawn[account.number] = times + 1, max(most, many)
        return Random(f"{self._seed} {processor.id} {number}").randrange(many)

    # ---- when nobody goes on

    @property
    def undecided(self) -> int:
        """Number of things that can be decided on this rank when nobody goes on."""
        return len(self._quiet) + sum(1 for _ in self._decidable())

    def _decidable(self) -> Any:
        """Processors with a receive or a probe from any rank that could get something, and that."""
        for processor in self._turns.processors:
            if processor is None or processor.unexpected is None:
                continue
            awaited = processor.awaited
            if type(awaited) is Arrival and self._candidates(processor, awaited):
                yield processor, awaited, None
                continue
            for receive, account in self._open.get(processor.id, ()):
                if _is_wild(receive) and self._candidates(processor, receive):
                    yield processor, receive, account
                    break

    def decide(self) -> None:
        """Let every processor that can get something from any rank get it."""
        for processor, receive, account in list(self._decidable()):
            if type(receive) is Arrival:
                self._turns.happened(receive)
                continue
            message = self._one(processor, self._candidates(processor, receive), account)
            own = self._open[processor.id]
            self._open[processor.id] = [one for one in own if one[0] is not receive]
            self._get(processor, receive, message)
            self._match_exact(processor)
        quiet, self._quiet = self._quiet, []
        for event in quiet:
            self._turns.happened(event)


def _is_wild(receive: Receive) -> bool:
    """Tell if a receive is from any rank."""
    return receive.envelope[1] == ANY_SOURCE
