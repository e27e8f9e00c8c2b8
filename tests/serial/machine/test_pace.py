"""Slow ranks are those that work much longer for the same steps, while the others wait."""

import numpy as np
import pytest

from mpinet.machine import pace
from mpinet.machine.pace import MICRO, PERIOD, Pace, Worked, slow_ranks, starved_ranks
from mpinet.report.progress import Progress


class Clock:
    """Seconds that pass only where the test says so."""

    def __init__(self):
        self.now = 1000.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(pace, "time", made)
    return made


def looked(made, told):
    """What is said once the ranks have told this."""
    made.hear(told)
    return made.look()


def seen(clock, *periods, hosts=("a", "a", "b", "c")):
    """What is said after periods in which ranks have worked (half as long without a core)."""
    made, told, said = Pace(hosts), np.zeros((len(hosts), 2), np.int64), []
    looked(made, told)
    for worked in periods:
        clock.now += PERIOD
        told = told + (MICRO * np.array([worked, np.array(worked) / 2]).T).astype(np.int64)
        said.append(looked(made, told))
    return said


def test_a_rank_that_works_much_longer_is_named_with_its_host(clock):
    (said,) = seen(clock, [10, 12, 48, 12])
    assert said.startswith("rank 2 on b takes 4.0 times as long for a step as the others")
    assert "without a core for 40% of the time" in said


def test_ranks_of_one_host_are_named_together(clock):
    (said,) = seen(clock, [50, 60, 15, 20, 10], hosts=["x", "x", "y", "y", "z"])
    assert said.startswith("ranks 0, 1 on x take 3.3 times")


@pytest.mark.parametrize(
    "worked",
    [
        [58, 59, 60, 57],  # all work all the time
        [20, 30, 39, 25],  # not twice as long
        [1, 1, 20, 1],  # mostly waiting for something else
        [0, 0, 0, 0],
    ],
)
def test_nobody_is_named_where_ranks_are_about_alike(clock, worked):
    assert seen(clock, worked) == [""]


def test_a_rank_without_a_core_is_named_though_it_seems_to_wait_for_others(clock):
    made, told = Pace(["a", "a", "b"]), np.zeros((3, 2), np.int64)
    looked(made, told)
    clock.now += PERIOD
    said = looked(made, MICRO * np.array([[2, 12], [2, 6], [4, 54]]))
    told = "rank 2 on b had no core for 90% of the time, and the others, which wait for it, for 15%"
    assert said.startswith(told)


@pytest.mark.parametrize(
    "worked, kept",
    [
        ([9, 9, 9], [45, 45, 48]),  # all ranks share few cores
        ([60, 60, 60], [0, 0, 20]),  # a little less than others
        ([9, 9, 9], [50, 50, 57]),  # hardly anything, as all
        ([9, 9, 4], [0, 0, 50]),  # it polls, and others work
        ([60], [50]),
        ([0, 0], [0, 0]),
    ],
)
def test_nobody_is_starved_who_has_a_core_as_long_as_others_or_nothing_to_do(worked, kept):
    assert starved_ranks(np.array(worked), np.array(kept), 60) == []


def test_the_system_says_how_long_there_was_no_core(tmp_path, monkeypatch):
    said = tmp_path / "schedstat"
    said.write_text("5000000 7000000 3\n")
    monkeypatch.setattr(pace, "KEPT", str(said))
    assert Worked().pause()[1] == 7000
    monkeypatch.setattr(pace, "KEPT", str(tmp_path / "none"))
    assert Worked().pause()[1] == 0


def test_it_is_said_again_more_and_more_seldom_unless_others_are_slow(clock):
    slow, other = [5, 5, 50, 5], [50, 5, 5, 5]
    said = seen(clock, *[slow] * 8, other)
    assert [number for number, text in enumerate(said) if text] == [0, 2, 6, 8]
    assert said[-1].startswith("rank 0 on a ")


def test_less_than_a_period_is_too_short(clock):
    made, told = Pace(["a", "b"]), np.zeros((2, 2), np.int64)
    assert looked(made, told) == ""
    clock.now += PERIOD - 1
    assert looked(made, told + np.array([[0, 0], [50 * MICRO, 0]])) == ""


def test_waiting_is_no_work(clock):
    made = Worked()
    for _ in range(3):
        clock.now += 2
        made.pause()
        clock.now += 30
        made.go_on()
    clock.now += 1
    assert made.pause()[0] == 7 * MICRO


def test_one_rank_alone_is_not_slow():
    assert slow_ranks(np.array([60.0]), 60) == []


@pytest.mark.parametrize("wanted", [True, "json"])
def test_progress_tells_it(wanted, monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("mpinet.report.progress.time.monotonic", lambda: now[0])
    with Progress("steps", wanted=wanted, launched=True) as shown:
        shown.slow = lambda: "rank 1 is slow"
        now[0] += 3
        shown.update(1)
    assert "rank 1 is slow" in capsys.readouterr().err.splitlines()[0]
