"""A test that fails on one rank has failed on all, and what follows runs as if nothing had been."""

import os
import re
import subprocess
from pathlib import Path

from launch.conftest import CHECKOUT, TIME_LIMIT

TESTS = """
import pytest
from mpi4py import MPI

RANK = MPI.COMM_WORLD.rank

@pytest.fixture
def broken_on_rank_2():
    assert RANK != 2, "the fixture of rank two"

@pytest.fixture
def left_broken_on_rank_1():
    yield
    assert RANK != 1, "the end of rank one"

def test_one_rank(): assert RANK != 1, "rank one's own words"
def test_fixture(broken_on_rank_2): pass
def test_teardown(left_broken_on_rank_1): pass
def test_skipped_by_one(): RANK or pytest.skip("rank zero will not")
def test_skipped_by_all(): pytest.skip("nobody will")
def test_all_together(): assert MPI.COMM_WORLD.allreduce(1) == 3
"""


FAILING = ["test_one_rank", "test_fixture", "test_teardown", "test_skipped_by_one"]
SAID = ["rank one's own words", "the fixture of rank two", "the end of rank one"]


def test_every_rank_reports_the_failure_of_one(tmp_path: Path) -> None:
    (tmp_path / "test_ranks.py").write_text(TESTS)
    options = ["-c", CHECKOUT / "pyproject.toml", "--rootdir", tmp_path, "-p", "conftest"]
    command = ["python", CHECKOUT / "tests/rankmain.py", "--with-mpi", "-q", "--color=no", *options]
    paths = {"PYTHONPATH": str(CHECKOUT / "tests"), "MPINET_TEST_LOGS": str(tmp_path / "logs")}
    done = subprocess.run(
        [CHECKOUT / "launch/run", "-n", "3", *command, "-p", "no:cacheprovider", tmp_path],
        env={**os.environ, **paths},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    logs = [log.read_text() for log in (tmp_path / "logs").iterdir()]
    assert len(logs) == 2
    for report in [done.stdout, *logs]:
        failed = re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)", report, re.MULTILINE)
        assert sorted(failed) == sorted(FAILING)
        assert all(words in report for words in SAID)
