"""The debugger of a run: sessions of processors, their stops, and answers to their questions.

A processor at a prompt waits like in an MPI call. After the round all ranks meet, and the lowest
waiting processor gets the next line from rank 0. Meanwhile no other processor runs, and the machine
makes no step. A stop outside of a processor's own code, such as at a step, opens the prompt in a
helper fiber of the processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from greenlet import GreenletExit, getcurrent

from mpinet.errors import Deadlock, ProgramError, UsageError
from mpinet.mpi.checks.bodies import CheckedBody
from mpinet.mpi.debugging.messages import UNKNOWN, described, in_flight, places, queues
from mpinet.mpi.debugging.plan import DebugPlan, Goal, Repeat
from mpinet.mpi.world.callgroups import call_groups, groups_text
from mpinet.mpi.world.events import Question
from mpinet.mpi.world.failure import described as told
from mpinet.mpi.world.failure import named
from mpinet.mpi.world.message import BODY
from mpinet.mpi.world.processor import Fiber, Processor, number_of
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.world import World
from mpinet.process.telling import agreed, gathered

if TYPE_CHECKING:
    from mpinet.mpi.debugging.session import Session

NO_INPUT = (
    "Processor {} waits in the debugger, but standard input has ended. Type commands in a "
    "terminal, or end piped commands with c (continue); mpinet launch needs --pdb for this."
)


class Debugger:
    """The debugger of this rank's processors.

    Parameters
    ----------
    world : World
        The run.
    plan : DebugPlan
        Stops of the run, and typed lines.
    """

    def __init__(self, world: World, plan: DebugPlan):
        self.plan = plan
        self.is_quiet: bool = False
        """True if no failure stops in the debugger any more."""
        self.awaiting: set[int] = set()
        """Processors that stop when their next message arrives."""
        self._world = world
        self._sessions: dict[int, Session] = {}
        self._has_hooks = False
        self._goal_left = plan.goal is not None
        self._again = plan.again
        self._stuck_at = -1
        self._shared = sys.gettrace()
        world.exits.is_muted = plan.is_repeating
        if plan.processor is not None or plan.goal is not None:
            self._install()

    @property
    def _target(self) -> int:
        """The debugged processor."""
        goal = self.plan.goal
        if goal is not None and goal.processor is not None:
            return goal.processor
        return self.plan.processor or 0

    # ---- stops

    def break_at(self, *arguments: Any, **named: Any) -> None:
        """Stop the running processor at the caller's next line: the hook of ``breakpoint()``."""
        turns, chosen = self._world.turns, self.plan.processor
        if os.environ.get("PYTHONBREAKPOINT"):
            sys.__breakpointhook__(*arguments, **named)
            return
        if getcurrent() is not turns.current.thread or turns.current.id < 0:
            raise RuntimeError("breakpoint() stops the main thread of a script, and no other one.")
        if chosen in (None, turns.current.id):
            self.session(turns.current).set_trace(sys._getframe(1))

    def begin(self, processor: Processor) -> None:
        """Prepare the first stop of a processor whose script begins after this call."""
        goal = self.plan.goal
        if processor.id != self._target or (goal is None and self.plan.processor is None):
            return
        if goal is None or not (goal.file or goal.step):
            self._goal_left = False
            self.session(processor).stop_first()
        elif goal.file:
            self.session(processor).stop_at(goal.file, goal.line)

    def reached(self, number: int) -> None:
        """Record a stop of a processor: the debugged processor has reached its first stop."""
        if number == self._target:
            self._goal_left = False

    def mourn(self, processor: Processor, error: BaseException, text: str) -> None:
        """Stop at the line at which a processor has failed; later failures do not stop."""
        if not self.is_quiet:
            self.is_quiet = True
            sys.settrace(self._shared)
            self.session(processor).visit(None, error.__traceback__, text)

    def stops_at(self, error: Deadlock) -> bool:
        """Stop a waiting processor at a deadlock; return False after this stop (collective)."""
        now = self._world.transit.now
        if not self.plan.stops_at_failures or self.is_quiet or self._stuck_at == now:
            return False
        self._stuck_at = now
        target = self._target
        waiting = [part for group in error.waiting for part in group["intervals"]]
        in_calls = [group["intervals"][0][0] for group in error.waiting if group["call"]]
        if not any(first <= target <= last for first, last in waiting) or self.plan.quit:
            target = min(in_calls or [first for first, _ in waiting])
        self._visit(target, str(error))
        return True

    def require_goal(self) -> None:
        """Raise an error if the run has ended before its first stop (collective)."""
        goal = self.plan.goal
        if goal is None:
            return
        # Only the rank of the processor notices that the line was reached.
        is_here = not goal.file or self._target in self._world.turns.numbers
        if self._world.machine.max(int(self._goal_left and is_here))[0]:
            raise UsageError(f"--until: the script ended before rank {self._target} was at {goal}.")

    def _visit(self, number: int, text: str, account: int = UNKNOWN) -> None:
        """Open a prompt for a processor outside of its turn, if this rank hosts the processor.

        Parameters
        ----------
        number : int
            The processor.
        text : str
            Text to show before the stack.
        account : int
            Number of an account whose line follows the text.
        """
        turns = self._world.turns
        if number not in turns.numbers:
            return
        processor = turns.processors[turns.numbers.index(number)]
        if processor is None:
            why = UsageError(f"--until: processor {number} has ended before this step.")
            return self._world.machine.transport.fail(why)
        frame = processor.thread.gr_frame if processor.thread else None
        # The processor stays where it is until the prompt ends, even if its message has arrived.
        held = processor in turns.runnable
        if held:
            turns.runnable.remove(processor)

        def work() -> None:
            place = "" if account == UNKNOWN else self.ask("place", str(account))
            self.session(processor).visit(frame, None, text + place)
            if held:
                turns.runnable.append(processor)

        turns.begin(work, processor)

    def session(self, processor: Processor) -> Session:
        """Return the session of a processor, opened on first use."""
        self._install()
        number = number_of(processor)
        if number not in self._sessions:
            from mpinet.mpi.debugging.session import Session

            self._sessions[number] = Session(self, number)
        return self._sessions[number]

    # ---- questions

    def ask(self, kind: str, text: str, first: bool = False) -> str:
        """Ask all ranks a question for the running processor, and return the answer."""
        world = self._world
        question = Question(world.turns.current, kind, text, first)
        world.questions.append(question)
        world.turns.wait(question)
        return question.answer

    def settle(self) -> None:
        """Answer the question of the lowest processor that asks (collective)."""
        world = self._world
        questions = world.questions
        own = [[number_of(one.owner), one.kind, one.text, one.first] for one in questions]  # type: ignore[arg-type]
        rows = [row for rows in gathered(world.machine.transport, own) for row in rows]
        lowest = min(rows, key=lambda row: row[0], default=None)
        number, kind, text, first = agreed(world.machine.transport, lowest)
        answer: str = getattr(self, f"_{kind}")(number, text, first)
        for question in questions:
            if number_of(question.owner) == number:  # type: ignore[arg-type]
                questions.remove(question)
                question.answer = answer
                world.turns.happened(question)
                break

    def _line(self, number: int, text: str, first: bool) -> str:
        """Return the next typed line."""
        world, line = self._world, None
        if world.machine.transport.rank == 0:
            line = self.plan.line(number, world.transit.now, text, first, self._shown)
        line = agreed(world.machine.transport, line)
        if line is None:
            raise UsageError(NO_INPUT.format(number))
        return str(line)

    def _shown(self) -> TextIO:
        """Make the script's output visible from now on, and return its stream."""
        self._world.exits.is_muted = False
        return self._world.exits.out

    def _where(self, number: int, text: str, first: bool) -> str:
        """Return the groups of all processors."""
        turns, world = self._world.turns, self._world
        living = [one for one in turns.processors if one is not None]
        gone = {one for one in turns.numbers if one is not None} - {one.id for one in living}
        ended = sorted(gone - set(world.contexts.spare))
        return groups_text(call_groups(world.machine.transport, living, ended)) + "\n"

    def _inflight(self, number: int, text: str, first: bool) -> str:
        """Return the messages that are sent and not received."""
        return in_flight(self._world)

    def _place(self, number: int, text: str, first: bool) -> str:
        """Return the line of an account of any rank, as the end of a sentence."""
        return f", sent by {places(self._world, [int(text)])[int(text)]}"

    def _queues(self, number: int, text: str, first: bool) -> str:
        """Return posted receives and unexpected messages of a processor."""
        asked = int(text) if text else number
        if asked not in range(self._world.size):
            return f"*** there is no processor {text}: give 0..{self._world.size - 1}\n"
        return queues(self._world, asked)

    def _back(self, number: int, text: str, first: bool) -> str:
        """Repeat the run up to an earlier stop; return the reason if this is impossible."""
        now, transport = self._world.transit.now, self._world.machine.transport
        step = int(text) if text else None
        if step is not None and step > now:
            return f"*** the run is at step {now}: give 0..{now}\n"
        why = self.plan.back(step, number) if transport.rank == 0 else ""
        why, again = agreed(transport, (why, self.plan.again))
        if why:
            return f"*** {why}\n"
        self.plan.again = None if again is None else Goal(*again)
        raise Repeat

    # ---- hooks of a debugged run

    def _install(self) -> None:
        """Put functions around the emulator's own; runs without a debugger have none of them."""
        if self._has_hooks:
            return
        self._has_hooks = True
        world = self._world
        for owner, names in (
            (world.turns, ["sleep"]),
            (world.mail, ["deliver", "send", "send_standard"]),
            (world.transit, ["idle"]),
            (world.exits, ["fail", "end"]),
        ):
            for name in names:
                setattr(owner, name, partial(getattr(self, f"_{name}"), getattr(owner, name)))

    def _sleep(self, sleep: Callable[..., None], awaited: Any = None) -> None:
        """Trace functions belong to a thread: a processor takes its own away while it sleeps."""
        here = self._world.turns.current
        number, is_main = number_of(here), type(here) is not Fiber
        session = self._sessions.get(number)
        try:
            if session is None:
                sleep(awaited)
            else:
                session.leave(is_main, self._shared)
                # Within the debugger tracing is off, but other processors need it.
                sys.call_tracing(sleep, (awaited,))
        finally:
            session = self._sessions.get(number)
            if session is not None and not isinstance(sys.exc_info()[1], GreenletExit):
                session.enter(is_main)

    def _deliver(self, deliver: Any, slots: list[int], messages: list[Any]) -> None:
        """Deliver messages, and stop processors that wait for their next message."""
        deliver(slots, messages)
        for slot, message in zip(slots, messages, strict=True) if self.awaiting else ():
            number = self._world.turns.numbers[slot]
            if number in self.awaiting:
                self.awaiting.discard(number)
                account = getattr(message[BODY], "account", UNKNOWN)
                self._visit(number, f"--Message-- {described(self._world, message)}", account)
        self._note_step()

    def _idle(self, idle: Any, steps: int) -> None:
        """Let time pass, and stop at a step."""
        idle(steps)
        self._note_step()

    def _note_step(self) -> None:
        """Stop the debugged processor if the run has come to the given step."""
        goal, again, now = self.plan.goal, self._again, self._world.transit.now
        if again is not None and now >= again.step:
            self._again = None
            self._visit(again.processor or 0, f"--Step {now}--")
        if self._goal_left and goal is not None and not goal.file and now >= goal.step:
            self._goal_left = False
            self._visit(self._target, f"--Step {now}--")

    def _send(self, send: Any, scope: Any, target: Any, tag: Any, data: Any, *ack: Any) -> Any:
        """Send a message that knows its sender's line."""
        here = self._world.turns.current
        if type(data) is bytes and scope.tags >= 0 and here.account is not None:
            data = CheckedBody.of(data, None, here.account.number, (here.id, 0))
        return send(scope, target, tag, data, *ack)

    _send_standard = _send

    def _fail(self, fail: Any, processor: Processor, error: BaseException, step: int) -> None:
        """Stop at the failure of a processor before the run ends."""
        sys.settrace(self._shared)
        quits = isinstance(error, ProgramError)
        if self.plan.stops_at_failures and isinstance(error, Exception) and not quits:
            name = named(self._world.machine.topology, processor.id)
            self.mourn(processor, error, f"Processor {name}, after step {step}, {told(error)}")
        fail(processor, error, step)

    def _end(self, end: Any, processor: Processor) -> None:
        """End the session of a processor, whose trace function must not see other processors."""
        if self._sessions.pop(number_of(processor), None) is not None:
            sys.settrace(self._shared)
        end(processor)

    def leave_run(self, frame: FrameType) -> NoReturn:
        """End the run for the command ``quit`` at a frame."""
        if self.plan.quit is not None:
            self.plan.quit()
        turns = self._world.turns
        error = ProgramError("the debugger has ended the run.")
        trace = TracebackType(None, frame, frame.f_lasti, frame.f_lineno)
        self._world.exits.fail(turns.current, error.with_traceback(trace), turns.now)
        turns.stay()

    def print(self, text: str) -> None:
        """Print a text of a session that has no prompt."""
        self._world.exits.print(self._world.turns.current, True, text)


@contextmanager
def debugging(world: World) -> Iterator[None]:
    """Context manager: ``breakpoint()`` and the plan's stops open the debugger."""
    debugger = world.debugger = Debugger(world, world.plan or DebugPlan())
    places: list[tuple[Any, str, Any]] = [(sys, "breakpointhook", debugger.break_at)]
    if "pdb" in sys.modules:
        places.append((sys.modules["pdb"], "set_trace", debugger.break_at))
    try:
        with replaced(*places):
            yield
    finally:
        sys.settrace(debugger._shared)
