"""Which ranks the others wait for: told to whoever watches a run that takes long.

Every rank adds up how long it has worked from one collective to the next, not waiting in them. The
sum, and how long it has had no core, ride on every collective. So a rank that compares what
two of them brought sees who was slow, and sends nothing for it. No result depends on that.

A rank whose host gives it little of a core is most often kept from it within a collective, where
the MPI library polls, so that its work looks short. It is known by what the system says.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpinet.arrays import Ints

PERIOD = 60.0
"""Seconds over which ranks are compared; then again after twice the time for the same ranks."""

MUCH = 2.0
"""Slow is who works so many times as long as the others for the same steps."""

BUSY = 0.5
"""And not less than this part of the time: where all wait for something else, nobody is slow."""

SAMPLE = 0.1
"""Seconds after which the system is asked again."""

KEPT = "/proc/self/schedstat"
"""Where Linux says for how many ns a process has run, and was ready to run and had no core."""

STARVED = 0.25
"""The part of the time that a starved rank, unlike the others, has no core."""

MICRO = 10**6


class Worked:
    """How long this rank has worked.

    Attributes
    ----------
    told : list of int
        Microseconds of work, and without a core.
    """

    def __init__(self) -> None:
        self._worked = 0.0
        self._since = time.perf_counter()
        self._sampled = float("-inf")
        self.told = [0, 0]

    def pause(self) -> list[int]:
        """Begin to wait for others; what is to be told them."""
        now = time.perf_counter()
        self._worked += now - self._since
        if now - self._sampled >= SAMPLE:
            self._sampled = now
            self.told[1] = _without_core()
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
        worked, kept = ((told - self._before) / MICRO).T
        self._begin(now, told)
        slow = slow_ranks(worked, seconds)
        starved = [] if slow else starved_ranks(worked, kept, seconds)
        slow = slow or starved
        if not slow or (slow == self._said and now < self._next):
            return ""
        self._pause = 2 * self._pause if slow == self._said else 2 * PERIOD
        self._said, self._next = slow, now + self._pause
        without = float(kept[slow].min()) / seconds
        if starved:
            others = float(np.median(np.delete(kept, slow))) / seconds
            return self._kept_off(slow, without, others)
        others = float(np.median(np.delete(worked, slow)))
        times = worked[slow].min() / max(others, 0.01 * seconds)
        return self._sentence(slow, times, without)

    def _begin(self, now: float, told: Ints) -> None:
        self._began, self._before = now, told.copy()

    def _named(self, slow: list[int]) -> str:
        by_host: dict[str, list[str]] = {}
        for rank in slow:
            by_host.setdefault(self._hosts[rank], []).append(str(rank))
        named = " and ".join(f"{', '.join(ranks)} on {host}" for host, ranks in by_host.items())
        return f"rank{'s' * (len(slow) > 1)} {named}"

    def _kept_off(self, starved: list[int], without: float, others: float) -> str:
        return (
            f"{self._named(starved)} had no core for {without:.0%} of the time, and the others, "
            f"which wait for {'them' if len(starved) > 1 else 'it'}, for {others:.0%}: a busy "
            "host, or one that gives the job fewer cores than ranks"
        )

    def _sentence(self, slow: list[int], times: float, without: float) -> str:
        several = len(slow) > 1
        return (
            f"{self._named(slow)} {'take' if several else 'takes'} {times:.1f} times as "
            f"long for a step as the others, which wait for {'them' if several else 'it'}: a slow "
            f"or busy host (without a core for {without:.0%} of the time), or more of the messages "
            "are there"
        )


def slow_ranks(worked: np.ndarray, seconds: float) -> list[int]:
    """The ranks that have worked much longer than others in so many seconds, which all took."""
    usual = np.sort(worked)[(len(worked) - 1) // 2]
    slow = (worked >= MUCH * usual) & (worked >= BUSY * seconds)
    return np.flatnonzero(slow).tolist() if len(worked) > 1 else []


def starved_ranks(worked: np.ndarray, kept: np.ndarray, seconds: float) -> list[int]:
    """The ranks that had a core for half of what others had it in so many seconds, and worked."""
    middle = (len(worked) - 1) // 2
    usual, others = np.sort(worked)[middle], np.sort(kept)[middle]
    longer = (kept - others >= STARVED * seconds) & (MUCH * (seconds - kept) <= seconds - others)
    return np.flatnonzero(longer & (worked >= usual)).tolist()


def _without_core() -> int:
    """Microseconds for which this process was ready to run and had no core; 0: nobody says."""
    try:
        return int(Path(KEPT).read_text().split()[1]) // 1000
    except (OSError, ValueError, IndexError):
        return 0
