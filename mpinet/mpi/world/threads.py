"""Threads that scripts start: what they call of MPI their processor does, beside its script.

A thread waits until the interpreter's main thread has done its call, in a helper fiber. A signal
lets a processor that waits for its thread, by means of the interpreter's own, give others a turn;
and where processors reach one another by a network (`outside`), any that keeps those from it.
It may then hold one of the interpreter's locks, which the next processor waits for: so the signal
comes again and again, until nobody is interrupted any more.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread, current_thread, get_ident, get_native_id, main_thread
from types import FrameType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary, ref

from greenlet import getcurrent

from mpinet.mpi.world import activity
from mpinet.mpi.world.accounts import Account, Accounts
from mpinet.mpi.world.activity import Activity
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.failure import Left, script_line
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.timedloops import in_timed_loop
from mpinet.mpi.world.turns import Turns

start_new_thread = _thread.start_new_thread

SIGNAL = signal.SIGURG
"""Wakes a processor that waits for its thread: a signal that has no effect on whom it is new to."""

IN_VAIN = 5
"""Rounds without progress for which a processor lets its threads' calls go on, each time."""

AGAIN = 0.05
"""Seconds after which the signal is sent again: the processor may have been in a call."""

NETWORK = 0.01
"""Seconds between signals while processors wait for a network."""

POLLS = "iprobe", "improbe", "test"
"""Beginnings of the names of calls that ask whether something has come."""

IDLE_CALLS = 1000
"""Such calls of a thread, while nothing moves, after which it does not count as one that may help.
"""


class Threads:
    """The threads of this rank's processors.

    Parameters
    ----------
    turns : Turns
        Who runs.
    exits : Exits
        Notes who has failed.
    accounts : Accounts
        Of the lines that call.
    """

    def __init__(self, turns: Turns, exits: Exits, accounts: Accounts):
        self._turns = turns
        self._accounts = accounts
        self._calls: list[ThreadCall] = []
        self._exits = exits
        # Weak: a script may start thousands of threads, and a finished one must not be kept for the
        # run.
        self._owners: WeakKeyDictionary[Thread, Processor] = WeakKeyDictionary()
        self._failed = False
        self._staying: set[int] = set()
        self._over = False
        self._interrupted = 0
        self._needed = Event()
        self._is_signalling = False
        self._network = self._expected = False
        self._main = Activity.WAITS
        self._away: list[Activity] = []
        self._idle_calls: Counter[int] = Counter()
        self._beginning: set[object] = set()
        self._signaller = 0
        # Children from before the run, such as a compile process, cannot help any script.
        self._children = activity.children()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within it, threads belong to the processors that start them."""
        start, start_plain = Thread.start, _thread.start_new_thread
        begun, process, leave = self._began, os.getpid(), os._exit

        def start_owned(thread: Thread) -> None:
            begun(thread)
            start(thread)

        def start_plain_owned(function: Callable[..., Any], *arguments: Any) -> int:
            return start_plain(self._owned(function), *arguments)

        def leave_process(status: int) -> NoReturn:
            # A forked child of a script may leave as it likes. The patch was copied into it by the
            # fork.
            if os.getpid() != process:  # of one that has been forked
                leave(status)
            elif _is_main():
                self._turns.stop(Left(status))
            self.stop(Left(status))

        places = (
            (Thread, "start", start_owned),
            (_thread, "start_new_thread", start_plain_owned),
            (os, "_exit", leave_process),
        )
        # Only the main thread may set handlers, and only it runs processors. A notebook's kernel
        # may run the emulator elsewhere.
        handler = signal.signal(SIGNAL, self._wake) if _is_main() else None
        try:
            with replaced(*places):
                yield
        finally:
            if _is_main():
                signal.signal(SIGNAL, handler)

    def end(self) -> None:
        """Let threads whose calls were refused come to their ends: somebody may wait for them."""
        self._over = True
        self._needed.set()
        # A copy, here and below: threads append to the list while this one reads it.
        for call in list(self._calls):
            call.done.set()

    def join(self) -> None:
        """Wait for the running processor's threads, as the interpreter does at its end."""
        if not self._owners:  # as mostly; to list what is held weakly takes some microseconds
            return
        here = self._turns.current
        # Only its own: waiting for another processor's thread here would be a wait that MPI knows
        # nothing of.
        own = [thread for thread, owner in list(self._owners.items()) if owner is here]
        for thread in own:
            _dismiss(thread)
        for thread in own:
            # Daemon threads are what a real process kills at its end.
            if not thread.daemon:
                thread.join()

    @property
    def owner(self) -> Processor:
        """The processor whose thread the caller is."""
        return self._owners.get(current_thread(), self._turns.current)

    @property
    def computing(self) -> int:
        """Number of threads that are alive and in no call that has begun."""
        # A thread whose call has begun waits for MPI itself, so it cannot be the help that others
        # wait for.
        alive = {thread.ident for thread in self._alive()}
        calls = list(self._calls)
        waiting = {call.thread for call in calls if call.begun}
        return len((alive | {call.thread for call in calls}) - waiting) + len(self._beginning)

    def _alive(self) -> list[Thread]:
        """Return the threads of this rank's processors that have not ended."""
        return [one for one in list(self._owners) if one.is_alive()] if self._owners else []

    def at_work(self, with_children: bool) -> tuple[int, int]:
        """Count what may let a processor go on although all processors wait in MPI.

        Parameters
        ----------
        with_children : bool
            Whether child processes may do so without a thread of this process.

        Returns
        -------
        (int, int)
            Threads and child processes that compute, and those that wait for a time, a file, a
            socket or another process.
        """
        found = [*self._away]
        calls, alive = list(self._calls), self._alive()
        if alive or with_children:
            found.append(activity.of_children(self._children))
        # A call that has not begun will change something in the next round, even if its thread
        # seems to sleep.
        if self._beginning or any(not call.begun for call in calls):
            found.append(Activity.COMPUTES)
        waiting = {call.thread for call in calls}
        for thread in alive:
            # A thread that waits for its MPI call shows as waiting for a lock. Only the others are
            # worth a look at `/proc`.
            is_free = thread.ident not in waiting and thread.native_id is not None
            # A thread that polls for ever looks busy. After so many polls in vain it counts as one
            # that waits.
            if is_free and self._idle_calls[thread.ident or 0] < IDLE_CALLS:
                found.append(activity.of_thread(thread.native_id or 0))
        if alive and activity.any_thread_runs({get_native_id(), self._signaller}):
            found.append(Activity.COMPUTES)  # a thread of a library may compute for one that waits
        return found.count(Activity.COMPUTES), found.count(Activity.WAITS)

    def moved(self) -> None:
        """Note that a message moves: threads that have called in vain may help again."""
        self._idle_calls.clear()

    @property
    def let_go(self) -> int:
        """Number of processors that were interrupted for the sake of such as wait for a network."""
        return self._interrupted if self._network else 0

    def expect_network(self) -> None:
        """Let others have turns from now on: a thread waits for a network, and may for theirs."""
        # The thread waits in real time, on a socket that another processor has to serve. So turns
        # must be taken away from those that compute.
        self._expected = True
        self.mind_network(False)

    def mind_network(self, waits: bool) -> None:
        """Note whether any processor waits for a network: nobody is to keep it from its turns."""
        self._network = waits or self._expected
        if self._network:
            self._begin_signals()
            self._needed.set()

    def serve(self, kind: str, frame: FrameType, work: Callable[[], Any]) -> Any:
        """Let the caller's processor do what its thread calls, beside its script; wait for it.

        Raises
        ------
        RuntimeError
            It is called by a greenlet of the script's own.
        SystemExit
            The run has ended.
        Exception
            The call's own.
        """
        # In the main thread a foreign greenlet is the script's own. It has no turn to give away, so
        # a wait would hang.
        if _is_main():
            raise RuntimeError(f"{kind} is called from a greenlet of the script's own.")
        call = ThreadCall(self.owner, kind, frame, work)
        # Appended before the flag is set: the signalling thread sleeps only if it finds the list
        # empty after the flag.
        self._calls.append(call)
        self._needed.set()
        if not self._over:
            call.done.wait()
        # Calls leave the list when they are done. One that is still there was woken by the end of
        # the run.
        if call in self._calls:  # the run has ended without it
            sys.exit()
        if call.error is not None:
            raise call.error
        return call.value

    def begin_calls(self) -> None:
        """Begin what threads have called, each beside its processor's script."""
        for call in list(self._calls):
            if not call.begun:
                call.begun = True
                self._turns.begin(partial(self._do, call), call.owner)

    def _do(self, call: ThreadCall) -> None:
        """Do what a thread has called."""
        here = self._turns.current
        # The fiber has no frame of the script. So the thread's frame names the line that pays.
        here.account = call.account = self._accounts.at(call.kind, call.frame)
        call.account.calls += 1
        try:
            call.value = call.work()
        except Exception as error:
            call.error = error
        self._calls.remove(call)
        # Polls in a loop with a time limit end by themselves. They are no sign that the thread
        # waits in vain.
        if call.kind.lower().startswith(POLLS) and not in_timed_loop(call.frame):
            self._idle_calls[call.thread] += 1
        call.done.set()

    def stop(self, error: BaseException) -> NoReturn:
        """Fail the processor whose thread the caller is, which ends.

        Raises
        ------
        SystemExit
            The run has ended.
        """
        owner = self._owners.get(current_thread(), self._turns.current)
        if not self._over:
            self._exits.fail(owner, error.with_traceback(script_line()), self._turns.now)
            self._failed = True
        # The thread must not return into the script, which has failed. It keeps the main thread
        # awake until that ends the run.
        while not self._over:
            self._needed.set()
            time.sleep(AGAIN)
        sys.exit()

    def _began(self, thread: Thread) -> None:
        """Note whose a thread is."""
        # A thread started by a thread belongs to the same processor, which need not be the one that
        # has the turn.
        self._owners[thread] = self._owners.get(current_thread(), self._turns.current)
        self._begin_signals()

    def _owned(self, function: Callable[..., Any]) -> Callable[..., None]:
        """Return a function for a thread of `_thread`, which belongs to the caller's processor."""
        owner = self._owners.get(current_thread(), self._turns.current)
        self._begin_signals()
        place = object()
        # A thread of `_thread` has no object until it runs. The placeholder keeps the run from
        # being judged dead in between.
        self._beginning.add(place)

        def run(*arguments: Any, **named: Any) -> None:
            own = current_thread()
            self._owners[own] = owner
            self._beginning.remove(place)
            try:
                function(*arguments, **named)
            finally:
                self._owners.pop(own, None)

        return run

    def _begin_signals(self) -> None:
        if not self._is_signalling:
            self._is_signalling = True
            # Only now, as most scripts have no threads: a thread that wakes up twenty times a
            # second would cost all of them.
            start_new_thread(self._signal, ())  # which no script finds among its threads

    def _signal(self) -> None:
        """Signal the main thread as long as somebody waits for it to give others a turn."""
        self._signaller = get_native_id()
        while not self._over:
            self._needed.wait()
            self._needed.clear()
            calls = list(self._calls)
            if not (calls or self._interrupted or self._failed or self._network):
                continue
            # Set again before the sleep. Clearing and leaving it would lose a call that comes
            # between the look and the wait.
            self._needed.set()
            if self._beginning or any(not call.begun for call in calls):
                time.sleep(0.001)
            else:
                time.sleep(NETWORK if self._network else AGAIN)
            if not self._over:
                # Looked up before the signal changes it: what the main thread was doing tells
                # whether its processor waits outside of MPI.
                self._main = activity.of_thread(main_thread().native_id or get_native_id())
                signal.pthread_kill(main_thread().ident or get_ident(), SIGNAL)

    def _wake(self, _: int, frame: FrameType | None) -> None:
        """Let the running processor wait for calls of its threads, or stay: the run has failed."""
        here = self._turns.current
        # Between turns, inside a call, or in a greenlet of the script's own there is no safe point
        # for a switch.
        if here.id < 0 or here.account is not None or getcurrent() is not here.thread:
            return
        # The run has failed in a thread. Its processor is still in its script and has to be stopped
        # there, once.
        if self._failed and here.id not in self._staying:
            self._staying.add(here.id)
            self._turns.stay()
        # It may wait for a thread by means of the interpreter's own, which keep all others from
        # their turns; or do something else, which the thread's call waits for: so not for ever.
        # Or it waits for a lock of a processor that was interrupted before: that one goes first.
        in_vain, before = 0, self._interrupted
        network = self._network and not _imports(frame)
        self._interrupted += 1
        away = self._main  # what the processor did, and does again after this
        self._away.append(away)
        try:
            while (self._calls or before or network) and in_vain < IN_VAIN:
                now, before = self._turns.now, 0
                self.begin_calls()
                here.account = next((one.account for one in self._calls if one.owner is here), None)
                # The processor is interrupted, not blocked: it must run again even if nothing
                # happens, or its computation would stop.
                self._turns.polling.append(here)
                self._turns.sleep()
                here.account = None
                # Progress resets the count: as long as messages move, the thread's call may be
                # about to complete.
                in_vain = in_vain + 1 if self._turns.now == now else 0
        finally:
            self._interrupted -= 1
            self._away.remove(away)


@dataclass(slots=True, eq=False)
class ThreadCall:
    """A call of MPI that a thread makes."""

    owner: Processor
    """Processor whose thread it is."""
    kind: str
    """Name of the call."""
    frame: FrameType
    """Frame of the script that calls."""
    work: Callable[[], Any]
    """Does it."""
    thread: int = field(default_factory=get_ident)
    """Thread that calls."""
    begun: bool = False
    """True if the call has begun."""
    account: Account | None = None
    """The account of the line that calls, from then on."""
    done: Event = field(default_factory=Event)
    """Flag that is set at the end of the call."""
    value: Any = None
    """Return value of the call."""
    error: Exception | None = None
    """Exception that the call raised; None without one."""


def _dismiss(thread: Thread) -> None:
    """Let an executor's thread end when it has nothing to do, as the interpreter does at its end.

    The executor, which may be another's by then, is known to the function that the thread runs.
    """
    for reference in getattr(thread, "_args", ()):
        # An executor's threads wait on its queue for ever. They know it only by this weak
        # reference, as the interpreter's own exit does.
        executor = reference() if isinstance(reference, ref) else None
        if isinstance(executor, Executor):
            executor.shutdown(wait=False)


def _imports(frame: FrameType | None) -> bool:
    """Tell if a frame is of an import: others would find the half of a module."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


def _is_main() -> bool:
    """Tell if the caller is the thread in which processors run."""
    return current_thread() is main_thread()
