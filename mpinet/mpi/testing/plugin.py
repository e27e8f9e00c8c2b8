"""The pytest plugin: tests run on emulated processors in a single process.

``pytest --mpinet N [--on TOPO]`` runs every test on N processors, as ``mpiexec -n N pytest`` does.
A test with the mark ``mpinet(n=..)`` runs on n processors in any case. Without option and mark
nothing is imported.
"""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from mpinet.base.hashseed import SEEDS, hash_seed, start_again

if TYPE_CHECKING:
    from mpinet.mpi.testing.team import CheckedTests, Team

MARK = (
    "mpinet(n, on): run the test on n emulated processors, or on the processors of a network "
    "such as torus:2x2."
)

PROGRAMS = "/pytest", "/py.test", "/pytest/__main__.py"
"""Ends of possible paths of pytest's program."""

SEEDED = "--mpinet", "--on", "--arrivals", "--help", "-h"
"""Begins of options with which the option ``--seed`` exists."""

DRAWN = "string hashes have a random seed; set PYTHONHASHSEED=0 for reproducible runs"

SESSION = 300_000
"""Minimum memory of a processor's pytest session, in bytes."""

FOREIGN = {"parallel": "nprocs", "mpi": "ranks"}
"""Marks of other plugins that give the number of processors, and the name of their argument."""


class TeamPlace(NamedTuple):
    """Place of tests: the number of processors, and the network."""

    processors: int
    network: str


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--mpinet`` and ``--on`` to pytest."""
    group = parser.getgroup("mpinet", "MPI programs on emulated processors")
    group.addoption(
        "--mpinet",
        metavar="N|N..M",
        help="run every test on N emulated processors, or on each number from N to M",
    )
    group.addoption(
        "--check", action="store_true", dest="mpinet_check", help="check the MPI calls of tests"
    )
    group.addoption("--checks", metavar="LIST", dest="mpinet_checks", help="make only these checks")
    group.addoption(
        "--check-strict",
        action="store_true",
        dest="mpinet_check_strict",
        help="treat warnings of the checks as errors",
    )
    group.addoption("--on", metavar="TOPO", dest="mpinet_on", help="network of the processors")
    group.addoption(
        "--sends",
        metavar="buffered|synchronous|BYTES",
        default="buffered",
        dest="mpinet_sends",
        help="completion of sends: at once, when a receive matches, or the latter above a size",
    )
    group.addoption(
        "--arrivals",
        choices=("first", "random"),
        default="first",
        dest="mpinet_arrivals",
        help="message of a receive from any rank: the first one, or one drawn by the seed",
    )
    if any(word.startswith(SEEDED) for word in sys.argv[1:]):  # suites may have a --seed
        group.addoption(
            "--seed",
            type=int,
            default=0,
            metavar="K",
            dest="mpinet_seed",
            help="seed of --arrivals random and of string hashes (default: 0)",
        )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Restart pytest with a fixed hash seed if all tests run on processors."""
    options, typed = early_config.known_args_namespace, sys.argv[1:]
    is_wanted = options.mpinet is not None or options.mpinet_on is not None
    if is_wanted and [*map(str, early_config.invocation_params.args)] == typed:
        capture: Any = early_config.pluginmanager.getplugin("capturemanager")
        seed = getattr(options, "mpinet_seed", 0)
        start_again(typed, PROGRAMS, seed % SEEDS, before=capture.stop_global_capturing)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin requested by the options."""
    config.addinivalue_line("markers", MARK)
    if hasattr(config, "workerinput"):  # a member's session, or a session of pytest-xdist
        return
    number, network = config.getoption("mpinet"), config.getoption("mpinet_on")
    if number is None and network is None:
        config.pluginmanager.register(Marked(config), "mpinet host")
        return
    places = [_place(one, network) for one in _sizes(number)]
    config.pluginmanager.register(Everything(config, places), "mpinet host")


def _sizes(text: Any) -> list[Any]:
    """Return the numbers of processors of the option ``--mpinet``, such as ``4`` or ``1..9``."""
    first, dots, last = str(text).partition("..")
    if not dots or not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        return [text]
    return list(range(int(first), int(last) + 1))


def _place(number: Any, network: str | None) -> TeamPlace:
    """Return the place given by options or a mark."""
    from mpinet.errors import MpinetError
    from mpinet.networks import open as opened

    text = str(number)
    if number is not None and not (text.isascii() and text.isdigit() and int(text)):
        raise pytest.UsageError(f"mpinet: the number of processors must be 1 or more, not {text}.")
    name = network or f"complete:{text}"
    try:
        hosts = opened(name).hosts
    except MpinetError as error:
        raise pytest.UsageError(f"mpinet: {error}") from None
    if number is not None and hosts != int(text):
        raise pytest.UsageError(f"mpinet: {name} has {hosts} processors, not {text}.")
    return TeamPlace(hosts, name)


class TeamRunner:
    """Base of both ways to run tests on processors, with one team at a time.

    Parameters
    ----------
    config : Config
        The session's configuration.
    """

    def __init__(self, config: pytest.Config):
        self._config = config
        self._team: Team | None = None
        self._where: TeamPlace | None = None

    def _at(self, place: TeamPlace, items: list[pytest.Item] | None) -> Team:
        """Return the team at a place: the current one, or a new one for tests (default: all)."""
        if self._team is None or self._where != place:
            from mpinet.errors import MpinetError

            try:
                from mpinet.mpi.testing.team import Team, TeamOptions
            except MpinetError as error:  # no MPI library
                raise pytest.UsageError(f"mpinet: {error}") from None
            from mpinet.networks import open as opened

            self._close()
            _require_room(place.processors)
            names = None if items is None else [_named(item) for item in items]
            words = [str(word) for word in self._config.invocation_params.args]
            if self._config.pluginmanager.hasplugin("pytest_cov"):
                words.append("--no-cov")  # the host's session measures all processors
            checked = _checked(self._config)
            is_drawn = self._config.getoption("mpinet_arrivals") == "random"
            told = TeamOptions(
                words,
                names,
                checked,
                self._eager(),
                self._config.getoption("mpinet_seed", 0) if is_drawn else None,
                self._config.get_terminal_writer(),
            )
            self._team = Team(opened(place.network), told)
            self._where = place
            if items is not None:
                self._require_alike()
        return self._team

    def _eager(self) -> float:
        """Return the size of the largest buffered message, as given by the option ``--sends``."""
        from mpinet.errors import UsageError
        from mpinet.mpi.world.options import eager_of

        try:
            return eager_of(self._config.getoption("mpinet_sends"))
        except UsageError as error:
            raise pytest.UsageError(f"mpinet: {error}") from None

    def _require_alike(self) -> None:
        """Raise an error unless all processors have collected the same tests."""
        assert self._team is not None
        errors = [one for member in self._team.members for one in member.collected if one.failed]
        trouble = errors[0].longreprtext if errors else self._team.trouble
        first, *others = self._team.members
        for number, member in enumerate(others, 1):
            if not trouble and list(member.items) != list(first.items):
                only = set(member.items) ^ set(first.items)
                example = f": {min(only)} is only on one of them" if only else " in another order"
                trouble = f"Processors 0 and {number} have collected different tests{example}."
        if trouble:
            self._close()
            raise pytest.UsageError(f"mpinet: {trouble}")

    def _run(self, place: TeamPlace, items: list[pytest.Item], is_sized: bool = False) -> None:
        """Run the first of some tests at the same place, and report it, perhaps with its size."""
        item, *rest = items
        team = self._at(place, items)
        name = f"{item.nodeid}[{place.processors} processors]" if is_sized else item.nodeid
        from mpinet.mpi.testing.member import TeamTest

        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=name, location=item.location)
        reports = team.run(TeamTest(item.nodeid, rest[0].nodeid if rest else None))
        from mpinet.mpi.testing.verdict import is_expected

        if any(one.failed or is_expected(one) for one in reports) and not team.is_clean:
            self._close()
        for report in reports:
            report.nodeid = name
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=name, location=item.location)

    def _close(self) -> None:
        """Close the current team of processors."""
        team, self._team = self._team, None
        if team is not None:
            team.close()

    def pytest_sessionfinish(self) -> None:
        """Close the last team of processors."""
        self._close()


class Marked(TeamRunner):
    """Runs tests with the mark on processors, and leaves all other tests to pytest."""

    def __init__(self, config: pytest.Config):
        super().__init__(config)
        self._places: dict[str, TeamPlace] = {}
        self._left: list[pytest.Item] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Move tests with the mark to the end, grouped by place."""
        marks = [(item, item.get_closest_marker("mpinet")) for item in items]
        self._places = {item.nodeid: marked(mark) for item, mark in marks if mark is not None}
        if self._places:
            nowhere = TeamPlace(0, "")
            items.sort(key=lambda item: self._places.get(item.nodeid, nowhere))
            self._left = [item for item in items if item.nodeid in self._places]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print why a failed test with the mark may pass in another run."""
        failed = {report.nodeid for report in terminalreporter.stats.get("failed", ())}
        if hash_seed() is None and not failed.isdisjoint(self._places):
            terminalreporter.write_line(f"mpinet: {DRAWN}.")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Run a test with the mark on processors."""
        place = self._places.get(item.nodeid)
        if place is None:
            return None
        self._left = self._left[self._left.index(item) :]
        self._run(place, [one for one in self._left if self._places[one.nodeid] == place])
        return True


class Everything(TeamRunner):
    """Runs all tests on processors, which also collect the tests.

    Parameters
    ----------
    config : Config
        The session's configuration.
    places : list of TeamPlace
        Places of tests without a mark, one after another.
    """

    def __init__(self, config: pytest.Config, places: list[TeamPlace]):
        super().__init__(config)
        self._usual, self._places = places[0], places
        if getattr(config.option, "numprocesses", None):
            raise pytest.UsageError("--mpinet runs all processors in one process; omit -n.")
        _require_room(places[-1].processors)  # before pytest prints its header

    def pytest_report_header(self) -> str:
        """Return the header line: the place of the tests, and the hash seed."""
        seed = DRAWN if hash_seed() is None else f"hash seed {hash_seed()}"
        first, last = self._places[0], self._places[-1]
        words = f"{first.processors} processors of {first.network}"
        if first != last:
            words = f"{first.processors}..{last.processors} processors"
        return f"mpinet: {words}; {seed}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Let the processors collect the tests."""
        team = self._at(self._usual, None)
        failed = [member for member in team.members if any(one.failed for one in member.collected)]
        if not failed:
            self._require_alike()
        told = (failed or team.members)[0]
        for report in told.collected:
            session.config.hook.pytest_collectreport(report=report)
        if told.deselected:
            session.config.hook.pytest_deselected(items=told.deselected)
        common = set(told.items).intersection(*(member.items for member in team.members))
        items = [item for name, item in told.items.items() if name in common]
        session.items = sorted(items, key=self._order_of)
        usual = sum(self._place_of(item) == self._usual for item in session.items)
        session.testscollected = len(session.items) + usual * (len(self._places) - 1)
        session.config.hook.pytest_collection_finish(session=session)
        return True

    def _place_of(self, item: pytest.Item) -> TeamPlace:
        """Return the place (processors and network) of a test."""
        mark = item.get_closest_marker("mpinet")
        if mark is not None:
            return marked(mark)
        for name, called in FOREIGN.items():
            mark = item.get_closest_marker(name)
            if mark is None:
                continue
            number = mark.kwargs.get(called, mark.args[0] if mark.args else None)
            if isinstance(number, int):
                return self._usual if number == self._usual.processors else _place(number, None)
        return self._usual

    def _order_of(self, item: pytest.Item) -> tuple[bool, TeamPlace]:
        """Return the sort key of a test: tests at the usual place come first."""
        place = self._place_of(item)
        return place != self._usual, place

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all collected tests on processors."""
        if session.testsfailed and not session.config.option.continue_on_collection_errors:
            many = f"{session.testsfailed} error{'s' * (session.testsfailed != 1)}"
            raise session.Interrupted(f"{many} during collection")
        if session.config.option.collectonly:
            return True
        runs = [(self._usual, list(session.items))]
        others = [item for item in session.items if self._place_of(item) == self._usual]
        runs += [(place, others) for place in self._places[1:]]
        for self._usual, items in runs:
            if len(runs) > 1 and self._usual != runs[0][0]:
                self._close()  # a team of the same size may have collected marked tests alone
            self._run_all(session, items)
        return True

    def _run_all(self, session: pytest.Session, all_items: list[pytest.Item]) -> None:
        """Run tests, each at its place."""
        for place, together in groupby(all_items, self._place_of):
            items = list(together)
            for number in range(len(items)):
                self._run(place, items[number:], len(self._places) > 1)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)


def _checked(config: pytest.Config) -> CheckedTests | None:
    """Return the checks requested by the options; None without checks.

    Raises
    ------
    UsageError
        A check is unknown.
    """
    text = config.getoption("mpinet_checks")
    if text is None and not config.getoption("mpinet_check"):
        return None
    from mpinet.mpi.checks.findings import Finding
    from mpinet.mpi.checks.rules import CHECKS, ERROR, checks_named
    from mpinet.mpi.checks.told import finding_row, findings_text
    from mpinet.mpi.testing.team import CheckedTests

    try:
        names = list(CHECKS) if text is None else checks_named(text)
    except ValueError as error:
        raise pytest.UsageError(f"mpinet: {error}.") from None
    strict = bool(config.getoption("mpinet_check_strict"))

    def told(findings: list[Finding]) -> str:
        rows = [finding_row(one, strict) for one in findings]
        errors = [row for row in rows if row["severity"] == ERROR]
        return findings_text(errors) if errors else ""

    return CheckedTests(names, told)


def _require_room(processors: int) -> None:
    """Raise an error if pytest sessions on all processors do not fit into memory."""
    from mpinet.base.memory import in_units, memory_left

    if processors * SESSION > (left := memory_left()):
        raise pytest.UsageError(
            f"mpinet: sessions of pytest on {processors} processors need about "
            f"{in_units(processors * SESSION)} of memory, but only {in_units(left)} are free."
        )


def marked(mark: pytest.Mark) -> TeamPlace:
    """Return the place given by a mark.

    Raises
    ------
    UsageError
        The mark's arguments are wrong.
    """
    named = dict(zip(("n", "on"), mark.args, strict=False)) | dict(mark.kwargs)
    if not named or not named.keys() <= {"n", "on"} or len(mark.args) > 2:
        raise pytest.UsageError("The mark mpinet takes n (number of processors) or on (network).")
    return _place(named.get("n"), named.get("on"))


def _named(item: pytest.Item) -> str:
    """Return a test's path and name, independent of the current folder."""
    _, *parts = item.nodeid.split("::", 1)
    return "::".join([str(item.path), *parts])
