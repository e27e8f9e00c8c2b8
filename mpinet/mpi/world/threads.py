"""Threads that scripts start: they may compute, but MPI's calls are their processor's alone.

A call from a thread ends the run, whatever its processor does: it may wait for the thread, which
will not come to its end, or may have gone on, as if the call had been made.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread, current_thread, get_ident, main_thread
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from greenlet import getcurrent

from mpinet.errors import UsageError
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.failure import Left, script_line
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.turns import Turns

SIGNAL = signal.SIGURG
"""Wakes a processor that waits for its thread: a signal that has no effect on whom it is new to."""

AGAIN = 0.05
"""Seconds after which the signal is sent again: the processor may have been in a call."""


class Threads:
    """The threads of this rank's processors.

    Parameters
    ----------
    turns : Turns
        Who runs.
    exits : Exits
        Notes who has failed.
    """

    def __init__(self, turns: Turns, exits: Exits):
        self._turns = turns
        self._exits = exits
        self._owners: WeakKeyDictionary[Thread, Processor] = WeakKeyDictionary()
        self._failed = False
        self._staying: set[int] = set()
        self._over = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within it, threads belong to the processors that start them."""
        start = Thread.start
        begun, process, leave = self._began, os.getpid(), os._exit

        def start_owned(thread: Thread) -> None:
            begun(thread)
            start(thread)

        def leave_process(status: int) -> NoReturn:
            if os.getpid() != process:  # of one that has been forked
                leave(status)
            elif _is_main():
                self._turns.stop(Left(status))
            self.stop(Left(status))

        Thread.start = start_owned  # type: ignore[method-assign, assignment]
        os._exit = leave_process
        handler = signal.signal(SIGNAL, self._wake) if _is_main() else None
        try:
            yield
        finally:
            Thread.start = start  # type: ignore[method-assign]
            os._exit = leave
            if _is_main():
                signal.signal(SIGNAL, handler)

    def end(self) -> None:
        """Let threads whose calls were refused come to their ends: somebody may wait for them."""
        self._over = True

    def join(self) -> None:
        """Wait for the running processor's threads, as the interpreter does at its end."""
        here = self._turns.current
        for thread, owner in list(self._owners.items()):
            if owner is here and not thread.daemon:
                thread.join()

    def refuse(self, call: str) -> NoReturn:
        """End the run for a call that is not made by a processor itself.

        Raises
        ------
        RuntimeError
            It is made by a greenlet of the script's own.
        SystemExit
            It is made by a thread, and the run has ended.
        """
        said = f"{call} is called from a thread; a processor has only one."
        if _is_main():
            raise RuntimeError(said)
        self.stop(UsageError(said))

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
        while not self._over:
            signal.pthread_kill(main_thread().ident or get_ident(), SIGNAL)
            time.sleep(AGAIN)
        sys.exit()

    def refuse_threads(self, call: str) -> None:
        """End the run for a call that is made by a thread."""
        if not _is_main():
            self.refuse(call)

    def _began(self, thread: Thread) -> None:
        """Note whose a thread is."""
        self._owners[thread] = self._owners.get(current_thread(), self._turns.current)

    def _wake(self, *_: Any) -> None:
        """Let the running processor stay where it is: it may wait for what a failed one holds."""
        here = self._turns.current
        if not self._failed or here.id in self._staying:
            return
        if here.id >= 0 and here.account is None and getcurrent() is here.thread:
            self._staying.add(here.id)
            self._turns.stay()


def _is_main() -> bool:
    """Tell if the caller is the thread in which processors run."""
    return current_thread() is main_thread()
