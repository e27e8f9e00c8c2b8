"""The desk: who keeps the processors that are left free, and the ports that have names.

There the two ends of a socket find one another, too.

It is at the first processor, whatever its script does there. Others ask it by messages of the
machine and get answers by messages, on the account of the line that asks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from mpinet.mpi.world.contexts import ONE_SIDED, Contexts
from mpinet.mpi.world.events import Awaited
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.message import BODY, Message
from mpinet.mpi.world.turns import Turns

KEEPER = 0
"""The processor at which the desk is."""

WORD = 8
"""Bytes of a number in a question or an answer."""

TAKE, GIVE, PUBLISH, UNPUBLISH, LOOKUP, MEET = range(6)
"""Kinds of questions: for free processors, to have them back, for ports by names, and for the
processor that comes with what one has in the other order."""


@dataclass(slots=True)
class Question:
    """A question to the desk."""

    kind: int
    """Kind of the question."""
    words: list[Any]
    """Numbers and texts of the question."""
    asker: int
    """Processor that asks."""
    key: int
    """Number of the question at this processor."""
    account: int
    """Number of the account that pays."""

    def __len__(self) -> int:
        return _bytes(self.words)


@dataclass(slots=True)
class Reply:
    """The desk's answer to a question: None is a refusal."""

    key: int
    words: list[Any] | None

    def __len__(self) -> int:
        return _bytes(self.words or ())


class Answered(Awaited):
    """The moment in which the desk has answered."""

    __slots__ = ("answer",)

    answer: list[Any] | None
    """The answer."""


class Desk:
    """The desk, as this rank's processors reach it; on the first one's rank what it keeps.

    Parameters
    ----------
    turns : Turns
        Who asks.
    mail : Mail
        Carries questions and answers.
    contexts : Contexts
        The processors that are left free, by the order in which they are taken.
    """

    def __init__(self, turns: Turns, mail: Mail, contexts: Contexts):
        self._turns, self._mail = turns, mail
        # Processors that come back are taken again in this order. So a program's placement does not
        # depend on the order of their ends.
        self._places = {processor: place for place, processor in enumerate(contexts.spare)}
        self._free = [*contexts.spare]
        self._waiting: deque[tuple[int, Question]] = deque()
        self._ports: dict[str, str] = {}
        self._ends: dict[tuple[str, ...], Question] = {}
        self._questions = contexts.number(("desk", ONE_SIDED))
        self._answers = contexts.number(("answers of the desk", ONE_SIDED))
        self._open: dict[int, Answered] = {}
        self._keys = count()
        # Registered on every rank: the keeper may be hosted anywhere, and a handler for a processor
        # elsewhere is simply never called.
        mail.on_active(self._questions, KEEPER, self._asked)

    # ---- who asks

    def ask(self, kind: int, words: Iterable[Any], about: str) -> list[Any] | None:
        """Ask from the running processor, and wait for the answer; None: a refusal."""
        here = self._turns.current
        account = here.account
        assert account is not None
        key, event = next(self._keys), Answered(here, about)
        self._open[key] = event
        # Again with every question, as it costs a dictionary entry. It must be there before the
        # answer of a keeper on the same rank.
        self._mail.on_active(self._answers, here.id, self._come)
        question = Question(kind, [*words], here.id, key, account.number)
        # The keeper's own questions are no messages of the machine, so they cost nothing.
        account.sent += len(question) if here.id != KEEPER else 0
        self._mail.send_active(here.id, KEEPER, account.number, self._questions, here.id, question)
        if event.done and event.answer is None:  # no message: nobody else would have a turn
            self._turns.poll()
        self._turns.wait(event)
        return event.answer

    def give_back(self, processor: int, account: int) -> None:
        """Say that a processor is free again, on the account that has taken it."""
        question = Question(GIVE, [processor], processor, -1, account)
        self._mail.send_active(processor, KEEPER, account, self._questions, processor, question)

    def _come(self, message: Message) -> None:
        """Let a processor have its answer."""
        reply: Reply = message[BODY]
        event = self._open.pop(reply.key)
        event.answer = reply.words
        self._turns.happened(event)

    # ---- the desk itself

    def _asked(self, message: Message) -> None:
        """Answer a question, or as many as can be answered now."""
        question: Question = message[BODY]
        if question.kind == TAKE:
            wanted = question.words[0]
            # More than the machine will ever have free: waiting would be a deadlock that the desk
            # alone can foresee.
            if wanted > len(self._places):
                self._reply(question, None)
            else:
                # First come, first served, even if a later and smaller wish could be met now.
                # Otherwise large spawns might starve.
                self._waiting.append((wanted, question))
        elif question.kind == GIVE:
            self._free = sorted([*self._free, *question.words], key=self._places.__getitem__)
        elif question.kind == MEET:
            self._meet(question)
        else:
            self._reply(question, self._named(question))
        while self._waiting and self._waiting[0][0] <= len(self._free):
            wanted, first = self._waiting.popleft()
            taken, self._free = self._free[:wanted], self._free[wanted:]
            self._reply(first, taken)

    def _meet(self, question: Question) -> None:
        """Tell two that have come with the same words, in turned order, of one another."""
        # The two ends of a socket have the same addresses in turned order. So the pair finds itself
        # without a byte through the socket.
        other = self._ends.pop((*reversed(question.words),), None)
        if other is None:
            self._ends[(*question.words,)] = question
            return
        self._reply(question, [other.asker])
        self._reply(other, [question.asker])

    def _named(self, question: Question) -> list[Any] | None:
        """Do what is wanted of a name; the port that it stands for."""
        name, *port = question.words
        known = self._ports.get(name)
        if question.kind == LOOKUP:
            return None if known is None else [known]
        if question.kind == UNPUBLISH:
            return None if self._ports.pop(name, None) is None else []
        if known is not None:
            return None
        self._ports[name] = port[0]
        return []

    def _reply(self, question: Question, words: list[Any] | None) -> None:
        reply = Reply(question.key, words)
        self._mail.send_active(
            KEEPER, question.asker, question.account, self._answers, KEEPER, reply
        )


def _bytes(words: Iterable[Any]) -> int:
    """Bytes of numbers and texts."""
    return sum(len(word.encode()) if isinstance(word, str) else WORD for word in words)
