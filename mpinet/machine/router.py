"""The router: store-and-forward of numbered messages by the routing's local decisions.

Messages are numbered at injection. With the policy ``oldest`` a channel takes the message with the
lowest number that waits for it, with ``fifo`` the one that has waited longest at its processor (of
those that came in the same step, the lowest number). No rank count can change either.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mpinet.compiled import Kernel
from mpinet.errors import ConservationError, RoutingError, UsageError
from mpinet.machine import hop
from mpinet.machine.arbitration import Arbiter
from mpinet.machine.ends import Delivered, Ends, with_room
from mpinet.machine.faults import Faults
from mpinet.machine.machine import Machine
from mpinet.machine.step import ascend
from mpinet.networks.routing import Routing

Numbers = NDArray[np.int64]

MODES = ("ideal", "queued")
POLICIES = ("oldest", "fifo")

INJECTED_AT_ONCE = 1 << 18
"""Messages whose rows are made at a time, so that injection needs little memory beside them."""

INLINED_FROM = 1 << 13
"""Messages on a rank from which on rules are worth being compiled into the loop over them."""

NUMBER_BITS = 40
"""Bits of a message's number in a priority, below the step of its arrival."""


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

    Raises
    ------
    UsageError
        An unknown mode or policy, a port model that the router cannot keep, or faults that a
        routing which goes around some cannot go around.
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
    ):
        if mode not in MODES:
            raise UsageError(f"There is no mode {mode!r}: give one of {', '.join(MODES)}.")
        if policy not in POLICIES:
            raise UsageError(f"There is no policy {policy!r}: give one of {', '.join(POLICIES)}.")
        self.machine = machine
        self.faults = faults or Faults(machine.topology)
        self.routing = routing.around(self.faults.dead, self.faults.cut)
        self.fifo = policy == "fifo"
        self.payload_words = payload_words
        self.injected = 0
        self._seal = 0
        self._ideal = mode == "ideal"
        self._arbiter = None if self._ideal else Arbiter.where_needed(machine)
        self._waiting = np.zeros(machine.placement.count, np.uint32)
        self._numbered = 0
        self._ledger = np.zeros(hop.FIELDS, np.int64)
        self._ends = Ends(self._ledger, payload_words, keep)
        self._node = np.zeros(0, np.int64)
        self._port = np.zeros(0, np.int32)
        self._number = np.zeros(0, np.int64)
        self._hops = np.zeros(0, np.int32)
        self._words = np.zeros((0, self._width), np.int64)

    def reserve(self, messages: int) -> None:
        """Make ready for so many messages on this rank: room for them, and compiled loops."""
        self._reserve(messages)
        for kernel in self._kernels(messages):
            kernel.native  # noqa: B018 (compiles it)

    def inject(
        self,
        sources: Numbers,
        targets: Numbers,
        numbers: Numbers,
        total: int,
        payload: Numbers | None = None,
    ) -> None:
        """Put messages into their sources, on this rank.

        Parameters
        ----------
        sources : ndarray of int64, shape (k,)
            Hosted processors.
        targets : ndarray of int64, shape (k,)
            Where the messages are to go.
        numbers : ndarray of int64, shape (k,)
            Their numbers within this injection, 0..total-1, ascending, different on all ranks.
        total : int
            Messages injected on all ranks together.
        payload : ndarray of int64, shape (k, payload_words), optional
            What they carry.
        """
        self._ends.expect(self._numbered)
        self._reserve(self.live + len(sources))
        for begin in range(0, len(sources), INJECTED_AT_ONCE):
            part = slice(begin, begin + INJECTED_AT_ONCE)
            carried = None if payload is None else payload[part]
            self._settle(self._rows(sources[part], targets[part], numbers[part], carried))
        self._numbered += total
        self.injected += len(sources)

    def _rows(
        self, sources: Numbers, targets: Numbers, numbers: Numbers, payload: Numbers | None
    ) -> Numbers:
        """New messages as rows, with the headers that their sources write."""
        rows = np.empty((len(sources), hop.WORDS + self._width), np.int64)
        rows[:, hop.NODE] = sources
        rows[:, hop.NUMBER] = numbers + self._numbered
        rows[:, hop.HOPS] = 0
        self._seal += hop.write_headers(
            self.routing.start.native,
            self.routing.params,
            np.ascontiguousarray(sources),
            np.ascontiguousarray(targets),
            self.routing.words,
            rows,
        )
        if payload is not None:
            begin = hop.WORDS + self.routing.words
            rows[:, begin : begin + self.payload_words] = payload
        return rows

    @property
    def live(self) -> int:
        """Messages in flight on this rank."""
        return int(self._ledger[hop.LIVE])

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
        rows, owners, moves = self._advance()
        moved = int(self._ledger[hop.MOVED])
        counts = np.bincount(owners, minlength=self.machine.transport.size)
        own = self.machine.transport.rank
        order = np.argsort(owners, kind="stable")
        stay = owners[order] == own
        counts[own] = 0
        received, _, total = self.machine.exchange(rows[order[~stay]], counts, moved)
        if total == 0:
            self._ledger[hop.STEP] -= 1
            return False
        self.machine.meters.count(1, moved)
        if self.machine.trace is not None:
            self.machine.trace.add(self.machine.steps, *moves[:moved].T)
        arrived = np.concatenate([rows[order[stay]], received])
        self._settle(arrived)
        return True

    def run(self, watch: Callable[[int], None] | None = None) -> None:
        """Step until no message can move any more (collective), then check conservation.

        Parameters
        ----------
        watch : callable, optional
            Called after every step with the number of steps so far.
        """
        while self.step():
            if watch is not None:
                watch(self.machine.steps)
        self.check_conservation()

    def check_conservation(self) -> None:
        """Check that injected = delivered + undeliverable + in flight (collective).

        Raises
        ------
        ConservationError
            A message was lost or doubled.
        RoutingError
            All were delivered, but not all where they were sent.
        """
        ledger = self._ledger
        injected, delivered, lost, live, sent, arrived = self.machine.sum(
            self.injected,
            ledger[hop.DELIVERED],
            ledger[hop.LOST],
            ledger[hop.LIVE],
            self._seal & hop.SEAL_MASK,
            ledger[hop.ARRIVALS_SEAL],
        )
        if injected != delivered + lost + live:
            raise ConservationError(
                f"{injected} messages were injected, but {delivered} delivered, {lost} "
                f"undeliverable and {live} in flight are {delivered + lost + live}."
            )
        if injected == delivered and (sent - arrived) & hop.SEAL_MASK:
            raise RoutingError(
                f"Routing {self.routing.name} on {self.machine.topology.name} delivered messages "
                "at processors that they were not sent to."
            )

    @property
    def totals(self) -> dict[str, int]:
        """Delivered, undeliverable, hops_total, hops_max, queue_max over all ranks (collective)."""
        ledger = self._ledger
        delivered, lost, hops = self.machine.sum(
            ledger[hop.DELIVERED], ledger[hop.LOST], ledger[hop.HOPS_TOTAL]
        )
        hops_max, queue_max = self.machine.max(ledger[hop.HOPS_MAX], ledger[hop.QUEUE_MAX])
        return {
            "delivered": delivered,
            "undeliverable": lost,
            "hops_total": hops,
            "hops_max": hops_max,
            "queue_max": queue_max,
        }

    @property
    def latencies(self) -> Numbers:
        """How many messages were delivered after 0, 1, 2, .. steps, over all ranks (collective)."""
        mine = self._ends.latency
        length = self.machine.max(len(mine))[0]
        padded = np.zeros(length, np.int64)
        padded[: len(mine)] = mine
        return self.machine.transport.sum(padded)

    @property
    def delivered(self) -> Delivered:
        """The messages that ended on this rank (with `keep`)."""
        return self._ends.delivered

    def take(self) -> Delivered:
        """The messages that ended on this rank since the last call (with `keep`)."""
        return self._ends.take()

    @property
    def undeliverable(self) -> Numbers:
        """Rows (number, place) of the messages that could not go on, on this rank, by number."""
        return self._ends.undeliverable

    @property
    def _width(self) -> int:
        """Words of a message: header, payload, and with ``fifo`` the step of its arrival."""
        return self.routing.words + self.payload_words + self.fifo

    def _advance(self) -> tuple[Numbers, Numbers, Numbers]:
        """Let this rank's messages hop: rows that left their place, their ranks, the moves."""
        machine, ledger, live = self.machine, self._ledger, self.live
        self._reserve(live)
        leaves = live if self.fifo or machine.transport.size > 1 else 0
        leaving = np.empty((leaves, hop.WORDS + self._width), np.int64)
        owners = np.empty(leaves, np.int64)
        moves = np.empty((live if machine.trace is not None else 0, 4), np.int64)
        grants, granted = self._grants()
        advance, _ = self._kernels(live)
        advance(
            machine.topology.neighbor.native,
            self.routing.decide.native,
            machine.mapping.rule.native,
            machine.topology.params,
            self.routing.params,
            machine.mapping.params,
            self._node,
            self._port,
            self._number,
            self._hops,
            self._words,
            self.routing.words,
            int(machine.mapping.contiguous),
            machine.placement.first,
            machine.placement.count,
            machine.transport.rank,
            machine.placement.split,
            grants,
            granted,
            machine.used_ports,
            self._waiting,
            machine.meters.loads,
            self.faults.dead,
            self.faults.cut,
            int(self.fifo),
            self._ends.rows,
            leaving,
            owners,
            moves,
            ledger,
        )
        self._raise_wrong()
        self._ends.book()
        return leaving[: ledger[hop.LEAVING]], owners[: ledger[hop.LEAVING]], moves

    def _kernels(self, messages: int) -> tuple[Kernel, Kernel]:
        """The loops over messages, with the rules compiled in if there are very many."""
        if messages < INLINED_FROM:
            return hop.advance, hop.settle
        neighbor = self.machine.topology.neighbor.rule
        return hop.inlining(neighbor, self.routing.decide, self.routing.words, self._width)

    def _grants(self) -> tuple[int, NDArray[np.bool_]]:
        """How channels are granted in this step, and to whom where ranks had to agree on it."""
        if self._ideal:
            return hop.IDEAL, np.empty(0, bool)
        if self._arbiter is None:
            return hop.QUEUED, np.empty(0, bool)
        live = self.live
        nodes, ports = self._node[:live], self._port[:live].astype(np.int64)
        self._require_wired(nodes, ports)
        priorities = self._number[:live]
        if self.fifo:
            priorities = priorities | self._words[:live, -1] << NUMBER_BITS
        return hop.CHOSEN, self._arbiter.grant(nodes, ports, priorities)

    def _require_wired(self, nodes: Numbers, ports: Numbers) -> None:
        """Note a message that waits for an unwired port: the arbiter must not see it."""
        topology = self.machine.topology
        there = topology.neighbor(nodes, np.minimum(ports, topology.ports - 1)) >= 0
        wrong = np.flatnonzero(~there | (ports >= topology.ports))
        if len(wrong):
            self._ledger[[hop.WRONG, hop.WRONG_PLACE]] = hop.UNWIRED_PORT, wrong[0]
        self._raise_wrong()

    def _settle(self, rows: Numbers) -> None:
        """Let arrivals decide on their next port and take their place in the order."""
        if len(rows) == 0:
            return
        residents = self.live
        self._reserve(residents + len(rows))
        _, settle = self._kernels(len(rows))
        settle(
            self.machine.topology.neighbor.native,
            self.routing.decide.native,
            self.machine.topology.params,
            self.routing.params,
            self.routing.words,
            rows,
            in_order_of(np.ascontiguousarray(rows[:, hop.NUMBER])),
            self._node,
            self._port,
            self._number,
            self._hops,
            self._words,
            residents,
            self.faults.dead,
            self.faults.cut,
            self._ends.rows,
            self._ledger,
        )
        self._ends.book()
        if self.fifo:
            self._words[residents : self.live, -1] = self._ledger[hop.STEP]
        elif 0 < residents < self.live and self._number[residents] < self._number[residents - 1]:
            hop.merge(
                self._node,
                self._port,
                self._number,
                self._hops,
                self._words,
                0,
                residents,
                self.live,
            )

    def _reserve(self, live: int) -> None:
        """Make room for `live` messages here, and for all of them to end."""
        for name in ("_node", "_port", "_number", "_hops", "_words"):
            setattr(self, name, with_room(getattr(self, name), live))
        self._ends.reserve(live)

    def _raise_wrong(self) -> None:
        """Raise on every rank what the ledger says about a wrong decision, if anything."""
        if self._ledger[hop.WRONG]:
            self.machine.transport.fail(self._error())

    def _error(self) -> RoutingError:
        place = self._ledger[hop.WRONG_PLACE]
        node, port, number = self._node[place], self._port[place], self._number[place]
        network = self.machine.topology.name
        who = f"Step {self.machine.steps + 1}: routing {self.routing.name} on {network}"
        if self._ledger[hop.WRONG] == hop.UNWIRED_PORT:
            return RoutingError(
                f"{who} chose port {port} of processor {node}, which is not wired, for message "
                f"{number}."
            )
        return RoutingError(
            f"{who} does not come to an end: message {number} is at processor {node} after "
            f"{self._hops[place]} hops."
        )


def in_order_of(numbers: Numbers) -> Numbers:
    """The places of different numbers in ascending order."""
    return np.arange(len(numbers)) if ascend(numbers) else np.argsort(numbers)
