"""The desk: allocates free processors, registers named ports, and pairs the ends of sockets.

The desk is at the first processor, independent of that processor's script. Other processors send
questions to the desk as messages of the machine, and receive answers as messages. These messages
are charged to the line that asks.
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
"""Number of the processor that runs the desk."""

WORD = 8
"""Size of a number in a question or an answer, in bytes."""

TAKE, GIVE, PUBLISH, UNPUBLISH, LOOKUP, MEET = range(6)
"""Kinds of questions: allocate processors, return them, publish, unpublish and look up a port, and
find the processor that asks with the same words in reverse order.
"""


@dataclass(slots=True)
class Question:
    """A question to the desk."""

    kind: int
    """Kind of the question, `TAKE` to `MEET`."""
    words: list[Any]
    """Numbers and texts of the question."""
    asker: int
    """Number of the asking processor."""
    key: int
    """Number of the question, unique on the asker's rank."""
    account: int
    """Number of the account charged for the question."""

    def __len__(self) -> int:
        return _bytes(self.words)


@dataclass(slots=True)
class Reply:
    """The desk's answer to a question; `words` is None for a refusal."""

    key: int
    words: list[Any] | None

    def __len__(self) -> int:
        return _bytes(self.words or ())


class Answered(Awaited):
    """Event: the desk has answered."""

    __slots__ = ("answer",)

    answer: list[Any] | None
    """Words of the answer; None for a refusal."""


class Desk:
    """The desk as seen by this rank's processors, and its state on the first processor's rank.

    Parameters
    ----------
    turns : Turns
        Scheduler of this rank's processors.
    mail : Mail
        Carries questions and answers.
    contexts : Contexts
        Contains the free processors, in order of allocation.
    """

    def __init__(self, turns: Turns, mail: Mail, contexts: Contexts):
        self._turns, self._mail = turns, mail
        # Returned processors are sorted into this order again. A program's placement therefore does
        # not depend on the order in which earlier programs ended.
        self._places = {processor: place for place, processor in enumerate(contexts.spare)}
        self._free = [*contexts.spare]
        self._waiting: deque[tuple[int, Question]] = deque()
        self._ports: dict[str, str] = {}
        self._ends: dict[tuple[str, ...], Question] = {}
        self._questions = contexts.number(("desk", ONE_SIDED))
        self._answers = contexts.number(("answers of the desk", ONE_SIDED))
        self._open: dict[int, Answered] = {}
        self._keys = count()
        # Registered on every rank, because any rank may host the keeper. A handler for a processor
        # on another rank is never called.
        mail.on_active(self._questions, KEEPER, self._asked)

    # ---- asking

    def ask(self, kind: int, words: Iterable[Any], about: str) -> list[Any] | None:
        """Ask from the running processor and wait for the answer; None is a refusal."""
        here = self._turns.current
        account = here.account
        assert account is not None
        key, event = next(self._keys), Answered(here, about)
        self._open[key] = event
        # Registered again with every question, at the cost of a dictionary entry. The handler must
        # exist before a keeper on the same rank answers.
        self._mail.on_active(self._answers, here.id, self._come)
        question = Question(kind, [*words], here.id, key, account.number)
        # The keeper's own questions are not messages of the machine and cost nothing.
        account.sent += len(question) if here.id != KEEPER else 0
        self._mail.send_active(here.id, KEEPER, account.number, self._questions, here.id, question)
        if event.done and event.answer is None:  # refused without a message: let others run
            self._turns.poll()
        self._turns.wait(event)
        return event.answer

    def give_back(self, processor: int, account: int) -> None:
        """Return a processor to the desk, charged to the account that allocated it."""
        question = Question(GIVE, [processor], processor, -1, account)
        self._mail.send_active(processor, KEEPER, account, self._questions, processor, question)

    def _come(self, message: Message) -> None:
        """Deliver an answer to the asking processor."""
        reply: Reply = message[BODY]
        event = self._open.pop(reply.key)
        event.answer = reply.words
        self._turns.happened(event)

    # ---- the desk itself

    def _asked(self, message: Message) -> None:
        """Handle a question, then answer all questions that can be answered now."""
        question: Question = message[BODY]
        if question.kind == TAKE:
            wanted = question.words[0]
            # More than the total number of spare processors: waiting would be a deadlock, and only
            # the desk can foresee it.
            if wanted > len(self._places):
                self._reply(question, None)
            else:
                # First come, first served, even if a later and smaller request could be met now.
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
        """Pair two questions with the same words in reverse order, and answer both."""
        # The two ends of a socket have the same addresses in reverse order. The ends are therefore
        # paired without a byte through the socket.
        other = self._ends.pop((*reversed(question.words),), None)
        if other is None:
            self._ends[(*question.words,)] = question
            return
        self._reply(question, [other.asker])
        self._reply(other, [question.asker])

    def _named(self, question: Question) -> list[Any] | None:
        """Look up, publish or unpublish a port name; return the looked-up port."""
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
    """Return the size of numbers and texts in bytes."""
    return sum(len(word.encode()) if isinstance(word, str) else WORD for word in words)
