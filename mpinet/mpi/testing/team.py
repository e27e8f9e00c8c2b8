"""Processors that run tests together, each in its own session; they meet between tests."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from _pytest._io import TerminalWriter

from mpinet.errors import MpinetError
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.mpi.checks.findings import Finding, Findings
from mpinet.mpi.checks.gathering import gathered_findings
from mpinet.mpi.real import ANY_SOURCE
from mpinet.mpi.script import surroundings
from mpinet.mpi.testing.member import MemberPlugin, TeamTest, live
from mpinet.mpi.testing.verdict import verdict
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.choice_points import ChoiceMail
from mpinet.mpi.world.contexts import PAIRS, WORLD
from mpinet.mpi.world.events import Awaited
from mpinet.mpi.world.installed import without_users
from mpinet.mpi.world.options import ScriptOptions
from mpinet.mpi.world.orders import SeededOrder
from mpinet.mpi.world.process_state import InterpreterSetting
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.settings import PATH, VARIABLES
from mpinet.mpi.world.streams import descriptors_kept
from mpinet.mpi.world.world import World
from mpinet.networks.topology import Topology
from mpinet.process.where import shown


class CheckedTests(NamedTuple):
    """Checks of the MPI calls of tests."""

    checks: Sequence[str]
    """Names of the checks."""
    told: Callable[[list[Finding]], str]
    """Formats findings; empty if a test may pass in spite of them."""


class TeamOptions(NamedTuple):
    """Options of a team."""

    arguments: list[str]
    """Arguments of pytest."""
    names: list[str] | None
    """Paths and node ids of the tests to collect; None: those among the arguments."""
    checked: CheckedTests | None
    """Checks of the tests' MPI calls; None: no checks."""
    eager: float
    """Size in bytes of the largest message that a standard send buffers."""
    seed: int | None
    """Seed for the order of messages at receives from any rank; None: the order of arrival."""
    writer: Any
    """Terminal writer for the session of processor 0."""


class Court(World):
    """A world that pauses after all of its processors have met."""

    met: list[Awaited]

    def _at_quiescence(self, total: object) -> bool:
        if self.turns.running and len(self.met) == self.turns.running:
            return False
        return super()._at_quiescence(total)  # type: ignore[arg-type]


class Team:
    """A machine whose processors each have a pytest session.

    Parameters
    ----------
    topology : Topology
        The network.
    options : TeamOptions
        The options.
    """

    def __init__(self, topology: Topology, options: TeamOptions):
        self.members: list[MemberPlugin] = [MemberPlugin(self) for _ in range(topology.hosts)]
        """Member of each processor."""
        self.trouble: str = ""
        """Reason why the team cannot continue; empty if it can."""
        self._task: TeamTest | None = None
        self._checked = options.checked
        self._options = options
        self._stack = ExitStack()
        self._world = self._begun(topology)
        try:
            self._go_on()
        except BaseException:  # a processor's session ends the whole run
            self._stack.close()
            raise

    def _begun(self, topology: Topology) -> Court:
        """Create the world and start its processors."""
        kept = sys.meta_path[:], sys.unraisablehook
        self._stack.enter_context(without_users())
        out = self._stack.enter_context(descriptors_kept(sys.stdout))
        seed = self._options.seed
        arrivals = None if seed is None else SeededOrder(seed)
        options = ScriptOptions(out=out, eager=self._options.eager, arrivals=arrivals)
        world = Court(Machine(topology, "one", Local()), options)
        world.met = []
        if self._checked is not None:
            world.findings = Findings(self._checked.checks)
        world.accounts.naming = lambda frame: shown(frame.f_code.co_filename)
        self._stack.enter_context(running.of(world))
        self._stack.enter_context(surroundings(world, ""))
        self._stack.callback(self._put_back, *kept)
        self._stack.callback(world.end)
        world.begin(self._program)
        return world

    @staticmethod
    def _put_back(finders: list[Any], hook: Any) -> None:
        """Remove traces of aborted sessions from the interpreter."""
        sys.meta_path[:] = finders
        sys.unraisablehook = hook

    def _program(self, processor: Processor) -> None:
        """Run the pytest session of one processor."""
        processor.main = sys.modules["__main__"] = ModuleType("__main__")
        words = sys.modules["_pytest.assertion.util"]  # private to a session
        self._world.turns.privacy.change(processor, InterpreterSetting(VARIABLES, words))
        privacy = self._world.turns.privacy
        privacy.change(processor, PATH)  # pytest's monkeypatch modifies the list itself
        sys.path = sys.path[:]
        is_first = processor.id == 0
        writer = self._options.writer if is_first else TerminalWriter(io.StringIO())
        live(self.members[processor.id], self._options.arguments, self._options.names, writer)

    def next(self) -> TeamTest | None:
        """Let the running processor wait for all others; return the next test, None at the end."""
        world = self._world
        words = "all processors to finish the test"
        place = world.contexts.number((WORLD, PAIRS))
        meeting = Awaited(world.turns.current, words, ANY_SOURCE, place)
        world.met.append(meeting)
        world.turns.wait(meeting)
        return self._task

    def _go_on(self) -> None:
        """Let the members continue until they meet again."""
        world = self._world
        met, world.met = world.met, []
        for meeting in met:
            world.turns.happened(meeting)
        try:
            world.go_on()
        except MpinetError as error:
            self.trouble = str(error)
        broken = [member.trouble for member in self.members if member.trouble]
        if broken:
            self.trouble = "\n".join([broken[0], self.trouble]).rstrip()
        elif not self.trouble and len(world.met) < len(self.members) and self._task is not None:
            self.trouble = "A processor's session of pytest has ended before its last test."

    def run(self, task: TeamTest) -> list[pytest.TestReport]:
        """Run a test on all processors; return the combined reports on its phases."""
        for member in self.members:
            member.reports = []
        self._task = task
        mail, seed = self._world.mail, self._options.seed
        if isinstance(mail, ChoiceMail):  # each test has an order of its own, also by itself
            mail.orders = SeededOrder(f"{seed} {task.name}")
        self._go_on()
        told = [member.reports for member in self.members]
        if not self.trouble and not any(one.failed for reports in told for one in reports):
            self.trouble = self._mismatch
        said = "\n".join(filter(None, (self.trouble, self._found())))
        return verdict(self.members[0].items[task.name], told, said)

    def _found(self) -> str:
        """Return the findings of the checks in the current test as text; empty without errors."""
        world = self._world
        if self._checked is None:
            return ""
        for processor in world.turns.processors:
            if processor is not None:
                running.checks.paused(processor)
        found = gathered_findings(world, None)
        world.findings.forget()
        return self._checked.told(found)

    @property
    def _mismatch(self) -> str:
        """Message on collectives called differently by members; empty without a mismatch."""
        try:
            self._world.require_matching_collectives()
        except MpinetError as error:
            return str(error)
        return ""

    @property
    def is_clean(self) -> bool:
        """True if no messages or posted receives are left for the next test."""
        world = self._world
        others = [one for one in world.turns.processors if one is not None]
        left = any(one.unexpected is not None or one.posted is not None for one in others)
        left = left or bool(self._mismatch)
        return not self.trouble and len(others) == len(self.members) and not left

    def close(self) -> None:
        """End the members' sessions; abort blocked sessions."""
        self._task = None
        try:
            if not self.trouble:
                self._go_on()
        finally:
            self._stack.close()
