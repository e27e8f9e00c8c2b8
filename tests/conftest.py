"""Makes a test run under MPI pass or fail as one: the ranks agree on every test's outcome.

Without agreement a test that fails on one rank alone lets that rank run ahead; its next collective
meets the old one of the others, and the run hangs or compares the wrong things. So every phase of
every test below tests/mpi ends in a small collective. Collectives are allowed in fixtures, too.
"""

import os
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest

MPI_TESTS = Path(__file__).parent / "mpi"
PASSED, SKIPPED, FAILED = 1, 2, 4  # bits: their union over the ranks tells who differs
PATIENCE = {PASSED: 45.0, SKIPPED: 45.0, FAILED: 8.0}  # seconds to wait for ranks still busy

# The ranks must draw the same examples, and take their time on a crowded machine.
hypothesis.settings.register_profile("mpinet", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("mpinet")


class AgreementPlugin:
    """All ranks' part in every test's outcome (only where there are several ranks)."""

    def __init__(self, mpi: Any, config: pytest.Config) -> None:
        self.mpi = mpi
        self.config = config
        self.comm = mpi.COMM_WORLD.Dup()  # the tests' own messages must not meet these

    def gather(self, outcome: int, report: str, where: str) -> list[tuple[int, str]]:
        """Every rank's (outcome, report); ends the job if a rank does not come."""
        mine, union = bytearray([outcome]), bytearray(1)
        request = self.comm.Iallreduce([mine, self.mpi.BYTE], [union, self.mpi.BYTE], self.mpi.BOR)
        deadline = time.monotonic() + PATIENCE[outcome]
        while not request.Test():
            if time.monotonic() > deadline:
                self.abort(f"left {where} and waits in vain for other ranks\n{report}")
            time.sleep(0.0005)  # polling without rest would starve ranks that share the core
        if union[0] == PASSED:
            return [(PASSED, "")] * self.comm.size
        return self.comm.allgather((outcome, report))

    def abort(self, sentence: str) -> NoReturn:
        capture = self.config.pluginmanager.getplugin("capturemanager")
        if capture:
            capture.suspend_global_capture(in_=True)
        sys.stderr.write(f"\n!! rank {self.comm.rank} {sentence}\n")
        sys.stderr.flush()
        self.mpi.COMM_WORLD.Abort(3)
        os._exit(3)  # Abort may return before the launcher has acted

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Refuse to start unless all ranks collected the same tests without an error."""
        tests = "\n".join(item.nodeid for item in session.items)
        errors = f"{session.testsfailed} errors in collection" if session.testsfailed else ""
        everyone = self.comm.allgather((errors, tests))
        broken = [f"rank {r}: {errors}" for r, (errors, _) in enumerate(everyone) if errors]
        if broken:
            raise session.Interrupted("; ".join(broken))
        if any(theirs != tests for _, theirs in everyone):
            raise session.Interrupted("the ranks collected different tests")

    def agree(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run one phase of a test here, then make its outcome that of all ranks."""
        result, problem = None, None
        outcome, report = PASSED, ""
        try:
            result = yield
        except pytest.skip.Exception as skip:
            problem, outcome, report = skip, SKIPPED, f"skipped: {skip}"
        except (Exception, pytest.fail.Exception) as failure:
            info = pytest.ExceptionInfo.from_exception(failure)
            problem, outcome, report = failure, FAILED, str(item.repr_failure(info))
        everyone = self.gather(outcome, report, item.nodeid)
        others = [(r, words) for r, (theirs, words) in enumerate(everyone) if theirs != outcome]
        if others and outcome != FAILED:
            told = "\n".join(f"--- rank {r}: {words or 'passed'}" for r, words in others)
            pytest.fail(f"the ranks disagree (here: {report or 'passed'})\n{told}", pytrace=False)
        if problem is not None:
            raise problem
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self.agree(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self.agree(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self.agree(item))


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--with-mpi", default=False):
        return
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as missing:  # RuntimeError: mpi4py finds no MPI library
        raise pytest.UsageError(f"--with-mpi needs an MPI library: {missing}") from None
    if MPI.COMM_WORLD.size > 1:
        config.pluginmanager.register(AgreementPlugin(MPI, config), "agreement")


@pytest.hookimpl(tryfirst=True)  # before pytest-mpi looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything below tests/mpi is an MPI test; long tests wait for launch/test --long."""
    for item in items:
        if MPI_TESTS in item.path.parents:
            item.add_marker("mpi")
        if item.get_closest_marker("long") and not os.environ.get("MPINET_LONG"):
            item.add_marker(pytest.mark.skip(reason="takes minutes: launch/test --long"))
