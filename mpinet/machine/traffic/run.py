"""A run of open-loop traffic: warm-up, window, closing; the same on any number of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Kernel
from mpinet.errors import RoutingError, UsageError
from mpinet.machine import hop
from mpinet.machine.state import Fields, Frame
from mpinet.machine.timed.layout import NEVER
from mpinet.machine.traffic import layout, saved
from mpinet.machine.traffic.arriving import take_in, take_in_unlimited
from mpinet.machine.traffic.bus_arbitration import settle
from mpinet.machine.traffic.conservation import account, check_channels, count_tails
from mpinet.machine.traffic.deadlock import waiting_cycle
from mpinet.machine.traffic.denser import DenseForm, shape_of
from mpinet.machine.traffic.failing import Failing
from mpinet.machine.traffic.plain import is_plain
from mpinet.machine.traffic.played import Played
from mpinet.machine.traffic.prefetching import LARGE
from mpinet.machine.traffic.route_computation import tell_queues
from mpinet.machine.traffic.step import (
    advance,
    advance_adaptive,
    advance_ahead,
    advance_detailed,
    advance_detailed_adaptive,
    advance_plain,
    advance_plain_adaptive,
    advance_unlimited,
)
from mpinet.machine.traffic.tables import Tables
from mpinet.networks.adaptive import ALL_QUEUES

# Bounds the time between checks of signals, progress and checkpoints.
AT_ONCE = 4096
"""Largest number of steps in one call of the kernel on one rank."""

LANES_AT_ONCE = 1 << 22
"""Largest number of lanes visited in such a call, unless one step has more: about 0.1 seconds."""


class OpenLoop(Tables):
    """Open-loop traffic on a machine, on all ranks together; constructed like `Tables`."""

    def run(self) -> OpenLoop:
        """Make all steps (collective), then check conservation.

        Raises
        ------
        RoutingError
            On every rank: a rule chose an unwired port or an unknown class, exceeded the hop limit,
            or led a message to a wrong processor.
        ConservationError
            A message was lost or duplicated, a channel carried more than one flit per step, or
            credits do not agree with buffers.
        """
        lanes = self.buffering.lanes(self.machine.topology.ports) * len(self._nodes)
        # Small machines make many steps per call, because a call costs as much as a step of a few
        # hundred lanes.
        steps = max(1, min(AT_ONCE, LANES_AT_ONCE // max(1, lanes)))
        with Frame(self.machine, "traffic", self._fields, self._restore) as frame:
            while not self.ended:
                self.advance(steps)
                frame.boundary()
            if self.dense is not None and self.dense.active:
                self.dense.end()
        self.account = account(self.machine, self.ledger, self._left)
        size = self.buffering.buffers
        check_channels(self.machine, self.carried(), self.window.steps, self.surplus, size)
        return self

    @property
    def ended(self) -> bool:
        """True if the run is over."""
        return self.ledger.ended != 0

    def advance(self, steps: int) -> None:
        """Make up to `steps` steps; with several ranks one step (collective)."""
        alone = self.machine.transport.size == 1
        before, moves = self.steps, self.ledger.moves
        if self.dense is not None:
            steps = min(AT_ONCE, self.dense.steps(steps))
        # A call must not cross the end of an interval: its counts are read between two calls.
        if self.intervals is not None:
            steps = max(1, min(steps, self.intervals.next - self.steps))
        self._advance(steps if alone else 1)
        made = self.steps - before
        if not made:
            return
        if not alone:
            self._take_in(self._exchanged())
        if self.played is not None and not self.ended:
            made += self._pass_idle_steps(self.played)
        if self.intervals is not None:
            self.intervals.note(self.ledger)
        self.machine.count(self.ledger.moves - moves, made)

    def _pass_idle_steps(self, played: Played) -> int:
        """If nothing moves, go to the next step in which a calc begins or ends (collective).

        The run ends if there is no such step. The method returns the number of skipped steps.
        """
        ledger = self.ledger
        if ledger.quiet < self._rules.quiet:
            return 0
        # The earliest step on any rank, as the negated maximum: all ranks jump to the same step.
        coming = -self.machine.max(-(ledger.now if len(played.taken) else played.next))[0]
        if coming == NEVER:
            # Open operations would wait forever; without open operations the sources close.
            ledger.ended = int(ledger.open_everywhere > 0)
            return 0
        if coming >= int(self._rules.limit):
            raise UsageError(
                f"{played.program.name} takes {coming} steps or more; a run has up to "
                f"{self._rules.limit}: choose a longer step."
            )
        # A fault may cut or free messages, so time must stop at its step.
        if self.failing is not None:
            coming = min(coming, self.failing.next)
        passed = max(0, coming - ledger.now)
        ledger.now += passed
        self._since = ledger.now if passed else self._since
        return passed

    def _advance(self, steps: int) -> None:
        """Make up to `steps` steps of this rank (on busses collective)."""
        if self.machine.topology.links:
            self._call(steps)
            return
        ledger = self.ledger
        end = self.steps + steps
        while self.steps < end and not self.ended:
            # In the middle of a step: the claims of all ranks are compared before the step
            # continues.
            if ledger.claimed:
                settle(self.machine, self._busses, ledger.claims)
            # The second half of this step and the first half of the next one are one call.
            self._call(min(2, end - self.steps))

    def _call(self, steps: int) -> None:
        """Allocate memory, then call the kernel for `steps` steps (on busses to the claims)."""
        if self.played is not None:
            self._hear_tails(self.played)
            steps = max(1, min(steps, self.played.next - self.steps))
        # A call ends before the step of a change: faults change between two steps only.
        if self.failing is not None:
            self._fail(self.failing)
            steps = min(steps, self.failing.next - self.steps)
        if self.played is not None and len(self.played.taken):
            steps = 1
        self._make_room(steps)
        if self.routing.sees == ALL_QUEUES and self.machine.transport.size > 1:
            self._tell_queues()
        if self.dense is not None and self.dense.advance(steps):
            return
        self._make_steps(
            self._routes, self._rules, self._sources, self._state, self._wires, self._busses,
            self._bidding, self.books, self._crossing, self.ledger.record, steps,
        )  # fmt: skip
        self._require_right()

    @cached_property
    def dense(self) -> DenseForm | None:
        """The dense form of the run; None if the run has none."""
        shape = shape_of(self)
        return shape and DenseForm(self, shape)

    @cached_property
    def _make_steps(self) -> Kernel:
        """The step kernel with the fewest features that this run needs."""
        adaptive = self.routing.adaptive
        if not self.limited:
            return advance_unlimited
        if self.detailed:
            return advance_detailed_adaptive if adaptive else advance_detailed
        if self.machine.topology.links and is_plain(self._rules):
            plain = advance_ahead if len(self._state.lanes) >= LARGE else advance_plain
            return advance_plain_adaptive if adaptive else plain
        return advance_adaptive if adaptive else advance

    def _hear_tails(self, played: Played) -> None:
        """Report the tails of the last step to the program's operations, except in mid-step."""
        if not self.ledger.claimed:
            played.go_on(self.ledger, self.books.noted[: self.ledger.noted])
            self.ledger.noted = 0

    def _fail(self, failing: Failing) -> None:
        """Apply the faults and recoveries at the begin of this step (collective)."""
        if failing.next == self.steps:
            taken = failing.change(
                self._rules, self._sources, self._state, self._wires, self._busses, self.ledger
            )
            if self.played is not None:
                self.played.take(taken)
            self._know(failing, self.steps)

    def _know(self, failing: Failing, step: int) -> None:
        """Set the dead nodes and links of a step, and the routing's ways around them."""
        self._routes = self._routes._replace(
            params=failing.routing(step).params, **failing.faults.at(step)._asdict()
        )

    def _tell_queues(self) -> None:
        """Distribute the queue lengths of all nodes to all ranks (collective)."""
        seen, told = self._bidding.seen, int(self._rules.told)
        seen[:told] = 0
        tell_queues(self._rules, self._state, seen)
        seen[:told] = self.machine.transport.sum(seen[:told])

    def _exchanged(self) -> Ints:
        """Exchange a step's words with the other ranks; return the received words.

        The exchange also adds up two numbers over all ranks, in one integer: the number of ranks
        with moves, and the number of open messages. The unit of the latter is one more than the
        number of ranks. From these sums all ranks decide alike whether the run is over.
        """
        ledger, transport = self.ledger, self.machine.transport
        # Two sums in one word: the count of moving ranks stays below the unit, so both can be
        # extracted.
        unit = transport.size + 1
        crossing, away = self._crossing, ledger.away
        words, counts = hop.dealt(crossing.words[:away], crossing.owners[:away], transport.size)
        exchanged = self.machine.exchange(words, counts, ledger.moving + unit * ledger.open_told)
        ledger.open_everywhere, moving = divmod(exchanged.total, unit)
        ledger.quiet = 0 if moving else ledger.quiet + 1
        # A further collective distinguishes a deadlock from an empty network; only quiet steps need
        # it.
        if ledger.quiet >= self._rules.quiet and (
            ledger.closed >= 0 or self.machine.sum(ledger.inside)[0]
        ):
            ledger.ended = 1
        return exchanged.records

    def _take_in(self, words: Ints) -> None:
        """Process flits and credits received from other ranks."""
        if not len(words):
            return
        take = take_in if self.limited else take_in_unlimited
        take(
            words, self._routes, self._rules, self._state, self._wires, self.books,
            self.ledger.record,
        )  # fmt: skip
        self._require_right()

    def _fields(self) -> Fields:
        """Return the fields of a checkpoint between two steps."""
        machine, state, rules = self.machine, self._state, self._rules
        if self.played is not None:
            self._hear_tails(self.played)
        if self.dense is not None:
            self.dense.put_down()
        fields = {
            **saved.counts(self.ledger, self.books),
            **saved.processors(machine, state, self.books, self._busses),
        }
        if self.played is not None:
            fields |= {**self.played.fields(), "since": self._since}
        if self.intervals is not None:
            fields |= self.intervals.fields()
        if not self.limited:
            return {**fields, **saved.queues(machine, rules, state, self.ledger)}
        return {**fields, **saved.lanes(machine, rules, state, self._wires, self.steps)}

    def _restore(self, found: Mapping[str, Any]) -> None:
        """Restore the state from the fields of `_fields`, on any number of ranks."""
        machine, rules, ledger = self.machine, self._rules, self.ledger
        self.books = saved.restore_counts(ledger, self.books, found)
        saved.restore_processors(self._state, self.books, self._busses, found)
        if self.intervals is not None:
            self.intervals.restore(found)
        if self.played is not None:
            self._since = found["since"]
            self.played.restore(found)
        if self.failing is not None:
            self.failing.rewind(self.steps)
            # The faults of the last step apply; the change of the next step is still pending.
            self._know(self.failing, self.steps - 1)
        if self.limited:
            self._state, self._wires = saved.restore_lanes(
                machine, rules, self._state, found, ledger
            )
        else:
            self._state = saved.restore_queues(machine, rules, self._state, found, ledger)

    def _require_right(self) -> None:
        """Raise the error of a rule recorded in the last step, if any, on every rank."""
        if self.ledger.wrong:
            self.machine.transport.fail(self._error())

    def _error(self) -> RoutingError:
        """Return the error recorded in the ledger."""
        ledger = self.ledger
        what, node, port = ledger.wrong, ledger.wrong_node, ledger.wrong_port
        who = f"Step {self.steps}: routing {self.routing.name} on {self.machine.topology.name}"
        if what == layout.UNWIRED_PORT:
            return RoutingError(f"{who} chose port {port} of processor {node}, which is not wired.")
        if what == layout.NO_CLASS:
            return RoutingError(
                f"{who}: classes {self.classes.name} gave port {port} of processor {node} a class "
                f"outside of 0..{self.classes.count - 1}."
            )
        if what == layout.NOT_OFFERED:
            return RoutingError(f"{who} made a choice outside of processor {node}'s candidates.")
        if what == layout.ELSEWHERE:
            return RoutingError(
                f"{who} delivered a message at processor {node}, which is not its target."
            )
        return RoutingError(
            f"{who} does not come to an end: message {ledger.wrong_number} is at {node}."
        )

    @property
    def surplus(self) -> tuple[int, int]:
        """Return the excess of credits plus flits over this rank's buffers, and invalid credits.

        The second number counts channels with credits outside of 0..B (B: buffer size).
        """
        if not self.limited:
            return 0, 0
        # The excess of a single rank may be nonzero: a channel and its buffer may be on different
        # ranks. The sum over ranks is zero.
        credit, flits = self._state.channels["credit"], self._state.lanes["filled"]
        size = self.buffering.buffers
        surplus = int(credit.sum(dtype=np.int64) + flits.sum(dtype=np.int64)) - size * len(credit)
        return surplus, int(np.count_nonzero((credit < 0) | (credit > size)))

    def carried(self) -> Ints:
        """Return the flits over each of this rank's channels in the window (collective on busses).

        Rank 0 returns the totals of busses; the other ranks return an empty array.
        """
        machine = self.machine
        loads = self.books.loads.astype(np.int64)
        if machine.topology.links:
            return loads
        every = np.zeros(machine.topology.busses or 0, np.int64)
        wired = np.flatnonzero(self._busses.of_ports >= 0)
        np.add.at(every, self._busses.rows["number"][self._busses.of_ports[wired]], loads[wired])
        every = machine.transport.sum(every)
        return every if machine.transport.rank == 0 else every[:0]

    @property
    def waiting(self) -> int:
        """Messages of this rank that still wait at their sources."""
        return int(self._nodes["waiting"].sum())

    @property
    def longest_queue(self) -> int:
        """Length of the longest source queue of this rank, in messages."""
        return int(self._nodes["waiting"].max(initial=0))

    @property
    def entered(self) -> Ints:
        """Flits that entered in the window, by processor of this rank."""
        entered: Ints = self._nodes["entered"]
        return entered

    @property
    def _left(self) -> list[int]:
        """Return the number of unfinished messages on this rank, and of their flits.

        A message in the network counts on the rank with its tail.
        """
        state, ledger = self._state, self.ledger
        if not self.limited:
            lengths = np.delete(state.messages["length"], state.free[: ledger.free])
            return [len(lengths), int(lengths.sum())]
        found = np.array([self.waiting, ledger.backlog], np.int64)
        count_tails(self._rules, state, found)
        return list(found.tolist())

    def cycle(self) -> list[dict[str, Any]]:
        """Return the channels of a deadlock, each waiting for the next; empty without (collective).

        Each channel has its sending node and port, its virtual channel, and source, target and
        birth of the message at the front of its buffer.
        """
        if not self.limited or not self.machine.sum(self.ledger.inside)[0]:
            return []
        return waiting_cycle(self.machine, self._state, self._rules)
