"""The run of a script on all processors, in rounds: the event loop.

In a round every runnable processor runs until it is blocked (`Turns`). Then the ranks agree on the
next action. Usually the machine makes one step with everything that has been sent (`Transit`).
Messages that arrive are matched with receives (`Mail`), and make processors runnable for the next
round. At quiescence no processor is runnable and no message is in flight.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from mpinet.errors import Deadlock, ProgramError
from mpinet.machine import Machine
from mpinet.mpi.world import deadlock
from mpinet.mpi.world.accounts import Accounts
from mpinet.mpi.world.choice_points import ChoiceMail
from mpinet.mpi.world.clock import Clock
from mpinet.mpi.world.contexts import Contexts
from mpinet.mpi.world.desk import Desk
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
from mpinet.mpi.world.threads import Threads
from mpinet.mpi.world.timedloops import in_timed_loop
from mpinet.mpi.world.transit import Transit
from mpinet.mpi.world.trees import Trees
from mpinet.mpi.world.turns import POLLS_A_ROUND, Turns

PATIENCE = 100
"""Rounds in which processors poll in vain before they are starved."""

LOOKS = 10_000
"""Looks, a millisecond apart, for clients while all processors wait."""

LOOKS_AT_LOCKS = 20
"""Looks at threads of which each waits for a lock: one may just be about to release another's."""

LOOKS_AT_SLEEPERS = 600_000
"""Looks at threads and child processes that wait for something outside of MPI."""

POLLS_IN_VAIN = 20_000_000
"""Polls in vain of all processors together before they are starved, however few the rounds."""


class Totals(NamedTuple):
    """Sums over all ranks that these agree on after every round."""

    sent: int
    """Messages that set out in this step."""
    in_flight: int
    """Messages in flight, those that set out in this step included."""
    to_self: int
    """Messages that processors have sent to themselves."""
    polling: int
    """Processors that poll."""
    wanted: int
    """Broadcast trees that processors wait for."""
    running: int
    """Processors that have not ended."""
    unsettled: int
    """Lines printed and failures."""
    asked: int
    """Number of times that processors have asked for the time."""
    filed: int
    """Wishes of processors at files."""
    choice_points: int
    """Decisions to make when all processors are blocked."""
    computing: int
    """Threads that may yet call."""
    outside: int
    """Processors that wait for others outside of MPI."""
    hoping: int
    """Processors among `outside` that do not wait for clients alone, and others that let these have
    a turn."""
    old: int
    """Messages that keep processors from knowing of a failure."""


class World:
    """One run of a script on this rank's processors.

    Parameters
    ----------
    machine : Machine
        The machine; its processors are all but its switches.
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
        """Locks and conflicts of windows."""
        self.accounts = Accounts(machine.transport.rank, machine.transport.size)
        self.exits = Exits(machine, options.out or sys.stdout)
        nodes = machine.nodes.tolist()
        numbers = [node if node < size else None for node in nodes]
        self.turns: Turns = Turns(numbers, self.exits, options.own)
        """Scheduler of this rank's processors."""
        # Spare processors exist from the start, since the network's size is fixed. A spawn only
        # gives one of them a script, so that no table of slots ever grows.
        self.turns.leave_free(set(self.contexts.spare))
        # The kinds of mail differ in matching or in notes, never in transport. So a run takes one
        # class, and the plain one pays no test for the others' work.
        between = self.turns, self.contexts, self.exits, options.synchronous
        if options.arrivals is not None:
            self.mail: Mail = ChoiceMail(*between, options.arrivals)
            """Mail of this rank's processors."""
        elif options.compute is not None:
            self.mail = LoggedMail(*between, options.compute)
        else:
            self.mail = Mail(*between)
        self.desk: Desk = Desk(self.turns, self.mail, self.contexts)
        """Desk that keeps free processors and names of ports."""
        self.transit: Transit = Transit(machine, self.contexts, options)
        """Messages in flight."""
        calls = machine.trace.calls if machine.trace else None
        self.waits: Waits | None = Waits(calls) if options.metered else None
        """Steps in calls; None if these are not metered."""
        # Waits pass each call on to the recording. So one object is notified per call, whether
        # meters, a recording or both are wanted.
        self.recorded = self.waits or calls
        whole = self.turns, self.mail, self.contexts, self.transit
        self.recovery: Recovery = Recovery(*whole, options.faults or {})
        """Failed processors, and agreements without them."""
        self.clock = Clock(self.turns, self.mail, self.transit)
        self.threads = Threads(self.turns, self.exits, self.accounts)
        self.filing: Filing = Filing(machine, self.turns)
        """Wishes of processors at files."""
        self._foundation = Foundation()
        self._looks = self._still = 0
        self.trees = Trees(machine, self._foundation, options.pattern)

    def run(self, program: Callable[[Processor], None]) -> None:
        """Run a program on all processors, to its end (collective).

        Parameters
        ----------
        program : callable
            What a processor does, in its thread.

        Raises
        ------
        ProgramError
            A program fails; has the processor's traceback.
        Deadlock
            Processors wait for messages that no processor will send.
        """
        self.begin(program)
        try:
            self.go_on()
        finally:
            self.end()

    def begin(self, program: Callable[[Processor], None]) -> None:
        """Give every processor a thread that is to run a program."""
        self.turns.start(program)

    def go_on(self) -> None:
        """Run rounds until nothing is left to do (collective); raises what `run` raises."""
        # Every turn puts the running script's `__main__` there, and the last one stays. The caller
        # of the run must find its own module again.
        main = sys.modules["__main__"]
        try:
            while self._round():
                pass
        finally:
            sys.modules["__main__"] = main

    def require_matching_collectives(self) -> None:
        """Refuse collectives that did not match although no processor waits (collective).

        Raises
        ------
        ProgramError
            Members of a communicator have called different collectives, or not all of them one.
        """
        # A run may end although members called different collectives, as a bcast sends nothing back
        # to its root. Real MPI leaves such a program undefined.
        living = [one for one in self.turns.processors if one is not None]
        lines = unequal(self.machine, self.contexts, self.collectives, living)
        if lines and not self.recovery.faults:
            text = "No processor waits, but they have called collectives that do not match:"
            raise ProgramError("\n".join([text, *lines]))

    def end(self) -> None:
        """Stop those who have not come to their end, and give back what scripts have hidden."""
        # Threads first: one that waits for an answer would keep the interpreter from its end.
        # Greenlets next, as their `finally` blocks may still use files.
        self.threads.end()
        self.turns.close()
        self.filing.close()
        self._foundation.uncover()

    def _round(self) -> bool:
        """Run one round: every processor until it blocks, then one step of the machine.

        Returns whether anything is left to do, the same on all ranks.
        """
        # Calls of threads begin before any turn, because processors of this round may block until
        # such a call has been made.
        self.threads.begin_calls()
        # A failure takes effect between two rounds. Inside a round it would depend on which of a
        # rank's processors had its turn before.
        self.recovery.begin_round()
        self.turns.run_until_all_block()
        with self._foundation.restored():
            # The round's only agreement: all ranks see these totals, and so take the same branch.
            total = Totals(*self.machine.sum(*self._own_totals()))
            # These counts are of one round. They are cleared after the sum, and before anything
            # below can give a processor a turn.
            self.mail.to_self = self.clock.asked = self.turns.outside = self.turns.hoping = 0
            self.threads.mind_network(total.outside > 0)
            self.recovery.settle(total.old)
            # Output is rare, and gathering it is one more collective operation. The sum above
            # already tells all ranks whether it is needed.
            if total.unsettled:
                self.exits.settle()  # prints; raises the lowest processor's failure
            # Polling processors become runnable before the step. Those that the step wakes come
            # behind them, so that the order is fixed.
            self.turns.next_round()
            more = self._step(total)
            # Turns keep a copy, because every wait notes the step in which it began. Asking the
            # transit would cost each of them a chain of attributes.
            self.turns.now = self.transit.now
            return more

    def _own_totals(self) -> Totals:
        """This rank's share of the totals."""
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
            old=self.recovery.old,
        )

    def _step(self, total: Totals) -> bool:
        """Do what is next, and return whether there will be more to do."""
        if total.wanted:  # somebody needs a broadcast tree: no step
            self.turns.runnable += self.trees.grow()
            return True
        if total.filed:  # nor for files
            self.filing.settle()
            return True
        # Without a message in flight a step would change nothing, and counting it would charge the
        # script for waiting.
        if not total.in_flight:
            return self._at_quiescence(total)
        # A message in flight is progress, so patience starts anew: the processors that poll may be
        # waiting for just this one.
        self.turns.idle_rounds = self._looks = self._still = 0
        self.threads.moved()
        self.clock.move()
        # Messages leave the outbox before delivery. What a delivery sends, such as an
        # acknowledgement, belongs to the next step.
        self.mail.deliver(*self.transit.advance(self.mail.collect(), total.sent, total.in_flight))
        return True

    def _at_quiescence(self, total: Totals) -> bool:
        """Handle quiescence: choices, idle time, polls, a deadlock or the end."""
        turns = self.turns
        # A message to oneself takes no step, but it may complete a receive of a thread. It counts
        # as progress of the script, though not of the machine.
        if total.to_self:
            self._looks = self._still = 0
            self.threads.moved()
        # A failure becomes known in the next round and may wake processors. Deadlock can only be
        # judged after that.
        if total.running and self.recovery.learns:
            return True
        # Quiescence: all processors are blocked and no message is in flight. Only now has every
        # message come that an open receive could get, so the choice is complete.
        if total.choice_points and not total.to_self:
            self.mail.resolve_choices(self.machine)
            return True
        # A loop that polls until a time is over ends only if time passes. So idle steps are made,
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
        # Two limits, because rounds are cheap with few processors and expensive with a million.
        # Either one alone would be too hasty or take minutes.
        polls = idle_rounds * total.polling * POLLS_A_ROUND
        starved = idle_rounds > PATIENCE or polls > POLLS_IN_VAIN
        if total.running and (starved or not total.polling):
            if self._may_yet_progress(total):
                return True
            # A processor that is due to fail later may be the reason for the wait. Time passes up
            # to that step, and then its peers are told.
            if self.recovery.idle():
                turns.idle_rounds = 0
                return True
            # The explanation gathers from all ranks, so every rank takes this branch and raises the
            # same text.
            text = self._explanation(total)
            if self._looks >= LOOKS_AT_SLEEPERS:
                text += f"\nWhat might help has done nothing for {LOOKS_AT_SLEEPERS // 1000} s."
            raise Deadlock(text)
        return total.running > 0

    def _explanation(self, total: Totals) -> str:
        """Return why processors wait, the same text on all ranks (collective)."""
        here = [processor for processor in self.turns.processors if processor is not None]
        now = self.transit.now
        # A window's lock is held at its target, which may be on another rank. The waiting origin
        # learns of the holder only here.
        deadlock.name_holders(self.machine, self.contexts, self.one_sided, here)
        return deadlock.explanation(
            self.machine, self.contexts, self.collectives, here, now, total.polling
        )

    def _may_yet_progress(self, total: Totals) -> bool:
        """Return whether something outside of MPI may let a processor go on (collective)."""
        # A child process helps only a processor that looks for it. One that is blocked in MPI
        # cannot notice what a child does.
        with_children = total.polling + total.outside > 0
        own_computing, own_waiting = self.threads.at_work(with_children)
        # A processor that polls in a loop with a time limit is not starved: the clock ends its
        # loop. Its bytecode shows whether the loop reads a clock.
        polling = [one for one in self.turns.runnable if one.awaited is None]
        own_waiting += any(in_timed_loop(one.thread.gr_frame) for one in polling)
        # All ranks have to agree, since one rank's thread may send what another rank's processor
        # waits for.
        computing, waiting = self.machine.sum(own_computing, own_waiting)
        if total.hoping:
            self._looks = 0
        # A warning rather than an error: a sleeping thread may be right to sleep. Ctrl-C is the
        # user's decision.
        if waiting and not computing and self._looks == LOOKS:
            self._warn(total)
        if total.hoping or computing or waiting:
            self._still = 0
            is_over = self._looks >= LOOKS_AT_SLEEPERS
        else:  # a thread that waits for a lock may get it from one that has been looked at before
            self._still += 1
            is_over = self._still > (LOOKS_AT_LOCKS if total.computing else 0)
            is_over = is_over and (not total.outside or self._looks >= LOOKS)
        # A computing thread uses up no patience, however long it takes. Only time without any
        # activity counts.
        self._looks += not computing
        if not is_over:
            # Threads of this process need the interpreter's lock, and other ranks need the core.
            # Spinning here would delay exactly those that may help.
            time.sleep(0.001)
        return not is_over

    def _warn(self, total: Totals) -> None:
        """Tell that nothing moves, though something may yet help (collective)."""
        text = self._explanation(total)
        self.exits.warn(
            f"mpinet: nothing has moved for {LOOKS // 1000} s. A thread, a child or a clock "
            f"may still help, so the run goes on; Ctrl-C ends it.\n{text}\n"
        )

    def tree(self, root: int) -> Any:
        """The machine's broadcast tree from a processor; blocks until it is there."""
        # All ranks have to take part in growing a tree. So the processor blocks, and the trees that
        # any rank wants grow together after the round.
        if root not in self.trees:
            self.trees.want(root, self.turns.current)
            self.turns.sleep()
        return self.trees[root]
