"""Signals to request a checkpoint, recorded even before checkpoints can be written."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

NUMBERS = (signal.SIGTERM, signal.SIGUSR1)
"""Signals of batch systems; a run with checkpoints writes a checkpoint and ends on either signal.
"""


def hold() -> None:
    """Block these signals, also across an exec of another program, until `release`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)


def release() -> None:
    """Unblock the signals that `hold` has blocked."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, NUMBERS)


class Signals:
    """Record of the signals received since this object was made.

    The first line of ``main`` makes the object, because the imports that follow can take seconds.
    """

    def __init__(self) -> None:
        self._heard = 0
        self._tell: Callable[[], object] | None = None
        self._before: dict[int, Any] = {}
        try:
            self._before = {number: signal.signal(number, self._hear) for number in NUMBERS}
        except ValueError:  # only the main thread may set handlers
            return

    def _hear(self, number: int, frame: object) -> None:
        self._heard = number
        if self._tell is not None:
            self._tell()

    def tell(self, ask: Callable[[], object]) -> None:
        """Call `ask` when a signal arrives, or at once if one has already arrived."""
        self._tell = ask
        if self._heard:
            ask()

    def hand_back(self) -> None:
        """Restore the former handlers, and send them the received signal: no checkpoint follows."""
        self._restore(tuple(self._before))
        if self._heard:
            os.kill(os.getpid(), self._heard)

    def end(self) -> None:
        """Restore the former handlers, but ignore SIGUSR1 if its handler would kill the process.

        SIGUSR1 only requests a checkpoint, and must not kill a run with a written result.
        """
        self._tell = None
        kills = signal.SIGUSR1, signal.SIG_DFL
        self._restore([pair[0] for pair in self._before.items() if pair != kills])

    def _restore(self, numbers: Any) -> None:
        for number in numbers:
            signal.signal(number, self._before.pop(number))
