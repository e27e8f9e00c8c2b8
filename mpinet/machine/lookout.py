"""Watch for ranks that keep other ranks waiting: report them on standard error after a long wait.

A thread of each rank checks regularly whether its rank waits in a collective. The result goes into
memory shared by the ranks of a host. Collectives themselves need no extra work.
"""

from __future__ import annotations

import _thread
import os
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

PATIENCE = 60.0
"""Seconds of waiting before a missing rank is reported; each further report takes twice as long."""

LOOKS = 4
"""Number of checks within `PATIENCE` seconds."""

BEAT, SINCE, PROCESS = 0, 1, 2
"""Columns of a rank's row: time of its last check, start of its wait (0: none), process id."""

Board = NDArray[np.float64]


def patience() -> float:
    """Return the seconds of waiting before a report; tests set it in the environment."""
    try:
        return float(os.environ.get("MPINET_PATIENCE", PATIENCE))
    except ValueError:
        return PATIENCE


class Lookout:
    """Compares one rank's state with the states of the other ranks of its host.

    Parameters
    ----------
    board : ndarray of float64, shape (ranks of the host, 3)
        Memory shared by the ranks of the host.
    ranks : list of int
        Numbers of the ranks of the host.
    own : int
        This rank's index in `ranks`.
    others : bool
        True if there are ranks on other hosts.
    calls : callable
        Returns the number of collectives begun by this rank.
    where : str
        Source file of the functions in which a rank waits.
    """

    def __init__(
        self,
        board: Board,
        ranks: list[int],
        own: int,
        others: bool,
        calls: Callable[[], int],
        where: str,
    ):
        self._board, self._ranks, self._own, self._others = board, ranks, own, others
        self._calls, self._where = calls, where
        self._main = _thread.get_ident()
        self._patience = self._next = patience()
        self._seen = -1
        self._note(0.0)

    def start(self) -> None:
        """Start checking until the process ends, in a thread invisible to `threading`."""
        # Not in `threading`: a user's script may count its threads, and must find only its own.
        _thread.start_new_thread(self._look_on, ())

    def _look_on(self) -> None:
        while True:
            time.sleep(self._patience / LOOKS)
            self.look()

    def look(self) -> None:
        """Record whether this rank waits, and report missing ranks if this rank is responsible."""
        since, calls = float(self._board[self._own, SINCE]), self._calls()
        # Checked from outside: collectives need no extra work and stay as fast as without a
        # lookout.
        if not self._waits():
            since = 0.0
        # Another collective has begun since the last check: this wait is a new one.
        elif not since or calls != self._seen:
            since, self._next = time.monotonic(), self._patience
        self._seen = calls
        self._note(since)
        waited = time.monotonic() - since
        if since and waited >= self._next:
            # A stopped rank would otherwise be reported every minute for days.
            self._next = 2 * waited
            self._say(waited)

    def _waits(self) -> bool:
        """Return True if the rank's main thread is in a collective now."""
        # The rank waits if the innermost Python frame is in the transport. Blocked MPI calls cannot
        # be interrupted for a check.
        frame: Any = sys._current_frames().get(self._main)
        return frame is not None and frame.f_code.co_filename == self._where

    def _note(self, since: float) -> None:
        self._board[self._own] = time.monotonic(), since, os.getpid()

    def missing(self) -> list[int]:
        """Return the indices of this host's ranks that do not wait, or whose thread is stopped."""
        # The thread of a stopped process does not check, and a computing process does not wait:
        # both are missing.
        silent = time.monotonic() - self._board[:, BEAT] > self._patience / 2
        return np.flatnonzero(silent | (self._board[:, SINCE] == 0)).tolist()

    def _say(self, seconds: float) -> None:
        """Report the missing ranks, if this is the first waiting rank of the host."""
        missing = self.missing()
        # One report per host: the first waiting rank reports for all of them.
        if any(place not in missing for place in range(self._own)):
            return
        host = platform.node()
        named = [f"{self._ranks[k]} (process {self._board[k, PROCESS]:.0f})" for k in missing]
        if named:
            several = len(named) > 1
            text = (
                f"rank{'s' * several} {', '.join(named)} on {host} {'have' if several else 'has'} "
                "not answered: stopped, or still computing"
            )
        elif self._others:
            text = f"all ranks on {host} wait for ranks on other hosts"
        else:
            return
        try:
            # Unbuffered and without a lock: the main thread may hold Python's stream while waiting.
            os.write(2, f"mpinet: after {seconds:.0f} s {text}\n".encode())
        except OSError:
            return
