"""Turns: which processor's script runs, and when.

The scheduler of a rank. Every processor is a greenlet, a coroutine with a stack of its own. Within
a round each one that can go on has a turn: it runs until it blocks, and then switches straight to
the next. No processor is interrupted, so that the order of turns, and with it every result, depends
on the script and the machine alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import length_hint
from types import ModuleType
from typing import NoReturn

from greenlet import GreenletExit, getcurrent, greenlet

from mpinet.base.roomy import PROCESSOR, roomy
from mpinet.mpi.world.atexit_hooks import release_objects
from mpinet.mpi.world.events import Completion, Event
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.failure import script_line
from mpinet.mpi.world.privacy import Privacy
from mpinet.mpi.world.processor import Fiber, Processor

POLLS_A_ROUND = 100
"""Polls of one processor in a round without progress that are answered at once: until others have
run it would get the same answer."""

ROOMY = 4096
"""Most processors of a rank whose programs have room for their frames (see `base.roomy`).

The room itself takes no memory. But the frames below it lie in another page, of 4 KiB, than the
frame above it, and a small program without room takes 8 KiB in all.
"""


class Turns:
    """The scheduler of this rank's processors.

    A processor is *runnable* (has a turn in this round), *polling* (has one in the next round,
    whatever happens), or *blocked* (has one when an event that it awaits happens).

    Parameters
    ----------
    numbers : sequence of (int or None)
        The processors' numbers by slot; None for switches.
    exits : Exits
        Notes how processors end.
    own : iterable of str
        Installed packages that every processor loads for itself.
    """

    current: Processor
    """The processor, or helper fiber, that is running."""
    doubts: Callable[[Processor, Event], None] | None
    """Raises an error where an event cannot happen that a processor is about to wait for; None as
    long as nothing has failed."""
    privacy: Privacy
    """Modules, streams and settings that processors have of their own; set at the first turn."""
    outside: int
    """Processors that have waited in this round for something outside of MPI."""
    hoping: int
    """Processors among `outside` that need not wait in vain."""

    def __init__(
        self, numbers: Sequence[int | None], exits: Exits, own: Iterable[str] = ()
    ) -> None:
        self.numbers: Sequence[int | None] = numbers
        """The processors' numbers by slot; None for switches."""
        self.processors: list[Processor | None] = [
            None if number is None else Processor(number, slot)
            for slot, number in enumerate(numbers)
        ]
        """Processor in each slot; None for switches and for processors that have ended."""
        self.running: int = len(self.processors) - self.processors.count(None)
        """Processors that have not ended."""
        self.runnable: list[Processor] = []
        """Processors that are ready to run, in the order of their turns."""
        self.polling: list[Processor] = []
        """Processors that poll, in the order of their turns."""
        self.idle_rounds: int = 0
        """Number of the last rounds with polls and without progress."""
        self.now: int = 0
        """Steps of the machine before this round."""
        # Cleared by the world after each round's sum, not here in `next_round`: processors add to
        # them while they run.
        self.outside = self.hoping = 0
        self.doubts = None
        self._exits = exits
        self._own = own
        self._new: list[Processor] = []
        self._round: Iterator[Processor] = iter(())
        self._fibers: dict[Fiber, None] = {}
        self._breaking: dict[Processor, Exception] = {}
        # The scheduler is a processor with no number. So code that asks for the running one needs
        # no special case between turns.
        self._scheduler = self.current = Processor(-1, -1)
        self._scheduler.thread = getcurrent()

    def start(self, program: Callable[[Processor], None]) -> None:
        """Give every processor a thread that is to run a program."""
        self._new = [processor for processor in self.processors if processor is not None]
        thread = self._threads(program)
        for processor in self._new:
            processor.thread = thread()
        self.privacy = Privacy(self._own)

    def leave_free(self, numbers: Collection[int]) -> None:
        """Let processors have nothing to run for the time being."""
        for slot, processor in enumerate(self.processors):
            if processor is not None and processor.id in numbers:
                self.processors[slot] = None
                self.running -= 1

    def run_on(self, number: int, program: Callable[[Processor], None]) -> None:
        """Let a processor of this rank that is free run a program."""
        # A free processor has a slot already, and its position among the rank's processors decides
        # the order of turns. It must not move.
        slot = self.numbers.index(number)
        processor = self.processors[slot] = Processor(number, slot)
        processor.thread = self._threads(program)()
        self.running += 1
        self._new.append(processor)

    def fail(self, number: int) -> None:
        """Let a processor, if this rank has it, and all that it does beside, be over at once."""
        slot = self.numbers.index(number) if number in self.numbers else -1
        processor = self.processors[slot] if slot >= 0 else None
        if processor is None:
            return
        # The slot is empty first. Messages that come from now on find no processor, even while the
        # script's `finally` blocks run.
        self.processors[slot] = None
        self.running -= 1
        beside = [fiber for fiber in self._fibers if fiber.processor is processor]
        for one in (processor, *beside):
            self._fibers.pop(one, None)  # type: ignore[call-overload]
            # What GreenletExit runs, as `__del__` or `finally`, acts for the processor that fails
            # and for no other.
            self.current = one
            if one.thread:
                one.thread.throw(GreenletExit)
        self.current = self._scheduler
        gone = {processor, *beside}
        # A greenlet that is dead must not be switched to: it would start again at its first line.
        for line in (self.runnable, self.polling, self._new):
            line[:] = [one for one in line if one not in gone]

    def doubt(self, event: Event) -> None:
        """Raise an error if the running processor would wait for an event in vain."""
        if self.doubts is not None and not event.done:
            self.doubts(self.current, event)

    def break_off(self, reason: Callable[[Processor, Event], Exception | None]) -> None:
        """Let those who wait for what cannot happen go on, with the error that says so.

        Parameters
        ----------
        reason : callable
            Gives the error of a processor and an event; None: it may happen yet.
        """
        # Fibers wait on their own, as in a begun collective. Their waits fail separately from those
        # of the script.
        for one in [*self.processors, *self._fibers]:
            awaited = None if one is None else one.awaited
            if one is None or awaited is None:
                continue
            for event in awaited if isinstance(awaited, tuple) else (awaited,):
                error = reason(one, event)
                if error is not None:
                    self._breaking[one] = error
                    # The event must find no waiter if it happens after all. Otherwise the processor
                    # would be runnable twice.
                    one.awaited = None
                    self.runnable.append(one)
                    break

    # ---- rounds

    def run_until_all_block(self) -> None:
        """Run every processor until it blocks, polls or ends."""
        # Turns may start processors, and events that happen in a turn make others runnable in the
        # same round. The round ends when neither is left.
        while self._new or self.runnable:
            new, self._new = self._new, []
            for processor in new:  # one by one: a first switch starts on the caller's stack
                self._run_each([processor])
            # The list is taken whole: a processor that is woken meanwhile has its turn after all of
            # these. Two that wake each other could keep others waiting otherwise.
            ready, self.runnable = self.runnable, []
            self._run_each(ready)

    def next_round(self) -> None:
        """Begin a round: polling processors run again, after any step of the machine."""
        self.runnable, self.polling = self.polling, []

    def _run_each(self, processors: list[Processor]) -> None:
        """Give turns to processors, one after another.

        `sleep` switches from one to the next without coming back here; a processor that ends
        does come back (to its greenlet's parent), hence the loop.
        """
        # One iterator is shared by the switches of a round: each processor takes the next from it.
        # So a round of n turns costs n switches and not 2 n.
        self._round = iter(processors)
        while length_hint(self._round):
            self.sleep()
        self.sleep()  # takes away what is the last one's own, if that has ended

    def _threads(self, program: Callable[[Processor], None]) -> Callable[[], greenlet]:
        """Return a maker of threads, each for the processor that is running when it begins.

        One function serves all: a closure for each would take 400 bytes of every processor, and
        `partial` would lie on the C stack, which is copied at every switch.
        """

        def live() -> None:
            self._live(self.current, program)

        # A deep script maps and unmaps stack pages at every switch without this room. With many
        # processors the room costs more memory than it saves time.
        begin = roomy(live, PROCESSOR) if len(self.numbers) <= ROOMY else live
        return lambda: greenlet(begin, self._scheduler.thread)

    def _live(self, processor: Processor, program: Callable[[Processor], None]) -> None:
        """Run a program on a processor, to whatever end."""
        try:
            program(processor)
        # The run is over, or the processor has failed: neither is an end of the script to report.
        except GreenletExit:
            release_objects(processor.main)
            return
        # SystemExit included: it ends a process on a real machine, and here it must not end the
        # rank.
        except BaseException as error:
            self._exits.fail(processor, error, self.now)
        # Objects of the script die while its processor runs, so that a `__del__` that frees a
        # window or communicator frees its own.
        release_objects(processor.main)
        # Unreceived messages are counted after the objects died: their `__del__` may still have
        # received some.
        self._exits.end(processor)
        self.processors[processor.slot] = None
        self.running -= 1

    def close(self) -> None:
        """End the threads of processors that have not come to their end.

        A script may catch what ends it, and go on to its next call; there it stays.
        """
        self._round = iter(())
        # Fibers first: they work for their processors, whose ends would leave them without one.
        for processor in [*self._fibers, *self.processors]:
            if processor is not None and processor.thread:
                self.current = processor
                processor.thread.throw(GreenletExit)
        self.current = self._scheduler

    # ---- what processors do

    def main_of(self, name: str) -> ModuleType | None:
        """The running processor's ``__main__``, if what a module does is its doing alone."""
        if self.current.main is None or not self.privacy.installed.acts_for_one(name):
            return None
        return sys.modules["__main__"]

    def sleep(self, awaited: Event | tuple[Event, ...] | None = None) -> None:
        """Switch to the next runnable processor; return when this one is resumed.

        After the run it never is. The last processor of a round switches to the scheduler.

        Parameters
        ----------
        awaited : Event, tuple of Event or None
            What it waits for, one of them; None: it is made ready by other means.
        """
        here, privacy, modules = self.current, self.privacy, sys.modules
        # None until the first failure, so that runs without faults pay one comparison. Then each
        # wait asks first whether it could ever end.
        if self.doubts is not None and awaited is not None:
            for event in awaited if isinstance(awaited, tuple) else (awaited,):
                self.doubt(event)
        here.awaited = awaited
        # A deadlock report says since when. Noting it at every wait is cheaper than to reconstruct
        # it for a processor that never wakes.
        here.since = self.now
        if here.main is not None:  # it may have become another one, as by `runpy`
            here.main = modules.get("__main__", here.main)
        # Most processors own nothing, and this test is all that privacy costs them: modules are
        # counted, since imports cannot be hooked for what is in `sys.modules` already.
        if (
            here.own is not None
            or len(modules) != privacy.present
            or sys.stdout is not privacy.stdout
            or sys.stderr is not privacy.stderr
        ):
            privacy.leave(here)
        # The next processor is entered directly. Going back to the scheduler in between would
        # double the switches, which are the cost of a turn.
        self.current = following = next(self._round, self._scheduler)
        # `__main__` is looked up by pickle and by scripts themselves. It has to be the running
        # processor's, although the interpreter has one table of modules.
        main = following.main
        if main is not None:
            modules["__main__"] = main
        # The settings are put in place before the switch, so that the resumed script never runs
        # with another's.
        if following.own is not None:
            following.own.enter(privacy.settings)
        # This returns when some other processor picks this one, which may be many rounds later. All
        # local state above may be stale from here on.
        following.thread.switch()
        if self._breaking:
            # Errors of broken waits are raised in the waiter's own stack. There a script can catch
            # them, as MPI's fault tolerance demands.
            error = self._breaking.pop(here, None)
            if error is not None:
                raise error

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within it no processor runs, and what the running one has of its own is put away."""
        here = self.current
        if here is not self._scheduler:
            self.privacy.leave(here)
        self.current = self._scheduler
        try:
            yield
        finally:
            self.current = here
            if here.own is not None:
                here.own.enter(self.privacy.settings)

    def happened(self, event: Event) -> None:
        """Mark an event as done; if its owner awaits it, the owner is ready."""
        # Marked even without a waiter: a request that is tested later must find it complete.
        event.done = True
        owner: Processor = event.owner  # type: ignore[assignment]
        awaited = owner.awaited
        # The event may be one that its owner does not wait for just now, such as a request's.
        # Waking it then would end another wait too early.
        if awaited is event or (type(awaited) is tuple and event in awaited):
            # Cleared at once: a second event of a `Waitany` in the same round must not make the
            # owner runnable twice.
            owner.awaited = None
            self.runnable.append(owner)

    def wait(self, event: Event) -> None:
        """Block the running processor until an event has happened.

        The event is the caller's from then on. A request that one call of a thread begins is
        completed by another call, which runs in a fiber of its own.
        """
        if not event.done:
            # The request may have been begun by another fiber. The event has to wake the one that
            # waits, not the one that made it.
            event.owner = self.current
            self.sleep(event)

    def wait_any(self, events: tuple[Event, ...]) -> None:
        """Block the running processor until one of several events has happened."""
        if not any(event.done for event in events):
            for event in events:
                event.owner = self.current
            self.sleep(events)

    def poll(self) -> None:
        """Resume the running processor after the machine's next step."""
        here = self.current
        here.idle_polls += 1
        # Nothing has moved since this processor last looked, and nothing can until others run.
        # Answering at once saves a hundred switches a round.
        if self.idle_rounds and here.idle_polls < POLLS_A_ROUND:
            return
        here.idle_polls = 0
        # A polling processor is not blocked: it runs again after any step. So it counts as starved
        # only after many idle rounds.
        self.polling.append(here)
        self.sleep()

    def await_outside(self, hopes: bool) -> None:
        """Resume the running processor, which waits for something outside of MPI, in a round.

        Parameters
        ----------
        hopes : bool
            Whether the run is to have patience with it, however long nothing else happens.
        """
        self.outside += 1
        self.hoping += hopes
        self.polling.append(self.current)
        self.sleep()

    def begin(self, work: Callable[[], None], owner: Processor | None = None) -> Completion:
        """Start a helper fiber of the running processor, or another; return its end's event."""
        here = owner or self.current
        # The fiber inherits the module that the script has now. `runpy` may have replaced it since
        # the last turn.
        if owner is None:
            here.main = sys.modules.get("__main__", here.main)
        fiber = Fiber(here)
        completion = Completion(here, fiber)

        def live() -> None:
            try:
                work()
            # The fiber was cut off with its processor. Its completion must stay incomplete, or a
            # wait would return as if the work were done.
            except GreenletExit:
                return
            # An error of a begun operation belongs to the call that completes it, which is where
            # MPI reports it.
            except Exception as error:
                completion.error = error
            except BaseException as error:
                self._exits.fail(fiber, error, self.now)
            self._fibers.pop(fiber, None)
            self.happened(completion)

        # The parent is the scheduler and not the processor: a fiber outlives the call that begins
        # it, and comes back to the loop of turns.
        fiber.thread = greenlet(live, self._scheduler.thread)
        self._fibers[fiber] = None
        # A fiber starts from the loop, on the scheduler's shallow stack. Started here, it would
        # keep a copy of its processor's frames.
        self._new.append(fiber)
        return completion

    def stop(self, error: BaseException) -> NoReturn:
        """Fail the running processor, whatever its script catches."""
        self._exits.fail(self.current, error.with_traceback(script_line()), self.now)
        self.stay()

    def break_out(self, error: BaseException) -> None:
        """Raise an error where this rank's run was begun; the running processor does not go on."""
        # The caller of the run must not find this processor's modules and streams. No later switch
        # will take them away.
        self.privacy.leave(self.current)
        self.current = self._scheduler
        self._scheduler.thread.throw(error)

    def stay(self) -> NoReturn:
        """Block the running processor for good: the run has failed, and ends."""
        # A script that catches everything could come back from one sleep, by its own `finally`. It
        # must never get past this call.
        while True:
            self.sleep()
