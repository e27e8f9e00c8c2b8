"""The run of a script on all processors, in rounds: the event loop.

In a round every runnable processor runs until it is blocked (`Turns`). Then the ranks agree on the
next action. Usually the machine makes a step with all sent messages (`Transit`).
Messages that arrive are matched with receives (`Mail`), and make processors runnable for the next
round. At quiescence no processor is runnable and no message is in flight.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from mpinet.errors import Deadlock, ProgramError
from mpinet.machine import Machine
from mpinet.mpi.world import deadlock
from mpinet.mpi.world.accounts import Accounts
from mpinet.mpi.world.choice_points import ChoiceMail
from mpinet.mpi.world.clock import Clock
from mpinet.mpi.world.contexts import Contexts
from mpinet.mpi.world.desk import Desk
from mpinet.mpi.world.events import Question
from mpinet.mpi.world.exits import Exits
from mpinet.mpi.world.filing import Filing
from mpinet.mpi.world.foundation import Foundation
from mpinet.mpi.world.logged_mail import LoggedMail
from mpinet.mpi.world.mail import Mail
from mpinet.mpi.world.metering import Waits
from mpinet.mpi.world.mismatch import LastCalls, unequal
from mpinet.mpi.world.onesided import OneSided
from mpinet.mpi.world.options import PLAIN, ScriptOptions
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.recovery import Recovery
from mpinet.mpi.world.sleepers import Sleepers
from mpinet.mpi.world.threads import Threads
from mpinet.mpi.world.timedloops import in_timed_loop
from mpinet.mpi.world.transit import Transit
from mpinet.mpi.world.trees import Trees
from mpinet.mpi.world.turns import POLLS_A_ROUND, Turns

PATIENCE = 100
"""Rounds of unsuccessful polling before processors count as starved."""

LOOKS = 10_000
"""Checks for clients, a millisecond apart, while all processors wait."""

LOOKS_AT_LOCKS = 20
"""Checks of threads that all wait for a lock; a thread may be about to release it.
"""

LOOKS_AT_SLEEPERS = 600_000
"""Checks of threads and child processes that wait for an event outside of MPI."""

NO_ALARM = inf, 0.0
"""Time and interval of a processor without an alarm."""

POLLS_IN_VAIN = 20_000_000
"""Unsuccessful polls of all processors together before they count as starved."""


class Totals(NamedTuple):
    """Totals over all ranks, agreed after every round."""

    sent: int
    """Number of messages that enter the machine in this step."""
    in_flight: int
    """Number of messages in flight, including messages that enter in this step."""
    to_self: int
    """Number of messages sent by processors to themselves."""
    polling: int
    """Number of polling processors."""
    wanted: int
    """Number of broadcast trees for which processors wait."""
    running: int
    """Number of processors that have not ended."""
    unsettled: int
    """Number of printed lines and failures not yet handled."""
    asked: int
    """Number of clock readings of processors."""
    filed: int
    """Number of file operations requested by processors."""
    choice_points: int
    """Number of processors with open choice points."""
    computing: int
    """Number of threads that may still call MPI."""
    outside: int
    """Number of processors that wait for events outside of MPI."""
    hoping: int
    """Number of processors in `outside` that wait for more than clients, or were interrupted."""
    sleeping: int
    """Number of sleeping processors."""
    hopeful: int
    """Number of sleeping processors that do not just sleep between two polls in vain."""
    old: int
    """Number of messages that delay the notice of a failure."""
    questions: int
    """Number of processors that wait in the debugger."""


class World:
    """One run of a script on this rank's processors.

    Parameters
    ----------
    machine : Machine
        The machine. All nodes except switches are processors.
    options : ScriptOptions
        Options of the run.
    """

    size: int
    """Number of processors."""

    def __init__(self, machine: Machine, options: ScriptOptions = PLAIN):
        self.machine = machine
        self.size = size = machine.topology.hosts
        self.contexts = Contexts(size, options.places, options.spare)
        self.collectives = LastCalls()
        self.one_sided: OneSided = OneSided()
        """Locks of windows, and conflicting accesses."""
        self.accounts = Accounts(machine.transport.rank, machine.transport.size)
        self.exits = Exits(machine, options.out or sys.stdout)
        nodes = machine.nodes.tolist()
        numbers = [node if node < size else None for node in nodes]
        self.turns: Turns = Turns(numbers, self.exits, options.own)
        """Scheduler of this rank's processors."""
        # Spare processors exist from the start, because the network's size is fixed. A spawn only
        # gives them a script, and no table of slots ever grows.
        self.turns.leave_free(set(self.contexts.spare))
        # The kinds of mail differ in matching or in records, never in transport. Each run uses a
        # single class, and plain mail needs no tests for the other kinds.
        between = self.turns, self.contexts, self.exits, options.eager
        if options.arrivals is not None:
            self.mail: Mail = ChoiceMail(*between, options.arrivals)
            """Mail of this rank's processors."""
        elif options.compute is not None:
            self.mail = LoggedMail(*between, options.compute)
        else:
            self.mail = Mail(*between)
        self.desk: Desk = Desk(self.turns, self.mail, self.contexts)
        """Desk that allocates free processors and registers ports."""
        self.transit: Transit = Transit(machine, self.contexts, options)
        """Messages in flight."""
        calls = machine.trace.calls if machine.trace else None
        self.waiting: list[tuple[int, int]] = []
        """Processors blocked in calls at a deadlock, each with the number of the call's account."""
        self.findings: Any = None
        """Findings of the checks; None in an unchecked run. Type: Findings."""
        self.plan: Any = options.debug
        """Plan of the debugger. Type: DebugPlan."""
        self.debugger: Any = None
        """Debugger of the run; None before its scripts begin. Type: Debugger."""
        self.questions: list[Question] = []
        """Questions of this rank's processors to the debugger."""
        self.waits: Waits | None = Waits(calls) if options.metered else None
        """Steps spent in calls; None if not metered."""
        # `Waits` forwards each call to the recording. One object is notified per call, whether
        # meters, a recording or both are active.
        self.recorded = self.waits or calls
        whole = self.turns, self.mail, self.contexts, self.transit
        self.recovery: Recovery = Recovery(*whole, options.faults or {})
        """Failed processors, and agreements among the remaining processors."""
        self.clock = Clock(self.turns, self.mail, self.transit)
        if options.measured:
            self.clock.measure()
        self.threads = Threads(self.turns, self.exits, self.accounts)
        self.sleepers: Sleepers = Sleepers(machine, self.turns)
        """Processors in ``time.sleep``."""
        self.filing: Filing = Filing(machine, self.turns)
        """File operations requested by processors."""
        self._foundation = Foundation()
        self._looks = self._still = self._vain = 0
        self.trees = Trees(machine, self._foundation, options.pattern)

    def run(self, program: Callable[[Processor], None]) -> None:
        """Run a program on all processors, to its end (collective).

        Parameters
        ----------
        program : callable
            The program of a processor, run in the processor's thread.

        Raises
        ------
        ProgramError
            A program fails; the error contains the processor's traceback.
        Deadlock
            Processors wait for messages that no processor will send.
        """
        self.begin(program)
        try:
            self.go_on()
        finally:
            self.end()

    def begin(self, program: Callable[[Processor], None]) -> None:
        """Give every processor a thread for running a program."""
        self.turns.start(program)

    def go_on(self) -> None:
        """Run rounds until all processors have ended (collective); raises as `run` does."""
        # Every turn installs the running script's `__main__`, and the last one stays. The caller of
        # the run must find its own module again.
        main = sys.modules["__main__"]
        try:
            while self._round():
                pass
        finally:
            sys.modules["__main__"] = main

    def require_matching_collectives(self) -> None:
        """Raise if collectives did not match although no processor is blocked (collective).

        Raises
        ------
        ProgramError
            Members of a communicator called different collectives, or some members called none.
        """
        # A run may end although members called different collectives, because a bcast sends nothing
        # back to its root. For real MPI such a program is undefined.
        living = [one for one in self.turns.processors if one is not None]
        lines = unequal(self.machine, self.contexts, self.collectives, living)
        if lines and not self.recovery.faults:
            text = "No processor waits, but processors have called collectives that do not match:"
            raise ProgramError("\n".join([text, *lines]))

    def end(self) -> None:
        """Stop unfinished threads and processors, and restore modules hidden by scripts."""
        # Threads first: a thread that waits for an answer would keep the interpreter alive.
        # Greenlets next, because their `finally` blocks may still use files.
        self.threads.end()
        self.turns.close()
        self.filing.close()
        self._foundation.uncover()

    def _round(self) -> bool:
        """Run one round: all processors until they block, then a step of the machine.

        Returns whether work is left, the same on all ranks.
        """
        # Calls of threads begin before any turn, because processors of this round may block until
        # such a call has been made.
        self.threads.begin_calls()
        # A failure takes effect between two rounds. Inside a round it would depend on the order of
        # turns on a rank.
        self.recovery.begin_round()
        self.turns.run_until_all_block()
        with self._foundation.restored():
            # The round's only agreement: all ranks see these totals and take the same branch.
            total = self._own_totals()
            if self.machine.transport.size > 1:
                total = Totals(*self.machine.sum(*total))
            # A processor at a prompt: output is shown, but no processor polls and no step is made.
            # The counts stay for the end of the round.
            if total.questions:
                if total.unsettled:
                    self.exits.settle()
                self.debugger.settle()
                return True
            # These counts belong to one round. They are cleared after the sum, before any code
            # below can give a processor a turn.
            self.mail.to_self = self.clock.asked = self.turns.outside = self.turns.hoping = 0
            self.threads.mind_network(total.outside > 0)
            self.recovery.settle(total.old)
            # Output is rare, and gathering output needs an additional collective operation. The sum
            # above already shows all ranks whether output exists.
            if total.unsettled:
                self.exits.settle()  # prints; raises the lowest processor's failure
            # Polling processors become runnable before the step, and processors woken by the step
            # come after them. This fixes the order.
            self.turns.next_round()
            more = self._step(total)
            # Turns keep a copy, because every wait stores the step in which it began. Asking the
            # transit would cost a chain of attribute lookups.
            self.turns.now = self.transit.now
            return more

    def _own_totals(self) -> Totals:
        """Return this rank's contribution to the round's totals."""
        sent = self.mail.outbox.messages
        return Totals(
            sent=sent,
            in_flight=sent + self.transit.in_flight,
            to_self=self.mail.to_self,
            polling=len(self.turns.polling),
            wanted=len(self.trees.wanted),
            running=self.turns.running,
            unsettled=self.exits.unsettled,
            asked=self.clock.asked,
            filed=len(self.filing.wanted),
            choice_points=self.mail.choice_points,
            computing=self.threads.computing,
            outside=self.turns.outside,
            hoping=self.turns.hoping + self.threads.let_go,
            sleeping=len(self.sleepers),
            hopeful=self.sleepers.hopeful,
            old=self.recovery.old,
            questions=len(self.questions),
        )

    def _step(self, total: Totals) -> bool:
        """Take the round's action, and return whether work is left."""
        if total.wanted:  # a processor needs a broadcast tree: no step
            self.turns.runnable += self.trees.grow()
            return True
        if total.filed:  # no step for files
            self.filing.settle()
            return True
        # Without a message in flight a step would change nothing. Counting it would charge the
        # script for waiting.
        if not total.in_flight:
            return self._at_quiescence(total)
        # A message in flight is progress, so patience starts again: the polling processors may be
        # waiting for this message.
        self.turns.idle_rounds = self._looks = self._still = self._vain = 0
        self.threads.moved()
        self.clock.move()
        # Messages leave the outbox before delivery. Messages sent during delivery, such as an
        # acknowledgement, belong to the next step.
        self.mail.deliver(*self.transit.advance(self.mail.collect(), total.sent, total.in_flight))
        return True

    def _at_quiescence(self, total: Totals) -> bool:
        """Handle quiescence: choices, idle time, polls, a deadlock or the end."""
        turns = self.turns
        # A message to the same processor takes no step, but may complete a receive of a thread. It
        # counts as progress of the script, not of the machine.
        if total.to_self:
            self._looks = self._still = 0
            self.threads.moved()
        # A failure becomes known in the next round and may wake processors. Deadlock can be
        # detected only after that.
        if total.running and self.recovery.learns:
            return True
        # Quiescence: all processors are blocked and no message is in flight. Now all candidate
        # messages of open receives have arrived, so the choice is complete.
        if total.choice_points and not total.to_self:
            self.mail.resolve_choices(self.machine)
            return True
        if total.sleeping and self._vain <= PATIENCE * POLLS_A_ROUND:
            others = total.computing + total.outside + total.hoping
            is_vain = not total.to_self and not others and not total.hopeful
            self._vain = self._vain + 1 if is_vain else 0
            turns.idle_rounds = 0
            if not total.to_self:
                self.sleepers.wake(others > 0)
            return True
        # A loop that polls until a given time ends only if time passes. Idle steps are made
        # although no message moves.
        if total.polling and total.asked and not total.to_self and self.clock.may_idle:
            turns.idle_rounds = 0
            self.clock.idle()
            return True
        # Threads, child processes and sockets act in real time. While one of them may still help,
        # neither deadlock nor starvation is certain.
        others = total.computing or total.outside or total.hoping
        if total.running and others and self._may_yet_progress(total):
            return True
        idle_rounds = 0 if total.to_self else turns.idle_rounds + (total.polling > 0)
        turns.idle_rounds = idle_rounds
        # Two limits, because rounds are cheap with few processors and expensive with a million. One
        # limit alone would be too short or take minutes.
        polls = idle_rounds * total.polling * POLLS_A_ROUND
        starved = idle_rounds > PATIENCE or polls > POLLS_IN_VAIN
        if total.running and (starved or not total.polling):
            if self._may_yet_progress(total):
                return True
            # A processor with a later scheduled failure may be the reason for the wait. Time passes
            # up to that step, and then its peers are notified.
            if self.recovery.idle():
                turns.idle_rounds = 0
                return True
            # The explanation gathers from all ranks, therefore every rank takes this branch and
            # raises the same text.
            self.exits.settle(ends=True)
            error = self._explanation(total)
            if self._looks >= LOOKS_AT_SLEEPERS:
                error.args = (
                    f"{error}\nThreads, child processes and sockets made no progress for "
                    f"{LOOKS_AT_SLEEPERS // 1000} s.",
                )
            if self.debugger is not None and self.debugger.stops_at(error):
                return True
            raise error
        return total.running > 0

    def _explanation(self, total: Totals) -> Deadlock:
        """Return why processors are blocked, the same on all ranks (collective)."""
        here = [processor for processor in self.turns.processors if processor is not None]
        # The calls end with their processors, before the run's error is reported.
        self.waiting = [(one.id, one.account.number) for one in here if one.account is not None]
        now = self.transit.now
        # A window's lock is held at its target, which may be on another rank. The waiting origin
        # learns the holder only here.
        deadlock.name_holders(self.machine, self.contexts, self.one_sided, here)
        return deadlock.explanation(
            *(self.machine, self.contexts, self.collectives, here, now),
            total.polling + total.sleeping,
        )

    def _may_yet_progress(self, total: Totals) -> bool:
        """Return whether an event outside of MPI may resume a processor (collective)."""
        # A child process helps only a polling processor. A processor blocked in MPI cannot notice
        # the child's actions.
        with_children = total.polling + total.outside > 0
        own_computing, own_waiting = self.threads.at_work(with_children)
        # A processor that polls in a loop with a time limit is not starved, because the clock ends
        # its loop. The loop's bytecode shows whether it reads a clock.
        polling = [one for one in self.turns.runnable if one.awaited is None]
        own_waiting += any(in_timed_loop(one.thread.gr_frame) for one in polling)
        # An alarm may end the loop of a polling processor, but no wait in MPI.
        own_waiting += any(self.turns.alarms.get(one, NO_ALARM) != NO_ALARM for one in polling)
        # All ranks must agree, because one rank's thread may send the message that another rank's
        # processor waits for.
        computing, waiting = self.machine.sum(own_computing, own_waiting)
        if total.hoping:
            self._looks = 0
        # A warning rather than an error: a sleeping thread may be right to sleep. The user decides
        # and can press Ctrl-C.
        if waiting and not computing and self._looks == LOOKS:
            self._warn(total)
        if total.hoping or computing or waiting:
            self._still = 0
            is_over = self._looks >= LOOKS_AT_SLEEPERS
        else:  # a thread may get its lock from a thread checked earlier
            self._still += 1
            is_over = self._still > (LOOKS_AT_LOCKS if total.computing else 0)
            is_over = is_over and (not total.outside or self._looks >= LOOKS)
        # A computing thread uses up no patience, however long it takes. Only time without any
        # activity counts.
        self._looks += not computing
        if not is_over:
            # Threads of this process need the interpreter's lock, and other ranks need the core.
            # Spinning here would delay exactly the threads that may help.
            time.sleep(0.001)
        return not is_over

    def _warn(self, total: Totals) -> None:
        """Warn that nothing moves although an outside event may still help (collective)."""
        why = self._explanation(total)
        self.exits.warn(
            f"mpinet: no progress for {LOOKS // 1000} s. A thread, a child process or a clock may "
            f"still help. The run continues; Ctrl-C ends it.\n{why}\n"
        )

    def tree(self, root: int) -> Any:
        """Return the machine's broadcast tree from a processor; blocks until the tree exists."""
        # All ranks take part in growing a tree. The processor blocks, and all requested trees grow
        # together after the round.
        if root not in self.trees:
            self.trees.want(root, self.turns.current)
            self.turns.sleep()
        return self.trees[root]
