"""Signals that ask for a checkpoint: noted even before a keeper exists that can write one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

NUMBERS = (signal.SIGTERM, signal.SIGUSR1)
"""Signals on which a run with checkpoints writes one and ends; batch systems send either."""


def hold() -> None:
    """Let such signals wait, also while this process runs another program, until `release`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)


def release() -> None:
    """Let signals come that `hold` lets wait."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, NUMBERS)


class Signals:
    """The signals received since this object was made.

    It is made in the first line of ``main``: what is imported then takes seconds on a busy host.
    """

    def __init__(self) -> None:
        self._heard = 0
        self._tell: Callable[[], object] | None = None
        self._before: dict[int, Any] = {}
        try:
            self._before = {number: signal.signal(number, self._hear) for number in NUMBERS}
        except ValueError:  # signals are the main thread's
            return

    def _hear(self, number: int, frame: object) -> None:
        self._heard = number
        if self._tell is not None:
            self._tell()

    def tell(self, ask: Callable[[], object]) -> None:
        """Call `ask` when a signal comes, or at once if one has come."""
        self._tell = ask
        if self._heard:
            ask()

    def hand_back(self) -> None:
        """Restore the former handlers and send them the signal received: nothing will be saved."""
        self._restore(tuple(self._before))
        if self._heard:
            os.kill(os.getpid(), self._heard)

    def end(self) -> None:
        """Restore the former handlers, except one that would kill a run at its end.

        SIGUSR1 asks for a checkpoint, and nobody means it to end a run whose result is written.
        """
        self._tell = None
        kills = signal.SIGUSR1, signal.SIG_DFL
        self._restore([pair[0] for pair in self._before.items() if pair != kills])

    def _restore(self, numbers: Any) -> None:
        for number in numbers:
            signal.signal(number, self._before.pop(number))
