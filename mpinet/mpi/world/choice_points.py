"""Choice points: receives with several candidate messages are matched at quiescence.

Choice points are a receive or probe from any rank, and a wait for one of several requests. They
wait until all processors are blocked and no message is in flight. At this moment all messages have
arrived that could match in some order. `Orders` resolves some of these choice points, identically
on any number of ranks.
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
"""Index of the sender's rank in a message."""


class ChoicePoint(Awaited):
    """Event: quiescence is reached and one option of this choice point is chosen.

    Parameters
    ----------
    owner : Processor
        The waiting processor.
    number : int
        Number of the choice point among the processor's choice points.
    labels : callable
        Returns the current options as numbers.
    """

    __slots__ = ("account", "labels", "number", "taken")

    def __init__(self, owner: Processor, number: int, labels: Callable[[], Sequence[int]]):
        super().__init__(owner, "all other processors to block")
        self.number = number
        self.labels = labels
        self.taken: int = 0
        """Label of the chosen option, once the event has happened."""
        self.account: Account | None = owner.account
        """Account of the call."""


class UnmatchedReceive(NamedTuple):
    """A receive without a matched message so far."""

    receive: PostedReceive
    """The waiting receive."""
    number: int
    """Number among the processor's choice points."""
    account: Account | None
    """Account of the call that posted the receive."""


class ChoiceMail(Mail):
    """Mail in which wildcard receives get messages in a chosen order.

    Parameters
    ----------
    turns, contexts, exits, eager
        As for `Mail`.
    orders : Orders
        Chooses the order.
    """

    one_by_one = True

    def __init__(
        self, turns: Turns, contexts: Contexts, exits: Exits, eager: float, orders: Orders
    ):
        super().__init__(turns, contexts, exits, eager)
        self.drawn: dict[int, tuple[int, int]] = {}
        """By account number: how many receives had several candidates, and the most candidates of
        one receive.
        """
        self.orders = orders
        """Chooses among the possible messages."""
        # Numbers count a processor's own choice points. A number names the same point in every run
        # with the same past.
        self._numbers: dict[int, int] = {}
        # This mail keeps open receives itself. The posted queue of plain mail matches at arrival,
        # which would be too early here.
        self._open: dict[int, list[UnmatchedReceive]] = {}
        self._points: dict[int, list[ChoicePoint]] = {}

    # ---- receives

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Block the running processor until it has received a message."""
        # Unlike plain mail, the receive is not reused, because it stays listed as open until
        # quiescence.
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
        # Exact receives have no choice and match at once. Delaying them would only delay
        # quiescence.
        self._match_exact(here)

    def posted_by(self, processor: Processor) -> list[PostedReceive]:
        """Return the posted receives of a processor, in order, for the debugger."""
        receives = (one.receive for one in self._open.get(processor.id, ()))
        return [one for one in receives if one is not processor.awaited]

    def cancel(self, receive: PostedReceive) -> None:
        """Cancel a receive of the running processor that has not matched yet."""
        here = self._turns.current
        if not receive.done:
            left = [one for one in self._open[here.id] if one.receive is not receive]
            self._open[here.id] = left
            self._turns.happened(receive)
            self._match_exact(here)

    def probe(self, receive: PostedReceive) -> Message | None:
        """Return the message that a receive of the running processor would match, if any.

        A wildcard probe chooses among all candidate messages at quiescence.
        """
        here = self._turns.current
        found = self._candidates(here, receive)
        # A probe of a given source has only one possible answer. A wildcard probe without a
        # candidate may report no message.
        if not found or not _is_wild(receive):
            return found[0] if found else None
        source = self._chosen(lambda: _sources(self._candidates(here, receive)))
        # Searched again after the wait: more messages may have arrived, but the first message of
        # the chosen source is still present.
        return next(one for one in self._candidates(here, receive) if one[SOURCE] == source)

    def choose(self, events: Mapping[int, Event]) -> int:
        """Return the chosen index of one of the running processor's completed requests."""
        return self._chosen(lambda: [place for place, one in events.items() if one.done])

    def settle(self) -> None:
        """Block the running processor until quiescence."""
        self._chosen(lambda: (0,))

    def _chosen(self, labels: Callable[[], Sequence[int]]) -> int:
        """Block the running processor until an option is chosen; return its label."""
        here = self._turns.current
        point = ChoicePoint(here, self._number(here), labels)
        self._points.setdefault(here.id, []).append(point)
        self._turns.wait(point)
        return point.taken

    def _number(self, processor: Processor) -> int:
        """Return the number of a processor's next choice point."""
        number = self._numbers[processor.id] = self._numbers.get(processor.id, 0) + 1
        return number

    def deliver(self, slots: list[int], messages: list[Message]) -> None:
        """Deliver arrived messages to the processors in slots."""
        # Plain mail's short path matches at arrival. Here `_match` only keeps each message.
        for slot, message in zip(slots, messages, strict=True):
            self._deliver_any(slot, message)

    def _match(self, processor: Processor, message: Message) -> None:
        """Keep a message, and match exact receives."""
        if processor.unexpected is None:
            processor.unexpected = UnexpectedQueue()
        processor.unexpected.add(message)
        # A message may complete an exact receive but not a wildcard receive, because another
        # source's message might have arrived first in another order.
        self._match_exact(processor)
        self._tell_probes(processor, message)

    def _match_exact(self, processor: Processor) -> None:
        """Match exact receives, except those behind an open wildcard receive for the message."""
        left: list[UnmatchedReceive] = []
        # Receives are examined in posting order. `left` holds the unmatched earlier receives, which
        # may claim a message first.
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
        """Return the messages that a receive may get: the first matching message of each source.

        Messages for an earlier wildcard receive are reserved.
        """
        first: dict[int, Message] = {}
        for message in processor.unexpected or ():
            if receive.matches(message):
                # Messages of a source do not overtake each other. Only the first message of each
                # source is a candidate.
                first.setdefault(message[SOURCE], message)
        # Sorted by source: the options of a choice must not depend on the order of arrival.
        # Otherwise a replay could mean another message.
        found = (first[source] for source in sorted(first))
        wild = [one.receive for one in before if _is_wild(one.receive)]
        # An earlier wildcard receive could take any of these messages. MPI gives it precedence, so
        # the messages are not free for this receive.
        return [one for one in found if not any(other.matches(one) for other in wild)]

    def _get(self, processor: Processor, receive: PostedReceive, message: Message) -> None:
        """Match a receive with a message."""
        receive.message = message
        self._turns.happened(receive)
        self._take(processor, message)

    # ---- at quiescence

    @property
    def choice_points(self) -> int:
        """Number of processors on this rank with an open choice."""
        return sum(1 for _ in self._choices())

    def _choices(self) -> Iterator[list[Choice]]:
        """Yield the options of each processor that has any."""
        for processor in self._turns.processors:
            if processor is None:
                continue
            number, options = processor.id, list[Choice]()
            # Without unexpected messages no receive has an option. This test saves the search for
            # most processors.
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
        """Resolve the choice points selected by the order (collective)."""
        # Options are fixed before the first choice, because resolving one point may match messages
        # in another point's list.
        choices = list(self._choices())
        most = {options[0].processor: options for options in choices}
        for chosen in self.orders.decide(machine, choices):
            of = [one for one in most[chosen.processor] if one.event == chosen.event]
            self._let_get(chosen, len(of))

    def _let_get(self, chosen: Choice, many: int) -> None:
        """Resolve a choice point; `many` is its number of options."""
        number = chosen.processor
        for point in self._points.get(number, ()):
            if point.number == chosen.event:
                self._points[number].remove(point)
                # Only points with several options can make two runs differ. The report on races
                # shows these points.
                self._note(point.account, many)
                point.taken = chosen.label
                self._turns.happened(point)
                return
        one = next(one for one in self._open[number] if one.number == chosen.event)
        processor: Any = one.receive.owner
        # Earlier receives are not excluded here, because the options had been filtered before the
        # choice.
        found = self._candidates(processor, one.receive)
        self._note(one.account, many)
        self._open[number].remove(one)
        message = next(each for each in found if each[SOURCE] == chosen.label)
        self._get(processor, one.receive, message)
        self._match_exact(processor)

    def _note(self, account: Account | None, many: int) -> None:
        """Count a call with several candidates, by account."""
        if many > 1 and account is not None:
            # Counted by account, because the report is about lines of the script and not about
            # single receives.
            times, most = self.drawn.get(account.number, (0, 0))
            self.drawn[account.number] = times + 1, max(most, many)


def _is_wild(receive: PostedReceive) -> bool:
    """Return whether a receive accepts any source."""
    return receive.envelope[1] == ANY_SOURCE


def _sources(messages: Sequence[Message]) -> list[int]:
    """Return the ranks of the messages' senders."""
    return [message[SOURCE] for message in messages]
