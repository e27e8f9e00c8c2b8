"""Mail: point-to-point messages of this rank's processors, from send to matching receive.

A *standard* send is eager: it puts the message into the outbox, from which it sets out in the
machine's next step. A message that arrives gets the earliest *posted* receive that it matches; if
there is none, it waits in the *unexpected* queue for its receive (`matching`). A *synchronous* send
is a rendezvous, complete when its receive has matched: the receiver then sends an
*acknowledgement*, a message like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from mpinet.machine import Machine
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, as_int
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.contexts import ONE_SIDED, PARTS, RECOVERY, SHORT, Contexts, Scope
from mpinet.mpi.world.events import HAPPENED, Arrival, Awaited, Event, PostedReceive
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.matching import PostedQueue, UnexpectedQueue
from mpinet.mpi.world.message import ACK, Ack, Message, Outbox
from mpinet.mpi.world.processor import Fiber, Processor
from mpinet.mpi.world.turns import Turns

ACKNOWLEDGEMENTS = ("acknowledgements", 0)
"""Name of the context in which synchronous sends are acknowledged; the tag is the send's key."""

Handler = Callable[[Message], None]
"""Function that is called with a message that no receive is for, when it comes."""


class Mail:
    """Mail of this rank's processors: what they send and receive.

    Parameters
    ----------
    turns : Turns
        Who sends and receives, and wakes up for it.
    contexts : Contexts
        Keep communicators' messages apart.
    exits : Exits
        Counts messages that are never received.
    synchronous : bool
        Whether standard sends wait for their receives, as large messages do on real machines.
    """

    logged: bool = False
    """True if sends, receives and computation are noted (`LoggedMail`)."""
    require: Callable[..., None] | None
    """Raises an error where the running processor may not use a context, or reach another one; None
    as long as nothing has failed."""
    send_standard: Callable[[Scope, int, int, Any], Event]
    """Sends a message in the run's standard mode; the event that it returns completes the send."""
    on_notice: Callable[[int, Message], None]
    """Gets a processor, and what has come to it about failures."""

    def __init__(self, turns: Turns, contexts: Contexts, exits: Exits, synchronous: bool):
        self.synchronous = synchronous
        self.require = None
        self.outbox: Outbox = Outbox()
        """Messages sent since the machine's last step."""
        self.to_self: int = 0
        """Messages since then that processors have sent to themselves: no progress of the
        machine."""
        # MPI leaves open whether a standard send is eager or a rendezvous. Binding the choice once
        # keeps it out of the path of every message.
        self.send_standard = self.send_synchronously if synchronous else self.send
        self._turns = turns
        self._exits = exits
        # A context of their own: no receive of a script, however wild, can match an
        # acknowledgement.
        self._acknowledgements = contexts.number(ACKNOWLEDGEMENTS)
        self._unacknowledged: dict[int, Event] = {}
        self._keys = count()
        # A list for each processor, since several of its threads may probe for the same message.
        self._probes: dict[int, list[Arrival]] = {}
        self._handlers: dict[tuple[int, int], Handler] = {}
        # Members enter a window at different steps. An access may come before its target has opened
        # its own end, and must not be lost.
        self._early: dict[tuple[int, int], list[Message]] = {}

    @property
    def choice_points(self) -> int:
        """Number of open choice points: none, as messages are matched in the order of arrival."""
        return 0

    def resolve_choices(self, machine: Machine) -> None:
        """Resolve open choice points at quiescence (collective)."""

    def settle(self) -> None:
        """Let the running processor wait for quiescence, where orders are chosen."""

    def choose(self, events: Mapping[int, Event]) -> int:
        """The place of one of the running processor's requests that are complete: the first."""
        return next(place for place, event in events.items() if event.done)

    def collect(self) -> Outbox:
        """Take what has been sent out of the outbox."""
        sent, self.outbox = self.outbox, Outbox()
        return sent

    # ---- sends

    def send(self, scope: Scope, target: int, tag: int, data: Any, ack: Ack | None = None) -> Event:
        """Send a message from the running processor to another one, or to itself.

        The usual case takes no further call: ranks that are their processors, and a small tag.

        Parameters
        ----------
        scope : Scope
            Where it is sent.
        target : int
            The receiver's rank; `PROC_NULL`: no rank's.
        tag : int
            The tag.
        data : bytes
            The packed payload, or any object whose ``len()`` is its size in bytes.
        ack : Ack, optional
            Where to acknowledge the matching receive.

        Returns
        -------
        Event
            The completion of a standard send, which has happened.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_TAG``: there is no such rank or tag.
        """
        # In the whole world a rank is its processor's number. Then no table is asked, which is most
        # of the cost of a lookup.
        receiver, others = target, scope.others
        if type(target) is not int or not 0 <= target < others.plain:
            if target == PROC_NULL:
                self.nothing(scope)
                return HAPPENED
            receiver = others.processor(as_int(target))
        # The emulator's own tags may have any number of bits: collectives put their kind, root and
        # operator into them.
        if scope.tags >= 0 and (type(tag) is not int or not 0 <= tag < SHORT):
            tag = scope.allowed(tag)
        here = self._turns.current
        sender, group = here.id, scope.group
        if self.require is not None:
            self.require(scope.context, receiver)
        # The receiver needs the sender's rank in this communicator. Only the sender can tell it
        # without knowing the receiver's group.
        source = sender if group.plain else group.rank_of(sender)
        message = scope.context, source, tag, data, ack
        if receiver == sender:
            # It never enters the machine, which has no link from a processor to itself. MPI still
            # delivers it, in order with others of the same source.
            self.to_self += 1
            # What comes is the processor's: it may itself block in the receive of this message.
            self._match(here.processor if type(here) is Fiber else here, message)
        else:
            account: Account = here.account  # type: ignore[assignment]
            account.sent += len(data)
            # Eager: the body is a copy already, so the send is complete. Memory for it is the
            # emulator's, as a real eager buffer is the library's.
            self.outbox.extend((sender, receiver, account.number, message))
        return HAPPENED

    def send_synchronously(self, scope: Scope, target: int, tag: int, data: Any) -> Event:
        """Send a message as `send` does; the event is its acknowledgement."""
        if target == PROC_NULL:
            return HAPPENED
        here = self._turns.current
        assert here.account is not None
        # Keys are this rank's own. The acknowledgement comes back to the rank of the sender, so
        # they need not be unique elsewhere.
        key = next(self._keys)
        event = Awaited(here, "rank {rank} to receive its message", as_int(target), scope.context)
        # Registered before the send: a message to oneself may match at once, and its
        # acknowledgement looks for the key.
        self._unacknowledged[key] = event
        try:
            self.send(scope, target, tag, data, (here.id, key, here.account.number))
        except Exception:
            # A refused send is never acknowledged. Its event would stay for ever, and show up as a
            # wait.
            del self._unacknowledged[key]
            raise
        return event

    def _acknowledge(self, processor: Processor, message: Message) -> None:
        """Tell a synchronous send, on the sender's account, that its receive has matched."""
        ack = message[ACK]
        if ack is None:
            return
        sender, key, account = ack
        # There is no message to oneself, and so none back: the rendezvous ends within the step.
        if sender == processor.id:
            self._turns.happened(self._unacknowledged.pop(key))
        else:
            # Empty, and on the sender's account: the line that chose the rendezvous pays for its
            # second message.
            answer = self._acknowledgements, processor.id, key, b"", None
            self.outbox.extend((processor.id, sender, account, answer))

    # ---- accesses: messages that act where they come, whatever the processor there does

    def on_active(self, context: int, processor: int, handler: Handler | None) -> None:
        """Let messages of a context that come to a processor act there from now on.

        Parameters
        ----------
        context : int
            The context, its part `ONE_SIDED`.
        processor : int
            The processor, one of this rank's.
        handler : callable or None
            What is done with each, also with those that have come before; None: they act no longer.
        """
        if handler is None:
            self._handlers.pop((context, processor), None)
            return
        self._handlers[context, processor] = handler
        # Early messages are handled first and in their order, as MPI orders accesses from one
        # origin.
        for message in self._early.pop((context, processor), ()):
            handler(message)

    def send_active(
        self, sender: int, receiver: int, account: int, context: int, source: int, body: Any
    ) -> None:
        """Send a message that acts at its receiver.

        Parameters
        ----------
        sender, receiver : int
            The processors; the sender is one of this rank's.
        account : int
            The number of the account that pays.
        context : int
            The context, its part `ONE_SIDED`.
        source : int
            The sender's rank in it.
        body : object
            What acts; its ``len()`` is its size in bytes.
        """
        message = context, source, 0, body, None
        if sender == receiver:
            self._deliver_active(receiver, message)
        else:
            self.outbox.extend((sender, receiver, account, message))

    def _deliver_active(self, processor: int, message: Message) -> None:
        """Let a message act at a processor; one that is there before its window waits for it."""
        # News of failures concern the processor and not one of its communicators. They must not
        # wait for one to be opened.
        if message[0] % PARTS == RECOVERY:
            self.on_notice(processor, message)
            return
        where = message[0], processor
        act = self._handlers.get(where)
        if act is None:
            self._early.setdefault(where, []).append(message)
        else:
            act(message)

    # ---- receives

    def nothing(self, scope: Scope) -> Message | None:
        """Send nothing, to `PROC_NULL`, or receive nothing from there: None."""
        if self.require is not None:
            self.require(scope.context)
        return None

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Block the running processor until it has received a message.

        Parameters
        ----------
        scope : Scope
            Where it is sent.
        source, tag : int
            The sender's rank, and the tag; wildcards for any.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_TAG``: there is no such rank or tag.
        """
        turns = self._turns
        here = turns.current
        # The usual case takes no further call, as in `send`.
        if (
            type(source) is int
            and 0 <= source < scope.others.plain
            and (tag is ANY_TAG or scope.tags < 0 or (type(tag) is int and 0 <= tag < SHORT))
        ):
            envelope = scope.context, source, tag
        else:
            envelope = scope.envelope(source, tag)
        if self.require is not None:
            self.require(scope.context)
        # One `PostedReceive` serves all blocking receives of a processor, which has one at a time.
        # A fiber's is posted: messages come to its processor, which may itself block in a receive.
        receive = here.receiving
        if receive is None:
            receive = PostedReceive(here, envelope)
            # A fiber shares its processor's queues. Posting puts its receive in line with the
            # others, as MPI's order of posting wants.
            if type(here) is Fiber:
                self.post(receive)
                turns.wait(receive)
                return receive.message  # type: ignore[return-value]
            here.receiving = receive
        # The object is used again, so a blocking receive allocates nothing. It is never in a queue,
        # where a second use would corrupt the first.
        receive.envelope = envelope
        # Without unexpected messages, as in most scripts, the receive blocks without a search.
        if here.unexpected is None or not self._take_unexpected(receive):
            turns.sleep(receive)
        message, receive.message = receive.message, None
        return message  # type: ignore[return-value]

    def post(self, receive: PostedReceive) -> None:
        """Post a receive of the running processor, without blocking."""
        if self._take_unexpected(receive):
            return
        here = self._turns.current
        if here.posted is None:
            here.posted = PostedQueue()
        here.posted.add(receive)

    def cancel(self, receive: PostedReceive) -> None:
        """Cancel a receive of the running processor that has not matched yet."""
        posted = self._turns.current.posted
        # A receive that has matched cannot be cancelled any more. MPI then completes it as usual.
        if not receive.done and posted is not None:
            posted.cancel(receive)
            self._turns.happened(receive)

    def probe(self, receive: PostedReceive) -> Message | None:
        """The unexpected message that a receive of the running processor would match, if any."""
        unexpected = self._turns.current.unexpected
        return None if unexpected is None else unexpected.find(receive)

    def await_message(self, probe: Arrival) -> Message:
        """Block the running processor until a probe finds a message, which stays there.

        A thread of the same processor may take the message first.
        """
        # A loop, as the message that woke this probe may be gone by its turn: another thread's
        # receive may have taken it.
        while (found := self.probe(probe)) is None:
            probe.done = False
            self._probes.setdefault(self._turns.current.id, []).append(probe)
            self._turns.wait(probe)
        return found

    def take(self, message: Message) -> None:
        """Match an unexpected message of the running processor, which `probe` has found."""
        self._take(self._turns.current, message)

    def completed(self, event: Event) -> None:
        """Notice that the running processor has waited for an event."""

    def calling(self, here: Processor) -> None:
        """Notice that a processor's script calls."""

    def returned(self) -> None:
        """Notice that a call returns to its script."""

    def _take(self, processor: Processor, message: Message) -> None:
        """Match an unexpected message of a processor."""
        assert processor.unexpected is not None
        processor.unexpected.take(message)
        # Empty queues are dropped: their containers would take more memory than all else that an
        # idle processor has.
        if not len(processor.unexpected):
            processor.unexpected = None
        self._acknowledge(processor, message)

    def _take_unexpected(self, receive: PostedReceive) -> bool:
        """Match a receive with an unexpected message; whether there is one."""
        message = self.probe(receive)
        if message is None:
            return False
        self._take(self._turns.current, message)
        receive.message = message
        receive.done = True
        return True

    # ---- delivery

    def deliver(self, slots: list[int], messages: list[Message]) -> None:
        """Deliver what has arrived to the processors in slots.

        The usual case is written out in full, as it is on the path of every message: the processor
        blocks in a receive of just this message, with none posted before, and none to acknowledge.
        """
        processors, ready = self._turns.processors, self._turns.runnable
        # In the order in which the machine delivers them, which is that of their numbers. MPI's
        # rule that messages do not overtake rests on it.
        for slot, message in zip(slots, messages, strict=True):
            processor = processors[slot]
            if (
                processor is not None
                and processor.posted is None
                and type(awaited := processor.awaited) is PostedReceive
            ):
                context, source, tag = awaited.envelope
                come, sender, sent, _, ack = message
                if (
                    ack is None
                    and context == come
                    and (sender == source or source == ANY_SOURCE)
                    and (sent == tag or tag == ANY_TAG)
                ):
                    awaited.message = message
                    processor.awaited = None
                    ready.append(processor)
                    continue
            self._deliver_any(slot, message)

    def _deliver_any(self, slot: int, message: Message) -> None:
        """Deliver any message to what is in a slot: a processor that may have ended."""
        context, _, tag, _, _ = message
        # Active messages need no receive and no turn of their target. So they work for a processor
        # that is blocked, or has ended.
        if context % PARTS >= ONE_SIDED:
            self._deliver_active(self._turns.numbers[slot] or 0, message)
            return
        processor = self._turns.processors[slot]
        if context == self._acknowledgements:
            self._turns.happened(self._unacknowledged.pop(tag))
        elif processor is None:
            self._exits.count_unreceived(slot)
        else:
            self._match(processor, message)

    def _match(self, processor: Processor, message: Message) -> None:
        """Match a message with a receive of its processor; without one it is unexpected."""
        receive = self._receive_for(processor, message)
        if receive is None:
            if processor.unexpected is None:
                processor.unexpected = UnexpectedQueue()
            processor.unexpected.add(message)
            self._tell_probes(processor, message)
            return
        receive.message = message
        self._turns.happened(receive)
        self._acknowledge(processor, message)

    def _tell_probes(self, processor: Processor, message: Message) -> None:
        """Wake what probes for a message: the processor, and each of its threads that does."""
        # Probing is rare, so the common path is one lookup in an empty table.
        if processor.id not in self._probes:
            return
        left = []
        for probe in self._probes.pop(processor.id):
            if probe.matches(message):
                self._turns.happened(probe)
            else:
                left.append(probe)
        if left:
            self._probes[processor.id] = left

    @staticmethod
    def _receive_for(processor: Processor, message: Message) -> PostedReceive | None:
        """The receive that a message is for: one posted earlier, or the one that blocks."""
        posted = processor.posted
        # Receives that were posted earlier go first, even if the processor itself blocks in one
        # that matches as well.
        if posted is not None:
            receive = posted.take(message)
            if not posted:
                processor.posted = None
            if receive is not None:
                return receive
        awaited = processor.awaited
        if type(awaited) is PostedReceive and awaited.matches(message):
            return awaited
        return None
