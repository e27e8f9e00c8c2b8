"""Choice points: receives that could get several messages wait for quiescence, and get one then.

A receive or a probe from any rank, and a wait for one of several requests, wait until all
processors are blocked and no message is in flight. Then all messages have come that they could get
in some order. `Orders` resolves some of these choice points, the same on any number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mpinet.machine import Machine
from mpinet.mpi.real import ANY_SOURCE
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.contexts import Contexts, Scope
from mpinet.mpi.world.events import Awaited, Event, PostedReceive
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.matching import UnexpectedQueue
from mpinet.mpi.world.message import Message
from mpinet.mpi.world.orders import Choice, Orders
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.turns import Turns

SOURCE: Final = 1
"""Place of the sender's rank in a message."""


class ChoicePoint(Awaited):
    """Quiescence: all processors are blocked, no message is in flight, and one option is chosen.

    Parameters
    ----------
    owner : Processor
        Who waits.
    number : int
        Its place among all that the processor lets be decided.
    labels : callable
        Gives what can be got, as numbers.
    """

    __slots__ = ("account", "labels", "number", "taken")

    def __init__(self, owner: Processor, number: int, labels: Callable[[], Sequence[int]]):
        super().__init__(owner, "all others to wait")
        self.number = number
        self.labels = labels
        self.taken: int = 0
        """Number of the received one, once the event has happened."""
        self.account: Account | None = owner.account
        """Account of the call."""


class UnmatchedReceive(NamedTuple):
    """A receive that has not matched yet."""

    receive: PostedReceive
    """Receive that waits."""
    number: int
    """Number among all receives of the processor that are open to a choice."""
    account: Account | None
    """Account of the call that has posted the receive."""


class ChoiceMail(Mail):
    """Mail whose receives from any rank get messages in an order that is chosen.

    Parameters
    ----------
    turns, contexts, exits, synchronous
        As for `Mail`.
    orders : Orders
        Chooses.
    """

    def __init__(
        self, turns: Turns, contexts: Contexts, exits: Exits, synchronous: bool, orders: Orders
    ):
        super().__init__(turns, contexts, exits, synchronous)
        self.drawn: dict[int, tuple[int, int]] = {}
        """Number of receives that could have got another message, and the most candidates of one,
        by the account's number."""
        self._orders = orders
        # Numbers count a processor's own choice points. They name the same point in every run that
        # has the same past.
        self._numbers: dict[int, int] = {}
        # This mail keeps open receives itself. The posted queue of plain mail matches at arrival,
        # which is what has to wait here.
        self._open: dict[int, list[UnmatchedReceive]] = {}
        self._points: dict[int, list[ChoicePoint]] = {}

    # ---- receives

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Block the running processor until it has received a message."""
        # No reuse of the receive, unlike plain mail: it stays listed as open until quiescence
        # chooses.
        receive = PostedReceive(self._turns.current, scope.envelope(source, tag))
        self.post(receive)
        self._turns.wait(receive)
        message = receive.message
        assert message is not None
        return message

    def post(self, receive: PostedReceive) -> None:
        """Post a receive of the running processor, without blocking."""
        here = self._turns.current
        one = UnmatchedReceive(receive, self._number(here), here.account)
        self._open.setdefault(here.id, []).append(one)
        # Exact receives have no choice, so they match at once. Delaying them would only make
        # quiescence come later.
        self._match_exact(here)

    def cancel(self, receive: PostedReceive) -> None:
        """Cancel a receive of the running processor that has not matched yet."""
        here = self._turns.current
        if not receive.done:
            left = [one for one in self._open[here.id] if one.receive is not receive]
            self._open[here.id] = left
            self._turns.happened(receive)
            self._match_exact(here)

    def probe(self, receive: PostedReceive) -> Message | None:
        """The message that a receive of the running processor would match, if any has come.

        One from any rank is chosen among all that could have come.
        """
        here = self._turns.current
        found = self._candidates(here, receive)
        # A probe that names its source has one possible answer. A wild one that finds nothing
        # reports so, as a probe may.
        if not found or not _is_wild(receive):
            return found[0] if found else None
        source = self._chosen(lambda: _sources(self._candidates(here, receive)))
        # Asked again after the wait: more messages may have come, but the first of the chosen
        # source is still there.
        return next(one for one in self._candidates(here, receive) if one[SOURCE] == source)

    def choose(self, events: Mapping[int, Event]) -> int:
        """The place of one of the running processor's requests that are complete."""
        return self._chosen(lambda: [place for place, one in events.items() if one.done])

    def settle(self) -> None:
        """Let the running processor wait for quiescence."""
        self._chosen(lambda: (0,))

    def _chosen(self, labels: Callable[[], Sequence[int]]) -> int:
        """Block the running processor until one of several is got."""
        here = self._turns.current
        point = ChoicePoint(here, self._number(here), labels)
        self._points.setdefault(here.id, []).append(point)
        self._turns.wait(point)
        return point.taken

    def _number(self, processor: Processor) -> int:
        """Number of the next thing that a processor lets be decided."""
        number = self._numbers[processor.id] = self._numbers.get(processor.id, 0) + 1
        return number

    def deliver(self, slots: list[int], messages: list[Message]) -> None:
        """Deliver what has arrived to the processors in slots."""
        # The short path of plain mail matches at arrival. Here each message has to go through
        # `_match`, which only keeps it.
        for slot, message in zip(slots, messages, strict=True):
            self._deliver_any(slot, message)

    def _match(self, processor: Processor, message: Message) -> None:
        """Keep a message, and match those that can get nothing else."""
        if processor.unexpected is None:
            processor.unexpected = UnexpectedQueue()
        processor.unexpected.add(message)
        # A message may complete an exact receive. It may not complete a wild one: another source's
        # might have come first elsewhere.
        self._match_exact(processor)
        self._tell_probes(processor, message)

    def _match_exact(self, processor: Processor) -> None:
        """Match the receives that name their source, but none before an open one from any rank."""
        left: list[UnmatchedReceive] = []
        # In the order of posting, with the unmatched ones before each receive in `left`: these may
        # claim a message first.
        for one in self._open.get(processor.id, ()):
            exact = not _is_wild(one.receive)
            found = self._candidates(processor, one.receive, left) if exact else ()
            if found:
                self._get(processor, one.receive, found[0])
            else:
                left.append(one)
        self._open[processor.id] = left

    def _candidates(
        self, processor: Processor, receive: PostedReceive, before: Sequence[UnmatchedReceive] = ()
    ) -> list[Message]:
        """The messages that a receive may get: of every source the first that it fits.

        Those that a receive from any rank fits which was posted before are that one's.
        """
        first: dict[int, Message] = {}
        for message in processor.unexpected or ():
            if receive.matches(message):
                # Messages of one source do not overtake each other. So of every source only the
                # first is a candidate.
                first.setdefault(message[SOURCE], message)
        # Sorted by source: the options of a choice must not depend on the order of arrival, or a
        # replay could mean another message.
        found = (first[source] for source in sorted(first))
        wild = [one.receive for one in before if _is_wild(one.receive)]
        # An earlier wild receive could take any of these. MPI gives it the right of way, so they
        # are not free for this one.
        return [one for one in found if not any(other.matches(one) for other in wild)]

    def _get(self, processor: Processor, receive: PostedReceive, message: Message) -> None:
        """Let a receive get a message."""
        receive.message = message
        self._turns.happened(receive)
        self._take(processor, message)

    # ---- at quiescence

    @property
    def choice_points(self) -> int:
        """Number of processors on this rank for which something can be decided."""
        return sum(1 for _ in self._choices())

    def _choices(self) -> Iterator[list[Choice]]:
        """Yield processors that can get something, each with all that it can get."""
        for processor in self._turns.processors:
            if processor is None:
                continue
            number, options = processor.id, list[Choice]()
            # Without unexpected messages no receive has an option, and most processors are spared
            # the search.
            own = self._open.get(number, []) if processor.unexpected is not None else []
            for place, one in enumerate(own):
                if _is_wild(one.receive):
                    found = _sources(self._candidates(processor, one.receive, own[:place]))
                    options += [Choice(number, one.number, source) for source in found]
            for point in self._points.get(number, ()):
                options += [Choice(number, point.number, label) for label in point.labels()]
            if options:
                yield options

    def resolve_choices(self, machine: Machine) -> None:
        """Let processors get what is chosen for them (collective)."""
        # Options are fixed before the first choice: resolving one point may match messages that
        # another point's list still names.
        choices = list(self._choices())
        most = {options[0].processor: options for options in choices}
        for chosen in self._orders.decide(machine, choices):
            of = [one for one in most[chosen.processor] if one.event == chosen.event]
            self._let_get(chosen, len(of))

    def _let_get(self, chosen: Choice, many: int) -> None:
        """Let a processor get one of so many."""
        number = chosen.processor
        for point in self._points.get(number, ()):
            if point.number == chosen.event:
                self._points[number].remove(point)
                # Only points with several options can make two runs differ. They are what the
                # report on a race names.
                self._note(point.account, many)
                point.taken = chosen.label
                self._turns.happened(point)
                return
        one = next(one for one in self._open[number] if one.number == chosen.event)
        processor: Any = one.receive.owner
        # No earlier receives are excluded here: the choice was made among options that had been
        # filtered already.
        found = self._candidates(processor, one.receive)
        self._note(one.account, many)
        self._open[number].remove(one)
        message = next(each for each in found if each[SOURCE] == chosen.label)
        self._get(processor, one.receive, message)
        self._match_exact(processor)

    def _note(self, account: Account | None, many: int) -> None:
        """Note that a call could have got another message."""
        if many > 1 and account is not None:
            # By account, as the report is about lines of the script and not about single receives.
            times, most = self.drawn.get(account.number, (0, 0))
            self.drawn[account.number] = times + 1, max(most, many)


def _is_wild(receive: PostedReceive) -> bool:
    """Tell if a receive is from any rank."""
    return receive.envelope[1] == ANY_SOURCE


def _sources(messages: Sequence[Message]) -> list[int]:
    """The ranks of messages' senders."""
    return [message[SOURCE] for message in messages]
