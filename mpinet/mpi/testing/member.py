"""The pytest session of one processor: collects tests, and runs the tests selected by its team."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple, Protocol

import pytest

from mpinet.mpi.world.calls import running

UNUSED = ("unraisableexception", "threadexception")
"""Plugins that observe the whole interpreter; they run only in the host's session."""


class TeamTest(NamedTuple):
    """A test for a team, and the next test, by node ids."""

    name: str
    following: str | None


class Gathering(Protocol):
    """Interface of a team for its members."""

    def next(self) -> TeamTest | None:
        """Wait for the remaining members; return the next test, None at the end."""


class MemberPlugin:
    """A plugin of a processor's session.

    Parameters
    ----------
    team : Gathering
        The team.
    """

    def __init__(self, team: Gathering):
        self.items: dict[str, pytest.Item] = {}
        """Tests of the session by node id, in the order of their runs."""
        self.collected: list[pytest.CollectReport] = []
        """Reports of the collection."""
        self.deselected: list[pytest.Item] = []
        """Tests deselected by options."""
        self.reports: list[pytest.TestReport] = []
        """Reports on the phases of the current test."""
        self.trouble: str = ""
        """Error outside of all tests; empty without an error."""
        self._team = team

    @pytest.fixture
    def comm(self) -> Any:
        """The communicator of all processors; a suite may define its own fixture of this name."""
        return import_module("mpi4py").MPI.COMM_WORLD

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Remove the terminal reporter, because the host's session prints all output."""
        reporter = config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a collection report."""
        self.collected.append(report)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Record deselected tests."""
        self.deselected += items

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the report on a phase of a test."""
        self.reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the team's tests, each after all members have arrived."""
        self.items = {item.nodeid: item for item in session.items}
        while (task := self._team.next()) is not None:
            item = self.items[task.name]
            following = None if task.following is None else self.items[task.following]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """End the host's session in the same way, at once: after Ctrl-C or `pytest.exit`."""
        running.turns.break_out(excinfo.value)

    def pytest_internalerror(self, excrepr: Any) -> bool:
        """Record the final error of the session without printing."""
        self.trouble = self.trouble or str(excrepr)
        return True


def live(member: MemberPlugin, arguments: list[str], names: list[str] | None, writer: Any) -> None:
    """Run a member's session to its end, in the running processor's thread.

    Parameters
    ----------
    member : MemberPlugin
        The member.
    arguments : list of str
        Arguments of pytest.
    names : list of str, optional
        Paths and node ids of the tests to collect, instead of those among the arguments.
    writer : TerminalWriter
        Writer of the session, for example for ``--setup-show``.
    """
    from _pytest.config import _prepareconfig

    blocked = [word for name in UNUSED for word in ("-p", f"no:{name}")]
    config: Any = _prepareconfig([*arguments, *blocked], [member])
    # pytest and its plugins then run a session without output and without a cache
    config.workerinput = {"workerid": "mpinet"}
    if names is not None:
        config.args = names
    if config.option.capture == "fd":  # descriptors belong to the whole process
        config.option.capture = "sys"
    config.get_terminal_writer = lambda: writer  # the session has no reporter with a writer
    if hasattr(config.option, "with_mpi"):  # option of pytest-mpi
        config.option.with_mpi = True
    config.hook.pytest_cmdline_main(config=config)
