"""A time limit ends a search with bounds that hold; solvers get half of the time that is left."""

import json
import math
import subprocess

import pytest

from mpinet.base import deadline as deadlines
from mpinet.base.deadline import Deadline, deadline, ending
from mpinet.certify.certificate import certify
from mpinet.cli.session import CommandSession
from mpinet.measure.optimum import sat, simplex
from mpinet.measure.optimum.clausebook import ClauseBook
from mpinet.networks.catalogue import open_topology


def run(capsys, *words: str) -> tuple[int, dict]:
    status = CommandSession([*words, "--json"]).run()
    return status, json.loads(capsys.readouterr().out)


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time of the deadline's clock, which tests set."""
    now = [100.0]
    monkeypatch.setattr(deadlines.time, "perf_counter", lambda: now[0])
    return now


def test_a_deadline_counts_down_and_halves_what_is_left(clock) -> None:
    limit = Deadline(8, 100)
    assert (limit.left, limit.is_near, limit.share(60), limit.share(3)) == (8, False, 4, 3)
    clock[0] = 106
    assert (limit.left, limit.is_near, limit.share(60)) == (2, True, 1)
    clock[0] = 200
    assert (limit.left, limit.is_near, limit.share(60)) == (0, True, 0)


def test_without_a_limit_nothing_ends(clock) -> None:
    with ending(None, 0):
        assert (deadline().left, deadline().is_near, deadline().share(60)) == (math.inf, False, 60)


def test_a_limit_holds_only_in_its_context(clock) -> None:
    with ending(10, 95):
        assert deadline().left == 5
        with ending(2, 100):
            assert deadline().left == 2
        assert deadline().left == 5
    assert deadline().left == math.inf


@pytest.mark.parametrize("solver", [sat, simplex])
def test_a_solver_is_ended_after_half_of_the_time(solver, clock, monkeypatch) -> None:
    given = []

    def ended(*words, timeout, **more):
        given.append(timeout)
        raise subprocess.TimeoutExpired("solver", timeout)

    monkeypatch.setattr(solver.subprocess, "run", ended)
    for seconds, expected in ((20, 5.0), (10.1, 0.1), (1000, 60)):
        with ending(seconds, 90):
            if solver is sat:
                answer = sat.solved(ClauseBook(), 60)
                assert answer.true is answer.proof is None
            else:
                assert simplex.solution({}, 60 - simplex.GRACE) is None
        assert given.pop() == pytest.approx(expected)
    with ending(10, 90):  # over: nothing starts
        assert solver is simplex or sat.solved(ClauseBook(), 60).proof is None
        assert solver is sat or simplex.solution({}, 60) is None
    assert given == []


def test_an_optimum_in_no_time_reports_its_best_bounds(capsys, tmp_path) -> None:
    # The optimum is 6, by a search in another program (optima.json): quick bounds leave it open.
    file = tmp_path / "found.cert"
    words = ("optimum", "debruijn:5", "--save", str(file))
    status, short = run(capsys, *words, "--time-limit", "1e-3")
    found = short["result"]
    assert (status, found["lower"], found["upper"]) == (0, 5, 6)
    assert (found["exact"], found["correct"]) == (False, True)
    claim = certify(file, open_topology("debruijn:5")).document["claim"]
    assert (claim["collective"], claim["more_than"]) == ("broadcast", 4)


def test_enough_time_changes_nothing(capsys) -> None:
    words = ("optimum", "ccc:3")
    status, free = run(capsys, *words)
    assert run(capsys, *words, "--time-limit", "1e6")[1]["digest"] == free["digest"]
    # An open result whose solvers had half of the time each could be better with more time.
    assert free["result"]["exact"] and status == 0


def test_a_bisection_in_no_time_reports_the_cut_that_it_has(capsys) -> None:
    status, document = run(capsys, "optimum", "bisection", "petersen", "--time-limit", "1e-3")
    found, side = document["result"], {*document["result"]["side"]}
    network = open_topology("petersen")
    cut = sum(
        network.neighbor(node, port) not in side for node in side for port in range(network.ports)
    )
    assert (status, len(side), found["upper"]) == (0, 5, cut)
    assert found["lower"] <= 5 <= found["upper"]  # the width of the Petersen graph


def test_a_frontier_in_no_time_keeps_the_textbooks(capsys) -> None:
    status, document = run(capsys, "pareto", "gossip", "hypercube:3", "--time-limit", "1e-3")
    names = [row["algorithm"] for row in document["result"]]
    assert status == 0 and "recursive-doubling" in names and "search" not in names


@pytest.mark.parametrize("given", ["0", "-1", "abc", "nan", "inf", "1e10", ""])
@pytest.mark.parametrize("command", ["optimum ring:8", "flood ring:8 --checkpoint kept"])
def test_a_wrong_limit_is_a_sentence(given, command, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CommandSession([*command.split(), "--time-limit", given]).run() == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("mpinet: argument --time-limit: a time ")
    assert printed.err.endswith(f"not {given!r}\n") and printed.err.count("\n") == 1
    assert not (tmp_path / "kept").exists()


def test_a_run_needs_a_checkpoint_for_its_limit(capsys) -> None:
    assert CommandSession(["flood", "ring:8", "--time-limit", "5"]).run() == 2
    assert capsys.readouterr().err == "mpinet: --time-limit does not apply without --checkpoint.\n"


def test_a_command_that_can_neither_save_nor_search_has_no_limit(capsys) -> None:
    assert CommandSession(["tune", "broadcast", "--time-limit", "5"]).run() == 2
    assert "tune has no option --time-limit" in capsys.readouterr().err
