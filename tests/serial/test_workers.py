"""Workers that are forked after collection: every test is reported as pytest itself reports it."""

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from workers import DEAR, Deal

CHECKOUT = Path(__file__).resolve().parents[2]

MIXED = """
import sys, warnings
import pytest

@pytest.fixture(scope="module")
def shared():
    yield 3

@pytest.fixture
def left_broken():
    yield
    raise ValueError("broken at its end")

@pytest.mark.parametrize("k", range(30))
def test_passes(k, shared): assert shared == 3
def test_fails():
    print("words of the test")
    print("complaints of the test", file=sys.stderr)
    assert 1 == 2
def test_is_left_broken(left_broken): pass
def test_skips(): pytest.skip("not today")
@pytest.mark.xfail
def test_is_known_to_fail(): assert False
def test_warns(): warnings.warn("be careful")
"""

DEADLY = """
import os, signal, time
import pytest

def test_exits(): os._exit(0)
@pytest.mark.parametrize("k", range(9))
def test_passes(k): pass
def test_is_killed(): os.kill(os.getpid(), signal.SIGKILL)
def test_leaves_a_process_that_holds_all_that_is_open():
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    os._exit(3)
"""

DEATHS = {"test_exits": 0, "test_is_killed": -9}
DEATHS["test_leaves_a_process_that_holds_all_that_is_open"] = 3

WAITING = """
import time
from pathlib import Path
import pytest

@pytest.fixture(scope="module")
def lasting(request):
    yield Path(request.config.rootpath, "begun").touch()
    Path(request.config.rootpath, "ended").touch()

def test_waits(lasting): time.sleep(300)
def test_waits_too(lasting): time.sleep(300)
"""

EXPENSIVE = """
import time

def test_computes():
    end = time.process_time() + 0.3
    while time.process_time() < end: pass

def test_computes_once(kept=[]):
    if not kept:
        kept.append(test_computes())

def test_rests(): time.sleep(0.5)
"""


def pytest_words(folder: Path, text: str, *options: str) -> list[str | Path]:
    """The command that runs the tests of a text."""
    (folder / "test_it.py").write_text(text)
    settings = ["-c", CHECKOUT / "pyproject.toml", "--rootdir", folder, "-p", "conftest"]
    settings += ["--disable-plugin-autoload", "-p", "pytest_mpi", "-p", "no:cacheprovider"]
    return [sys.executable, "-m", "pytest", *settings, "--color=no", *options, folder]


def environment(folder: Path) -> dict[str, str]:
    """Variables with which the tests' own plugins are found."""
    paths = {"PYTHONPATH": str(CHECKOUT / "tests"), "MPINET_TEST_LOGS": str(folder)}
    return os.environ | paths


def ran(folder: Path, text: str, *options: str) -> tuple[dict[str, list[str]], str]:
    """What became of each test by its parts, and what pytest printed."""
    report = folder / "results.xml"
    done = subprocess.run(
        pytest_words(folder, text, *options, f"--junitxml={report}"),
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=300,
    )
    cases = ElementTree.parse(report).iter("testcase")
    return {
        str(case.get("name")): [f"{part.tag}: {part.get('message')}" for part in case]
        for case in cases
    }, done.stdout + done.stderr


def counts(said: str) -> str:
    """How many passed, failed, .., by pytest's last line."""
    return said.strip().rpartition("\n")[2].partition(" in ")[0]


def test_outcomes_output_and_warnings_are_those_of_pytest_itself(tmp_path: Path) -> None:
    alone, said_alone = ran(tmp_path, MIXED)
    shared, said = ran(tmp_path, MIXED, "--workers", "3", "--durations=1")
    assert shared == alone and len(shared) == 35
    for words in ("words of the test", "complaints of the test", "UserWarning: be careful"):
        assert words in said and words in said_alone
    assert "slowest 1 durations" in said
    assert counts(said) == counts(said_alone)


def test_a_worker_that_dies_is_a_failure_of_its_test_and_no_test_is_lost(tmp_path: Path) -> None:
    found, _ = ran(tmp_path, DEADLY, "--workers", "2")
    assert len(found) == 12
    assert {name: parts for name, parts in found.items() if parts} == {
        name: [f"failure: the worker ended with status {status} in this test"]
        for name, status in DEATHS.items()
    }


def test_the_first_failure_can_end_the_run(tmp_path: Path) -> None:
    text = "import time\ndef test_fails(): assert 0\n"
    text += "".join(f"def test_{k}(): time.sleep(0.1)\n" for k in range(200))
    found, said = ran(tmp_path, text, "--workers", "2", "-x")
    assert "stopping after 1 failures" in said
    assert len(found) < 100 and sum(map(bool, found.values())) == 1


def test_an_interrupt_ends_fixtures_and_workers(tmp_path: Path) -> None:
    job = subprocess.Popen(
        pytest_words(tmp_path, WAITING, "--workers", "2"),
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while not (tmp_path / "begun").exists() and job.poll() is None:
        time.sleep(0.02)
    job.send_signal(signal.SIGINT)
    said, _ = job.communicate(timeout=300)  # to the end of all that write there
    assert job.returncode == 2 and "KeyboardInterrupt" in said, said
    assert (tmp_path / "ended").exists()


def test_a_test_over_the_budget_fails_if_it_is_so_again(tmp_path: Path) -> None:
    found, said = ran(tmp_path, EXPENSIVE, "--workers", "2", "--budget", "0.1")
    assert {name for name, parts in found.items() if parts} == {"test_computes"}
    assert "s of CPU, and a test may take 0.1" in said
    log = dict(reversed(line.split()) for line in (tmp_path / "cpu.txt").read_text().splitlines())
    taken = {name.partition("::")[2]: float(seconds) for name, seconds in log.items()}
    assert taken["test_computes"] >= 0.3 <= taken["test_computes_once"]
    assert taken["test_rests"] < 0.1


def test_every_test_that_may_be_dear_is_there_and_has_a_reason() -> None:
    for line in DEAR.read_text().splitlines():
        test, _, reason = line.partition(" ")
        file, _, name = test.partition("[")[0].partition("::")
        assert f"def {name}(" in (CHECKOUT / file).read_text(), test
        assert len(reason.split()) >= 3, test


class Item:
    """A test that may ask to begin first."""

    def __init__(self, is_first: bool):
        self._is_first = is_first

    def get_closest_marker(self, name: str) -> object:
        """The mark."""
        return name if self._is_first else None


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_every_test_is_dealt_once_and_those_that_dead_workers_leave_again(workers: int) -> None:
    tests = Deal([Item(k < 2) for k in range(23)], workers)
    assert [tests.take(0), tests.take(workers - 1)] == [0, 1]
    assert [tests.take(0), tests.take(0)] == [2, 3]
    tests.put_back([2])
    dealt = [3]
    for turn in range(100):
        test = tests.take(turn * turn % workers)
        dealt += [] if test is None else [test]
    assert sorted(dealt) == [*range(2, 23)]
