"""Detection of slow ranks, for messages to the user during a long run.

Every rank adds up its working time between collectives, excluding waiting. From time to time rank 0
collects from all ranks, in a collective, this sum and the time without a core. Comparing two
collections shows the slow ranks. No result depends on these times.

A rank whose host gives it little of a core usually loses the core inside a collective, where the
MPI library polls. Its working time then looks short. The operating system's accounts reveal such a
rank.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints

ASKS = 5.0
"""Minimum number of seconds between two collections from all ranks."""

PERIOD = 60.0
"""Seconds over which ranks are compared; the same slow ranks are reported again after twice the
time.
"""

# Below a factor of two, caches and block sizes explain the difference, and a warning would be
# noise.
MUCH = 2.0
"""Minimum ratio of a slow rank's working time to the other ranks', for the same steps."""

BUSY = 0.5
"""Minimum busy share of a slow rank; below it, all ranks wait for something else."""

SAMPLE = 0.1
"""Seconds between two readings of the system's accounts."""

KEPT = "/proc/self/schedstat"
"""Linux's account of a process: nanoseconds on a core, and nanoseconds ready to run without a
core.
"""

STARVED = 0.25
"""Minimum excess of a starved rank's time without a core over the others', as a share of the
time.
"""

MICRO = 10**6


class Worked:
    """Working time of this rank."""

    def __init__(self) -> None:
        self._worked = 0.0
        self._since = time.perf_counter()
        self._sampled = float("-inf")
        self.told: list[int] = [0, 0]
        """Microseconds of work, and microseconds without a core."""

    def pause(self) -> list[int]:
        """Record the start of waiting; return microseconds [worked, without a core]."""
        now = time.perf_counter()
        self._worked += now - self._since
        # Reading the system's account costs more than an idle step, hence the sampling by time.
        if now - self._sampled >= SAMPLE:
            self._sampled = now
            self.told[1] = _without_core()
        self.told[0] = int(MICRO * self._worked)
        return self.told

    def go_on(self) -> None:
        """Record the end of waiting."""
        self._since = time.perf_counter()


class Pace:
    """Compares the working times reported by ranks.

    Parameters
    ----------
    hosts : sequence of str
        Name of each rank's host.
    """

    def __init__(self, hosts: Sequence[str]):
        self._hosts = hosts
        self._began: float | None = None
        self._heard: float | None = None
        self._told = self._before = np.zeros((len(hosts), 2), np.int64)
        self._said: list[int] = []
        self._next = self._pause = 0.0

    @property
    def due(self) -> bool:
        """True if it is time to collect from the ranks again."""
        return self._heard is None or time.perf_counter() - self._heard >= ASKS

    def hear(self, told: Ints) -> None:
        """Store the latest report of every rank, and the time of this call.

        Row r of `told` is `Worked.told` of rank r: microseconds of work, and microseconds
        without a core. Shape (ranks, 2).
        """
        self._heard, self._told = time.perf_counter(), told

    def look(self) -> str:
        """Return a sentence on ranks that were slow for a `PERIOD`; empty without any, or too soon.

        The method compares the last reports with the reports at the end of the previous period.
        """
        now, told = self._heard, self._told
        if now is None:
            return ""
        if self._began is None:
            self._begin(now, told)
            return ""
        seconds = now - self._began
        if seconds < PERIOD:
            return ""
        worked, kept = ((told - self._before) / MICRO).T
        self._begin(now, told)
        # Work is compared over a whole period: single steps differ by chance.
        slow = slow_ranks(worked, seconds)
        starved = [] if slow else starved_ranks(worked, kept, seconds)
        slow = slow or starved
        if not slow or (slow == self._said and now < self._next):
            return ""
        # Exponential back-off: a known slow rank is reported again, but ever more rarely.
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
    """Return the ranks that worked much longer than the other ranks within the same `seconds`."""
    # The lower median: with two ranks this is the faster rank, and the slower rank can stand out.
    usual = np.sort(worked)[(len(worked) - 1) // 2]
    slow = (worked >= MUCH * usual) & (worked >= BUSY * seconds)
    return np.flatnonzero(slow).tolist() if len(worked) > 1 else []


def starved_ranks(worked: np.ndarray, kept: np.ndarray, seconds: float) -> list[int]:
    """Return the ranks that had a core for at most half as long as other ranks."""
    middle = (len(worked) - 1) // 2
    usual, others = np.sort(worked)[middle], np.sort(kept)[middle]
    # Compared with the median rank, because on a busy host all ranks lack a core at times.
    longer = (kept - others >= STARVED * seconds) & (MUCH * (seconds - kept) <= seconds - others)
    return np.flatnonzero(longer & (worked >= usual)).tolist()


def _without_core() -> int:
    """Return the microseconds that this process waited for a core; 0 if unknown."""
    try:
        return int(Path(KEPT).read_text().split()[1]) // 1000
    except (OSError, ValueError, IndexError):
        return 0
