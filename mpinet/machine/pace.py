"""Which ranks the others wait for: told to whoever watches a run that takes long.

Every rank adds up how long it has worked from one collective to the next, not waiting in them. The
sum, and the processor time that it has had, ride on every collective. So a rank that compares what
two of them brought sees who was slow, and sends nothing for it. No result depends on that.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from mpinet.arrays import Ints

PERIOD = 60.0
"""Seconds over which ranks are compared; then again after twice the time for the same ranks."""

MUCH = 2.0
"""Slow is who works so many times as long as the others for the same steps."""

BUSY = 0.5
"""And not less than this part of the time: where all wait for something else, nobody is slow."""

SAMPLE = 0.1
"""Seconds of work after which the processor time, which takes a call of the system, is read."""

MICRO = 10**6


class Worked:
    """How long this rank has worked.

    Attributes
    ----------
    told : list of int
        Microseconds of work, and of processor time.
    """

    def __init__(self) -> None:
        self._worked = 0.0
        self._since = time.perf_counter()
        self._sampled = float("-inf")
        self.told = [0, 0]

    def pause(self) -> list[int]:
        """Begin to wait for others; what is to be told them."""
        self._worked += time.perf_counter() - self._since
        if self._worked - self._sampled >= SAMPLE:
            self._sampled = self._worked
            self.told[1] = int(MICRO * time.process_time())
        self.told[0] = int(MICRO * self._worked)
        return self.told

    def go_on(self) -> None:
        """Go on working."""
        self._since = time.perf_counter()


class Pace:
    """Compares what the ranks have told.

    Parameters
    ----------
    hosts : sequence of str
        The name of each rank's host.
    """

    def __init__(self, hosts: Sequence[str]):
        self._hosts = hosts
        self._began: float | None = None
        self._before = np.zeros((len(hosts), 2), np.int64)
        self._said: list[int] = []
        self._next = self._pause = 0.0

    def look(self, told: Ints) -> str:
        """A sentence on who was slow since some `PERIOD`; empty if nobody was, or too soon.

        Parameters
        ----------
        told : ndarray of int64, shape (ranks, 2)
            `Worked.told` of each, from their last collective.
        """
        now = time.perf_counter()
        if self._began is None:
            self._begin(now, told)
            return ""
        seconds = now - self._began
        if seconds < PERIOD:
            return ""
        worked, had = ((told - self._before) / MICRO).T
        self._begin(now, told)
        slow = slow_ranks(worked, seconds)
        if not slow or (slow == self._said and now < self._next):
            return ""
        self._pause = 2 * self._pause if slow == self._said else 2 * PERIOD
        self._said, self._next = slow, now + self._pause
        others = float(np.median(np.delete(worked, slow)))
        times = worked[slow].min() / max(others, 0.01 * seconds)
        core = had[slow].sum() / (len(slow) * seconds)
        return self._sentence(slow, times, core)

    def _begin(self, now: float, told: Ints) -> None:
        self._began, self._before = now, told.copy()

    def _sentence(self, slow: list[int], times: float, core: float) -> str:
        several = len(slow) > 1
        by_host: dict[str, list[str]] = {}
        for rank in slow:
            by_host.setdefault(self._hosts[rank], []).append(str(rank))
        named = " and ".join(f"{', '.join(ranks)} on {host}" for host, ranks in by_host.items())
        each = "each " if several else ""
        return (
            f"rank{'s' * several} {named} {'take' if several else 'takes'} {times:.1f} times as "
            f"long for a step as the others, which wait for {'them' if several else 'it'}: a slow "
            f"or busy host ({core:.0%} of a core {each}was had), or more of the messages are there"
        )


def slow_ranks(worked: np.ndarray, seconds: float) -> list[int]:
    """The ranks that have worked much longer than others in so many seconds, which all took."""
    usual = np.sort(worked)[(len(worked) - 1) // 2]
    slow = (worked >= MUCH * usual) & (worked >= BUSY * seconds)
    return np.flatnonzero(slow).tolist() if len(worked) > 1 else []
