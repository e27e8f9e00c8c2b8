"""Threads of scripts: the processor carries out their MPI calls, next to its script.

A thread waits until the interpreter's main thread has completed its call in a helper fiber. A
processor that waits for its thread through the interpreter's own locks does not give up its turn. A
signal interrupts such a processor. If processors communicate by a network (`outside`), the signal
also interrupts any processor that delays them. The interrupted processor may hold a lock of the
interpreter needed by the next processor. Therefore the signal is repeated until no processor is
interrupted.
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
"""Signal that wakes a processor waiting for its thread; its default action is to be ignored."""

IN_VAIN = 5
"""Rounds without progress for which an interruption lets calls of threads continue."""

AGAIN = 0.05
"""Seconds before the signal is repeated, because the processor may have been in a call."""

NETWORK = 0.01
"""Seconds between signals while processors wait for a network."""

POLLS = "iprobe", "improbe", "test"
"""Prefixes of names of polling calls."""

IDLE_CALLS = 1000
"""Unsuccessful polls of a thread, while nothing moves, after which the thread counts as waiting."""


class Threads:
    """The threads of this rank's processors.

    Parameters
    ----------
    turns : Turns
        Scheduler of this rank's processors.
    exits : Exits
        Records failed processors.
    accounts : Accounts
        Accounts of the calling lines.
    """

    def __init__(self, turns: Turns, exits: Exits, accounts: Accounts):
        self._turns = turns
        self._accounts = accounts
        self._calls: list[ThreadCall] = []
        self._exits = exits
        # Weak: a script may start thousands of threads, and a finished thread must not be kept for
        # the run.
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
        # Child processes from before the run, such as a compiler, cannot help any script.
        self._children = activity.children()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Context manager: threads belong to the processors that start them."""
        start, start_plain = Thread.start, _thread.start_new_thread
        begun, process, leave = self._began, os.getpid(), os._exit

        def start_owned(thread: Thread) -> None:
            begun(thread)
            start(thread)

        def start_plain_owned(function: Callable[..., Any], *arguments: Any) -> int:
            return start_plain(self._owned(function), *arguments)

        def leave_process(status: int) -> NoReturn:
            # A forked child of a script may leave freely. The fork copied the patch into the child.
            if os.getpid() != process:  # in a forked child
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
        # may run the emulator in another thread.
        handler = signal.signal(SIGNAL, self._wake) if _is_main() else None
        try:
            with replaced(*places):
                yield
        finally:
            if _is_main():
                signal.signal(SIGNAL, handler)

    def end(self) -> None:
        """Release threads whose calls were refused, because other code may wait for their end."""
        self._over = True
        self._needed.set()
        # A copy, here and below: threads append to the list while this thread reads it.
        for call in list(self._calls):
            call.done.set()

    def join(self) -> None:
        """Wait for the running processor's threads, like the interpreter at its end."""
        if not self._owners:  # the usual case; listing weak references takes some microseconds
            return
        here = self._turns.current
        # Only the processor's own threads: MPI would know nothing of a wait for another processor's
        # thread.
        own = [thread for thread, owner in list(self._owners.items()) if owner is here]
        for thread in own:
            _dismiss(thread)
        for thread in own:
            # A real process kills daemon threads at its end.
            if not thread.daemon:
                thread.join()

    @property
    def owner(self) -> Processor:
        """The processor to which the calling thread belongs."""
        return self._owners.get(current_thread(), self._turns.current)

    @property
    def computing(self) -> int:
        """Number of living threads without a begun call."""
        # A thread whose call has begun waits for MPI itself. It cannot provide the awaited help.
        alive = {thread.ident for thread in self._alive()}
        calls = list(self._calls)
        waiting = {call.thread for call in calls if call.begun}
        return len((alive | {call.thread for call in calls}) - waiting) + len(self._beginning)

    def _alive(self) -> list[Thread]:
        """Return the threads of this rank's processors that have not ended."""
        return [one for one in list(self._owners) if one.is_alive()] if self._owners else []

    def at_work(self, with_children: bool) -> tuple[int, int]:
        """Count outside activities that may resume a processor although all wait in MPI.

        Parameters
        ----------
        with_children : bool
            Whether child processes count even without a living thread of this process.

        Returns
        -------
        (int, int)
            Number of computing threads and child processes, and number of those that wait for a
            time, a file, a socket or another process.
        """
        found = [*self._away]
        calls, alive = list(self._calls), self._alive()
        if alive or with_children:
            found.append(activity.of_children(self._children))
        # A call that has not begun changes the state in the next round, even if its thread seems to
        # sleep.
        if self._beginning or any(not call.begun for call in calls):
            found.append(Activity.COMPUTES)
        waiting = {call.thread for call in calls}
        for thread in alive:
            # A thread that waits for its MPI call appears to wait for a lock. Only other threads
            # are looked up in `/proc`.
            is_free = thread.ident not in waiting and thread.native_id is not None
            # A thread in an endless polling loop looks busy. After `IDLE_CALLS` unsuccessful polls
            # the thread counts as waiting.
            if is_free and self._idle_calls[thread.ident or 0] < IDLE_CALLS:
                found.append(activity.of_thread(thread.native_id or 0))
        if alive and activity.any_thread_runs({get_native_id(), self._signaller}):
            found.append(Activity.COMPUTES)  # a library's thread may compute for a waiting thread
        return found.count(Activity.COMPUTES), found.count(Activity.WAITS)

    def moved(self) -> None:
        """Record that a message moves: threads with unsuccessful polls may help again."""
        self._idle_calls.clear()

    @property
    def let_go(self) -> int:
        """Number of processors interrupted to give turns to processors that wait for a network."""
        return self._interrupted if self._network else 0

    def expect_network(self) -> None:
        """Give turns to all processors from now on, because a thread waits for a network."""
        # The thread waits in real time on a socket served by another processor. Turns must be taken
        # away from computing processors.
        self._expected = True
        self.mind_network(False)

    def mind_network(self, waits: bool) -> None:
        """Record whether any processor waits for a network, and start signals if so."""
        self._network = waits or self._expected
        if self._network:
            self._begin_signals()
            self._needed.set()

    def serve(self, kind: str, frame: FrameType, work: Callable[[], Any]) -> Any:
        """Make the calling thread's processor carry out a call in a fiber, and wait for the result.

        Raises
        ------
        RuntimeError
            The caller is a greenlet created by the script.
        SystemExit
            The run has ended.
        Exception
            The call itself raises an exception.
        """
        # In the main thread a foreign greenlet was created by the script. It has no turn to give
        # up, and a wait would hang.
        if _is_main():
            raise RuntimeError(f"{kind} is called from a greenlet created by the script.")
        call = ThreadCall(self.owner, kind, frame, work)
        # Appended before the flag is set: the signalling thread sleeps only if the list is empty
        # after the flag.
        self._calls.append(call)
        self._needed.set()
        if not self._over:
            call.done.wait()
        # Completed calls leave the list. A call still in the list was woken by the end of the run.
        if call in self._calls:  # the run has ended without it
            sys.exit()
        if call.error is not None:
            raise call.error
        return call.value

    def begin_calls(self) -> None:
        """Begin the calls made by threads, each in a fiber of its processor."""
        for call in list(self._calls):
            if not call.begun:
                call.begun = True
                self._turns.begin(partial(self._do, call), call.owner)

    def _do(self, call: ThreadCall) -> None:
        """Carry out a thread's MPI call in a fiber of its processor."""
        here = self._turns.current
        # The fiber has no frame of the script. The thread's frame determines the charged line.
        here.account = call.account = self._accounts.at(call.kind, call.frame)
        call.account.calls += 1
        try:
            call.value = call.work()
        except Exception as error:
            call.error = error
        self._calls.remove(call)
        # Polls in a loop with a time limit end by themselves. Such polls are no sign of a thread
        # waiting in vain.
        if call.kind.lower().startswith(POLLS) and not in_timed_loop(call.frame):
            self._idle_calls[call.thread] += 1
        call.done.set()

    def stop(self, error: BaseException) -> NoReturn:
        """Fail the calling thread's processor, and end the thread.

        Raises
        ------
        SystemExit
            The run has ended.
        """
        owner = self._owners.get(current_thread(), self._turns.current)
        if not self._over:
            self._exits.fail(owner, error.with_traceback(script_line()), self._turns.now)
            self._failed = True
        # The thread must not return into the failed script. It keeps the main thread awake until
        # the main thread ends the run.
        while not self._over:
            self._needed.set()
            time.sleep(AGAIN)
        sys.exit()

    def _began(self, thread: Thread) -> None:
        """Record the processor to which a new thread belongs."""
        # A thread started by a thread belongs to the same processor, possibly not the running one.
        self._owners[thread] = self._owners.get(current_thread(), self._turns.current)
        self._begin_signals()

    def _owned(self, function: Callable[..., Any]) -> Callable[..., None]:
        """Wrap a function for a thread of `_thread`, owned by the caller's processor."""
        owner = self._owners.get(current_thread(), self._turns.current)
        self._begin_signals()
        place = object()
        # A thread of `_thread` has no object until it runs. The placeholder prevents a deadlock
        # verdict in between.
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
            # Started late, because most scripts have no threads: a thread that wakes twenty times a
            # second would slow all of them.
            start_new_thread(self._signal, ())  # hidden from the script's list of threads

    def _signal(self) -> None:
        """Signal the main thread while a thread or a network wait needs a turn."""
        self._signaller = get_native_id()
        while not self._over:
            self._needed.wait()
            self._needed.clear()
            calls = list(self._calls)
            if not (calls or self._interrupted or self._failed or self._network):
                continue
            # Set again before the sleep. Otherwise a call between the check and the wait would be
            # lost.
            self._needed.set()
            if self._beginning or any(not call.begun for call in calls):
                time.sleep(0.001)
            else:
                time.sleep(NETWORK if self._network else AGAIN)
            if not self._over:
                # Looked up before the signal changes it: the main thread's activity shows whether
                # its processor waits outside of MPI.
                self._main = activity.of_thread(main_thread().native_id or get_native_id())
                signal.pthread_kill(main_thread().ident or get_ident(), SIGNAL)

    def _wake(self, _: int, frame: FrameType | None) -> None:
        """Interrupt the running processor for calls of its threads, or stop it after a failure."""
        here = self._turns.current
        # Between turns, inside a call, in a greenlet created by the script or in the import of a
        # shared module there is no safe point for a switch.
        if type(here) is not Processor or here.id < 0 or here.account is not None:
            return
        if getcurrent() is not here.thread:
            return
        # The run has failed in a thread. Its processor is still in its script and must be stopped
        # there, once.
        if self._failed and here.id not in self._staying:
            self._staying.add(here.id)
            self._turns.stay()
        # The processor may wait for a thread through the interpreter's locks, and so block all
        # processors. Or it does something else that the thread's call waits for, therefore the
        # interruption is limited. Or it waits for a lock of a processor interrupted earlier, which
        # goes first.
        in_vain, before = 0, self._interrupted
        network = self._network and not _imports(frame)
        self._interrupted += 1
        away = self._main  # activity of the processor now, and again after the interruption
        self._away.append(away)
        try:
            while (self._calls or before or network) and in_vain < IN_VAIN:
                now, before = self._turns.now, 0
                self.begin_calls()
                here.account = next((one.account for one in self._calls if one.owner is here), None)
                # The processor is interrupted, not blocked: it must run again even if nothing
                # happens. Otherwise its computation would stop.
                self._turns.polling.append(here)
                self._turns.sleep()
                here.account = None
                # Progress resets the count: while messages move, the thread's call may be about to
                # complete.
                in_vain = in_vain + 1 if self._turns.now == now else 0
        finally:
            self._interrupted -= 1
            self._away.remove(away)


@dataclass(slots=True, eq=False)
class ThreadCall:
    """An MPI call made by a thread."""

    owner: Processor
    """Processor to which the thread belongs."""
    kind: str
    """Name of the call."""
    frame: FrameType
    """Frame of the script that makes the call."""
    work: Callable[[], Any]
    """Function that carries out the call."""
    thread: int = field(default_factory=get_ident)
    """Identifier of the calling thread."""
    begun: bool = False
    """True if the call has begun."""
    account: Account | None = None
    """Account of the calling line, once the call has begun."""
    done: Event = field(default_factory=Event)
    """Flag that is set at the end of the call."""
    value: Any = None
    """Return value of the call."""
    error: Exception | None = None
    """Exception that the call raised; None without one."""


def _dismiss(thread: Thread) -> None:
    """Let an idle thread of an executor end, like the interpreter at its end.

    The function run by the thread has a reference to its executor.
    """
    for reference in getattr(thread, "_args", ()):
        # Threads of an executor wait on its queue forever. They know the executor only by this weak
        # reference, which the interpreter also uses at exit.
        executor = reference() if isinstance(reference, ref) else None
        if isinstance(executor, Executor):
            executor.shutdown(wait=False)


def _imports(frame: FrameType | None) -> bool:
    """Return whether a frame is within an import, when a module is only partly loaded."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False


def _is_main() -> bool:
    """Return whether the caller is the thread in which processors run."""
    return current_thread() is main_thread()
