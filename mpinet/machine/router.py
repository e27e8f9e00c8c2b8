"""The router: store-and-forward of numbered messages by the routing's local decisions.

Messages are numbered at injection. With the policy ``oldest`` a channel takes the waiting message
with the lowest number. With ``fifo`` a channel takes the message that has waited longest at its
processor, or the lowest number among messages of the same step. Neither choice depends on the
number of ranks.

The file is long because it contains one large class. The public methods (inject, step, totals) come
first, the parts of a step, made of the loops of `hop`, come after them.
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
from mpinet.machine.busprotocol import BusProtocol
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

# With fewer messages, compiling a specialized loop takes longer than the loop can save in a run.
INLINED_FROM = 1 << 13
"""Number of messages on a rank from which on the loops are compiled with inlined rules."""

NUMBER_BITS = 63 - hop.LOW_BITS
"""Number of bits of a message's number in a priority, below the step of its arrival."""

# A part of 2^18 messages needs a few megabytes, and the cost of a call per part is negligible.
DRAWN_AT_ONCE = 1 << 18
"""Number of messages whose ends are drawn at a time; it bounds the memory for injection."""


class Router:
    """Routes messages over a machine, on all ranks together.

    Parameters
    ----------
    machine : Machine
        The machine that moves and counts messages. Its port model applies in queued mode.
    routing : Routing
        The nodes' decisions.
    mode : str
        ``"queued"``: a message whose channel is taken waits; ``"ideal"``: every message hops in
        every step.
    policy : str
        ``"oldest"`` or ``"fifo"``.
    faults : Faults, optional
        Dead nodes and links. Routings with a detour avoid them (`Routing.around`).
    payload_words : int
        Number of 64-bit words carried by every message.
    keep : bool
        True if `delivered` is needed after the run.
    checked : bool
        True if `check_conservation` is needed after the run. Injected arrays are then kept and must
        not be changed until the check.
    protocol : BusProtocol, optional
        Arbitration by the members of each bus. Default: the lowest message number wins a bus.

    Raises
    ------
    UsageError
        The mode or policy is unknown, the network is too large, the router cannot observe the port
        model, or the routing has no detour around these faults.
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
        protocol: BusProtocol | None = None,
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
        self._idles = protocol is not None and protocol.idles
        self._arbiter = None if ideal else Arbiter.where_needed(machine, protocol)
        how = hop.IDEAL if ideal else hop.CHOSEN if self._arbiter else hop.QUEUED
        self._granting = hop.Granting(how, np.empty(0, bool))
        # With one rank nothing leaves the array, and the loop is compiled without this case.
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
        # Generic loops first: specialized loops are compiled in the background and used once ready.
        self._loops = hop.LOOPS

    def reserve(self, messages: int) -> None:
        """Allocate memory for `messages` messages on this rank."""
        self._reserve(messages)

    def require_room(self, total: int) -> None:
        """Raise if the rows of `total` messages on all ranks together do not fit into memory.

        Raises
        ------
        TooLarge
            The rows would not fit even if distributed evenly over the ranks.
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
        """Inject messages at their sources on this rank.

        Parameters
        ----------
        sources : ndarray of int64, shape (k,)
            Source processors, hosted on this rank.
        targets : ndarray of int64, shape (k,)
            Target nodes.
        numbers : ndarray of int64, shape (k,)
            Numbers of the messages within this injection, 0..total-1, ascending. Each number occurs
            once, on one rank.
        total : int
            Number of messages injected on all ranks together.
        payload : ndarray of int64, shape (k, payload_words), optional
            Payload of the messages.

        Returns
        -------
        int
            Offset between the numbers within this injection and the numbers among all messages.

        Raises
        ------
        UsageError
            On every rank, now or in its next collective: wrong numbers, or a source hosted on
            another rank.
        NodeError
            On every rank, now or in its next collective: no such source or target.
        """
        sources, targets, numbers = (
            np.ascontiguousarray(each, np.int64) for each in (sources, targets, numbers)
        )
        self.machine.checked(lambda: require_numbered(numbers, total))
        # Two messages of one number would have equal priority, and their order could depend on the
        # number of ranks.
        require_different(self.machine, numbers, total)
        first = self._number(total)
        self._keep_in_mind(Injection(first, total, numbers, targets))
        self._set_out(sources, targets, numbers, first, payload)
        return first

    def inject_drawn(self, numbers: Ints, ends: DrawnEnds, total: int) -> None:
        """Inject messages on this rank; sources and targets are drawn for a part of them at a time.

        Parameters
        ----------
        numbers, total
            As for `inject`.
        ends : callable
            ``ends(numbers)`` returns the sources and targets of these messages, with the same
            result on all ranks. A number therefore belongs to one source.
        """
        self.machine.checked(lambda: require_numbered(numbers, total))
        first = self._number(total)
        self._keep_in_mind(Injection(first, total, ends=ends))
        self._reserve(self.live + len(numbers))
        for begin in range(0, len(numbers), DRAWN_AT_ONCE):
            part = numbers[begin : begin + DRAWN_AT_ONCE]
            self._set_out(*ends(part), part, first)

    def restart(self) -> None:
        """Restart numbering at 0; no message may be in flight on any rank."""
        self._numbered = 0
        self._recorded_from = self.machine.trace.numbered if self.machine.trace else 0
        self._deliveries.forget()
        self._sent = Injected(self.machine)
        self._ledger.arrivals_seal = 0

    def _keep_in_mind(self, injection: Injection) -> None:
        """Remember the targets of an injection, if a later check needs them."""
        if self._checked:
            self._sent.add(injection)

    def _number(self, total: int) -> int:
        """Reserve `total` message numbers for this injection; return the first."""
        first = self._numbered
        if first + total > hop.HIGH_MOST:
            raise UsageError(f"A router numbers at most {hop.HIGH_MOST} messages.")
        # Memory is checked for the largest injection only: scripts inject a few messages in each of
        # many steps.
        if total > self._most_injected:  # scripts inject in every step
            self.require_room(total)
            self._most_injected = total
        self._deliveries.expect(first)
        self._numbered += total
        trace = self.machine.trace
        if trace is not None:
            trace.numbered = max(trace.numbered, self._recorded_from + self._numbered)
        return first

    def _known(self, numbers: Ints) -> Ints:
        """Return unique numbers of messages for a recording."""
        return self._recorded_from + numbers

    def _set_out(
        self,
        sources: Ints,
        targets: Ints,
        numbers: Ints,
        first: int,
        payload: Ints | None = None,
    ) -> None:
        """Append new messages to the others, with the headers written by their sources."""
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
        # A new message is settled at its source at once: a message to its own source ends without a
        # hop.
        self._ledger.live += len(self._settled(rows))
        self.injected += len(sources)

    @property
    def live(self) -> int:
        """Number of messages in flight on this rank."""
        return self._ledger.live

    @property
    def in_flight(self) -> int:
        """Number of messages in flight on this rank, including messages that a subclass keeps."""
        return self.live

    @property
    def lost(self) -> int:
        """Number of messages that got stuck at a node on this rank."""
        return self._ledger.lost

    @property
    def moving(self) -> Ints:
        """Node and payload of each message in flight here. Shape (live, 1 + payload_words)."""
        rows, begin = self._messages[: self.live], hop.WORDS + self.routing.words
        payload = rows[:, begin : begin + self.payload_words]
        return np.column_stack([rows[:, hop.PLACE] >> hop.LOW_BITS, payload])

    @property
    def at_their_sources(self) -> Ints:
        """Nodes of this rank's messages that have not hopped yet, one node per message."""
        rows = self._messages[: self.live]
        waiting = rows[rows[:, hop.NUMBER] & hop.LOW_MOST == 0]
        return waiting[:, hop.PLACE] >> hop.LOW_BITS

    def step(self) -> bool:
        """Make one step: each message with a granted channel hops (collective).

        Returns
        -------
        bool
            True if any message moved; a step without movement is not counted.

        Raises
        ------
        RoutingError
            On every rank: a rule chose an unwired port, or a message exceeded the hop limit.
        """
        leaving, counts, moves = self._advance()
        moved = self._ledger.moved
        # With the policy fifo every hopping message leaves the array. Rows for this rank come back
        # without an exchange.
        staying, counts[self.machine.transport.rank] = counts[self.machine.transport.rank], 0
        away = len(leaving) - staying
        # Some protocols leave busses idle while messages wait, and such steps count.
        word = moved + int(self._idles and self.live > 0)
        exchanged = self.machine.exchange(leaving[:away], counts, word, self._room)
        # The sum is part of the step's exchange, so the end is detected without a further
        # collective.
        self.machine.transport.moving = exchanged.total
        # The kernel has counted the step before the ranks could know that no message moves.
        if exchanged.total == 0:
            self._ledger.step -= 1
            return False
        self.machine.count(moved)
        if self.machine.trace is not None:
            senders, ports, receivers, numbers = moves[:moved].T
            self.machine.record(senders, ports, receivers, self._known(numbers))
        arrivals = exchanged.records
        # Own rows first, then the rows of other ranks: the merge by number makes the order
        # irrelevant.
        if staying:
            arrivals = np.concatenate([leaving[away:], arrivals])
        # Each rank sends its rows in ascending number: rows of a single rank need no sorting.
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
        """Return the fields for a checkpoint, without messages that a resumed run injects again."""
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
        """Return the indices that sort this rank's messages."""
        if self.fifo:
            # The last word is the step of arrival, which determines the order in the policy fifo.
            return np.lexsort((rows[:, hop.NUMBER], rows[:, -1]))
        return np.argsort(rows[:, hop.NUMBER], kind="stable")

    def _restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields of `_state`, on any number of ranks."""
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
        """Check injected = delivered + undeliverable + in flight, and targets (collective).

        Raises
        ------
        ConservationError
            A message was lost or duplicated.
        RoutingError
            A message was delivered at a node other than its target.
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
        # In the middle of a run, seals of messages in flight are missing: only counts can be
        # compared.
        if live or not self._checked:
            return
        # A lost message never delivers its seal: the rank that knows its target subtracts the seal.
        if lost:
            (gone,) = self.machine.sum(self._sent.seal_of_lost(self._deliveries.lost_numbers))
            sent -= gone
        if (sent - arrived) & hop.SEAL_MASK:
            raise self.delivered_elsewhere()

    def delivered_elsewhere(self) -> RoutingError:
        """Return the error for messages that ended at processors other than their targets."""
        return RoutingError(
            f"Routing {self.routing.name} on {self.machine.topology.name} delivered messages "
            "at processors that they were not sent to."
        )

    @property
    def totals(self) -> dict[str, int]:
        """Counts of all ranks: delivered and undeliverable messages, hops, maxima (collective)."""
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
        """Messages delivered on this rank (with `keep`)."""
        return self._deliveries.delivered

    def take(self) -> Delivered:
        """Return the messages delivered on this rank since the last call (with `keep`)."""
        return self._deliveries.take()

    @property
    def undeliverable(self) -> Ints:
        """Rows (number, place) of the undeliverable messages on this rank, by number."""
        return self._deliveries.undeliverable

    @property
    def _width(self) -> int:
        """Number of words per message: header, payload, and with ``fifo`` the step of arrival."""
        return self.routing.words + self.payload_words + self.fifo

    @cached_property
    def _ways(self) -> hop.HopRules:
        """Network, routing and faults, in the form for kernels."""
        topology, routing = self.machine.topology, self.routing
        return hop.HopRules(
            topology.neighbor.native, topology.params, routing.decide.native, routing.params,
            routing.words, *self._dead,
        )  # fmt: skip

    @cached_property
    def _hosting(self) -> hop.HostedPart:
        """The mapping, in the form for kernels."""
        return hosting(self.machine)

    def _advance(self) -> tuple[Ints, Ints, Ints]:
        """Move each granted message of this rank by one hop.

        Returns
        -------
        leaving : ndarray of int64, shape (k, ..)
            The rows of the messages that left their place, sorted by new rank, this rank last.
        counts : ndarray of int64, shape (ranks,)
            Number of leaving messages for each rank.
        moves : ndarray of int64, shape (live, 4)
            A record of every hop, if the machine keeps a trace.
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
        """Sort the leaving rows by rank, this rank last; `counts` is the number for each rank."""
        leaving = self._leaving.rows[: self._ledger.leaving]
        if np.count_nonzero(counts) <= 1:
            return leaving
        own = self.machine.transport.rank
        # This rank's own rows go to the end: all rows before them can be sent directly.
        places = np.cumsum(counts) - counts
        places[own + 1 :] -= counts[own]
        places[own] = len(leaving) - counts[own]
        self._dealt = with_room(self._dealt, len(leaving))
        hop.deal(leaving, self._leaving.owners, places, self._dealt)
        return self._dealt[: len(leaving)]

    def inlining(self, **settings: int) -> hop.StepLoops:
        """Return the loops over messages with rules and settings compiled in.

        Given settings replace the router's own.
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
        """Return the way to grant channels in this step, with a flag per message for an arbiter."""
        if self._arbiter is None:
            return self._granting
        waiting = self._messages[: self.live]
        nodes, ports = hop.high(waiting[:, hop.PLACE]), hop.low(waiting[:, hop.PLACE])
        # The arbiter applies the neighbour rule to all waiting messages, and the rule is undefined
        # for unwired ports.
        if self._ledger.unwired:
            self._refuse_unwired(waiting[:, hop.PLACE])
        priorities = hop.high(waiting[:, hop.NUMBER])
        if self.fifo:
            self._require_early()
            # Earlier arrivals first; among arrivals of one step, lower numbers.
            priorities |= waiting[:, -1] << NUMBER_BITS
        granted = self._grant(self._arbiter, nodes, ports, priorities)
        return hop.Granting(hop.CHOSEN, granted)

    def _grant(self, arbiter: Arbiter, nodes: Ints, ports: Ints, priorities: Ints) -> Flags:
        """Return flags of the messages that hop, as agreed by the processors (collective)."""
        return arbiter.grant(nodes, ports, priorities)

    def _require_early(self) -> None:
        """Raise on all ranks if the step's number does not fit into a priority."""
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
        """Return the indices of the places whose message waits for an unwired port."""
        topology, nodes, ports = self.machine.topology, hop.high(places), hop.low(places)
        there = topology.neighbor(nodes, np.minimum(ports, topology.ports - 1)) >= 0
        return np.flatnonzero(~there | (ports >= topology.ports))

    def _settled(self, rows: Ints) -> Ints:
        """Find the next port of new arrivals; return the rows that go on."""
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
        """Merge arrivals, sorted by number if `in_order`, into the messages on this rank."""
        if len(rows) == 0:
            return
        residents = self.live
        self._reserve(residents + len(rows))
        arrivals = self._settled(rows)
        if not in_order:
            arrivals = arrivals[np.argsort(arrivals[:, hop.NUMBER])]
        self._ledger.live += len(arrivals)
        if self.fifo:
            self._messages[residents : self.live] = arrivals  # after all earlier messages
        else:
            self._loops.merge(self._messages, residents, arrivals)

    def _reserve(self, live: int) -> None:
        """Allocate memory for `live` messages here, and for all of them to leave or to end.

        Once there are very many messages, the loops use compiled-in rules from then on.
        """
        if live >= INLINED_FROM and self._loops is hop.LOOPS:
            inlined = self.inlining()
            # Loops without native code are slow: until it is ready, rules are called by address.
            if all(loop.is_ready for loop in inlined):
                self._loops = inlined
        self._messages = with_room(self._messages, live)
        leavers, rows, owners = self._leaving
        if leavers != hop.NOBODY and len(rows) < live:
            self._leaving = hop.Leaving(leavers, with_room(rows, live), with_room(owners, live))
        # In the worst step every message ends or leaves, and kernels cannot allocate inside a loop.
        self._deliveries.reserve(live)

    def _room(self, arrivals: int) -> Ints:
        """Return memory for `arrivals` rows, the same memory in every step."""
        self._arriving = with_room(self._arriving, arrivals)
        return self._arriving[:arrivals]

    def _raise_wrong(self) -> None:
        """Raise the routing error recorded in the ledger, if any, on every rank."""
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
        """Raise if a network's nodes and ports do not fit into messages' rows."""
        topology = machine.topology
        if topology.size > hop.HIGH_MOST or topology.ports > hop.LOW_MOST:
            raise UsageError(
                f"The router takes networks of up to {hop.HIGH_MOST} nodes with {hop.LOW_MOST} "
                f"ports; {topology.name} has {topology.size} with {topology.ports}."
            )


def hosting(machine: Machine) -> hop.HostedPart:
    """Return a machine's mapping, and this rank's part of it, in the form for kernels."""
    mapping, placement = machine.mapping, machine.placement
    return hop.HostedPart(
        place=mapping.rule.native,
        params=mapping.params,
        contiguous=int(mapping.contiguous),
        first=placement.first,
        hosted=placement.count,
        split=placement.split,
    )
