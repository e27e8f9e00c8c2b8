"""Makes a test run under MPI pass or fail as one: the ranks agree on every test's outcome.

Without agreement a test that fails on one rank alone lets that rank run ahead; its next collective
meets the old one of the others, and the run hangs or compares the wrong things. So every test
below tests/mpi, its fixtures included, ends in one small collective. Collectives are allowed in
fixtures, too.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from forked import Forked
from shares import outside_of_share
from workers import SERVERS, Workers, hold_mpi_back

from mpinet.base.native import background

# Tests run native code. Those of other tiers say so.
os.environ.setdefault("MPINET_COMPILE", "wait")

MPI_TESTS = f"{Path(__file__).parent}/mpi/"
PASSED, SKIPPED, FAILED = 1, 2, 4  # bits: their union over the ranks tells who differs
OUTCOMES = {"passed": PASSED, "skipped": SKIPPED, "failed": FAILED}
PATIENCE = {PASSED: 300.0, SKIPPED: 300.0, FAILED: 20.0}  # seconds to wait for ranks still busy

# The ranks must draw the same examples, and take their time on a crowded machine.
hypothesis.settings.register_profile(
    "mpinet",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100 if os.environ.get("MPINET_LONG") else 25,
)
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

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test here, make its outcome that of all ranks, and only then report it."""
        if leave_out(item, self.comm.bcast(too_late(item))):
            return True
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        self.agree(reports)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def agree(self, reports: list[pytest.TestReport]) -> None:
        """Make a test's outcome here that of all ranks: failed if they differ."""
        mine = max(reports, key=lambda report: (OUTCOMES[report.outcome], report.when == "call"))
        outcome = OUTCOMES[mine.outcome]
        words = "" if outcome == PASSED else mine.longreprtext
        everyone = self.gather(outcome, words, mine.nodeid)
        others = [(r, theirs) for r, (bit, theirs) in enumerate(everyone) if bit != outcome]
        if others and outcome != FAILED:
            told = "\n".join(f"--- rank {r}: {theirs or 'passed'}" for r, theirs in others)
            mine.outcome = "failed"
            mine.longrepr = f"the ranks disagree (here: {words or 'passed'})\n{told}"


def too_late(item: pytest.Item) -> bool:
    """Whether the time that --until gives is over."""
    return time.time() > (item.config.getoption("--until") or float("inf"))


def leave_out(item: pytest.Item, late: bool) -> bool:
    """Write down the name of a test that comes too late; returns whether it does."""
    if late:
        with open(Path(os.environ["MPINET_TEST_LOGS"], "left-out"), "a") as names:
            names.write(f"{item.nodeid}\n")
    return late


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", default="0/1", help="K/N: of every test's cases each Nth from K on")
    parser.addoption("--costly", action="store_true", help="run all cases of tests not marked so")
    workers = "fork so many processes after collection, which share the tests; auto: one a core"
    parser.addoption("--workers", default="0", help=workers)
    budget = "a test that takes more seconds of CPU fails, unless tests/dear.txt names it"
    parser.addoption("--budget", type=float, default=0.0, help=budget)
    parser.addoption("--until", type=float, help="begin no test after this time of the clock")


def pytest_configure(config: pytest.Config) -> None:
    workers = config.getoption("--workers")
    number = len(os.sched_getaffinity(0)) if workers == "auto" else int(workers)
    if number:
        hold_mpi_back()
        config.pluginmanager.register(Workers(config, number), "workers")
    if not config.getoption("--with-mpi", default=False):
        return
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as missing:  # RuntimeError: mpi4py finds no MPI library
        raise pytest.UsageError(f"--with-mpi needs an MPI library: {missing}") from None
    if not number and MPI.COMM_WORLD.size > 1:
        config.pluginmanager.register(AgreementPlugin(MPI, config), "agreement")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave out what --until leaves no time for."""
    return leave_out(item, too_late(item)) or None


@pytest.hookimpl(tryfirst=True)  # before pytest-mpi looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Everything below tests/mpi is an MPI test; long tests wait for launch/test --long."""
    for item in items:
        if str(item.path).startswith(MPI_TESTS):
            item.add_marker("mpi")
        if item.get_closest_marker("long") and not os.environ.get("MPINET_LONG"):
            item.add_marker(pytest.mark.skip(reason="takes minutes: launch/test --long"))
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    costly = config.getoption("--costly")
    shared = [item for item in items if not costly or item.get_closest_marker("costly")]
    left_out = outside_of_share(shared, config.getoption("--share"), first=costly)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def silent_compiler() -> None:
    """What a test's commands print does not depend on how long they wait for the compiler."""
    background.TOLD = (float("inf"), float("inf"))
    background.WATCH._next_told = float("inf")


@pytest.fixture(scope="session")
def forking() -> Iterator[Forked]:
    """The server that forks commands."""
    with tempfile.TemporaryDirectory(prefix="mpinet-forked-") as folder:
        server = Forked(Path(folder))
        SERVERS.append(server.process)
        yield server
        SERVERS.remove(server.process)
        server.end()


@pytest.fixture
def forked(forking: Forked, monkeypatch: pytest.MonkeyPatch) -> None:
    """`mpinet` by that name is forked and not started, under launchers and in shells, too."""
    for name, value in forking.variables.items():
        monkeypatch.setenv(name, value)
