"""The shares of the tests' cases: together all of them, each once."""

from dataclasses import dataclass

import pytest
from shares import outside_of_share, some


@dataclass(frozen=True)
class Case:
    nodeid: str


CASES = [f"a.py::test_{k}[{case}]" for k in range(20) for case in range(k + 1)]


def run(share, first=False):
    """The names of the cases that a share runs."""
    left_out = outside_of_share(map(Case, CASES), share, first)
    return [name for name in CASES if Case(name) not in left_out]


@pytest.mark.parametrize("shares", [1, 2, 3, 7])
def test_the_shares_run_every_case_once(shares):
    ran = [name for k in range(shares) for name in run(f"{k}/{shares}")]
    assert sorted(ran) == sorted(CASES)


def test_a_share_has_its_part_of_every_test():
    ran = run("1/3")
    for k in range(20):
        of_test = sum(name.startswith(f"a.py::test_{k}[") for name in ran)
        assert (k + 1) // 3 <= of_test <= (k + 3) // 3


def test_a_share_of_costly_tests_has_the_first_case_of_each_beside_its_part():
    ran = set(run("1/3", first=True))
    assert ran == {*run("1/3"), *(f"a.py::test_{k}[0]" for k in range(20))}


def test_a_loop_takes_all_its_cases_in_the_long_tests_and_else_the_first_and_some(monkeypatch):
    monkeypatch.delenv("MPINET_LONG", raising=False)
    assert some(range(8), 3) == [0, 3, 6]
    monkeypatch.setenv("MPINET_LONG", "1")
    assert some(iter("abc"), 3) == ["a", "b", "c"]
