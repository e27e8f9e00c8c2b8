"""Mail: point-to-point messages of this rank's processors, from send to matching receive.

A *standard* send is eager: it puts the message into the outbox, and the message enters the machine
in the next step. An arriving message matches the earliest *posted* receive with its envelope.
Otherwise the message waits in the *unexpected* queue (`matching`). A *synchronous* send is a
rendezvous. It completes when its receive has matched. The receiver then sends an *acknowledgement*,
an ordinary message.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from math import inf
from typing import Any

from mpinet.machine import Machine
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, as_int
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.contexts import ONE_SIDED, PARTS, RECOVERY, SHORT, Contexts, Scope
from mpinet.mpi.world.events import HAPPENED, Arrival, Awaited, Event, Gathering, PostedReceive
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.matching import PostedQueue, UnexpectedQueue
from mpinet.mpi.world.message import ACK, BODY, Ack, Message, Outbox
from mpinet.mpi.world.processor import Fiber, Processor
from mpinet.mpi.world.turns import Turns

ACKNOWLEDGEMENTS = ("acknowledgements", 0)
"""Name of the context for acknowledgements of synchronous sends; their tag is the send's key."""

Handler = Callable[[Message], None]
"""Function called on arrival of an active message, which needs no receive."""


class Mail:
    """Mail of this rank's processors: their sends and receives.

    Parameters
    ----------
    turns : Turns
        Scheduler; wakes processors for messages.
    contexts : Contexts
        Separate the messages of communicators.
    exits : Exits
        Counts unreceived messages.
    eager : float
        Size in bytes of the largest message that a standard send buffers. Standard sends of larger
        messages wait for their receives, like on real machines.
    """

    logged: bool = False
    """True if sends, receives and computation are recorded (`LoggedMail`)."""
    one_by_one: bool = False
    """True if a wait for messages from several ranks is a wait for each of them in turn."""
    require: Callable[..., None] | None
    """Raises an error if the running processor may not use a context or reach a processor; None
    before the first failure.
    """
    send_standard: Callable[[Scope, int, int, Any], Event]
    """Sends a message in the run's standard mode and returns the event that completes the send."""
    on_notice: Callable[[int, Message], None]
    """Called with a processor and its arrived failure notice."""

    def __init__(self, turns: Turns, contexts: Contexts, exits: Exits, eager: float):
        self.eager = eager
        self.require = None
        self.outbox: Outbox = Outbox()
        """Messages sent since the machine's last step."""
        self.to_self: int = 0
        """Messages sent by processors to themselves since then; they are no progress of the
        machine.
        """
        # MPI leaves open whether a standard send is eager or a rendezvous. Binding the choice once
        # keeps the test out of the path of every message.
        self.send_standard = self.send if eager == inf else self.send_by_size
        self._turns = turns
        self._exits = exits
        # A context of their own: no receive of a script, even with wildcards, can match an
        # acknowledgement.
        self._acknowledgements = contexts.number(ACKNOWLEDGEMENTS)
        self._unacknowledged: dict[int, Event] = {}
        self._keys = count()
        # A list for each processor, because several of its threads may probe for the same message.
        self._probes: dict[int, list[Arrival]] = {}
        self._handlers: dict[tuple[int, int], Handler] = {}
        # Members enter a window at different steps. An access may arrive before its target has
        # opened the window, and must not be lost.
        self._early: dict[tuple[int, int], list[Message]] = {}

    @property
    def choice_points(self) -> int:
        """Number of open choice points: 0, because messages match in the order of arrival."""
        return 0

    def resolve_choices(self, machine: Machine) -> None:
        """Resolve open choice points at quiescence (collective); nothing to do here."""

    def settle(self) -> None:
        """Block until quiescence if orders are chosen; nothing to do here."""

    def choose(self, events: Mapping[int, Event]) -> int:
        """Return the index of the running processor's first completed request."""
        return next(place for place, event in events.items() if event.done)

    def collect(self) -> Outbox:
        """Take the sent messages out of the outbox."""
        sent, self.outbox = self.outbox, Outbox()
        return sent

    # ---- sends

    def send(self, scope: Scope, target: int, tag: int, data: Any, ack: Ack | None = None) -> Event:
        """Send a message from the running processor to a processor, possibly to itself.

        The usual case needs no further function call: ranks equal processor numbers, and the tag is
        small.

        Parameters
        ----------
        scope : Scope
            Scope of the message.
        target : int
            The receiver's rank; `PROC_NULL` for no receiver.
        tag : int
            The tag.
        data : bytes
            The packed payload, or any object whose ``len()`` is its size in bytes.
        ack : Ack, optional
            Address for the acknowledgement of the matching receive.

        Returns
        -------
        Event
            The completion of a standard send, which has already happened.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_TAG``: the rank or tag does not exist.
        """
        # In the whole world a rank equals its processor's number. This saves the table, the main
        # cost of a look-up.
        receiver, others = target, scope.others
        if type(target) is not int or not 0 <= target < others.plain:
            if target == PROC_NULL:
                self.nothing(scope)
                return HAPPENED
            receiver = others.processor(as_int(target))
        # The emulator's own tags may have any number of bits, because collectives encode kind, root
        # and operator in them.
        if scope.tags >= 0 and (type(tag) is not int or not 0 <= tag < SHORT):
            tag = scope.allowed(tag)
        here = self._turns.current
        sender, group = here.id, scope.group
        if self.require is not None:
            self.require(scope.context, receiver)
        # The receiver needs the sender's rank in this communicator. Only the sender can determine
        # it without knowing the receiver's group.
        source = sender if group.plain else group.rank_of(sender)
        message = scope.context, source, tag, data, ack
        if receiver == sender:
            # The message never enters the machine, which has no link from a processor to itself.
            # MPI still delivers it, in order with earlier messages of this source.
            self.to_self += 1
            # The message belongs to the processor, which may itself be blocked in a receive of this
            # message.
            self._match(here.processor if type(here) is Fiber else here, message)
        else:
            account: Account = here.account  # type: ignore[assignment]
            account.sent += len(data)
            # Eager: the body is already a copy, and the send is complete. Its memory belongs to the
            # emulator, like a real eager buffer belongs to the library.
            self.outbox.extend((sender, receiver, account.number, message))
        return HAPPENED

    def send_synchronously(self, scope: Scope, target: int, tag: int, data: Any) -> Event:
        """Send a message as `send` does; the returned event is its acknowledgement."""
        if target == PROC_NULL:
            return HAPPENED
        here = self._turns.current
        assert here.account is not None
        # Keys are local to this rank. The acknowledgement returns to the sender's rank, so keys
        # need not be unique elsewhere.
        key = next(self._keys)
        event = Awaited(here, "rank {rank} to receive its message", as_int(target), scope.context)
        # Registered before the send: a message to the same processor may match at once, and its
        # acknowledgement needs the key.
        self._unacknowledged[key] = event
        try:
            self.send(scope, target, tag, data, (here.id, key, here.account.number))
        except Exception:
            # A refused send is never acknowledged. Its event would stay forever and appear as a
            # wait.
            del self._unacknowledged[key]
            raise
        return event

    def send_by_size(self, scope: Scope, target: int, tag: int, data: Any) -> Event:
        """Send a message synchronously if it is larger than `eager`, otherwise as `send` does."""
        send = self.send_synchronously if len(data) > self.eager else self.send
        return send(scope, target, tag, data)

    def _acknowledge(self, processor: Processor, message: Message) -> None:
        """Acknowledge a matched synchronous send, charged to the sender's account."""
        ack = message[ACK]
        if ack is None:
            return
        sender, key, account = ack
        # Messages to the same processor have no acknowledgement message: the rendezvous ends within
        # the step.
        if sender == processor.id:
            self._turns.happened(self._unacknowledged.pop(key))
        else:
            # Empty, and charged to the sender: the line that chose the rendezvous pays for its
            # second message.
            answer = self._acknowledgements, processor.id, key, b"", None
            self.outbox.extend((processor.id, sender, account, answer))

    # ---- active messages: they act on arrival, independent of the target's script

    def on_active(self, context: int, processor: int, handler: Handler | None) -> None:
        """Register the handler for active messages of a context that arrive at a processor.

        Parameters
        ----------
        context : int
            The context, its part `ONE_SIDED`.
        processor : int
            A processor of this rank.
        handler : callable or None
            Called with each message, including messages that arrived before. None removes the
            handler.
        """
        if handler is None:
            self._handlers.pop((context, processor), None)
            return
        self._handlers[context, processor] = handler
        # Early messages are handled first and in order, because MPI orders the accesses of one
        # origin.
        for message in self._early.pop((context, processor), ()):
            handler(message)

    def send_active(
        self, sender: int, receiver: int, account: int, context: int, source: int, body: Any
    ) -> None:
        """Send an active message, which acts on arrival without a receive.

        Parameters
        ----------
        sender, receiver : int
            The processors; this rank hosts the sender.
        account : int
            Number of the charged account.
        context : int
            The context, its part `ONE_SIDED`.
        source : int
            The sender's rank in the context.
        body : object
            Content for the handler; its ``len()`` is its size in bytes.
        """
        message = context, source, 0, body, None
        if sender == receiver:
            self._deliver_active(receiver, message)
        else:
            self.outbox.extend((sender, receiver, account, message))

    def _deliver_active(self, processor: int, message: Message) -> None:
        """Handle an active message at a processor, or keep it until a handler is registered."""
        # Failure notices concern the processor and not a communicator. They must not wait for a
        # communicator to be opened.
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
        """Send or receive nothing, because the peer is `PROC_NULL`; return None."""
        if self.require is not None:
            self.require(scope.context)
        return None

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Block the running processor until it has received a message.

        Parameters
        ----------
        scope : Scope
            Scope of the message.
        source, tag : int
            The sender's rank, and the tag; may be wildcards.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_TAG``: the rank or tag does not exist.
        """
        turns = self._turns
        here = turns.current
        # The usual case needs no further function call, as in `send`.
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
        # A single `PostedReceive` serves all blocking receives of a processor, because only one can
        # be active. A receive of a fiber is posted: messages arrive at its processor, which may
        # itself be blocked in a receive.
        receive = here.receiving
        if receive is None:
            receive = PostedReceive(here, envelope)
            # A fiber shares its processor's queues. Posting puts its receive in line, as required
            # by MPI's order of posting.
            if type(here) is Fiber:
                self.post(receive)
                turns.wait(receive)
                return receive.message  # type: ignore[return-value]
            here.receiving = receive
        # The object is reused, so a blocking receive allocates nothing. It is never in a queue,
        # where reuse would corrupt the first receive.
        receive.envelope = envelope
        # Without unexpected messages, the usual case, the receive blocks without a search.
        if here.unexpected is None or not self._take_unexpected(receive):
            turns.sleep(receive)
        message, receive.message = receive.message, None
        return message  # type: ignore[return-value]

    def receive_from_each(self, scope: Scope, tag: int, bodies: list[Any]) -> None:
        """Block the running processor until a message from each rank without a body has arrived.

        Parameters
        ----------
        scope : Scope
            Scope of the messages.
        tag : int
            The tag, which no other messages have.
        bodies : list
            The bodies by rank, to be filled in where they are None.
        """
        here = self._turns.current
        if self.one_by_one or type(here) is Fiber:
            for source, body in enumerate(bodies):
                if body is None:
                    bodies[source] = self.receive(scope, source, tag)[BODY]
            return
        if self.require is not None:
            self.require(scope.context)
        gathering = Gathering(here, scope.context, tag, bodies)
        for source in range(len(bodies)) if here.unexpected is not None else ():
            if bodies[source] is None and here.unexpected is not None:
                message = here.unexpected.first((scope.context, source, tag))
                if message is not None:
                    self._take(here, message)
                    gathering.take(message)
        if gathering.missing:
            self._turns.sleep(gathering)

    def post(self, receive: PostedReceive) -> None:
        """Post a receive of the running processor, without blocking."""
        here = self._turns.current
        if here.unexpected is not None and self._take_unexpected(receive):
            return
        if here.posted is None:
            here.posted = PostedQueue()
        here.posted.add(receive)

    def cancel(self, receive: PostedReceive) -> None:
        """Cancel a receive of the running processor that has not matched yet."""
        posted = self._turns.current.posted
        # A matched receive can no longer be cancelled. MPI completes it as usual.
        if not receive.done and posted is not None:
            posted.cancel(receive)
            self._turns.happened(receive)

    def posted_by(self, processor: Processor) -> list[PostedReceive]:
        """Return the posted receives of a processor, in order, for the debugger."""
        return list(processor.posted or ())

    def probe(self, receive: PostedReceive) -> Message | None:
        """Return the unexpected message that would match a receive, or None."""
        unexpected = self._turns.current.unexpected
        return None if unexpected is None else unexpected.find(receive)

    def await_message(self, probe: Arrival) -> Message:
        """Block the running processor until a probe finds a message, which stays in the queue.

        Another thread of the same processor may take the message first.
        """
        # A loop, because another thread's receive may have taken the message that woke this probe.
        while (found := self.probe(probe)) is None:
            probe.done = False
            self._probes.setdefault(self._turns.current.id, []).append(probe)
            self._turns.wait(probe)
        return found

    def take(self, message: Message) -> None:
        """Match an unexpected message of the running processor, found earlier by `probe`."""
        self._take(self._turns.current, message)

    def completed(self, event: Event) -> None:
        """Called after the running processor has waited for an event; nothing to do here."""

    def calling(self, here: Processor) -> None:
        """Called when a processor's script calls MPI; nothing to do here."""

    def returned(self) -> None:
        """Called when a call returns to its script; nothing to do here."""

    def _take(self, processor: Processor, message: Message) -> None:
        """Match an unexpected message of a processor."""
        assert processor.unexpected is not None
        processor.unexpected.take(message)
        # Empty queues are dropped, because their containers would take more memory than all
        # remaining state of an idle processor.
        if not len(processor.unexpected):
            processor.unexpected = None
        self._acknowledge(processor, message)

    def _take_unexpected(self, receive: PostedReceive) -> bool:
        """Match a receive with an unexpected message; return whether one was found."""
        message = self.probe(receive)
        if message is None:
            return False
        self._take(self._turns.current, message)
        receive.message = message
        receive.done = True
        return True

    # ---- delivery

    def deliver(self, slots: list[int], messages: list[Message]) -> None:
        """Deliver arrived messages to the processors in slots.

        The usual cases are written out in full, because they are on the path of every message. No
        acknowledgement is due. The processor blocks in a receive of just this message and has no
        posted receives, or it has posted a receive of just this message and none with wildcards.
        """
        turns = self._turns
        processors, ready = turns.processors, turns.runnable
        # Messages are handled in the machine's order of delivery, which is the order of their
        # numbers. MPI's non-overtaking rule depends on this order.
        for slot, message in zip(slots, messages, strict=True):
            processor = processors[slot]
            if processor is not None and message[ACK] is None:
                posted = processor.posted
                if posted is not None:
                    # The fields are those of `PostedQueue.take`, without wildcards.
                    receive: Any = None if posted.wild else posted.exact.get(message[:BODY])
                    if receive is not None and type(receive) is not deque:
                        del posted.exact[message[:BODY]]
                        if not posted.exact:
                            processor.posted = None
                        receive.message = message
                        receive.done = True
                        owner = receive.owner
                        if owner.awaited is receive:
                            owner.awaited = None
                            ready.append(owner)
                        elif owner.awaited is not None:
                            turns.happened(receive)
                        continue
                elif type(awaited := processor.awaited) is PostedReceive:
                    context, source, tag = awaited.envelope
                    come, sender, sent, _, _ = message
                    if (
                        context == come
                        and (sender == source or source == ANY_SOURCE)
                        and (sent == tag or tag == ANY_TAG)
                    ):
                        awaited.message = message
                        processor.awaited = None
                        ready.append(processor)
                        continue
                elif type(awaited) is Gathering and awaited.take(message):
                    if not awaited.missing:
                        processor.awaited = None
                        ready.append(processor)
                    continue
            self._deliver_any(slot, message)

    def _deliver_any(self, slot: int, message: Message) -> None:
        """Deliver a message to a slot; its processor may have ended."""
        context, _, tag, _, _ = message
        # Active messages need no receive and no turn of their target. They also work for a
        # processor that is blocked or has ended.
        if context % PARTS >= ONE_SIDED:
            self._deliver_active(self._turns.numbers[slot] or 0, message)
            return
        processor = self._turns.processors[slot]
        if context == self._acknowledgements:
            self._turns.happened(self._unacknowledged.pop(tag))
        elif processor is None:
            self._exits.count_unreceived(slot, message)
        else:
            self._match(processor, message)

    def _match(self, processor: Processor, message: Message) -> None:
        """Match a message with a receive of its processor, or add it to the unexpected queue."""
        receive = self._receive_for(processor, message)
        if receive is None:
            awaited = processor.awaited
            if type(awaited) is Gathering and awaited.take(message):
                if not awaited.missing:
                    self._turns.happened(awaited)
                return
            if processor.unexpected is None:
                processor.unexpected = UnexpectedQueue()
            processor.unexpected.add(message)
            self._tell_probes(processor, message)
            return
        receive.message = message
        self._turns.happened(receive)
        self._acknowledge(processor, message)

    def _tell_probes(self, processor: Processor, message: Message) -> None:
        """Wake the probes of a processor and its threads that match a message."""
        # Probing is rare: the common path is one look-up in an empty table.
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
        """Return the receive for a message: a posted receive, or the blocking receive."""
        posted = processor.posted
        # Receives posted earlier go first, even if the processor itself blocks in a matching
        # receive.
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
