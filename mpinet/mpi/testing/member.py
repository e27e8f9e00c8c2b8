"""One processor's session of pytest: it collects tests, and runs those that its team runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple, Protocol

import pytest

from mpinet.mpi.world.calls import running

UNUSED = ("unraisableexception", "threadexception")
"""Plugins that watch the whole interpreter; the host's session has them."""


class TeamTest(NamedTuple):
    """A test that a team runs, and the one that it is to run next, by their ids."""

    name: str
    following: str | None


class Gathering(Protocol):
    """A team, as its members know it."""

    def next(self) -> TeamTest | None:
        """Wait for the other members; what to do next, None at the end."""


class MemberPlugin:
    """A plugin of a processor's own session.

    Parameters
    ----------
    team : Gathering
        Its team.
    """

    def __init__(self, team: Gathering):
        self.items: dict[str, pytest.Item] = {}
        """Tests of the session by their ids, in the order in which they run."""
        self.collected: list[pytest.CollectReport] = []
        """Reports of the collection."""
        self.deselected: list[pytest.Item] = []
        """Tests that options leave out."""
        self.reports: list[pytest.TestReport] = []
        """Reports on the phases of the current test."""
        self.trouble: str = ""
        """Error outside of all tests; '' if there is none."""
        self._team = team

    @pytest.fixture
    def comm(self) -> Any:
        """The communicator of all processors; suites may have a fixture of this name themselves."""
        return import_module("mpi4py").MPI.COMM_WORLD

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Leave it to the host's session to tell people anything."""
        reporter = config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what collecting tells."""
        self.collected.append(report)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Keep which tests are left out."""
        self.deselected += items

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a phase of a test tells."""
        self.reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests that the team runs, each when all members are there."""
        self.items = {item.nodeid: item for item in session.items}
        while (task := self._team.next()) is not None:
            item = self.items[task.name]
            following = None if task.following is None else self.items[task.following]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Let the host's session end as this one does, and at once: by Ctrl-C or `pytest.exit`."""
        running.turns.break_out(excinfo.value)

    def pytest_internalerror(self, excrepr: Any) -> bool:
        """Keep what ends the session; nobody else is to print it."""
        self.trouble = self.trouble or str(excrepr)
        return True


def live(member: MemberPlugin, arguments: list[str], names: list[str] | None) -> None:
    """Run a member's session, to its end, in the running processor's thread.

    Parameters
    ----------
    member : MemberPlugin
        The member.
    arguments : list of str
        What pytest was called with.
    names : list of str, optional
        Paths and ids of the tests to collect, in place of those among the arguments.
    """
    from _pytest.config import _prepareconfig

    blocked = [word for name in UNUSED for word in ("-p", f"no:{name}")]
    config: Any = _prepareconfig([*arguments, *blocked], [member])
    # so pytest and its plugins know a session that tells nobody anything and writes no cache
    config.workerinput = {"workerid": "mpinet"}
    if names is not None:
        config.args = names
    if config.option.capture == "fd":  # descriptors are the whole process's
        config.option.capture = "sys"
    if hasattr(config.option, "with_mpi"):  # pytest-mpi's
        config.option.with_mpi = True
    config.hook.pytest_cmdline_main(config=config)
