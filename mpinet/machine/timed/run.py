"""A run of a program of messages in time, on all ranks together, window by window.

After each window the ranks exchange rows and agree on the next window: the minimum over their
calendars.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.base.records import longer
from mpinet.errors import RoutingError, Stalled, TooLarge, UsageError
from mpinet.machine import hop
from mpinet.machine.machine import Machine
from mpinet.machine.placement import start_of
from mpinet.machine.state import Frame
from mpinet.machine.timed import layout
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.operations import connected
from mpinet.machine.timed.program import MOST_AMOUNT, Program, receive_kinds
from mpinet.machine.timed.saved import fields_of, restore
from mpinet.machine.timed.scripted import Scripted, hosted, require_fitting, stored
from mpinet.machine.timed.windows import advance, move_lists, take_rows
from mpinet.networks.routing import Routing, hop_limit

# Short enough for checkpoints, progress and signals, long enough to make the cost of the call
# negligible.
AT_ONCE = 1 << 20
"""Number of events after which a run on one rank returns from the kernel, a few tenths of a
second.
"""

SPARE_ROWS = 16

IDLE_LEAST, IDLE_EACH = 1000, 4
"""Largest number of consecutive turns without an event on a rank: a constant, plus a number per
message and CPU. The arrival of a message and the end of a calc cause a turn each.
"""


class TimedRun:
    """A program of messages, played in time on a machine, or without a network if `flat`.

    Parameters
    ----------
    machine : Machine
        The processors and their ranks; if `flat`, their links are ignored.
    program : Program or Scripted
        Operations of the first processors; other processors are idle. With notes the program is
        stored whole.
    costs : Costs
        Costs of processors and links.
    routing : Routing or None
        Routing of the messages; None: there is no network, and the latency between any two
        processors is `costs.flat`.
    noted : bool
        True to record notes of all events (`notes`).

    Raises
    ------
    UsageError
        The program does not fit the machine, or the costs are inconsistent.
    TooLarge
        The run does not fit into memory.
    """

    def __init__(
        self,
        machine: Machine,
        program: Program | Scripted,
        costs: Costs,
        routing: Routing | None,
        noted: bool = False,
    ):
        self.machine, self.costs, self.routing = machine, costs, routing
        require_fitting(program, machine.topology)
        self.ledger = layout.WindowLedger.counted()
        # Zero is a valid block, so an empty list needs another mark.
        self.ledger.blocks = layout.NONE
        self.program = program
        # Notes name operations by their rows in the stored program. Scripts have no such rows.
        if noted:
            self.program = self.whole
        self.noted = noted
        self._state: layout.TimedState
        self._fetched: list[Ints] = []
        nodes = machine.nodes
        self.slots = np.flatnonzero(nodes < program.processors)
        self.part = hosted(self.program, np.ascontiguousarray(nodes[self.slots]))
        self._make_rules()
        self._make_state()
        self._make_routes()
        self._next = 0

    def run(self) -> TimedRun:
        """Play the program to its end (collective).

        Raises
        ------
        RoutingError
            On every rank: the routing does not lead a message to its receiver.
        TooLarge
            Times exceed 64 bits.
        Stalled
            Processors have too many consecutive turns without an event.
        """
        with Frame(self.machine, "timed", lambda: fields_of(self), self._restore) as frame:
            # The boundary follows each window: between windows no event is unfinished, and no
            # message is in flight between ranks.
            while not self.ledger.ended:
                self._advance()
                frame.boundary()
        return self

    def _restore(self, found: Mapping[str, Any]) -> None:
        restore(self, found)

    @cached_property
    def whole(self) -> Program:
        """The program with every processor's operations, for look-ups."""
        return stored(self.program)

    def missing(self, slot: int) -> Ints:
        """Return each operation's number of unfulfilled requirements, at one processor.

        An operation without a row is done if it precedes the operation in its row. Otherwise it has
        not begun, and lacks all its requirements.
        """
        processor, part = self._state.processors[slot], self.part
        first, count = int(processor["first"]), int(processor["count"])
        rows = self._state.operations[first : first + min(count, part.span)]
        script = int(processor["script"])
        found = np.diff(part.scripts.needs_first[script : script + count + 1])
        numbers = np.arange(count)
        found[numbers < rows["number"][numbers % part.span]] = layout.DONE_WITH
        found[rows["number"]] = rows["missing"]
        return found

    def make_room(self, messages: int, posted: int) -> None:
        """Allocate memory for messages, and for lists of posted receives."""
        while self.ledger.free < messages:
            self._grow(messages)
        # The table is doubled at once: restored lists are entered without the kernel's own checks.
        self._put(entries=self._longer_table(2 * (posted + int(self.rules.lists) * messages)))

    def take_notes(self, notes: Ints) -> None:
        """Take over the notes of a resumed run."""
        self._fetched = [notes]

    def take_in(self, rows: Ints) -> None:
        """Process rows of saved messages in flight, some of them for other ranks (collective)."""
        self._take(rows)
        if self.rules.ranks > 1:
            self._exchange()
        self._next = self._agreed()

    def _make_rules(self) -> None:
        """Write the constants of the run into the record for kernels."""
        machine, costs, program, part = self.machine, self.costs, self.program, self.part.scripts
        topology, transport, flat = machine.topology, machine.transport, self.routing is None
        eager = MOST_AMOUNT if costs.eager is None else costs.eager
        counts = np.diff(part.first)
        sends = part.kind == layout.SEND
        receives = part.kind == layout.RECV
        # A single message must not exceed the largest time; the kernel checks sums event by event.
        most_byte = max(costs.gap_byte, costs.overhead_byte, *costs.byte_times)
        if program.largest * most_byte > layout.LATEST:
            raise TooLarge(costs.too_long(f"{program.name}: a message of {program.largest} bytes"))
        serving = layout.FULL
        if not flat and not topology.links:
            serving = layout.BUS
        elif not flat and costs.half_duplex:
            serving = layout.HALF
        busses_each = -(-(topology.busses or 0) // transport.size)
        rules = self.rules = layout.TimedConstants.one()
        rules.nodes = 0 if flat else topology.size
        rules.ports = topology.ports
        rules.rank = transport.rank
        rules.ranks = transport.size
        rules.first_position = start_of(transport.rank, machine.placement.split)
        rules.cpus = program.cpus
        rules.overhead = costs.overhead
        rules.overhead_byte = costs.overhead_byte
        rules.gap = costs.gap
        rules.gap_byte = costs.gap_byte
        rules.eager = eager
        answers = program.largest > eager
        rules.at_once = answers and costs.rendezvous == "loggopsim"
        if rules.at_once and transport.size > 1:
            raise UsageError(
                f"--rendezvous loggopsim runs on one rank, not on {transport.size}, because "
                "a match affects its sender at once. Use one rank, or leave out this option."
            )
        rules.mode = layout.MODES.index(costs.mode)
        rules.apart = costs.flat
        # The lookahead, which is the window's width: within this time no processor or link can
        # affect another.
        rules.window = costs.lookahead(flat, answers)
        rules.serving = serving
        rules.first_bus = transport.rank * busses_each
        rules.busses_each = busses_each
        # The same limit as the router's: both engines reject the same routings.
        rules.hops_most = hop_limit(topology.size)
        rules.classes = max(len(costs.latencies), len(costs.byte_times))
        rules.span = self.part.span
        rules.patterns, rules.lists = receive_kinds(part, self.part.way)
        rules.sends_most = _most(sends, part.first, counts)
        rules.receives_most = _most(receives, part.first, counts)
        rules.numbered = self.routing is not None and self.routing.numbered
        rules.noted = self.noted
        # At most two notes per operation: those of a receive.
        rules.notes_most = 2 * int(counts.max(initial=0))

    def _make_state(self) -> None:
        """Allocate processors, operations and servers; messages and lists grow as needed."""
        rules, part, machine = self.rules, self.part, self.machine
        scripts, count = part.scripts, machine.placement.count
        rows = int(part.rows.sum())
        servers = 0
        if rules.nodes:
            servers = count * machine.topology.ports
        if rules.serving == layout.BUS:
            servers = int(rules.busses_each)
        needed = (
            layout.Operation.dtype.itemsize * rows
            + layout.Statement.dtype.itemsize * scripts.operations
            + 4 * len(scripts.needs)
            + (layout.TimedProcessor.dtype.itemsize + layout.Cpu.dtype.itemsize * int(rules.cpus))
            * count
            + layout.Server.dtype.itemsize * servers
        )
        # Checked before the first allocation: a wrong size causes an error message instead of
        # swapping.
        require_memory(needed, f"{self.program.name} in time")
        statements, followers = connected(part)
        self._state = layout.TimedState(
            statements, part.ways, layout.Operation.array(rows),
            np.full((len(layout.KINDS), 2), layout.NONE, np.int64), followers,
            self._processors(count), self._numbers(count),
            layout.Cpu.array(count * int(rules.cpus)),
            layout.TimedMessage.array(0),
            np.zeros((0, self.routing.words if self.routing is not None else 0), np.int64),
            np.zeros((0, 2 * int(rules.lists)), np.int64),
            np.zeros(0, np.int32),
            layout.Entry.array(0),
            layout.Server.array(servers),
            np.zeros(servers // layout.MARKS + 1, np.int64), np.zeros(0, np.int64),
            np.full((2, layout.BUCKETS), layout.NONE, np.int64),
            np.full((2, layout.BUCKETS), layout.NEVER, np.int64),
            np.zeros((layout.BUCKETS, 1 + layout.RECENT), np.int64),
            np.zeros(0, np.int64),
            np.zeros((0, 0), np.int64), np.zeros(0, np.int32),
            np.zeros((0, len(layout.NOTE)), np.int64),
        )  # fmt: skip
        for name in ("calc", "send", "message"):
            self._state.cpus[name] = layout.NONE
        for name in ("line", "beyond"):
            self._state.servers[name] = layout.NONE
        # Memory for messages starts small and doubles. The number of messages in flight depends on
        # the program, and is not known in advance.
        self._grow(1)

    def _processors(self, count: int) -> Any:
        """Return the processors, each with the indices of its statements and operations."""
        processors, first = layout.TimedProcessor.array(count), self.part.scripts.first
        processors["number"] = self.machine.nodes
        processors["alarm"] = layout.NEVER
        for name in ("coming", "later", "bucket"):
            processors[name] = layout.NONE
        processors["script"][self.slots] = first[:-1][self.part.which]
        processors["count"][self.slots] = self.part.counts
        rows = self.part.rows
        processors["first"][self.slots] = np.cumsum(rows) - rows
        return processors

    def _numbers(self, count: int) -> Ints:
        """Return each processor's first operation in the whole program."""
        numbers = np.zeros(count, np.int64)
        numbers[self.slots] = self.program.starts(self.machine.nodes[self.slots])
        return numbers

    def _make_routes(self) -> None:
        """Combine the rules of network, routing and mapping in the form for kernels."""
        topology, mapping = self.machine.topology, self.machine.mapping
        routing = self.routing or topology.routing()
        # Unidirectional links need no channel rule; any rule of this form fills the place.
        half = self.rules.serving != layout.FULL
        classes = int(self.rules.classes)
        self._routes = layout.PricedRoutes(
            topology.neighbor.native,
            topology.channel.native if half else topology.neighbor.native,
            topology.link_class.native,
            topology.params,
            routing.start.native,
            routing.decide.native,
            routing.params,
            routing.words,
            _by_class(self.costs.latencies, classes),
            _by_class(self.costs.byte_times, classes),
        )
        self._hosting = layout.BlockMapping(
            mapping.rule.native,
            mapping.params,
            self.machine.placement.split,
            int(mapping.contiguous),
        )

    def _advance(self) -> None:
        """Advance by some windows; with several ranks by one window (collective)."""
        ledger, before = self.ledger, self.ledger.hops
        self._call()
        if self.rules.ranks > 1:
            # Shared servers: the kernel has stopped between processors and servers, and needs the
            # requests of other ranks.
            if ledger.passed:  # exchange of requests in the middle of a window
                self._exchange()
                self._call()
            self._exchange()
        self._next = self._agreed()
        ledger.ended = int(self._next == layout.NEVER)
        self.machine.count(ledger.hops - before, 1)

    def _agreed(self) -> int:
        """Return the next window with an event on any rank (collective)."""
        if self.rules.ranks == 1:
            return int(self.ledger.next)
        # The minimum, as the negated maximum of negated numbers: meetings reduce with max and sum
        # only.
        return -int(self.machine.transport.max(np.array([-self.ledger.next], np.int64))[0])

    def _call(self) -> None:
        """Call the kernel, and enlarge the memory as often as the kernel requests it."""
        ledger = self.ledger
        while True:
            ledger.wants_room = 0
            advance(
                self._routes, self._hosting, self.rules, self._state, ledger.record,
                self._next, AT_ONCE,
            )  # fmt: skip
            self._require_right()
            if not ledger.wants_room:
                return
            # The kernel resumes in the middle of a window, so this window must be passed again.
            self._next = int(ledger.window)  # a single rank may have advanced by several windows
            if ledger.wants_room == layout.NOTES:
                self._fetch()
            else:
                self._grow(int(self.rules.sends_most + self.rules.receives_most))

    def _fetch(self) -> None:
        """Store the notes written by the kernel, and allocate memory for the next notes."""
        notes, taken, width = self._state.notes, self.ledger.notes, len(layout.NOTE)
        self.ledger.notes = 0
        if taken:
            self._fetched.append(notes[:taken].copy())
        least = int(self.rules.notes_most) + 2 * len(self._state.messages)
        kept = sum(map(len, self._fetched))
        # Twice the kept notes, because they are joined into one array at the end.
        require_memory(8 * width * (4 * least + 2 * kept), "The notes of all events")
        if len(notes) < least:
            self._state = self._state._replace(notes=np.empty((4 * least, width), np.int64))

    @property
    def notes(self) -> Ints:
        """Notes of all events at this rank's processors and links; see `layout.NOTE`."""
        taken = self._state.notes[: self.ledger.notes]
        return np.concatenate([*self._fetched, taken])

    def _exchange(self) -> None:
        """Send rows to other ranks, and process the received rows (collective)."""
        ledger, state = self.ledger, self._state
        owners, rows = state.owners[: ledger.away], state.rows[: ledger.away]
        rows, counts = hop.dealt(rows, owners, self.machine.transport.size)
        ledger.away = 0
        came = self.machine.exchange(rows, counts).records
        # Memory first, because `take_rows` cannot stop halfway through the rows of a window.
        while ledger.free < len(came):
            self._grow(len(came))
        self._take(came)

    def _take(self, rows: Ints) -> None:
        """Process received rows; there must be memory for them."""
        take_rows(
            np.ascontiguousarray(rows), self._routes, self._hosting, self.rules, self._state,
            self.ledger.record,
        )  # fmt: skip
        self._require_right()

    def _grow(self, least: int) -> None:
        """Enlarge the memory for messages, if fewer than `least` rows are free, and for lists."""
        rules, ledger = self.rules, self.ledger
        if ledger.free < least:
            self._add_rows()
        posted = ledger.entries + int(rules.receives_most)
        alive = len(self._state.messages) - ledger.free
        # More than required by `has_room`: the next few lists then do not make the table grow
        # again.
        lists = max(3 * posted, posted + int(rules.lists) * alive + 1)
        self._put(entries=self._longer_table(lists))

    def _put(self, **arrays: Any) -> None:
        """Replace arrays of the state."""
        self._state = self._state._replace(**arrays)

    def _add_rows(self) -> None:
        """Double the rows for messages; initially there are few.

        The arrays are replaced one after the other, because together they may fill the memory.
        """
        rules, ledger, before = self.rules, self.ledger, len(self._state.messages)
        margin = int(rules.sends_most + rules.receives_most) + SPARE_ROWS
        more = before + margin if before else max(margin, 2 * len(self._state.processors))
        words = layout.ROW_WORDS + self._state.headers.shape[1]
        # Each message can produce a row for another rank and an answer within one window.
        remote, total = 2 if rules.ranks > 1 else 0, before + more
        row = layout.TimedMessage.dtype.itemsize + 8 * (words + self._state.links.shape[1])
        require_memory((row + remote * 8 * words) * total, "The messages in flight")
        self._put(messages=longer(self._state.messages, total))
        rules.idle_most = IDLE_LEAST + IDLE_EACH * (total + len(self._state.cpus))
        free = longer(self._state.free, total)
        # Descending: the lowest rows are taken first and stay dense in memory.
        free[ledger.free : ledger.free + more] = np.arange(total - 1, before - 1, -1)
        self._put(free=free)
        ledger.free += more
        rows = self._state.rows if before else np.zeros((0, words), np.int64)
        self._put(rows=longer(rows, remote * total))
        self._put(owners=longer(self._state.owners, remote * total))
        self._put(headers=longer(self._state.headers, total))
        self._put(links=longer(self._state.links, total))
        self._put(cells=self._longer_cells(total), active=np.empty(total, np.int64))

    def _longer_cells(self, messages: int) -> Ints:
        """Return blocks for `messages` requests, plus one incomplete block per bucket."""
        old, ledger = self._state.cells, self.ledger
        # Every bucket may have one incomplete block: without these spare blocks the free list could
        # become empty.
        words = layout.CELLS * (messages // (layout.CELLS - 1) + layout.BUCKETS + 1)
        cells = np.empty(words, np.int64)
        cells[: len(old)] = old
        cells[len(old) :: layout.CELLS] = np.arange(len(old), words, layout.CELLS) + layout.CELLS
        cells[words - layout.CELLS] = ledger.blocks
        ledger.blocks = len(old)
        return cells

    def _longer_table(self, least: int) -> Any:
        """Return the table of lists, with at least `least` entries."""
        old = self._state.entries
        size = 1 << max(4, (least - 1).bit_length())
        if size <= len(old):
            return old
        require_memory(layout.Entry.dtype.itemsize * size, "The lists of receives and messages")
        new = layout.Entry.array(size)
        new["slot"] = layout.NONE
        if len(old):
            move_lists(old, new, self.ledger.record)
        return new

    def _require_right(self) -> None:
        """Raise the error recorded by the kernel on every rank."""
        # A kernel cannot raise. The error of one rank becomes the error of all at the next meeting.
        if self.ledger.wrong:
            self.machine.transport.fail(self._error())

    def _error(self) -> RoutingError | TooLarge | Stalled:
        ledger = self.ledger
        if ledger.wrong == layout.STALLED:
            return Stalled(
                f"{self.program.name} makes no progress: processors of one rank had "
                f"{ledger.idle:,} turns without an event, the last in window {ledger.window:,}. "
                "This is an error of mpinet: please report it with the command."
            )
        if ledger.wrong == layout.TOO_LATE or self.routing is None:
            return TooLarge(self.costs.too_long("The run"))
        who = f"Routing {self.routing.name} on {self.machine.topology.name}"
        whose = f"a message from {ledger.wrong_source} to {ledger.wrong_target}"
        node = ledger.wrong_node
        return RoutingError(
            {
                layout.UNWIRED: f"{who} chose an unwired port of node {node} for {whose}.",
                layout.ASTRAY: f"{who} stopped at node {node} with {whose}.",
                layout.ENDLESS: f"{who} does not come to an end with {whose}: it is at {node}.",
            }[ledger.wrong]
        )

    @property
    def state(self) -> layout.TimedState:
        """The state of this rank."""
        return self._state


def _most(chosen: Any, first: Ints, counts: Ints) -> int:
    """Return the largest number of chosen operations of any processor."""
    sums = np.concatenate([[0], np.cumsum(chosen)])
    return int((sums[first[1:]] - sums[first[:-1]]).max(initial=0)) if len(counts) else 0


def _by_class(costs: tuple[int, ...], classes: int) -> Ints:
    """Return the cost of each class of links; the last given cost is for all further classes."""
    return np.array([costs[min(kind, len(costs) - 1)] for kind in range(classes)], np.int64)
