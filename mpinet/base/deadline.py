"""The time limit of a command: one deadline for its runs, searches and solvers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Deadline:
    """End of a command's time.

    Hosts' clocks differ. Therefore only rank 0 decides by its deadline, and shares the decision.
    """

    seconds: float = inf
    """Seconds from the start of the command; infinite without a time limit."""
    began: float = 0.0
    """Start of the command, a value of `time.perf_counter`."""

    @property
    def left(self) -> float:
        """Seconds that are left, 0 or more."""
        return max(0.0, self.began + self.seconds - time.perf_counter())

    @property
    def is_near(self) -> bool:
        """True if half of the time is over: a solver may then have been ended by `share`."""
        return self.left < self.seconds / 2

    def share(self, most: float) -> float:
        """Return the seconds of a solver: at most `most`, and half of the seconds that are left."""
        # The checker follows a solver's proof afterwards, in about as much time as the solver.
        return min(most, self.left / 2)


_DEADLINE: ContextVar[Deadline] = ContextVar("deadline", default=Deadline())  # noqa: B039


def deadline() -> Deadline:
    """Return the deadline of the work in this context."""
    return _DEADLINE.get()


@contextmanager
def ending(seconds: float | None, began: float) -> Iterator[None]:
    """Set the deadline of the work in this context; `seconds` None: no limit."""
    before = _DEADLINE.set(Deadline() if seconds is None else Deadline(seconds, began))
    try:
        yield
    finally:
        _DEADLINE.reset(before)
