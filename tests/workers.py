"""Runs the tests in processes that are forked once all tests are collected: ``--workers N``.

Collection imports mpinet and all tests, which takes many seconds. Workers inherit the collected
tests from their parent. A worker gets one test at a time and knows the next one, so that fixtures
of modules last. The parent alone reports. Workers measure the CPU of every test (`used`).
"""

import gc
import os
import resource
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import mpi4py
import pytest
from _pytest.runner import runtestprotocol

PATIENCE = 20.0
"""Seconds that a worker has to end its fixtures when the run is stopped."""

DEAR = Path(__file__).parent / "dear.txt"
"""The tests that may take more CPU than others, each with its reason."""

NOISE = 1.25
"""How many times its usual CPU a test may take because others use the cores and caches."""

CALIBRATION = 0.09
"""Seconds of CPU that `_slowness` takes on the machine for which the budget is meant."""

WORKER = "worker-"
"""Begin of the name of a worker's folder for temporary files, which is in that of the run."""

SERVERS: list[int] = []
"""Processes of this one that run commands for tests."""


class Deal:
    """The numbers of the tests that no worker has yet.

    Each worker has a stretch of them, since neighbours share fixtures. A worker that has done its
    own takes the second half of the longest stretch that is left.
    """

    def __init__(self, items: list[pytest.Item], workers: int):
        begun_first = sum(item.get_closest_marker("first") is not None for item in items)
        self._urgent = deque(range(begun_first))  # and later what dead workers leave
        others = range(begun_first, len(items))
        ends = [len(others) * k // workers for k in range(workers + 1)]
        self._stretches = [deque(others[ends[k] : ends[k + 1]]) for k in range(workers)]

    def take(self, worker: int) -> int | None:
        """The next test for a worker; None if there is none."""
        if self._urgent:
            return self._urgent.popleft()
        own = self._stretches[worker]
        if not own:
            longest = max(self._stretches, key=len)
            taken = [longest.pop() for _ in range((len(longest) + 1) // 2)]
            own.extend(reversed(taken))
        return own.popleft() if own else None

    def put_back(self, numbers: Iterable[int]) -> None:
        """Deal these again, before others."""
        self._urgent.extendleft(reversed([*numbers]))


class Worker:
    """The parent's end of a worker.

    Parameters
    ----------
    place : int
        Its number among those that work at the same time.
    process : int
        The number of its process.
    connection : Connection
        Takes numbers of tests there, and reports back.
    """

    def __init__(self, place: int, process: int, connection: Connection):
        self.place, self.connection = place, connection
        self.given: deque[int] = deque()  # what it runs, and what it runs next
        self.last, self.is_ending = 0, False
        self._process, self._status = process, None

    def give(self, test: int | None) -> None:
        """Hand it the test that it runs after all it has; None: there is none."""
        self.is_ending = test is None
        if test is not None:
            self.given.append(test)
        with suppress(OSError):  # it is dead, which is noticed by its silence
            self.connection.send(test)

    def status(self, options: int = os.WNOHANG) -> int | None:
        """The exit status, negative by a signal; None while it lives."""
        if self._status is None:
            try:
                ended, status = os.waitpid(self._process, options)
            except ChildProcessError:  # an interrupt came between the call and the next line
                ended, status = self._process, signal.SIGINT
            self._status = os.waitstatus_to_exitcode(status) if ended else None
        return self._status

    def end(self) -> None:
        """Interrupt it, so that its fixtures end; and kill it if that does not help."""
        deadline = time.monotonic() + PATIENCE
        for number in (signal.SIGINT, signal.SIGKILL):
            if self.status() is None:
                os.kill(self._process, number)
            while self.status() is None and time.monotonic() < deadline:
                time.sleep(0.02)
        self.status(0)
        self.connection.close()


class Workers:
    """The plugin: the parent's loop over tests, and that of a worker.

    Parameters
    ----------
    config : Config
        The session's.
    number : int
        How many work at the same time.
    """

    def __init__(self, config: pytest.Config, number: int):
        self.config, self.number = config, number
        self.budget = config.getoption("--budget")
        self._reports: list[pytest.TestReport] = []  # in a worker: those of a run of a test
        self._warnings: list[tuple[Any, ...]] | None = None  # in a worker: those since the last
        self._ran = 0
        self._dear = {line.split()[0] for line in DEAR.read_text().splitlines() if line.strip()}
        logs = os.environ.get("MPINET_TEST_LOGS")
        self._log = Path(logs, "cpu.txt") if logs else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the tests in workers."""
        if session.testsfailed or session.config.option.collectonly:
            return None
        self._session, self._items = session, session.items
        self._tests = Deal(session.items, self.number)
        self._staff: list[Worker] = []
        self._temporary = self.config._tmp_path_factory  # type: ignore[attr-defined]
        self._temporary.getbasetemp()  # one for all
        gc.collect()
        gc.freeze()  # else workers copy what the collector writes on
        try:
            for place in range(min(self.number, len(session.items))):
                self._hire(place)
            while self._staff:
                self._listen()
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
        finally:
            for worker in self._staff:
                worker.end()
        if self._ran != len(session.items):
            session.shouldfail = f"{self._ran} of {len(session.items)} tests were run"
            raise session.Failed(session.shouldfail)
        if self.config.getoption("--with-mpi", default=False):
            begin_mpi()  # the summary asks the library for its version
        return True

    def _hire(self, place: int) -> None:
        """Fork a worker."""
        sys.stdout.flush()
        sys.stderr.flush()
        here, there = Pipe()
        # An interrupt during the fork would end the child before its `try` begins.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        process = os.fork()
        if process == 0:
            status = 1
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, held)
                for each in (here, *(worker.connection for worker in self._staff)):
                    each.close()
                self._work(there)
                status = 0
            except KeyboardInterrupt:
                self._session._setupstate.teardown_exact(None)
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stderr.flush()
                os._exit(status)
        worker = Worker(place, process, here)
        self._staff.append(worker)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        there.close()
        for _ in range(2):
            if not worker.is_ending:
                worker.give(self._tests.take(place))

    def _listen(self) -> None:
        """Report what workers have sent, and notice those that have ended."""
        ready = wait([worker.connection for worker in self._staff], timeout=1)
        for worker in [*self._staff]:
            # A process that a test has left may hold the connection of a dead worker open.
            ended = worker.connection not in ready and worker.status() is not None
            if worker.connection in ready or (ended and worker.connection.poll()):
                try:
                    self._report(worker, *worker.connection.recv())
                except (EOFError, OSError):
                    ended = True
                    worker.status(0)
            if ended and not self._session.shouldfail:
                self._bury(worker)

    def _report(
        self,
        worker: Worker,
        sent: list[dict[str, Any]],
        warned: list[tuple[Any, ...]],
        seconds: float,
    ) -> None:
        """Report a worker's test."""
        worker.last = worker.given.popleft()
        if not worker.is_ending:
            worker.give(self._tests.take(worker.place))
        for text, file, line, *where in warned:
            message = warnings.WarningMessage(text, UserWarning, file, line)
            when, test, place = where
            told = {"when": when, "nodeid": test, "location": place}
            told["warning_message"] = message
            self.config.hook.pytest_warning_recorded.call_historic(kwargs=told)
        self._log_test(self._items[worker.last], map(self._read, sent))
        if self._log:
            with self._log.open("a") as log:
                log.write(f"{seconds:.3f} {self._items[worker.last].nodeid}\n")
        self._ran += 1

    def _read(self, sent: dict[str, Any]) -> Any:
        return self.config.hook.pytest_report_from_serializable(config=self.config, data=sent)

    def _log_test(self, item: pytest.Item, reports: Iterable[pytest.TestReport]) -> None:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _bury(self, worker: Worker) -> None:
        """Make the end of a worker a failure of its test, and put another in its place."""
        self._staff.remove(worker)
        worker.connection.close()
        if worker.given or worker.status():
            is_between = not worker.given
            item = self._items[worker.last if is_between else worker.given.popleft()]
            when = "after" if is_between else "in"
            said = f"the worker ended with status {worker.status()} {when} this test"
            self._log_test(item, [failed(item, "teardown" if is_between else "call", said)])
            self._ran += not is_between
        self._tests.put_back(worker.given)
        if (test := self._tests.take(worker.place)) is not None:
            self._tests.put_back([test])
            self._hire(worker.place)

    def _work(self, connection: Connection) -> None:
        """Run the tests that come, in a worker."""
        capture: Any = self.config.pluginmanager.getplugin("capturemanager")
        if capture:  # the parent's files of captured output have one position for all processes
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        begin_mpi()
        self._temporary._basetemp = self._temporary.getbasetemp() / f"{WORKER}{os.getpid()}"
        self._temporary._basetemp.mkdir()
        self._warnings = []
        test = connection.recv()
        while test is not None:
            following = connection.recv()
            item = self._items[test]
            behind = None if following is None else self._items[following]
            seconds = self._run(item, behind)
            has_failed = any(report.failed for report in self._reports)
            is_over = self.budget and seconds > self.budget and not has_failed
            if is_over and not self._is_dear(item):
                self._require_cheap(item, behind)
            hook = self.config.hook.pytest_report_to_serializable
            sent = [hook(config=self.config, report=each) for each in self._reports]
            connection.send((sent, self._warnings, seconds))
            self._warnings = []
            test = following

    def _run(self, item: pytest.Item, behind: pytest.Item | None) -> float:
        """Run a test; returns the seconds of CPU that it took."""
        self._reports, began = [], used()
        self.config.hook.pytest_runtest_protocol(item=item, nextitem=behind)
        return used() - began

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Keep the reports of a test, which the parent makes."""
        self._reports = runtestprotocol(item, log=False, nextitem=nextitem)
        return True

    def pytest_warning_recorded(
        self, warning_message: Any, when: str, nodeid: str, location: Any
    ) -> None:
        """Keep a warning for the parent, as text: its class may be one of a test's."""
        if self._warnings is not None:
            text = f"{warning_message.category.__name__}: {warning_message.message}"
            place = (warning_message.filename, warning_message.lineno)
            self._warnings.append((text, *place, when, nodeid, location))

    def _is_dear(self, item: pytest.Item) -> bool:
        """Whether a test may take longer."""
        function = item.nodeid.partition("[")[0]
        return not self._dear.isdisjoint({item.nodeid, function})

    def _require_cheap(self, item: pytest.Item, behind: pytest.Item | None) -> None:
        """Fail a test that is over the budget when it runs again, with all caches warm."""
        first = self._reports
        again = min(self._run(item, behind) for _ in range(2))
        seconds = again / (NOISE * max(1.0, _slowness()))
        self._reports = first
        if seconds > self.budget:
            self._reports.append(
                failed(
                    item,
                    "teardown",
                    f"{seconds:.1f} s of CPU, and a test may take {self.budget:g}: make it "
                    f"cheaper, or costly, or enter it with its reason into {DEAR.name}",
                )
            )


def hold_mpi_back() -> None:
    """Let imports load a library of MPI that does not begin: once begun, it outlives no fork."""
    mpi4py.rc.initialize, mpi4py.rc.finalize = False, True


def begin_mpi() -> None:
    """Begin with MPI where it is loaded, and where it is not, when it is imported."""
    mpi4py.rc.initialize, mpi4py.rc.finalize = True, None
    if "mpi4py.MPI" in sys.modules:
        from mpi4py import MPI

        MPI.Init_thread(MPI.THREAD_MULTIPLE)


def failed(item: pytest.Item, when: str, said: str) -> pytest.TestReport:
    """A report of a failure that no exception shows."""
    keywords = dict.fromkeys(item.keywords, 1)
    return pytest.TestReport(item.nodeid, item.location, keywords, "failed", said, when)


def used() -> float:
    """The seconds of CPU of this process and its servers, with their children that have ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ticks = sum(map(int, chain.from_iterable(map(_times, SERVERS))))
    return sum(each.ru_utime + each.ru_stime for each in both) + ticks / os.sysconf("SC_CLK_TCK")


def _times(process: int) -> list[str]:
    """The ticks of a process and its children, in user mode and in the kernel."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[11:15]
    except OSError:  # it has ended
        return []


def _slowness() -> float:
    """The CPU of a loop here, in units of its CPU on the machine for which the budget is meant."""
    began = time.process_time()
    sum(number * number for number in range(3_000_000))
    return (time.process_time() - began) / CALIBRATION
