"""What ranks tell of their work rides on collectives, and rank 0 sees who is slow."""

import time

import numpy as np

from mpinet.machine import pace
from mpinet.machine.transport import world


class Clock:
    """Seconds that pass only where the test says so."""

    def __init__(self):
        self.now = time.perf_counter()

    def perf_counter(self):
        return self.now


def test_the_rank_that_works_longest_is_seen_by_rank_0(monkeypatch):
    transport, clock = world(), Clock()
    monkeypatch.setattr(pace, "time", clock)
    last = transport.size - 1

    def steps(seconds: float) -> str:
        """What is said after steps for which the last rank works so long, and the others 1 s."""
        transport.sum(np.zeros(1))  # what was before
        transport.sum(np.zeros(1))
        transport.slow()
        for _ in range(70):
            clock.now += seconds if transport.rank == last else 1
            transport.sum(np.zeros(1, np.int64))
        return transport.slow()

    steps(1)  # whatever was seen before this test
    assert steps(1) == ""
    said = steps(8)
    if transport.rank == 0 < last:
        assert said.startswith(f"rank {last} on ")
    else:
        assert said == ""


class Late:
    """Ranks whose records come seconds after it was said how many they are."""

    def __init__(self, comm, clock):
        self._comm, self._clock = comm, clock

    def __getattr__(self, name):
        if name == "Irecv":
            self._clock.now += 5
        return getattr(self._comm, name)


def test_to_wait_for_the_records_of_others_is_no_work(monkeypatch):
    transport, clock = world(), Clock()
    monkeypatch.setattr(pace, "time", clock)
    records = np.arange(transport.size)
    counts = np.ones(transport.size, np.int64)
    if transport.size == 1:
        assert transport.slow() == ""  # nobody is waited for
        return
    monkeypatch.setattr(transport, "_comm", Late(transport._comm, clock))
    before = list(transport._worked.pause())
    transport._worked.go_on()
    clock.now += 2
    assert list(transport.exchange(records, counts).records) == [transport.rank] * transport.size
    clock.now += 1
    assert abs(transport._worked.pause()[0] - before[0] - 3 * pace.MICRO) <= 2  # not 8 s
    transport._worked.go_on()
