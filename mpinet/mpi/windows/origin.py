"""A member as an origin: its accesses, and awaited answers."""

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
"""Receives the data read by an access."""


class Origin:
    """Origin of accesses to the memory of members.

    Parameters
    ----------
    context : int
        The window's context, its part for accesses.
    rank, processor : int
        The member's rank and processor number.
    members : sequence of int
        The members' processors by rank.
    """

    def __init__(self, context: int, rank: int, processor: int, members: Sequence[int]):
        self.posted: Counter[int] = Counter()
        """By target's rank: number of its calls of `Post`, minus the number already used by
        `Start`.
        """
        self.awaited: Event | None = None
        """Event for the next `Post` of a target; None if the member does not wait for it."""
        self.touched: set[int] = set()
        """Targets accessed since the last time when all accesses were known to be done."""
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

    # ---- sending

    def access(self, target: int, got: Got | None, **what: Any) -> Answering | None:
        """Access a target's memory; return the event of its answer, or None without an answer.

        Parameters
        ----------
        target : int
            The target's rank.
        got : callable or None
            Receives the data read.
        **what
            Remaining fields of an `Access`.
        """
        event, key = None, 0
        # Data read must return, therefore the access has an answer. Writes are confirmed together
        # by a single flush.
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
        """Send a request to a target; return the event of its answer, or None without an answer.

        Parameters
        ----------
        target : int
            The target's rank.
        kind : int
            Kind of the request.
        answered : str
            Description of the awaited answer; empty for no answer.
        exclusive : bool
            Whether the requested lock is exclusive.
        """
        event, key = self._expect(target, answered, None) if answered else (None, 0)
        account = self._account
        self._send(
            target,
            Wish(self._next(target), kind, key, account.number, exclusive, account.place),
        )
        return event

    def expose(self, origin: int) -> None:
        """Allow another member to begin accesses to this member's memory."""
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
        """Return the size of a body as a message to or from a target; 0 for the same processor."""
        return len(body) if self._members[target] != self._processor else 0

    @property
    def _account(self) -> Account:
        """The account of the call that the member is making."""
        account = running.turns.current.account
        assert account is not None
        return account

    def _next(self, target: int) -> int:
        """Return the sequence number of the next body to a target."""
        # Counted per target: order is guaranteed only between an origin and a target.
        self._sent[target] += 1
        return self._sent[target]

    def _expect(self, target: int, wanted: str, got: Got | None) -> tuple[Answering, int]:
        """Register an awaited answer; return its event and key."""
        key = next(self._keys)
        event = Answering(running.turns.current, self._context, target, wanted)
        self._pending[key] = event, got, self._account
        self._open.setdefault(target, {})[key] = event
        return event, key

    # ---- receiving

    def come(self, target: int, body: Answer | Exposed) -> None:
        """Handle an answer or an exposure notice of a target."""
        if isinstance(body, Exposed):
            self.posted[target] += 1
            if self.awaited is not None:
                running.turns.happened(self.awaited)
                self.awaited = None
            return
        event, got, account = self._pending.pop(body.key)
        # The answer's bytes are charged to the line that requested them, even if another line waits
        # for the answer.
        account.sent += self._bytes(target, body)
        waiting = self._open[target]
        del waiting[body.key]
        # Empty tables are removed, therefore `finish` examines only targets with missing answers.
        if not waiting:
            del self._open[target]
        self._error = self._error or body.error
        if got is not None and not body.error:
            got(body.data)
        running.turns.happened(event)

    def finish(self, targets: Iterable[int], local: bool = False) -> bool:
        """Wait until all accesses to some targets are done; return whether any wait was needed.

        Parameters
        ----------
        targets : iterable of int
            The targets' ranks.
        local : bool
            Whether local completion is sufficient: all read data has arrived.

        Raises
        ------
        Exception
            An access has failed.
        """
        # A set has no order of its own. Flushes must be sent in the same order on any hosting.
        targets = sorted(targets)
        # Local completion needs no answer from the target: the memory was read at the access.
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
        """Return the events of a target's missing answers."""
        return list(self._open.get(target, {}).values())

    @staticmethod
    def wait_for(events: Iterable[Event]) -> bool:
        """Wait for events; return whether any had not happened."""
        waited = False
        for event in list(events):
            if not event.done:
                waited = True
                running.turns.wait(event)
        return waited

    def require_none_failed(self) -> None:
        """Raise the error of a failed access, if any.

        Raises
        ------
        Exception
            ``ERR_RMA_RANGE``: the access was to memory that is not exposed.
        """
        error, self._error = self._error, 0
        if error:
            raise REAL.Exception(error)

    def unanswered(self, target: int) -> bool:
        """Return whether a target has accesses whose completion is unknown."""
        return target in self._unanswered

    def done(self, target: int) -> None:
        """Record that all accesses to a target are done, shown by another answer."""
        self._unanswered.discard(target)
        self.touched.discard(target)
