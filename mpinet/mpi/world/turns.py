"""Turns: the scheduler of a rank's processors.

Every processor is a greenlet, a coroutine with its own stack. Within a round each runnable
processor has a turn: it runs until it blocks, then switches directly to the next processor.
Processors are never preempted. The order of turns, and therefore every result, depends only on the
script and the machine.
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
from mpinet.mpi.world.failure import call_hook, script_line
from mpinet.mpi.world.privacy import Privacy
from mpinet.mpi.world.processor import Fiber, Processor

POLLS_A_ROUND = 100
"""Polls of one processor answered at once per round without progress. The answer cannot change
before other processors run.
"""

ROOMY = 4096
"""Maximum number of processors of a rank that get room for their frames (see `base.roomy`).

The room itself takes no memory. But the frames below the room lie in another page of 4 KiB than the
frame above it. A small program without room takes 8 KiB in all.
"""


class Turns:
    """The scheduler of this rank's processors.

    A *runnable* processor has a turn in this round. A *polling* processor has a turn in the next
    round in any case. A *blocked* processor has a turn after an awaited event happens.

    Parameters
    ----------
    numbers : sequence of (int or None)
        The processors' numbers by slot; None for switches.
    exits : Exits
        Records how processors end.
    own : iterable of str
        Installed packages that every processor loads for itself.
    """

    current: Processor
    """The processor, or helper fiber, that is running."""
    doubts: Callable[[Processor, Event], None] | None
    """Raises an error if a processor is about to wait for an impossible event; None before the
    first failure.
    """
    privacy: Privacy
    """Modules, streams and settings owned by processors; set at the first turn."""
    outside: int
    """Number of processors that have waited in this round for events outside of MPI."""
    hoping: int
    """Number of processors among `outside` whose wait may still succeed."""

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
        """Number of processors that have not ended."""
        self.runnable: list[Processor] = []
        """Runnable processors, in the order of their turns."""
        self.polling: list[Processor] = []
        """Polling processors, in the order of their turns."""
        self.alarms: dict[Processor, tuple[float, float]] = {}
        """Time and interval of each processor's alarm; infinite without an alarm."""
        self.idle_rounds: int = 0
        """Number of consecutive rounds, up to now, with polls and without progress."""
        self.now: int = 0
        """Steps made by the machine before this round."""
        # Cleared by the world after each round's sum and not in `next_round`, because processors
        # add to them while they run.
        self.outside = self.hoping = 0
        self.doubts = None
        self._exits = exits
        self._own = own
        self._hook = sys.excepthook
        self._new: list[Processor] = []
        self._round: Iterator[Processor] = iter(())
        self._fibers: dict[Fiber, None] = {}
        self._breaking: dict[Processor, Exception] = {}
        # The scheduler is a processor without a number. Code that asks for the running processor
        # needs no special case between turns.
        self._scheduler = self.current = Processor(-1, -1)
        self._scheduler.thread = getcurrent()

    def start(self, program: Callable[[Processor], None]) -> None:
        """Give every processor a thread for running a program."""
        self._new = [processor for processor in self.processors if processor is not None]
        thread = self._threads(program)
        for processor in self._new:
            processor.thread = thread()
        self.privacy = Privacy(self._own)

    def leave_free(self, numbers: Collection[int]) -> None:
        """Leave processors without a program for now."""
        for slot, processor in enumerate(self.processors):
            if processor is not None and processor.id in numbers:
                self.processors[slot] = None
                self.running -= 1

    def run_on(self, number: int, program: Callable[[Processor], None]) -> None:
        """Run a program on a free processor of this rank."""
        # A free processor already has a slot. Its position among the rank's processors decides the
        # order of turns and must not change.
        slot = self.numbers.index(number)
        processor = self.processors[slot] = Processor(number, slot)
        processor.thread = self._threads(program)()
        self.running += 1
        self._new.append(processor)

    def fail(self, number: int) -> None:
        """End a processor and its helper fibers at once; does nothing if another rank hosts it."""
        slot = self.numbers.index(number) if number in self.numbers else -1
        processor = self.processors[slot] if slot >= 0 else None
        if processor is None:
            return
        # The slot is emptied first. Messages that arrive from now on find no processor, even while
        # the script's `finally` blocks run.
        self.processors[slot] = None
        self.running -= 1
        beside = [fiber for fiber in self._fibers if fiber.processor is processor]
        for one in (processor, *beside):
            self._fibers.pop(one, None)  # type: ignore[call-overload]
            # GreenletExit runs `__del__` and `finally`, which act for the failing processor and no
            # other.
            self.current = one
            if one.thread:
                one.thread.throw(GreenletExit)
        self.current = self._scheduler
        gone = {processor, *beside}
        # A dead greenlet must not be switched to, because it would start again at its first line.
        for line in (self.runnable, self.polling, self._new):
            line[:] = [one for one in line if one not in gone]

    def doubt(self, event: Event) -> None:
        """Raise an error if the running processor would wait for an event in vain."""
        if self.doubts is not None and not event.done:
            self.doubts(self.current, event)

    def break_off(self, reason: Callable[[Processor, Event], Exception | None]) -> None:
        """Resume processors that wait for impossible events, and raise the reason in each.

        Parameters
        ----------
        reason : callable
            Returns the error for a processor and an event; None if the event is still possible.
        """
        # Fibers have waits of their own, for example in a nonblocking collective. These waits fail
        # separately from waits of the script.
        for one in [*self.processors, *self._fibers]:
            awaited = None if one is None else one.awaited
            if one is None or awaited is None:
                continue
            for event in awaited if isinstance(awaited, tuple) else (awaited,):
                error = reason(one, event)
                if error is not None:
                    self._breaking[one] = error
                    # If the event happens later, it must find no waiter. Otherwise the processor
                    # would be runnable twice.
                    one.awaited = None
                    self.runnable.append(one)
                    break

    # ---- rounds

    def run_until_all_block(self) -> None:
        """Run every processor until it blocks, polls or ends."""
        # Turns may start processors, and events during a turn make other processors runnable in the
        # same round. The round ends when neither kind is left.
        while self._new or self.runnable:
            new, self._new = self._new, []
            for processor in new:  # one at a time: a first switch starts on the caller's stack
                self._run_each([processor])
            # The whole list is taken: a processor woken meanwhile has its turn after all of these.
            # Otherwise two processors could wake each other forever and starve the rest.
            ready, self.runnable = self.runnable, []
            self._run_each(ready)

    def next_round(self) -> None:
        """Begin a round: polling processors run again, after any step of the machine."""
        self.runnable, self.polling = self.polling, []

    def _run_each(self, processors: list[Processor]) -> None:
        """Give turns to processors, one after another.

        `sleep` switches directly from one processor to the next. An ending processor returns to its
        greenlet's parent, this loop.
        """
        # The switches of a round share one iterator, from which each processor takes the next one.
        # A round of n turns costs n switches instead of 2 n.
        self._round = iter(processors)
        while length_hint(self._round):
            self.sleep()
        self.sleep()  # removes the last processor's own state if this processor has ended

    def _threads(self, program: Callable[[Processor], None]) -> Callable[[], greenlet]:
        """Return a factory of threads, each for the processor running when the thread begins.

        One function serves all processors. A closure for each processor would take 400 bytes, and
        `partial` would lie on the C stack, which is copied at every switch.
        """

        def live() -> None:
            self._live(self.current, program)

        # Without this room a deep script maps and unmaps stack pages at every switch. With many
        # processors the room costs too much memory.
        begin = roomy(live, PROCESSOR) if len(self.numbers) <= ROOMY else live
        return lambda: greenlet(begin, self._scheduler.thread)

    def _live(self, processor: Processor, program: Callable[[Processor], None]) -> None:
        """Run a program on a processor, and handle its end or failure."""
        try:
            program(processor)
        # The run is over, or the processor has failed: neither is an end of the script to report.
        except GreenletExit:
            release_objects(processor.main)
            return
        # SystemExit is included: on a real machine it ends a process, and here it must not end the
        # rank.
        except BaseException as error:
            if isinstance(error, Exception) and sys.excepthook is not self._hook:
                call_hook(error)
            self._exits.fail(processor, error, self.now)
        # Objects of the script are released while its processor runs. A `__del__` that frees a
        # window or communicator then frees the processor's own.
        release_objects(processor.main)
        # Unreceived messages are counted after the release, because a `__del__` may still receive
        # some.
        self._exits.end(processor)
        self.processors[processor.slot] = None
        self.running -= 1

    def close(self) -> None:
        """End the threads of processors that have not finished.

        A script may catch the exception and continue to its next call, where it stays.
        """
        self._round = iter(())
        # Fibers first, because they work for their processors.
        for processor in [*self._fibers, *self.processors]:
            if processor is not None and processor.thread:
                self.current = processor
                processor.thread.throw(GreenletExit)
        self.current = self._scheduler

    # ---- what processors do

    def main_of(self, name: str) -> ModuleType | None:
        """Return the running processor's ``__main__`` if a module acts for it alone."""
        if self.current.main is None or not self.privacy.installed.acts_for_one(name):
            return None
        return sys.modules["__main__"]

    def sleep(self, awaited: Event | tuple[Event, ...] | None = None) -> None:
        """Switch to the next runnable processor; return when this processor is resumed.

        A processor is not resumed after the run. The last processor of a round switches to the
        scheduler.

        Parameters
        ----------
        awaited : Event, tuple of Event or None
            Awaited event, or events of which one is awaited. None: other code makes the processor
            runnable.
        """
        here, privacy, modules = self.current, self.privacy, sys.modules
        # None until the first failure, so runs without faults pay only one comparison. After a
        # failure each wait first asks whether it can end.
        if self.doubts is not None and awaited is not None:
            for event in awaited if isinstance(awaited, tuple) else (awaited,):
                self.doubt(event)
        here.awaited = awaited
        # A deadlock report shows the step at which each wait began. Storing the step at every wait
        # is cheaper than reconstructing it later.
        here.since = self.now
        if here.main is not None:  # `runpy`, for example, may have replaced it
            here.main = modules.get("__main__", here.main)
        # Most processors own nothing, and this test is the whole cost of privacy for them. Modules
        # are counted, because import hooks do not see modules already in `sys.modules`.
        if (
            here.own is not None
            or len(modules) != privacy.present
            or sys.stdout is not privacy.stdout
            or sys.stderr is not privacy.stderr
        ):
            privacy.leave(here)
        # The next processor is entered directly. Returning to the scheduler in between would double
        # the number of switches, the main cost of a turn.
        self.current = following = next(self._round, self._scheduler)
        # pickle and scripts look up `__main__`. The entry must be the running processor's module,
        # although the interpreter has only one table of modules.
        main = following.main
        if main is not None:
            modules["__main__"] = main
        # The settings are put in place before the switch, so the resumed script never runs with
        # another processor's settings.
        if following.own is not None:
            following.own.enter(privacy.settings)
        # The switch returns when another processor selects this one, possibly many rounds later.
        # All local state above may be stale from here on.
        following.thread.switch()
        if self._breaking:
            # Errors of broken waits are raised in the waiter's own stack. There a script can catch
            # them, as required by MPI's fault tolerance.
            error = self._breaking.pop(here, None)
            if error is not None:
                raise error

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Context manager: no processor runs, and the running processor's own state is put away."""
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
        """Mark an event as done, and make its owner runnable if the owner awaits the event."""
        # Marked even without a waiter, because a later test of the request must find it complete.
        event.done = True
        owner: Processor = event.owner  # type: ignore[assignment]
        awaited = owner.awaited
        # The owner may not be waiting for this event, for example for a request. Waking the owner
        # then would end another wait too early.
        if awaited is event or (type(awaited) is tuple and event in awaited):
            # Cleared at once: a second event of a `Waitany` in the same round must not make the
            # owner runnable twice.
            owner.awaited = None
            self.runnable.append(owner)

    def wait(self, event: Event) -> None:
        """Block the running processor until an event has happened.

        The caller becomes the event's owner. One call of a thread may begin a request that another
        call completes in its own fiber.
        """
        if not event.done:
            # Another fiber may have begun the request. The event must wake the waiting fiber, not
            # the fiber that created it.
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
        here.polled = True
        # Nothing has moved since this processor's last poll, and nothing can move until other
        # processors run. Answering at once saves a hundred switches a round.
        if self.idle_rounds and here.idle_polls < POLLS_A_ROUND:
            return
        here.idle_polls = 0
        # A polling processor is not blocked, because it runs again after any step. It counts as
        # starved only after many idle rounds.
        self.polling.append(here)
        self.sleep()

    def await_outside(self, hopes: bool) -> None:
        """Resume the running processor, which waits outside of MPI, in the next round.

        Parameters
        ----------
        hopes : bool
            Whether the run waits for it without a limit, even if nothing else happens.
        """
        self.outside += 1
        self.hoping += hopes
        self.polling.append(self.current)
        self.sleep()

    def begin(self, work: Callable[[], None], owner: Processor | None = None) -> Completion:
        """Start a helper fiber for a processor; return its completion event."""
        here = owner or self.current
        # The fiber inherits the script's current `__main__`. `runpy` may have replaced it since the
        # last turn.
        if owner is None:
            here.main = sys.modules.get("__main__", here.main)
        fiber = Fiber(here)
        completion = Completion(here, fiber)

        def live() -> None:
            try:
                work()
            # The fiber was cut off together with its processor. The completion must stay
            # incomplete. Otherwise a wait would return as if the work were done.
            except GreenletExit:
                return
            # An error of a nonblocking operation is raised by the call that completes it, as in
            # MPI.
            except Exception as error:
                completion.error = error
            except BaseException as error:
                self._exits.fail(fiber, error, self.now)
            self._fibers.pop(fiber, None)
            self.happened(completion)

        # The parent is the scheduler and not the processor, because a fiber outlives the call that
        # begins it and returns to the loop of turns.
        fiber.thread = greenlet(live, self._scheduler.thread)
        self._fibers[fiber] = None
        # A fiber starts from the loop, on the scheduler's shallow stack. Started here, it would
        # keep a copy of its processor's frames.
        self._new.append(fiber)
        return completion

    def stop(self, error: BaseException) -> NoReturn:
        """Fail the running processor, even if its script catches exceptions."""
        self._exits.fail(self.current, error.with_traceback(script_line()), self.now)
        self.stay()

    def break_out(self, error: BaseException) -> None:
        """Raise an error in the caller of this rank's run, and leave the running processor."""
        # The caller of the run must not see this processor's modules and streams. No later switch
        # will remove them.
        self.privacy.leave(self.current)
        self.current = self._scheduler
        self._scheduler.thread.throw(error)

    def stay(self) -> NoReturn:
        """Block the running processor forever: the run has failed and ends."""
        # A script that catches every exception could return from one sleep through its own
        # `finally`. The script must never get past this call.
        while True:
            self.sleep()
