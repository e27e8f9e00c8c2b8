"""A member's side as an origin: what it has sent, and waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

from mpinet.mpi.real import REAL
from mpinet.mpi.windows.accesses import (
    FLUSH,
    READS,
    Access,
    Answer,
    Exposed,
    Wish,
)
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.events import Answering, Event

Got = Callable[[bytes], None]
"""Takes what an access has read."""


class Origin:
    """Origin of accesses to other members' memories.

    Parameters
    ----------
    context : int
        The window's context, its part for accesses.
    rank, processor : int
        The member's rank, and who it is.
    members : sequence of int
        The members by rank.
    """

    def __init__(self, context: int, rank: int, processor: int, members: Sequence[int]):
        self.posted: Counter[int] = Counter()
        """Number of times that each target has let the origin begin, less its beginnings; by
        rank."""
        self.awaited: Event | None = None
        """Event that happens when one more target lets the origin begin; None if the member does
        not wait for that."""
        self.touched: set[int] = set()
        """Targets that it has accessed since it was last known that all was done."""
        self._context = context
        self._rank = rank
        self._processor = processor
        self._members = members
        self._sent: Counter[int] = Counter()
        self._unanswered: set[int] = set()
        self._keys = count(1)
        self._pending: dict[int, tuple[Answering, Got | None, Account]] = {}
        self._open: dict[int, dict[int, Answering]] = {}
        self._error = 0

    # ---- what it sends

    def access(self, target: int, got: Got | None, **what: Any) -> Answering | None:
        """Access a target's memory; the event of its answer, if it gives one.

        Parameters
        ----------
        target : int
            The target's rank.
        got : callable or None
            Takes what has been read.
        **what
            The rest of an `Access`.
        """
        event, key = None, 0
        # What is read has to come back, so the access has an answer. Writes are confirmed together,
        # by one flush.
        if what["kind"] in READS:
            event, key = self._expect(target, "answer", got)
        else:
            self._unanswered.add(target)
        self.touched.add(target)
        account = self._account.number
        self._send(target, Access(self._next(target), key=key, account=account, **what))
        return event

    def wish(
        self, target: int, kind: int, answered: str = "", exclusive: bool = False
    ) -> Answering | None:
        """Want something of a target; the event of its answer, if one is wanted.

        Parameters
        ----------
        target : int
            The target's rank.
        kind : int
            What is wanted.
        answered : str
            What the target is to do; "": nothing is to be answered.
        exclusive : bool
            Whether nobody else may hold the lock that is wanted.
        """
        event, key = self._expect(target, answered, None) if answered else (None, 0)
        account = self._account
        self._send(
            target,
            Wish(self._next(target), kind, key, account.number, exclusive, account.place),
        )
        return event

    def expose(self, origin: int) -> None:
        """Let another member begin to access the memory here."""
        self._send(origin, Exposed())

    def _send(self, target: int, body: Access | Wish | Exposed) -> None:
        account = self._account
        account.sent += self._bytes(target, body)
        running.mail.send_active(
            self._processor,
            self._members[target],
            account.number,
            self._context,
            self._rank,
            body,
        )

    def _bytes(self, target: int, body: Access | Wish | Exposed | Answer) -> int:
        """The bytes of a body that a message to or from a target has; there is none to oneself."""
        return len(body) if self._members[target] != self._processor else 0

    @property
    def _account(self) -> Account:
        """The account of the call under way."""
        account = running.turns.current.account
        assert account is not None
        return account

    def _next(self, target: int) -> int:
        """The place of the next body to a target."""
        # Counted per target: order is promised between one origin and one target only.
        self._sent[target] += 1
        return self._sent[target]

    def _expect(self, target: int, wanted: str, got: Got | None) -> tuple[Answering, int]:
        """The event of a target's answer, and its key."""
        key = next(self._keys)
        event = Answering(running.turns.current, self._context, target, wanted)
        self._pending[key] = event, got, self._account
        self._open.setdefault(target, {})[key] = event
        return event, key

    # ---- what comes back

    def come(self, target: int, body: Answer | Exposed) -> None:
        """Take what a target tells."""
        if isinstance(body, Exposed):
            self.posted[target] += 1
            if self.awaited is not None:
                running.turns.happened(self.awaited)
                self.awaited = None
            return
        event, got, account = self._pending.pop(body.key)
        # The answer's bytes are charged to the line that asked for them, even if another line waits
        # for the answer.
        account.sent += self._bytes(target, body)
        waiting = self._open[target]
        del waiting[body.key]
        # Empty tables go, so that `finish` looks only at targets that still owe an answer.
        if not waiting:
            del self._open[target]
        self._error = self._error or body.error
        if got is not None and not body.error:
            got(body.data)
        running.turns.happened(event)

    def finish(self, targets: Iterable[int], local: bool = False) -> bool:
        """Wait until all accesses to some targets are done; whether anything was waited for.

        Parameters
        ----------
        targets : iterable of int
            Their ranks.
        local : bool
            Whether it is enough that all has come that was to be read.

        Raises
        ------
        Exception
            An access has failed.
        """
        # A set has no order of its own. Flushes must set out in the same order on any hosting.
        targets = sorted(targets)
        # Local completion needs no word from the target: the memory was read when the access was
        # made.
        if not local:
            for target in targets:
                if target in self._unanswered:
                    self._unanswered.remove(target)
                    self.wish(target, FLUSH, "answer")
        waited = self.wait_for(event for each in targets for event in self._events(each))
        if not local:
            self.touched.difference_update(targets)
        self.require_none_failed()
        return waited

    def _events(self, target: int) -> list[Answering]:
        """The events of a target's answers that have not come."""
        return list(self._open.get(target, {}).values())

    @staticmethod
    def wait_for(events: Iterable[Event]) -> bool:
        """Wait for events; whether any had not happened."""
        waited = False
        for event in list(events):
            if not event.done:
                waited = True
                running.turns.wait(event)
        return waited

    def require_none_failed(self) -> None:
        """Raise the error of an access that has failed.

        Raises
        ------
        Exception
            ``ERR_RMA_RANGE``: it was to memory that is not exposed.
        """
        error, self._error = self._error, 0
        if error:
            raise REAL.Exception(error)

    def unanswered(self, target: int) -> bool:
        """Tell if a target has been accessed and nobody knows whether that is done."""
        return target in self._unanswered

    def done(self, target: int) -> None:
        """Know that all accesses to a target are done, by an answer to something else."""
        self._unanswered.discard(target)
        self.touched.discard(target)
