"""Watch over ranks that keep others waiting: names them on standard error after a long wait.

A thread of each rank looks now and then whether its rank waits in a collective, and notes that in
memory which the ranks of a host share. Collectives themselves do nothing for it.
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
"""Seconds of waiting after which a missing rank is named; then again after twice the time."""

LOOKS = 4
"""Number of looks within `PATIENCE` seconds."""

BEAT, SINCE, PROCESS = 0, 1, 2
"""Columns of a rank's row: time of its last look, start of its wait (0: none), its process."""

Board = NDArray[np.float64]


def patience() -> float:
    """Return the seconds of waiting, which tests set by the environment."""
    try:
        return float(os.environ.get("MPINET_PATIENCE", PATIENCE))
    except ValueError:
        return PATIENCE


class Lookout:
    """Compares one rank's state with that of the other ranks of its host.

    Parameters
    ----------
    board : ndarray of float64, shape (ranks of the host, 3)
        The memory that they share.
    ranks : list of int
        Their numbers.
    own : int
        This rank's place among them.
    others : bool
        Whether there are ranks on other hosts.
    calls : callable
        How many collectives this rank has begun.
    where : str
        The file in whose functions a rank waits.
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
        """Look from now on until the process ends, by a thread that `threading` does not list."""
        # Not by `threading`: a user's script counts its threads, and must find only its own.
        _thread.start_new_thread(self._look_on, ())

    def _look_on(self) -> None:
        while True:
            time.sleep(self._patience / LOOKS)
            self.look()

    def look(self) -> None:
        """Note whether this rank waits, and name the missing ranks if that falls to this rank."""
        since, calls = float(self._board[self._own, SINCE]), self._calls()
        # Looked at from outside, so that collectives do nothing for it and stay as fast as without.
        if not self._waits():
            since = 0.0
        # Another collective has begun since: this wait is a new one.
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
        """Tell if the rank's own thread is in a collective now."""
        # The rank waits where the innermost frame is in the transport; blocked MPI calls cannot be
        # interrupted to ask.
        frame: Any = sys._current_frames().get(self._main)
        return frame is not None and frame.f_code.co_filename == self._where

    def _note(self, since: float) -> None:
        self._board[self._own] = time.monotonic(), since, os.getpid()

    def missing(self) -> list[int]:
        """Places of this host's ranks that do not wait, or whose thread does not even look."""
        # A stopped process does not even beat, while one that computes does: both are missing.
        silent = time.monotonic() - self._board[:, BEAT] > self._patience / 2
        return np.flatnonzero(silent | (self._board[:, SINCE] == 0)).tolist()

    def _say(self, seconds: float) -> None:
        """Name the missing ranks, if this is the first rank of the host that waits."""
        missing = self.missing()
        # One voice per host: the first rank that waits speaks for all of them.
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
            # Unbuffered and without a lock: the main thread may hold Python's stream while it
            # waits.
            os.write(2, f"mpinet: after {seconds:.0f} s {text}\n".encode())
        except OSError:
            return
