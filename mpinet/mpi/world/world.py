"""The run of a script on all processors: in rounds, each followed by a step of the machine.

In a round every processor that can go on does so until it waits for something. When all wait, the
ranks agree on what is next, and the machine makes one step with everything that has been sent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from operator import length_hint
from typing import Any, NoReturn, TextIO

from greenlet import GreenletExit, getcurrent, greenlet

from mpinet.machine import Machine
from mpinet.mpi.real import PROC_NULL, REAL, as_int
from mpinet.mpi.world import deadlock
from mpinet.mpi.world.accounts import Account, Accounts
from mpinet.mpi.world.atexit_hooks import let_go
from mpinet.mpi.world.contexts import Contexts, Scope
from mpinet.mpi.world.events import (
    HAPPENED,
    Arrival,
    Completion,
    Event,
    Matching,
    Receive,
)
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.failure import script_line
from mpinet.mpi.world.foundation import Foundation
from mpinet.mpi.world.matching import Posted, Unexpected
from mpinet.mpi.world.message import SENT, TOLD, Message, Told
from mpinet.mpi.world.process_state import Privacy
from mpinet.mpi.world.processor import Processor, Strand
from mpinet.mpi.world.threads import Threads
from mpinet.mpi.world.transit import Transit
from mpinet.mpi.world.trees import Pattern, Trees

PATIENCE = 100
"""Rounds in which processors ask in vain whether something has come before they are starved."""

IN_A_ROUND = 100
"""How often a processor may ask in such a round: until others have run it gets the same answer."""

ASKING = 20_000_000
"""Questions in vain of all processors together before they are starved, however few the rounds."""

HURRY = 1000
"""Idling for so many steps makes the next idle round one step longer: so any time comes soon."""

IDLE = 10**12
"""Steps of idling, with nothing under way, after which those who wait for a time are starved."""

MATCHED = ("matched", 0)
"""Name of the context in which synchronous sends are told of their receives."""


class World:
    """One run of a script on this rank's processors.

    Parameters
    ----------
    machine : Machine
        The machine; its processors are all but its switches.
    routing : str or None
        The routing that brings messages to their targets (default: the network's first).
    packet : int or None
        Bytes of a packet; None: every message is one.
    synchronous : bool
        Whether standard sends wait for their receives, as large messages do on real machines.
    out : text file
        Where rank 0 writes what processors print.
    pattern : Pattern, optional
        What all collectives use (default: what suits the network).

    Attributes
    ----------
    size : int
        Processors.
    current : Processor
        The processor that is running.
    processors : list of (Processor or None)
        This rank's by slot; None for switches and for those that have ended.
    privacy : Privacy
        Tells what processors have of their own, while they run.
    """

    current: Processor
    privacy: Privacy

    def __init__(
        self,
        machine: Machine,
        routing: str | None = None,
        packet: int | None = None,
        synchronous: bool = False,
        out: TextIO = sys.stdout,
        pattern: Pattern | None = None,
    ):
        self.machine = machine
        self.size = machine.topology.hosts
        self.synchronous = synchronous
        self.contexts = Contexts(self.size)
        self.accounts = Accounts(machine.transport.rank, machine.transport.size)
        self.exits = Exits(machine, out)
        self.threads = Threads(self)
        self._foundation = Foundation()
        self.trees = Trees(machine, self._foundation, pattern)
        self.transit = Transit(machine, self.contexts, routing, packet)
        self.processors: list[Processor | None] = [
            Processor(number, slot) if number < self.size else None
            for slot, number in enumerate(machine.nodes.tolist())
        ]
        self._matched = self.contexts.number(MATCHED)
        self._synchronous: dict[int, Matching] = {}
        self._keys = count()
        self._new: list[Processor] = []
        self._ready: list[Processor] = []
        self._turns: Iterator[Processor] = iter(())
        self._polling: list[Processor] = []
        self._sent: list[Any] = []  # items of `SENT`
        self._strands: set[Strand] = set()
        self._running = len(self.processors) - self.processors.count(None)
        self._to_self = 0
        self._in_vain = 0
        self._timed = 0
        self._idled = 0
        self._senders: set[int] = set()
        self._seen = 0
        self._nobody = self.current = Processor(-1, -1)
        self._nobody.thread = getcurrent()

    def run(
        self,
        program: Callable[[Processor], None],
    ) -> None:
        """Let all processors run a program to its end (collective).

        Parameters
        ----------
        program : callable
            What a processor does, in its thread.

        Raises
        ------
        ProgramError
            A program fails; has the processor's traceback.
        Deadlock
            Processors wait for messages that nobody will send.
        """
        self._new = [one for one in self.processors if one is not None]
        for processor in self._new:
            processor.thread = self._thread(processor, program)
        self.privacy = Privacy()
        main = sys.modules["__main__"]
        try:
            while self._round():
                pass
        finally:
            sys.modules["__main__"] = main
            self.threads.end()
            self._close()
            self._foundation.uncover()

    # ---- rounds

    def _round(self) -> bool:
        """Let processors go on, and the machine make a step; whether there is more to do."""
        while self._new or self._ready:
            new, self._new = self._new, []
            for processor in new:  # one by one, so that no stack stands on another
                self._give_turns([processor])
            ready, self._ready = self._ready, []
            self._give_turns(ready)
        with self._foundation.restored():
            return self._step()

    def _step(self) -> bool:
        """Agree with the other ranks on what is next, and do it; whether there is more to do."""
        unsent = len(self._sent) // SENT
        sent, under_way, to_self, polling, wanted, running, ended, timed = self.machine.sum(
            unsent,
            unsent + self.transit.under_way,
            self._to_self,
            len(self._polling),
            len(self.trees.wanted),
            self._running,
            self.exits.news,
            self._timed,
        )
        if ended:
            self.exits.settle()
        self._ready, self._polling, self._to_self, self._timed = self._polling, [], 0, 0
        if wanted:
            self._ready += self.trees.grow()
            return True
        if under_way:
            self._in_vain = self._idled = 0
            self._senders.clear()
            self._seen = 0
            setting_out, self._sent = self._sent, []
            self._deliver(*self.transit.advance(setting_out, sent, under_way))
            return True
        if polling and timed and not to_self and self._idled < IDLE:
            self._idle()
            return True
        self._in_vain = 0 if to_self else self._in_vain + (polling > 0)
        starved = self._in_vain > PATIENCE or self._in_vain * polling * IN_A_ROUND > ASKING
        if running and (starved or not polling):
            deadlock.explain(self, polling)
        return running > 0

    def _idle(self) -> None:
        """Let time pass: nothing is under way, and somebody waits for a time."""
        self._in_vain = 0
        steps = 1 + self._idled // HURRY
        self._idled += steps
        self.transit.idle(steps)

    def _give_turns(self, processors: list[Processor]) -> None:
        """Let processors go on, one after another."""
        self._turns = iter(processors)
        while length_hint(self._turns):
            self.sleep()
        self.sleep()  # takes away what is the last one's own, if that has ended

    def _thread(self, processor: Processor, program: Callable[[Processor], None]) -> greenlet:
        """A processor's thread; `partial` would lie on the stack that is copied at every switch."""
        return greenlet(lambda: self._live(processor, program), self._nobody.thread)

    def _live(self, processor: Processor, program: Callable[[Processor], None]) -> None:
        """A processor's thread."""
        try:
            program(processor)
        except GreenletExit:
            let_go(processor.main)
            return
        except BaseException as error:
            self.exits.fail(processor, error, self.transit.now)
        let_go(processor.main)
        self.exits.leave(processor)
        self.processors[processor.slot] = None
        self._running -= 1

    def _close(self) -> None:
        """End the threads of processors that have not come to their end.

        A script may catch what ends it, and go on to its next call; there it stays.
        """
        self._turns = iter(())
        for processor in [*self._strands, *self.processors]:
            if processor is not None and processor.thread:
                self.current = processor
                processor.thread.throw(GreenletExit)

    # ---- what processors do

    def wait(self, event: Event) -> None:
        """Let the running processor wait until something has happened."""
        if not event.done:
            self.sleep(event)

    def wait_any(self, events: tuple[Event, ...]) -> None:
        """Let the running processor wait until one of several things has happened."""
        if not any(event.done for event in events):
            self.sleep(events)

    def poll(self) -> None:
        """Let the running processor go on after the machine's next step."""
        here = self.current
        here.in_vain += 1
        if self._in_vain and here.in_vain < IN_A_ROUND:
            return
        here.in_vain = 0
        self._polling.append(here)
        self.sleep()

    def time_passes(self, patience: int) -> bool:
        """Whether the running processor, which asks for the time, has to wait for it to pass.

        Parameters
        ----------
        patience : int
            How often it may ask while nothing else happens.
        """
        here = self.current
        self._timed += 1
        here.asked += 1
        if here.asked > patience or self._idled:
            here.asked = 0
            return True
        return self._is_sending(here.id)

    def pass_time(self) -> None:
        """Let the running processor go on after a step, when its port is no longer busy.

        The step comes even if nothing is under way.
        """
        self.poll()
        while self._is_sending(self.current.id):
            self.poll()

    def _is_sending(self, sender: int) -> bool:
        """Whether something has not left a processor's port that it has sent."""
        if self._seen < len(self._sent):
            self._senders.update(self._sent[self._seen :: SENT])
            self._seen = len(self._sent)
        return sender in self._senders or not self.transit.has_begun(sender)

    def begin(self, work: Callable[[], None]) -> Completion:
        """Let the running processor do something beside its script; what tells of its end."""
        here = self.current
        strand = Strand(here)
        completion = Completion(here, strand)

        def live() -> None:
            try:
                work()
            except GreenletExit:
                return
            except Exception as error:
                completion.error = error
            except BaseException as error:
                self.exits.fail(strand, error, self.transit.now)
            self._strands.discard(strand)
            self.happened(completion)

        strand.thread = greenlet(live, self._nobody.thread)
        self._strands.add(strand)
        self._new.append(strand)
        return completion

    def tree(self, root: int) -> Any:
        """The machine's broadcast tree from a processor."""
        if root not in self.trees:
            self.trees.want(root, self.current)
            self.sleep()
        return self.trees[root]

    def stop(self, error: BaseException) -> NoReturn:
        """Let the running processor fail, whatever its script catches."""
        self.exits.fail(self.current, error.with_traceback(script_line()), self.transit.now)
        self.stay()

    def stay(self) -> NoReturn:
        """Let the running processor do nothing more until the run ends, which has failed."""
        while True:
            self.sleep()

    def sleep(self, awaited: Event | tuple[Event, ...] | None = None) -> None:
        """Let others run until this processor is called again, which it is not after the end.

        It calls the next one itself; after the last one the round goes on.

        Parameters
        ----------
        awaited : Event, tuple of Event or None
            What it waits for, one of them; None: somebody calls it anyhow.
        """
        here, privacy, modules = self.current, self.privacy, sys.modules
        here.awaited = awaited
        here.since = self.transit.now
        if (
            here.own is not None
            or len(modules) != privacy.present
            or sys.stdout is not privacy.stdout
            or sys.stderr is not privacy.stderr
        ):
            privacy.leave(here)
        self.current = following = next(self._turns, self._nobody)
        main = following.main
        if main is not None:
            modules["__main__"] = main
        if following.own is not None:
            following.own.enter()
        following.thread.switch()

    def happened(self, event: Event) -> None:
        """Note that something has happened; who waits for it goes on in the next round."""
        event.done = True
        owner = event.owner
        awaited = owner.awaited
        if awaited is event or (type(awaited) is tuple and event in awaited):
            owner.awaited = None
            self._ready.append(owner)

    # ---- messages

    def send(
        self, scope: Scope, target: int, tag: int, data: Any, told: Told | None = None
    ) -> None:
        """Send a message from the running processor to another one, or to itself.

        Parameters
        ----------
        scope : Scope
            Where it is sent.
        target : int
            The receiver's rank; `PROC_NULL`: nobody's.
        tag : int
            The tag.
        data : bytes
            The body, or what says by its length how many bytes.
        told : Told, optional
            Who is told of the matching receive.

        Raises
        ------
        Exception
            ``ERR_RANK``, ``ERR_TAG``: there is no such rank or tag.
        """
        others = scope.others
        if target == PROC_NULL:
            return
        try:
            receiver = others.processor(target)
            if tag & scope.tags != tag:
                raise REAL.Exception(REAL.ERR_TAG)
            if type(tag) is not int:  # an enumeration of the script's, which other ranks lack
                tag = int(tag)
        except TypeError:
            self.send(scope, as_int(target), as_int(tag), data, told)
            return
        here = self.current
        account: Account = here.account  # type: ignore[assignment]
        message = scope.context, scope.group.rank_of(here.id), tag, data, told
        if receiver == here.id:
            self._to_self += 1
            self._hand_to(here, message)
        else:
            account.sent += len(data)
            self._sent.extend((here.id, receiver, account.number, message))

    def send_synchronously(self, scope: Scope, target: int, tag: int, data: Any) -> Event:
        """Send a message as `send` does; what happens when a receive has matched."""
        if target == PROC_NULL:
            return HAPPENED
        here = self.current
        assert here.account is not None
        key = next(self._keys)
        matching = self._synchronous[key] = Matching(here, scope.context, as_int(target))
        try:
            self.send(scope, target, tag, data, (here.id, key, here.account.number))
        except Exception:
            del self._synchronous[key]
            raise
        return matching

    def send_standard(self, scope: Scope, target: int, tag: int, data: Any) -> Event:
        """Send a message in the run's standard mode; what completes the send."""
        if self.synchronous:
            return self.send_synchronously(scope, target, tag, data)
        self.send(scope, target, tag, data)
        return HAPPENED

    def receive(self, scope: Scope, source: int, tag: int) -> Message:
        """Wait for a message to the running processor.

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
        here = self.current
        envelope = scope.expected(source, tag)
        receive = here.receiving
        if receive is None:
            receive = Receive(here, envelope)
            if type(here) is Strand:
                self.post(receive)
                self.wait(receive)
                return receive.message  # type: ignore[return-value]
            here.receiving = receive
        receive.envelope = envelope
        if here.unexpected is None or not self._take(receive):
            self.sleep(receive)
        message, receive.message = receive.message, None
        return message  # type: ignore[return-value]

    def post(self, receive: Receive) -> None:
        """Let the running processor expect a message without waiting for it."""
        if self._take(receive):
            return
        here = self.current
        if here.posted is None:
            here.posted = Posted()
        here.posted.add(receive)

    def cancel(self, receive: Receive) -> None:
        """Let a posted receive be forgotten."""
        if not receive.done and receive.owner.posted is not None:
            receive.owner.posted.cancel(receive)
            self.happened(receive)

    def at_hand(self, receive: Receive) -> Message | None:
        """The message that a receive of the running processor would get at once."""
        unexpected = self.current.unexpected
        return None if unexpected is None else unexpected.find(receive)

    def take(self, message: Message) -> None:
        """Take a message that is at hand away from the running processor's other receives."""
        here = self.current
        assert here.unexpected is not None
        here.unexpected.take(message)
        if not len(here.unexpected):
            here.unexpected = None
        self._tell_sender(here, message)

    def _take(self, receive: Receive) -> bool:
        """Give a receive the message that is at hand; whether there is one."""
        message = self.at_hand(receive)
        if message is None:
            return False
        self.take(message)
        receive.message = message
        receive.done = True
        return True

    def _deliver(self, slots: list[int], messages: list[Message]) -> None:
        """Bring messages to the processors in slots, most of which wait for just that one."""
        processors, ready = self.processors, self._ready
        for slot, message in zip(slots, messages, strict=True):
            processor = processors[slot]
            if (
                processor is not None
                and processor.posted is None
                and type(awaited := processor.awaited) is Receive
                and awaited.fits(message)
                and message[TOLD] is None
            ):
                awaited.message = message
                processor.awaited = None
                ready.append(processor)
            else:
                self._bring(slot, message)

    def _bring(self, slot: int, message: Message) -> None:
        """Bring any message to what is in a slot: a processor that may have ended."""
        context, _, tag, _, _ = message
        processor = self.processors[slot]
        if context == self._matched:
            self.happened(self._synchronous.pop(tag))
        elif processor is None:
            self.exits.leave_out(slot)
        else:
            self._hand_to(processor, message)

    def _hand_to(self, processor: Processor, message: Message) -> None:
        """Give a message to the receive that waits for it; keep it if none does."""
        receive = self._receive_for(processor, message)
        if receive is None:
            if processor.unexpected is None:
                processor.unexpected = Unexpected()
            processor.unexpected.add(message)
            awaited = processor.awaited
            if type(awaited) is Arrival and awaited.fits(message):
                self.happened(awaited)
            return
        receive.message = message
        self.happened(receive)
        self._tell_sender(processor, message)

    @staticmethod
    def _receive_for(processor: Processor, message: Message) -> Receive | None:
        """The receive that a message is for: one posted earlier, or the one that blocks."""
        posted = processor.posted
        if posted is not None:
            receive = posted.take(message)
            if not posted:
                processor.posted = None
            if receive is not None:
                return receive
        awaited = processor.awaited
        if type(awaited) is Receive and awaited.fits(message):
            return awaited
        return None

    def _tell_sender(self, processor: Processor, message: Message) -> None:
        """Tell a synchronous send that it has been matched."""
        told = message[TOLD]
        if told is None:
            return
        sender, key, account = told
        if sender == processor.id:
            self.happened(self._synchronous.pop(key))
        else:
            telling = self._matched, processor.id, key, b"", None
            self._sent.extend((processor.id, sender, account, telling))
