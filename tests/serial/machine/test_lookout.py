"""Who keeps the others waiting is said by one rank of the host, and only after a while."""

import os

import numpy as np
import pytest

from mpinet.machine import lookout
from mpinet.machine.lookout import SINCE, Lookout

RANKS = [4, 5, 6]


class Clock:
    """Seconds that pass only where the test says so."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(lookout, "time", made)
    return made


@pytest.fixture
def said(monkeypatch):
    """The lines that are written to standard error."""
    lines = []
    monkeypatch.setattr(lookout.os, "write", lambda to, text: lines.append((to, text.decode())))
    return lines


class Rank(Lookout):
    """A rank that is in a collective if the test says so."""

    in_collective = False

    def _waits(self):
        return self.in_collective


def host(waiting, others=False):
    """The lookouts of a host's ranks, of which some wait in a collective."""
    board = np.zeros((len(RANKS), 3))
    ranks = [Rank(board, RANKS, k, others, lambda: 7, "") for k in range(len(RANKS))]
    for k in waiting:
        ranks[k].in_collective = True
    return ranks


def pass_time(clock, ranks, seconds):
    """Let ranks look once a second."""
    for _ in range(seconds):
        clock.now += 1
        for rank in ranks:
            rank.look()


def test_the_first_rank_that_waits_says_who_is_missing(clock, said):
    ranks = host(waiting={1, 2})
    pass_time(clock, ranks, 60)
    assert said == []
    pass_time(clock, ranks, 10)
    ((to, line),) = said
    assert to == 2
    assert line.startswith(f"mpinet: after 60 s rank 4 (process {os.getpid()}) on ")
    assert line.count("rank") == 1
    pass_time(clock, ranks, 60)
    assert len(said) == 2 and "after 120 s" in said[1][1]


def test_a_rank_that_does_not_even_look_is_missing(clock, said):
    ranks = host(waiting={0, 1, 2})
    pass_time(clock, ranks, 2)
    pass_time(clock, [ranks[0], ranks[1]], 70)  # rank 6 is stopped in the same collective
    assert len(said) == 1 and "rank 6 (" in said[0][1]


def test_ranks_that_all_compute_or_go_on_say_nothing(clock, said):
    pass_time(clock, host(waiting=()), 200)
    ranks, calls = host(waiting={0, 1}), iter(range(10**6))
    for rank in ranks:
        rank._calls = lambda: next(calls)  # a new collective at every look
    pass_time(clock, ranks, 200)
    assert said == []


def test_a_host_that_is_complete_says_that_others_are_missing(clock, said):
    pass_time(clock, host(waiting={0, 1, 2}, others=True), 70)
    assert len(said) == 1 and "wait for ranks on other hosts" in said[0][1]


def test_the_time_of_waiting_begins_anew_after_work(clock, said):
    ranks = host(waiting={0, 1})
    pass_time(clock, ranks, 50)
    ranks[0].in_collective = ranks[1].in_collective = False
    pass_time(clock, ranks, 1)
    assert not ranks[0]._board[:, SINCE].any()
    ranks[0].in_collective = ranks[1].in_collective = True
    pass_time(clock, ranks, 50)
    assert said == []
