"""Failed processors and revoked communicators: blocked peers get an error and continue.

A processor fails before a given step: its script ends, but its links still work. All processors
know of the failure as soon as all messages sent before it have arrived, therefore no message is
lost. From then on, operations that can no longer complete raise an error. Agreements are decided by
the first living member, after all living members have sent their wishes. If this member fails
first, the members send their wishes to the next living member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpinet.mpi.real import ANY_SOURCE, PROC_NULL, REAL
from mpinet.mpi.world.contexts import PAIRS, PARTS, RECOVERY, Contexts
from mpinet.mpi.world.events import Awaited, Completion, Event, Waiter
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.message import BODY, Message
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.transit import Transit
from mpinet.mpi.world.turns import Turns

REVOKE, WISH, DECISION = range(3)
"""Kinds of notices: a revoked communicator, a member's wish for an agreement, and a decision."""

WORD = 8
"""Size of a number in a notice, in bytes."""


@dataclass(slots=True)
class Notice:
    """A message of the fault-tolerance protocol."""

    kind: int
    """Kind of the notice."""
    number: int = 0
    """Number of the agreement on the communicator."""
    flag: int = 0
    """Requested or agreed bits."""
    processors: list[int] = field(default_factory=list)
    """Failed processors acknowledged by the sender; in a decision all failed processors."""
    acknowledged: list[int] = field(default_factory=list)
    """In a decision: failed processors acknowledged by all members."""
    account: int = 0
    """Number of the account charged for the answer."""

    def __len__(self) -> int:
        if self.kind == REVOKE:
            return 0
        return WORD * (2 + len(self.processors) + len(self.acknowledged))


class Agreed(Awaited):
    """Event: the members of a communicator have agreed."""

    __slots__ = ("decider", "decision", "wish")

    def __init__(self, owner: Waiter, context: int, wish: Notice):
        super().__init__(owner, "all members to agree", ANY_SOURCE, context)
        self.wish: Notice = wish
        """Notice of the waiting member."""
        self.decision: Notice | None = None
        """Decision of the members; None before."""
        self.decider: int = -1
        """Member that is to decide; -1 if unknown."""


class Recovery:
    """Knowledge of this rank's processors about failures, revocations and agreements.

    Parameters
    ----------
    turns, mail, contexts, transit
        Objects of the run.
    faults : mapping of int to int
        Step before which a processor fails, by processor.
    """

    def __init__(
        self,
        turns: Turns,
        mail: Mail,
        contexts: Contexts,
        transit: Transit,
        faults: Mapping[int, int],
    ):
        self.known: dict[int, int] = {}
        """Step after which each failure became known, by failed processor."""
        self._turns, self._mail, self._contexts, self._transit = turns, mail, contexts, transit
        self.faults = bool(faults)
        """True if processors are scheduled to fail."""
        self._due = dict(sorted(faults.items()))
        self._fallen: dict[int, int] = {}
        self._revoked: set[tuple[int, int]] = set()
        self._open: dict[tuple[int, int, int], Agreed] = {}
        self._wishes: dict[tuple[int, int, int], dict[int, Notice]] = {}
        self.learns: bool = False
        """True if failures become known in the next round."""
        # Counting messages by their first step costs a pass over the arrivals of every step. Runs
        # without faults never need the counts.
        transit.counts = bool(faults)
        # A wait for several ranks would not see that a further one has failed.
        mail.one_by_one |= bool(faults)
        # Notices act on arrival: a processor blocked in a receive must still learn that its peer
        # has failed.
        mail.on_notice = self._come

    # ---- failures

    @property
    def old(self) -> int:
        """This rank's number of messages that delay the notice of a failure."""
        # A perfect failure detector: a failure is announced only after the arrival of all messages
        # sent before it. No receiver learns of it too early.
        unknown = [step for one, step in self._fallen.items() if one not in self.known]
        return self._transit.born_by(max(unknown)) if unknown else 0

    def settle(self, old: int) -> None:
        """Set `learns`: whether this rank announces failures at the start of the next round.

        `old` is the sum of all ranks' `Recovery.old`: messages in flight since before a failure.
        Failures are announced only if this sum is 0.
        """
        # The sum over all ranks makes every rank announce the failure in the same round. Otherwise
        # errors would depend on the hosting.
        self.learns = not old and len(self._fallen) > len(self.known)

    def begin_round(self) -> None:
        """Fail the processors whose step has come, and announce known failures."""
        now = self._transit.now
        if self.learns:
            self._learn(now)
        for processor in [one for one, step in self._due.items() if step <= now]:
            del self._due[processor]
            self._fallen[processor] = now
            # Every rank records every failure, but only the hosting rank has a script to end.
            self._turns.fail(processor)
            kept: tuple[dict[Any, Any], ...] = self._wishes, self._open
            for mine in kept:
                # A dead member neither decides nor waits. The remaining members repeat their wishes
                # to the next decider.
                for key in [key for key in mine if key[1] == processor]:
                    del mine[key]

    def idle(self) -> bool:
        """Let time pass until the next failure; return whether a failure is left."""
        if not self._due:
            return False
        self._transit.idle(max(0, min(self._due.values()) - self._transit.now))
        return True

    def _learn(self, now: int) -> None:
        """Announce the failures so far to this rank's processors."""
        self.learns = False
        # Sorted: `Get_failed` returns failures in the order in which they became known, and all
        # ranks must return the same order.
        self.known |= {one: now for one in sorted(self._fallen) if one not in self.known}
        # From now on every wait and send asks first. Before the first failure these hooks are None
        # and cost a comparison.
        self._watch()
        for (place, _, _), event in [*self._open.items()]:
            # The decider's copy of the wish is lost. The member repeats the wish to the first
            # living member, the new decider.
            if event.decider in self.known:
                self._tell(place, event)
        # A decision may have waited only for the member now known to have failed.
        for place, decider, number in [*self._wishes]:
            self._decide(place, decider, number)
        # Waits that began before the failure was known would never end. Their processors get the
        # error instead of the event.
        self._turns.break_off(self._reason)

    def _watch(self) -> None:
        """Install the checks before waits, sends and receives."""
        self._turns.doubts = self._doubt
        self._mail.require = self._require

    def _doubt(self, here: Processor, event: Event) -> None:
        error = self._reason(here, event)
        if error is not None:
            raise error

    def _reason(self, here: Processor, event: Event) -> Exception | None:
        """Return an error if an awaited event can no longer happen, otherwise None."""
        # A fiber's own wait fails and completes the fiber with the error. An agreement continues
        # without failed members, by definition.
        if isinstance(event, (Completion, Agreed)) or event.peer == PROC_NULL:
            return None
        # A whole communicator is revoked, while a wait belongs to one part of its context.
        place, part = event.place - event.place % PARTS, event.place % PARTS
        if (place, here.id) in self._revoked:
            return _error(REAL.ERR_REVOKED)
        members = self._contexts.members(event.place, here.id)
        # Point-to-point waits concern the named peer alone. They may continue although a third
        # member has failed.
        if part == PAIRS and event.peer != ANY_SOURCE:
            gone = 0 <= event.peer < len(members) and members[event.peer] in self.known
            return _error(REAL.ERR_PROC_FAILED) if gone else None
        if part == PAIRS:
            # A failed sender may have been the intended source of a wildcard receive. After the
            # script has acknowledged all failures, it may wait for the remaining members.
            if set(self.failed(place)) <= self.acknowledged(here, place):
                return None
            # MPI's fault tolerance keeps a nonblocking wildcard receive pending, to complete after
            # an acknowledgement. A blocking receive simply fails.
            is_pending = event is not here.receiving
            return _error(REAL.ERR_PROC_FAILED_PENDING if is_pending else REAL.ERR_PROC_FAILED)
        # In a collective every member depends on every other member. Any failure in the
        # communicator ends the wait.
        return _error(REAL.ERR_PROC_FAILED) if self.failed(place) else None

    def _require(self, place: int, receiver: int | None = None) -> None:
        """Raise an error if the running processor may not use a context or reach a receiver."""
        here, part = self._turns.current, place % PARTS
        if (place - part, here.id) in self._revoked:
            raise _error(REAL.ERR_REVOKED)
        # Only messages of scripts are refused. In a collective the dead member may be anywhere in
        # the pattern, and the receives detect the failure.
        if receiver in self.known and part == PAIRS:
            raise _error(REAL.ERR_PROC_FAILED)

    def failed(self, place: int) -> list[int]:
        """Return the failed members of a communicator, in the order of their announcement."""
        members = set(self.members(place)) if self.known else set()
        return [processor for processor in self.known if processor in members]

    def members(self, place: int) -> Sequence[int]:
        """Return the members of a communicator, from both groups if it has two."""
        groups = self._contexts.groups(place)
        return [member for group in dict.fromkeys(groups) for member in group.members]

    @staticmethod
    def acknowledged(here: Processor, place: int) -> set[int]:
        """Return the members whose failure a processor has acknowledged."""
        known: set[int] = here.storage().setdefault((Recovery, place), set())
        return known

    # ---- revocations

    def is_revoked(self, place: int) -> bool:
        """Return whether the running processor knows that a communicator is revoked."""
        return (place, self._turns.current.id) in self._revoked

    def revoke(self, place: int) -> None:
        """Revoke a communicator and notify all members."""
        here = self._turns.current
        # A second revocation must not send the notices again.
        if self.is_revoked(place):
            return
        for member in self.members(place):
            # The revoker notifies every member itself. Forwarding by the members would survive its
            # failure, but here every notice sent is delivered.
            if member != here.id:
                self._send(here, member, place, Notice(REVOKE))
        self._note_revoked(place, here.id)

    def _note_revoked(self, place: int, processor: int) -> None:
        self._revoked.add((place, processor))
        self._watch()
        self._turns.break_off(self._reason)

    # ---- agreements

    def agree(self, place: int, flag: int) -> Notice:
        """Agree with all living members; blocks until the decision."""
        here = self._turns.current
        kept = here.storage()
        # Members call the agreements of a communicator in the same order. A local count therefore
        # identifies the agreement everywhere, without a message.
        number = kept[Agreed, place] = kept.get((Agreed, place), 0) + 1
        assert here.account is not None
        wish = Notice(
            WISH, number, flag, sorted(self.acknowledged(here, place)), [], here.account.number
        )
        # Registered before the wish is sent, because a decider on this same processor answers at
        # once.
        event = self._open[place, here.id, number] = Agreed(here, place, wish)
        self._tell(place, event)
        self._turns.wait(event)
        assert event.decision is not None
        return event.decision

    def _first(self, place: int) -> int:
        """Return the deciding member: the first member not known to have failed."""
        # In a round all members have the same list of known failures, and therefore the same
        # decider.
        return next(member for member in self.members(place) if member not in self.known)

    def _tell(self, place: int, event: Agreed) -> None:
        """Send a waiting member's wish to the decider."""
        event.decider = self._first(place)
        self._send(event.owner, event.decider, place, event.wish)

    def _send(self, sender: Any, receiver: int, place: int, notice: Notice) -> None:
        account = sender.account
        if receiver != sender.id:
            account.sent += len(notice)
        self._mail.send_active(
            sender.id, receiver, account.number, place + RECOVERY, sender.id, notice
        )

    def _come(self, processor: int, message: Message) -> None:
        """Handle a notice that has arrived at a processor."""
        place, notice = message[0] - RECOVERY, message[BODY]
        # The links of a failed processor still work, and messages reach it. It must not act on
        # them.
        if processor in self._fallen:
            return
        if notice.kind == REVOKE:
            if (place, processor) not in self._revoked:
                self._note_revoked(place, processor)
        elif notice.kind == WISH:
            wishes = self._wishes.setdefault((place, processor, notice.number), {})
            wishes[message[1]] = notice
            self._decide(place, processor, notice.number)
        else:
            # A second answer to the same wish finds no open agreement and must change nothing.
            event = self._open.pop((place, processor, notice.number), None)
            if event is not None:
                event.decision = notice
                self._turns.happened(event)

    def _decide(self, place: int, decider: int, number: int) -> None:
        """Decide if all living members have sent their wishes."""
        wishes = self._wishes.get((place, decider, number))
        members = self.members(place)
        # Every member must have sent a wish or be known to have failed. An earlier decision could
        # omit a wish in flight.
        if wishes is None or any(one not in wishes and one not in self.known for one in members):
            return
        del self._wishes[place, decider, number]
        # All bits set is neutral for a bitwise and. The set of all failures is neutral for an
        # intersection.
        flag, acknowledged = -1, set(self.failed(place))
        for wish in wishes.values():
            flag &= wish.flag
            acknowledged &= set(wish.processors)
        told = flag, self.failed(place), sorted(acknowledged)
        # Sorted, because wishes arrive in an order that depends on distances. The answers must be
        # sent in the same order on any hosting.
        for member, wish in sorted(wishes.items()):
            if member not in self.known:
                decision = Notice(DECISION, number, *told)
                self._mail.send_active(
                    decider, member, wish.account, place + RECOVERY, decider, decision
                )

    @property
    def rows(self) -> list[tuple[int, int, int]]:
        """Failed processors, the step of the failure, and the step at which it became known."""
        fallen = sorted(self._fallen.items())
        return [(one, step, self.known.get(one, -1)) for one, step in fallen]


def _error(code: int) -> Exception:
    error: Exception = REAL.Exception(code)
    return error
