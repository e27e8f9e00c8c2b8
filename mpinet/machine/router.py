"""The router: store-and-forward of numbered messages by the routing's local decisions.

Messages are numbered at injection. With the policy ``oldest`` a channel takes the message with the
lowest number that waits for it, with ``fifo`` the one that has waited longest at its processor (of
those that came in the same step, the lowest number). No rank count can change either.

The file is long because one class is: what a router is asked (inject, step, totals) comes first,
how a step is made of the loops of `hop` comes after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.base.memory import require_memory
from mpinet.base.records import with_room
from mpinet.errors import ConservationError, RoutingError, UsageError
from mpinet.machine import hop
from mpinet.machine.arbitration import Arbiter
from mpinet.machine.deliveries import Delivered, Deliveries
from mpinet.machine.faults import Faults
from mpinet.machine.injected import (
    DrawnEnds,
    Injected,
    Injection,
    end_error,
    require_different,
    require_numbered,
)
from mpinet.machine.ledger import Ledger, restore, state_of
from mpinet.machine.machine import Machine
from mpinet.machine.state import Fields, Frame, Located
from mpinet.machine.stepping import PORTS_PER_WORD
from mpinet.networks.routing import Routing

MODES = ("ideal", "queued")
POLICIES = ("oldest", "fifo")

# Below this, compiling a specialized loop takes longer than it can ever save in a run.
INLINED_FROM = 1 << 13
"""Least messages on a rank for which the loop over them is compiled with its rules inlined."""

NUMBER_BITS = 63 - hop.LOW_BITS
"""Bits of a message's number in a priority, below the step of its arrival."""

# A part of 2^18 messages stays within a few megabytes, while the call per part costs nothing beside
# it.
DRAWN_AT_ONCE = 1 << 18
"""Messages whose ends are drawn at a time, so that injection needs little memory beside them."""


class Router:
    """Routes messages over a machine, all ranks together.

    Parameters
    ----------
    machine : Machine
        Moves and counts. Its port model holds in queued mode.
    routing : Routing
        The nodes' decisions.
    mode : str
        ``"queued"``: a message whose channel is taken waits; ``"ideal"``: every message hops in
        every step.
    policy : str
        ``"oldest"`` or ``"fifo"``.
    faults : Faults, optional
        What is dead; a routing that knows how goes around it (`Routing.around`).
    payload_words : int
        64-bit words that every message carries.
    keep : bool
        Whether `delivered` is wanted after the run.
    checked : bool
        Whether `check_conservation` is wanted after the run: until then arrays that are injected
        are kept, and must not be changed.

    Raises
    ------
    UsageError
        An unknown mode or policy, a network too large or a port model that the router cannot
        keep, or faults that a routing which goes around some cannot go around.
    """

    def __init__(
        self,
        machine: Machine,
        routing: Routing,
        mode: str = "queued",
        policy: str = "oldest",
        faults: Faults | None = None,
        payload_words: int = 0,
        keep: bool = False,
        checked: bool = True,
    ):
        if mode not in MODES:
            raise UsageError(f"There is no mode {mode!r}: give one of {', '.join(MODES)}.")
        if policy not in POLICIES:
            raise UsageError(f"There is no policy {policy!r}: give one of {', '.join(POLICIES)}.")
        self._require_fitting(machine)
        self.machine = machine
        self.faults = faults or Faults(machine.topology)
        self._dead = self.faults.at(-1)
        self.routing = routing.around(*self._dead)
        self.fifo = policy == "fifo"
        self.payload_words = payload_words
        self._checked = checked
        self.injected = self._most_injected = 0
        self._sent = Injected(machine)
        ideal = mode == "ideal"
        self._arbiter = None if ideal else Arbiter.where_needed(machine)
        how = hop.IDEAL if ideal else hop.CHOSEN if self._arbiter else hop.QUEUED
        self._granting = hop.Granting(how, np.empty(0, bool))
        # With one rank nothing leaves the array, and the loop is compiled without that case.
        leavers = hop.CROSSING if machine.transport.size > 1 else hop.NOBODY
        require_memory(
            4 * machine.placement.most, f"A router of {machine.topology.size} processors"
        )
        waiting = np.zeros(machine.placement.count, np.uint32)
        self._marks = hop.Marks(machine.used_ports, waiting, machine.meters.loads)
        self._numbered = 0
        self._recorded_from = machine.trace.numbered if machine.trace else 0
        self._ledger = Ledger.counted()
        self._deliveries = Deliveries(self._ledger, payload_words + self.fifo, payload_words, keep)
        self._messages = np.empty((0, hop.WORDS + self._width), np.int64)
        self._dealt = self._arriving = self._messages
        self._leaving = hop.Leaving(
            hop.EVERYBODY if self.fifo else leavers, self._messages, np.empty(0, np.int32)
        )
        self._noted = machine.trace is not None
        # Generic loops first: specialized ones are compiled in the background and taken when they
        # are ready.
        self._loops = hop.LOOPS

    def reserve(self, messages: int) -> None:
        """Prepare for `count` messages on this rank: memory for them."""
        self._reserve(messages)

    def require_room(self, total: int) -> None:
        """Refuse messages, `total` on all ranks together, whose rows do not fit into memory.

        Raises
        ------
        TooLarge
            They would not even if all ranks had as many.
        """
        share = -(-total // self.machine.transport.size)
        require_memory(8 * (hop.WORDS + self._width) * share, f"A traffic of {total} messages")

    def inject(
        self,
        sources: Ints,
        targets: Ints,
        numbers: Ints,
        total: int,
        payload: Ints | None = None,
    ) -> int:
        """Put messages into their sources, on this rank.

        Parameters
        ----------
        sources : ndarray of int64, shape (k,)
            Hosted processors.
        targets : ndarray of int64, shape (k,)
            The nodes that the messages go to.
        numbers : ndarray of int64, shape (k,)
            Their numbers within this injection, of 0..total-1, ascending; every number is given
            once, on one rank.
        total : int
            Messages injected on all ranks together.
        payload : ndarray of int64, shape (k, payload_words), optional
            What they carry.

        Returns
        -------
        int
            What the messages' numbers among all are counted from.

        Raises
        ------
        UsageError
            On every rank, now or in its next collective: other numbers, or a source that is hosted
            elsewhere.
        NodeError
            Likewise: there is no such source or target.
        """
        sources, targets, numbers = (
            np.ascontiguousarray(each, np.int64) for each in (sources, targets, numbers)
        )
        self.machine.checked(lambda: require_numbered(numbers, total))
        # Two messages of one number would have equal priority, and their order could depend on
        # ranks.
        require_different(self.machine, numbers, total)
        first = self._number(total)
        self._keep_in_mind(Injection(first, total, numbers, targets))
        self._set_out(sources, targets, numbers, first, payload)
        return first

    def inject_drawn(self, numbers: Ints, ends: DrawnEnds, total: int) -> None:
        """Inject messages on this rank whose sources and targets are drawn a part at a time.

        Parameters
        ----------
        numbers, total
            As for `inject`.
        ends : callable
            ``ends(numbers)``: the sources and the targets of these messages. It must give the
            same on all ranks, so that a number is that of one source.
        """
        self.machine.checked(lambda: require_numbered(numbers, total))
        first = self._number(total)
        self._keep_in_mind(Injection(first, total, ends=ends))
        self._reserve(self.live + len(numbers))
        for begin in range(0, len(numbers), DRAWN_AT_ONCE):
            part = numbers[begin : begin + DRAWN_AT_ONCE]
            self._set_out(*ends(part), part, first)

    def restart(self) -> None:
        """Restart numbering at 0, while no message is in flight on any rank."""
        self._numbered = 0
        self._recorded_from = self.machine.trace.numbered if self.machine.trace else 0
        self._deliveries.forget()
        self._sent = Injected(self.machine)
        self._ledger.arrivals_seal = 0

    def _keep_in_mind(self, injection: Injection) -> None:
        """Remember where messages are to go, if a later check needs it."""
        if self._checked:
            self._sent.add(injection)

    def _number(self, total: int) -> int:
        """Assign numbers to the messages injected now; return the first."""
        first = self._numbered
        if first + total > hop.HIGH_MOST:
            raise UsageError(f"A router numbers {hop.HIGH_MOST} messages and no more.")
        # Memory is checked for the largest injection only; scripts inject a few messages in each of
        # many steps.
        if total > self._most_injected:  # a script injects in every step
            self.require_room(total)
            self._most_injected = total
        self._deliveries.expect(first)
        self._numbered += total
        trace = self.machine.trace
        if trace is not None:
            trace.numbered = max(trace.numbered, self._recorded_from + self._numbered)
        return first

    def _known(self, numbers: Ints) -> Ints:
        """Numbers of messages in a recording, in which no two are equal."""
        return self._recorded_from + numbers

    def _set_out(
        self,
        sources: Ints,
        targets: Ints,
        numbers: Ints,
        first: int,
        payload: Ints | None = None,
    ) -> None:
        """Append new messages to the others, with the headers that their sources write."""
        begin, end = self.live, self.live + len(sources)
        self._reserve(end)
        rows = self._messages[begin:end]
        machine = self.machine
        seals, done = hop.set_out(
            self.routing.start.native,
            self.routing.params,
            self.routing.words,
            self._hosting,
            *(np.ascontiguousarray(each, np.int64) for each in (sources, targets, numbers)),
            first,
            rows,
        )
        if done < len(sources):
            machine.transport.fail(end_error(machine, int(sources[done]), int(targets[done])))
        self._sent.seal += seals
        if payload is not None:
            behind = hop.WORDS + self.routing.words
            rows[:, behind : behind + self.payload_words] = payload
        # A new message decides at its source at once, so a message to oneself ends without a hop.
        self._ledger.live += len(self._settled(rows))
        self.injected += len(sources)

    @property
    def live(self) -> int:
        """Number of messages in flight on this rank."""
        return self._ledger.live

    @property
    def lost(self) -> int:
        """Number of messages that could not go on from a node on this rank."""
        return self._ledger.lost

    @property
    def at_their_sources(self) -> Ints:
        """Nodes of the messages on this rank that have not hopped yet, one per message."""
        rows = self._messages[: self.live]
        waiting = rows[rows[:, hop.NUMBER] & hop.LOW_MOST == 0]
        return waiting[:, hop.PLACE] >> hop.LOW_BITS

    def step(self) -> bool:
        """Make one step of the machine (collective).

        Returns
        -------
        bool
            Whether any message moved; a step in which none did is not counted.

        Raises
        ------
        RoutingError
            On every rank: a rule chose an unwired port, or led a message on without end.
        """
        leaving, counts, moves = self._advance()
        moved = self._ledger.moved
        # With the policy fifo every hop leaves the array. Rows for this rank come back without an
        # exchange.
        staying, counts[self.machine.transport.rank] = counts[self.machine.transport.rank], 0
        away = len(leaving) - staying
        exchanged = self.machine.exchange(leaving[:away], counts, moved, self._room)
        # The sum rides on the step's exchange, so termination is detected without a collective of
        # its own.
        self.machine.transport.moving = exchanged.total
        # The kernel has counted the step before any rank could know that nothing would move.
        if exchanged.total == 0:
            self._ledger.step -= 1
            return False
        self.machine.count(moved)
        if self.machine.trace is not None:
            senders, ports, receivers, numbers = moves[:moved].T
            self.machine.record(senders, ports, receivers, self._known(numbers))
        arrivals = exchanged.records
        # Own rows first, then those of other ranks: the merge by number makes the order
        # unimportant.
        if staying:
            arrivals = np.concatenate([leaving[away:], arrivals])
        # Each rank sends its rows in ascending number: those of one rank need no sorting.
        from_one = np.count_nonzero(exchanged.counts) <= 1
        self._take_in(arrivals, in_order=bool(from_one and not self.fifo))
        return True

    def run(self) -> None:
        """Step until no message can move (collective), then check conservation."""
        with Frame(self.machine, "router", self._state, self._restore) as frame:
            while self.step():
                frame.boundary()
        self.check_conservation()

    def _state(self) -> Fields:
        """Fields for a checkpoint, beside what is injected again on resumption."""
        return {
            "messages": Located(
                self._messages[: self.live],
                node=lambda rows: hop.high(rows[:, hop.PLACE]),
                order=self._in_order,
            ),
            "recorded_from": self._recorded_from,
            # Injections are not saved: the resumed program injects the same messages again before
            # this frame is restored.
            **state_of(self._ledger, Ledger),
            **self._deliveries.state(),
        }

    def _in_order(self, rows: Ints) -> Ints:
        """Places of messages in their order on this rank."""
        if self.fifo:
            # The last word is the step of arrival, which the policy fifo serves by.
            return np.lexsort((rows[:, hop.NUMBER], rows[:, -1]))
        return np.argsort(rows[:, hop.NUMBER], kind="stable")

    def _restore(self, found: Mapping[str, Any]) -> None:
        """Take over what `_state` gave, on any number of ranks."""
        messages = found["messages"]
        restore(self._ledger, Ledger, found)
        self._ledger.live = len(messages)
        self._recorded_from = found["recorded_from"]
        self._reserve(len(messages))
        self._messages[: len(messages)] = messages
        self._deliveries.restore(found)
        if self._ledger.unwired:
            self._ledger.unwired = int(len(self._unwired(messages[:, hop.PLACE])) > 0)

    def check_conservation(self) -> None:
        """Check that injected = delivered + undeliverable + in flight, and where (collective).

        Raises
        ------
        ConservationError
            A message was lost or doubled.
        RoutingError
            Not all that were delivered are where they were sent.
        """
        ledger = self._ledger
        injected, delivered, lost, live, sent, arrived = self.machine.sum(
            self.injected,
            ledger.delivered,
            ledger.lost,
            ledger.live,
            self._sent.seal & hop.SEAL_MASK,
            ledger.arrivals_seal,
        )
        if injected != delivered + lost + live:
            raise ConservationError(
                f"{injected} messages were injected, but {delivered} delivered, {lost} "
                f"undeliverable and {live} in flight are {delivered + lost + live}."
            )
        # In the middle of a run seals of messages in flight are missing, so only numbers can be
        # compared.
        if live or not self._checked:
            return
        # A lost message took its seal with it; what it set out with is subtracted, on the rank that
        # knows its target.
        if lost:
            (gone,) = self.machine.sum(self._sent.seal_of_lost(self._deliveries.lost_numbers))
            sent -= gone
        if (sent - arrived) & hop.SEAL_MASK:
            raise self.delivered_elsewhere()

    def delivered_elsewhere(self) -> RoutingError:
        """Return the error for messages that ended at processors that they were not sent to."""
        return RoutingError(
            f"Routing {self.routing.name} on {self.machine.topology.name} delivered messages "
            "at processors that they were not sent to."
        )

    @property
    def totals(self) -> dict[str, int]:
        """Delivered, undeliverable, hops_total, hops_max, queue_max of all ranks (collective)."""
        ledger = self._ledger
        delivered, lost, hops = self.machine.sum(ledger.delivered, ledger.lost, ledger.hops_total)
        hops_max, queue_max = self.machine.max(ledger.hops_max, ledger.queue_max)
        return {
            "delivered": delivered,
            "undeliverable": lost,
            "hops_total": hops,
            "hops_max": hops_max,
            "queue_max": queue_max,
        }

    @property
    def latencies(self) -> Ints:
        """Number of messages delivered after 0, 1, 2, .. steps, over all ranks (collective)."""
        mine = self._deliveries.latency
        length = self.machine.max(len(mine))[0]
        padded = np.zeros(length, np.int64)
        padded[: len(mine)] = mine
        return self.machine.transport.sum(padded)

    @property
    def delivered(self) -> Delivered:
        """Messages that ended on this rank (with `keep`)."""
        return self._deliveries.delivered

    def take(self) -> Delivered:
        """Messages that ended on this rank since the last call (with `keep`)."""
        return self._deliveries.take()

    @property
    def undeliverable(self) -> Ints:
        """Rows (number, place) of the messages that could not go on, on this rank, by number."""
        return self._deliveries.undeliverable

    @property
    def _width(self) -> int:
        """Words per message: header, payload, and with ``fifo`` the step of its arrival."""
        return self.routing.words + self.payload_words + self.fifo

    @cached_property
    def _ways(self) -> hop.HopRules:
        """Network, routing and faults, in the form that kernels take."""
        topology, routing = self.machine.topology, self.routing
        return hop.HopRules(
            topology.neighbor.native, topology.params, routing.decide.native, routing.params,
            routing.words, *self._dead,
        )  # fmt: skip

    @cached_property
    def _hosting(self) -> hop.HostedPart:
        """The mapping, in the form that kernels take."""
        return hosting(self.machine)

    def _advance(self) -> tuple[Ints, Ints, Ints]:
        """Move this rank's messages by one hop each, where granted.

        Returns
        -------
        leaving : ndarray of int64, shape (k, ..)
            The rows of the messages that left their place, by their new ranks, this one last.
        counts : ndarray of int64, shape (ranks,)
            How many go to each rank.
        moves : ndarray of int64, shape (live, 4)
            A record of every hop, where the machine keeps a trace.
        """
        counts, moves = self._hop(self._granted())
        return self._by_rank(counts), counts, moves

    def _hop(self, granted: hop.Granting) -> tuple[Ints, Ints]:
        """Move messages as granted; return the counts of `_advance`, and the moves if recorded."""
        live = self.live
        self._reserve(live)
        counts = np.zeros(self.machine.transport.size, np.int64)
        moves = np.empty((live if self._noted else 0, 4), np.int64)
        self._loops.advance(
            self._ways,
            self._hosting,
            self._messages,
            granted,
            self._marks,
            self._deliveries.rows,
            self._leaving,
            counts,
            moves,
            self._ledger.record,
        )
        self._raise_wrong()
        self._deliveries.book()
        return counts, moves

    def _by_rank(self, counts: Ints) -> Ints:
        """Sort the rows that leave by rank, this one's last; `counts` has the number for each."""
        leaving = self._leaving.rows[: self._ledger.leaving]
        if np.count_nonzero(counts) <= 1:
            return leaving
        own = self.machine.transport.rank
        # This rank's own rows go to the end: all before them can be sent as they stand.
        places = np.cumsum(counts) - counts
        places[own + 1 :] -= counts[own]
        places[own] = len(leaving) - counts[own]
        self._dealt = with_room(self._dealt, len(leaving))
        hop.deal(leaving, self._leaving.owners, places, self._dealt)
        return self._dealt[: len(leaving)]

    def inlining(self, **settings: int) -> hop.StepLoops:
        """Return the loops over messages with rules and settings compiled in.

        Settings that are given replace the router's own.
        """
        own = {
            "HEADER_WORDS": self.routing.words,
            "WIDTH": self._width,
            "GRANTS": self._granting.how,
            "LEAVERS": self._leaving.leavers,
            "FAULTY": int(bool(self.faults)),
            "OBSERVED": int(self._noted or len(self._marks.loads) > 0),
            "NODE_WORDS": -(-self.machine.topology.ports // PORTS_PER_WORD),
        }
        topology, mapping = self.machine.topology, self.machine.mapping
        return hop.inlining(
            topology.neighbor.rule, self.routing.decide, mapping.rule, **(own | settings)
        )

    def _granted(self) -> hop.Granting:
        """Return how channels are granted in this step, with flags if processors had to agree."""
        if self._arbiter is None:
            return self._granting
        waiting = self._messages[: self.live]
        nodes, ports = hop.high(waiting[:, hop.PLACE]), hop.low(waiting[:, hop.PLACE])
        # The arbiter asks the neighbour rule about all waiting messages, and the rule is undefined
        # for unwired ports.
        if self._ledger.unwired:
            self._refuse_unwired(waiting[:, hop.PLACE])
        priorities = hop.high(waiting[:, hop.NUMBER])
        if self.fifo:
            self._require_early()
            # Earlier arrivals first; among those of one step, lower numbers.
            priorities |= waiting[:, -1] << NUMBER_BITS
        granted = self._grant(self._arbiter, nodes, ports, priorities)
        return hop.Granting(hop.CHOSEN, granted)

    def _grant(self, arbiter: Arbiter, nodes: Ints, ports: Ints, priorities: Ints) -> Flags:
        """Flags of the messages that hop, after processors have agreed (collective)."""
        return arbiter.grant(nodes, ports, priorities)

    def _require_early(self) -> None:
        """Refuse a step, the same on all ranks, whose number does not fit into a priority."""
        if self._ledger.step > hop.LOW_MOST:
            raise UsageError(
                f"With the policy fifo, a router whose port model limits processors makes at most "
                f"{hop.LOW_MOST} steps."
            )

    def _refuse_unwired(self, places: Ints) -> None:
        """Raise the error of the first message that waits for an unwired port."""
        wrong = self._unwired(places)
        self._ledger.wrong, self._ledger.wrong_message = hop.UNWIRED_PORT, int(wrong[0])
        self._raise_wrong()

    def _unwired(self, places: Ints) -> Ints:
        """Indices of those places whose message waits for an unwired port."""
        topology, nodes, ports = self.machine.topology, hop.high(places), hop.low(places)
        there = topology.neighbor(nodes, np.minimum(ports, topology.ports - 1)) >= 0
        return np.flatnonzero(~there | (ports >= topology.ports))

    def _settled(self, rows: Ints) -> Ints:
        """Let new arrivals decide on their next port; return the rows that go on."""
        going = self._loops.settle(
            self._ways,
            rows,
            self._granting,
            self._deliveries.rows,
            self._ledger.record,
        )
        self._deliveries.book()
        if self.fifo:
            rows[:going, -1] = self._ledger.step
        return rows[:going]

    def _take_in(self, rows: Ints, in_order: bool) -> None:
        """Merge arrivals, given in order of their numbers or not, into the messages here."""
        if len(rows) == 0:
            return
        residents = self.live
        self._reserve(residents + len(rows))
        arrivals = self._settled(rows)
        if not in_order:
            arrivals = arrivals[np.argsort(arrivals[:, hop.NUMBER])]
        self._ledger.live += len(arrivals)
        if self.fifo:
            self._messages[residents : self.live] = arrivals  # behind all that came before
        else:
            self._loops.merge(self._messages, residents, arrivals)

    def _reserve(self, live: int) -> None:
        """Reserve memory for `live` messages here, and for all of them to leave or to end.

        Once there are very many, the loops over them have rules compiled in from then on.
        """
        if live >= INLINED_FROM and self._loops is hop.LOOPS:
            inlined = self.inlining()
            # Loops without native code are slow: until it is there, rules are called by address.
            if all(loop.is_ready for loop in inlined):
                self._loops = inlined
        self._messages = with_room(self._messages, live)
        leavers, rows, owners = self._leaving
        if leavers != hop.NOBODY and len(rows) < live:
            self._leaving = hop.Leaving(leavers, with_room(rows, live), with_room(owners, live))
        # In the worst step every message ends or leaves; kernels cannot allocate in the middle of a
        # loop.
        self._deliveries.reserve(live)

    def _room(self, arrivals: int) -> Ints:
        """Memory for `arrivals` rows, the same in every step."""
        self._arriving = with_room(self._arriving, arrivals)
        return self._arriving[:arrivals]

    def _raise_wrong(self) -> None:
        """Raise on every rank the routing error that the ledger has noted, if any."""
        if self._ledger.wrong:
            self.machine.transport.fail(self._error())

    def _error(self) -> RoutingError:
        place, number = self._messages[self._ledger.wrong_message, : hop.WORDS].tolist()
        network = self.machine.topology.name
        who = f"Step {self.machine.next_step}: routing {self.routing.name} on {network}"
        if self._ledger.wrong == hop.UNWIRED_PORT:
            return RoutingError(
                f"{who} chose port {hop.low(place)} of processor {hop.high(place)}, which is not "
                f"wired, for message {hop.high(number)}."
            )
        return RoutingError(
            f"{who} does not come to an end: message {hop.high(number)} is at processor "
            f"{hop.high(place)} after {hop.low(number)} hops."
        )

    @staticmethod
    def _require_fitting(machine: Machine) -> None:
        """Refuse a network whose nodes and ports do not fit into messages' rows."""
        topology = machine.topology
        if topology.size > hop.HIGH_MOST or topology.ports > hop.LOW_MOST:
            raise UsageError(
                f"The router takes networks of up to {hop.HIGH_MOST} nodes with {hop.LOW_MOST} "
                f"ports, and {topology.name} has {topology.size} with {topology.ports}."
            )


def hosting(machine: Machine) -> hop.HostedPart:
    """Return a machine's mapping, and this rank's part of it, in the form that kernels take."""
    mapping, placement = machine.mapping, machine.placement
    return hop.HostedPart(
        place=mapping.rule.native,
        params=mapping.params,
        contiguous=int(mapping.contiguous),
        first=placement.first,
        hosted=placement.count,
        split=placement.split,
    )
