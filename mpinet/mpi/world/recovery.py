"""Failed processors and revoked communicators: who waits in vain for them is told, and may go on.

A processor fails before a given step: its script is over, its links go on. All others know of it
as soon as every message has come that had set out by then, so that nothing it has sent is lost.
From then on, what cannot happen any more without it raises an error. Agreements go by way of the
first member that has not failed, which decides when all others have told what they want; if it
fails before, they tell the next one.
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
"""Kinds of notices: a communicator is revoked; what a member wants agreed on; what is agreed."""

WORD = 8
"""Bytes of a number in a notice."""


@dataclass(slots=True)
class Notice:
    """A message of recovery."""

    kind: int
    """Kind of the message."""
    number: int = 0
    """Number of the agreement on the communicator."""
    flag: int = 0
    """Bits that are wanted, or agreed on."""
    processors: list[int] = field(default_factory=list)
    """Failed processors that the sender has acknowledged; in a decision all failed processors."""
    acknowledged: list[int] = field(default_factory=list)
    """Failed processors that all have acknowledged, in a decision."""
    account: int = 0
    """The account that pays for the answer."""

    def __len__(self) -> int:
        if self.kind == REVOKE:
            return 0
        return WORD * (2 + len(self.processors) + len(self.acknowledged))


class Agreed(Awaited):
    """The moment in which a communicator's members have agreed."""

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
    """Knowledge of this rank's processors of failures, revocations and agreements.

    Parameters
    ----------
    turns, mail, contexts, transit
        Of the run.
    faults : mapping of int to int
        The step before which a processor fails.
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
        """Step after which each processor failed, for processors whose failure is known."""
        self._turns, self._mail, self._contexts, self._transit = turns, mail, contexts, transit
        self.faults = bool(faults)
        """True if processors fail."""
        self._due = dict(sorted(faults.items()))
        self._fallen: dict[int, int] = {}
        self._revoked: set[tuple[int, int]] = set()
        self._open: dict[tuple[int, int, int], Agreed] = {}
        self._wishes: dict[tuple[int, int, int], dict[int, Notice]] = {}
        self.learns: bool = False
        """True if failures become known in the next round."""
        # Counting messages by their step of birth costs a pass over every step's arrivals. Runs
        # without faults never ask.
        transit.counts = bool(faults)
        # Notices act when they arrive: a processor that is blocked in a receive must still learn
        # that its peer has failed.
        mail.on_notice = self._come

    # ---- failures

    @property
    def old(self) -> int:
        """This rank's share of the messages that keep others from knowing of a failure."""
        # A perfect failure detector: a failure is announced only after the last message that had
        # set out by then. So no receiver is told too early.
        unknown = [step for one, step in self._fallen.items() if one not in self.known]
        return self._transit.born_by(max(unknown)) if unknown else 0

    def settle(self, old: int) -> None:
        """Notice, with the sum of all ranks' `old`, if a failure is known in the next round."""
        # Decided by a sum over all ranks, so every rank announces in the same round. Otherwise
        # errors would depend on the hosting.
        self.learns = not old and len(self._fallen) > len(self.known)

    def begin_round(self) -> None:
        """Let processors fail whose step has come, and tell others of those that have failed."""
        now = self._transit.now
        if self.learns:
            self._learn(now)
        for processor in [one for one, step in self._due.items() if step <= now]:
            del self._due[processor]
            self._fallen[processor] = now
            # Every rank notes every failure, but only the hosting one has a script to end.
            self._turns.fail(processor)
            kept: tuple[dict[Any, Any], ...] = self._wishes, self._open
            for mine in kept:
                # A dead member neither decides nor waits. The other members repeat their wishes to
                # the next decider.
                for key in [key for key in mine if key[1] == processor]:
                    del mine[key]

    def idle(self) -> bool:
        """Let time pass up to the next failure; whether there is one."""
        if not self._due:
            return False
        self._transit.idle(max(0, min(self._due.values()) - self._transit.now))
        return True

    def _learn(self, now: int) -> None:
        """Let all know of the failures so far."""
        self.learns = False
        # Sorted: `Get_failed` tells failures in the order in which they were known, and all ranks
        # have to tell the same.
        self.known |= {one: now for one in sorted(self._fallen) if one not in self.known}
        # From now on every wait and send asks first. Before the first failure these hooks are None,
        # and cost a comparison.
        self._watch()
        for (place, _, _), event in [*self._open.items()]:
            # The decider took the wish with it. The member repeats it to the first one that lives,
            # which now has to decide.
            if event.decider in self.known:
                self._tell(place, event)
        # A decision may have waited for just the member that is now known to have failed.
        for place, decider, number in [*self._wishes]:
            self._decide(place, decider, number)
        # Waits that began before the failure was known would never end. Their processors get the
        # error in place of the event.
        self._turns.break_off(self._reason)

    def _watch(self) -> None:
        """Ask, from now on, before processors wait, send and receive."""
        self._turns.doubts = self._doubt
        self._mail.require = self._require

    def _doubt(self, here: Processor, event: Event) -> None:
        error = self._reason(here, event)
        if error is not None:
            raise error

    def _reason(self, here: Processor, event: Event) -> Exception | None:
        """The reason why an event that a processor waits for cannot happen, if there is one."""
        # A fiber's own wait fails and completes it with the error. An agreement goes on without
        # failed members, by definition.
        if isinstance(event, (Completion, Agreed)) or event.peer == PROC_NULL:
            return None
        # Revocation is of a whole communicator, while a wait is in one part of its context.
        place, part = event.place - event.place % PARTS, event.place % PARTS
        if (place, here.id) in self._revoked:
            return _error(REAL.ERR_REVOKED)
        members = self._contexts.members(event.place, here.id)
        # Point-to-point waits concern the named peer alone: others may go on although a third
        # member has failed.
        if part == PAIRS and event.peer != ANY_SOURCE:
            gone = 0 <= event.peer < len(members) and members[event.peer] in self.known
            return _error(REAL.ERR_PROC_FAILED) if gone else None
        if part == PAIRS:
            # A wild receive could have been meant for a failed sender. Once the script has
            # acknowledged all failures, it may wait for the others.
            if set(self.failed(place)) <= self.acknowledged(here, place):
                return None
            # MPI's fault tolerance keeps a nonblocking wild receive pending, so that it can
            # complete after an acknowledgement. A blocking one simply fails.
            is_pending = event is not here.receiving
            return _error(REAL.ERR_PROC_FAILED_PENDING if is_pending else REAL.ERR_PROC_FAILED)
        # In a collective every member depends on every other. So any failure in the communicator
        # ends the wait.
        return _error(REAL.ERR_PROC_FAILED) if self.failed(place) else None

    def _require(self, place: int, receiver: int | None = None) -> None:
        """Raise an error where the running processor may not use a context, or reach another."""
        here, part = self._turns.current, place % PARTS
        if (place - part, here.id) in self._revoked:
            raise _error(REAL.ERR_REVOKED)
        # Only messages of scripts are refused. In a collective the dead member may stand anywhere
        # in the pattern, and the receives find out.
        if receiver in self.known and part == PAIRS:
            raise _error(REAL.ERR_PROC_FAILED)

    def failed(self, place: int) -> list[int]:
        """Members of a communicator whose failure is known, in the order in which it was."""
        members = set(self.members(place)) if self.known else set()
        return [processor for processor in self.known if processor in members]

    def members(self, place: int) -> Sequence[int]:
        """The members of a communicator, of both groups if it has two."""
        groups = self._contexts.groups(place)
        return [member for group in dict.fromkeys(groups) for member in group.members]

    @staticmethod
    def acknowledged(here: Processor, place: int) -> set[int]:
        """The members whose failure a processor has acknowledged."""
        known: set[int] = here.storage().setdefault((Recovery, place), set())
        return known

    # ---- revocations

    def is_revoked(self, place: int) -> bool:
        """Tell if a communicator is revoked, as far as the running processor knows."""
        return (place, self._turns.current.id) in self._revoked

    def revoke(self, place: int) -> None:
        """Revoke a communicator, and let all other members know."""
        here = self._turns.current
        # Revoking twice must not start a second flood of notices.
        if self.is_revoked(place):
            return
        for member in self.members(place):
            # The revoker tells every member itself. A flood would survive its failure, but here
            # notices that set out are always delivered.
            if member != here.id:
                self._send(here, member, place, Notice(REVOKE))
        self._note_revoked(place, here.id)

    def _note_revoked(self, place: int, processor: int) -> None:
        self._revoked.add((place, processor))
        self._watch()
        self._turns.break_off(self._reason)

    # ---- agreements

    def agree(self, place: int, flag: int) -> Notice:
        """Agree with all members that have not failed; blocks until it is decided."""
        here = self._turns.current
        kept = here.storage()
        # Members call agreements of a communicator in one order. So a local count names the
        # agreement everywhere, without a message.
        number = kept[Agreed, place] = kept.get((Agreed, place), 0) + 1
        assert here.account is not None
        wish = Notice(
            WISH, number, flag, sorted(self.acknowledged(here, place)), [], here.account.number
        )
        # Open before the wish is sent: a decider that is this processor itself answers at once.
        event = self._open[place, here.id, number] = Agreed(here, place, wish)
        self._tell(place, event)
        self._turns.wait(event)
        assert event.decision is not None
        return event.decision

    def _first(self, place: int) -> int:
        """The member that decides: the first that is not known to have failed."""
        # All members have the same list of known failures in a round. So they all turn to the same
        # decider.
        return next(member for member in self.members(place) if member not in self.known)

    def _tell(self, place: int, event: Agreed) -> None:
        """Tell the one who decides what a waiting member wants."""
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
        """Take note of a notice that has come to a processor."""
        place, notice = message[0] - RECOVERY, message[BODY]
        # Links of a failed processor go on, so messages still reach it. It must not act on them.
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
            # A second answer to one wish finds nothing open, and must change nothing.
            event = self._open.pop((place, processor, notice.number), None)
            if event is not None:
                event.decision = notice
                self._turns.happened(event)

    def _decide(self, place: int, decider: int, number: int) -> None:
        """Decide, if all members that have not failed have told what they want."""
        wishes = self._wishes.get((place, decider, number))
        members = self.members(place)
        # Every member must have spoken or be known to have failed. Deciding earlier could leave out
        # a wish that is on its way.
        if wishes is None or any(one not in wishes and one not in self.known for one in members):
            return
        del self._wishes[place, decider, number]
        # All bits set is neutral for a bitwise and; so is the set of all failures for an
        # intersection.
        flag, acknowledged = -1, set(self.failed(place))
        for wish in wishes.values():
            flag &= wish.flag
            acknowledged &= set(wish.processors)
        told = flag, self.failed(place), sorted(acknowledged)
        # Sorted, as wishes come in an order that depends on distances. The answers must set out in
        # one order on any hosting.
        for member, wish in sorted(wishes.items()):
            if member not in self.known:
                decision = Notice(DECISION, number, *told)
                self._mail.send_active(
                    decider, member, wish.account, place + RECOVERY, decider, decision
                )

    @property
    def rows(self) -> list[tuple[int, int, int]]:
        """Processors that have failed: after which step, and after which one that was known."""
        fallen = sorted(self._fallen.items())
        return [(one, step, self.known.get(one, -1)) for one, step in fallen]


def _error(code: int) -> Exception:
    error: Exception = REAL.Exception(code)
    return error
