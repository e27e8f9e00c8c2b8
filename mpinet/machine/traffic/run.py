"""A run of open-loop traffic: warm-up, window, closing; on any number of ranks the same.

The file is long because one class is: first how a run goes, then how its arrays are made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.arrays import Counts, Ints
from mpinet.compiled import kernel
from mpinet.draws import below, dice
from mpinet.errors import RoutingError, UsageError
from mpinet.machine import hop
from mpinet.machine.faults import Faults
from mpinet.machine.machine import Machine
from mpinet.machine.placement import start_of
from mpinet.machine.state import Fields, Frame
from mpinet.machine.traffic import layout, saved
from mpinet.machine.traffic.conservation import check_channels, check_messages
from mpinet.machine.traffic.deadlock import waiting_cycle
from mpinet.machine.traffic.parameters import SHORT_INTEGERS, Buffering, Generation, Window
from mpinet.machine.traffic.sharing import make_busses, settle
from mpinet.machine.traffic.step import advance, advance_adaptive, count_tails, take_in
from mpinet.machine.traffic.unlimited import Queues, advance_unlimited, take_in_unlimited
from mpinet.memory import require_memory
from mpinet.networks.adaptive import no_candidates
from mpinet.networks.classes import ChannelClasses
from mpinet.networks.routing import Routing

AT_ONCE = 4096
"""Steps that one rank alone makes in one call, at most."""

LANES_AT_ONCE = 1 << 22
"""Lanes that it looks at in one call, where one step does not take more: some tenth of a second."""


@kernel
def prepare_dice(nodes: Ints, seed: int, words: Counts) -> None:
    """Write the random words that the draws of these processors start from."""
    for i in range(nodes.size):
        words[i] = np.uint32(dice(seed, nodes[i], layout.GENERATE_STREAM))


class OpenLoop:
    """Open-loop traffic on a machine, all ranks together.

    Parameters
    ----------
    machine : Machine
        The processors, and the ranks that host them.
    routing : Routing
        The nodes' decisions.
    classes : ChannelClasses
        The classes of channels; their count is known.
    buffering : Buffering
        How links and nodes hold flits.
    generation : Generation
        Who generates what.
    window : Window
        What is measured.
    seed : int
        For the draws.
    faults : Faults, optional
        What is dead.

    Raises
    ------
    UsageError
        What does not go together; says what does.
    TooLarge
        It does not fit into memory.
    """

    def __init__(
        self,
        machine: Machine,
        routing: Routing,
        classes: ChannelClasses,
        buffering: Buffering,
        generation: Generation,
        window: Window,
        seed: int = 0,
        faults: Faults | None = None,
    ):
        self.machine, self.buffering = machine, buffering
        self.generation, self.window, self.seed = generation, window, seed
        self.faults = faults or Faults(machine.topology)
        self._dead = hop.Faulty(self.faults.dead, self.faults.cut)
        self.routing = routing.around(*self._dead)
        self.classes = classes
        self.limited = buffering.buffers > 0
        self._require_fitting()
        self.ledger = np.zeros(layout.LEDGER, np.int64)
        self.ledger[layout.CLOSED] = self.ledger[layout.LAST_MOVE] = -1
        self.ledger[layout.QUIET] = buffering.link_delay
        self._words = layout.HEADER + self.routing.words
        self._make_links()
        self._make_sources()
        self._make_rules()
        self._make_state()
        self._make_books()
        nothing = np.empty((0, 1), np.int64)
        self._late = deque([nothing] * (buffering.link_delay - 1))

    @property
    def steps(self) -> int:
        """Steps made."""
        return int(self.ledger[layout.NOW])

    def run(self) -> OpenLoop:
        """Make steps to the end (collective), then check that nothing was lost.

        Raises
        ------
        RoutingError
            On every rank: a rule chose an unwired port, a class that there is not, led a message on
            without end, or to another processor.
        ConservationError
            A message was lost or doubled, a channel carried more than a flit a step, or credits do
            not agree with buffers.
        """
        lanes = self.buffering.lanes(self.machine.topology.ports) * len(self._links.nodes)
        steps = max(1, min(AT_ONCE, LANES_AT_ONCE // max(1, lanes)))
        with Frame(self.machine, "traffic", self._fields, self._restore) as frame:
            while not self.ended:
                self.advance(steps)
                frame.boundary()
        check_messages(self)
        check_channels(self)
        return self

    @property
    def ended(self) -> bool:
        """Whether the run has come to its end."""
        return bool(self.ledger[layout.ENDED])

    def advance(self, steps: int) -> None:
        """Make up to so many steps; with several ranks one (collective)."""
        alone = self.machine.transport.size == 1
        before, moves = self.steps, int(self.ledger[layout.MOVES])
        self._advance(steps if alone else 1)
        made = self.steps - before
        if not made:
            return
        if not alone:
            self._late.append(self._exchanged())
            self._take_in(self._late.popleft())
        self.machine.count(int(self.ledger[layout.MOVES]) - moves, made)

    def _advance(self, steps: int) -> None:
        """Make up to so many steps of this rank (on busses one, which is collective)."""
        if self.machine.topology.links:
            self._call(steps)
            return
        ledger = self.ledger
        before = self.steps
        while not ledger[layout.CLAIMED]:
            self._call(1)
        settle(self.machine, self._busses, int(ledger[layout.CLAIMS]), before, self.limited)
        while self.steps == before:
            self._call(1)

    def _call(self, steps: int) -> None:
        """Make up to so many steps, or half of one, with room for what they need."""
        self._make_room(steps)
        shared = (self._links, self._rules, self._sources)
        rest = (self._busses, self.books, self._crossing, self.ledger, steps)
        first = (self._wiring, self._wayfinding, self.routing.start.native)
        if self.limited:
            classing = layout.Classing(self.classes.rule.native, self.classes.params)
            routing = self.routing
            candidates = routing.candidates or no_candidates
            adapting = layout.Adapting(
                candidates.native, routing.choose.native, routing.escape_classes
            )
            make_steps = advance_adaptive if routing.adaptive else advance
            state = (self._state, self._wires)
            make_steps(*first, classing, adapting, self._dead, *shared, *state, *rest)
        else:
            advance_unlimited(*first, self._dead, *shared, self._queues, *rest)
        if self.ledger[layout.WRONG]:
            self.machine.transport.fail(self._error())

    def _exchanged(self) -> Ints:
        """Send what left for other ranks; what came from them. Books the step of all ranks."""
        ledger, transport = self.ledger, self.machine.transport
        away = int(ledger[layout.AWAY])
        owners = self._crossing.owners[:away]
        counts = np.bincount(owners, minlength=transport.size)
        words = self._crossing.words[:away]
        if np.count_nonzero(counts) > 1:
            dealt = np.empty_like(words)
            hop.deal(words, owners, np.cumsum(counts) - counts, dealt)
            words = dealt
        word = int(ledger[layout.MOVED]) + (int(ledger[layout.OPEN]) << 32)
        exchanged = self.machine.exchange(words, counts, word)
        moved = exchanged.total & (1 << 32) - 1
        ledger[layout.OPEN_EVERYWHERE] = exchanged.total >> 32
        closed = ledger[layout.CLOSED] >= 0
        if moved:
            ledger[layout.QUIET] = 0
            if self.limited:
                ledger[layout.LAST_MOVE] = self.steps - 1
            return exchanged.records
        ledger[layout.QUIET] += 1
        if ledger[layout.QUIET] < self.buffering.link_delay:
            return exchanged.records
        if closed or (self.limited and self.machine.sum(int(ledger[layout.INSIDE]))[0]):
            ledger[layout.ENDED] = 1
        return exchanged.records

    def _take_in(self, words: Ints) -> None:
        """Let what other ranks have sent arrive."""
        if not len(words):
            return
        if self.limited:
            ports = self.machine.topology.ports
            take_in(words, self.routing.words, self._rules, ports, self._state, self.ledger)
        else:
            take_in_unlimited(words, self.routing.words, self._rules, self._queues, self.ledger)

    def _require_fitting(self) -> None:
        """Refuse what does not go together."""
        buffering, generation = self.buffering, self.generation
        name, count = self.classes.name, self.classes.count
        if self.routing.adaptive and not self.machine.topology.links:
            raise UsageError(
                f"{self.machine.topology.name} has busses: routing {self.routing.name} chooses "
                "among links."
            )
        if self.routing.adaptive and not self.limited:
            raise UsageError(
                f"Routing {self.routing.name} chooses by credits, which queues without limit do "
                "not have: give --buffers 1 or more."
            )
        if self.limited and buffering.vcs % count:
            whose = f"Routing {self.routing.name}" if name == "own" else name
            raise UsageError(
                f"{whose} has {count} classes, and each takes as many virtual channels: --vcs must "
                f"be a multiple of {count}, not {buffering.vcs}."
            )
        longest = generation.longest
        if self.limited and buffering.switching != "wormhole" and buffering.buffers < longest:
            raise UsageError(
                f"Switching {buffering.switching} keeps whole messages: buffers of "
                f"{buffering.buffers} flits are too small for messages of {longest}; give "
                f"--buffers {longest} or more."
            )
        most, ports = self.machine.placement.most, self.machine.topology.ports
        lanes = buffering.lanes(ports)
        if most * lanes * max(1, buffering.buffers) > SHORT_INTEGERS:
            raise UsageError(
                f"A rank holds up to 2^31 flits, and {most} nodes with {lanes} lanes of "
                f"{buffering.buffers} flits are more: use more ranks."
            )
        needed = buffering.needs(most, ports)
        require_memory(needed, f"Traffic on {self.machine.topology.name}")

    def _make_links(self) -> None:
        """The other ends of all links of hosted nodes."""
        machine, topology = self.machine, self.machine.topology
        nodes = np.ascontiguousarray(machine.nodes, np.int64)
        shape = (len(nodes), topology.ports)
        numbers = np.broadcast_to(nodes[:, np.newaxis], shape).ravel()
        ports = np.broadcast_to(np.arange(topology.ports), shape).ravel()
        far = np.atleast_1d(topology.neighbor(numbers, ports))
        wired = np.flatnonzero(far >= 0)
        owners = np.full(far.size, layout.NONE, np.int32)
        far_slots, far_ports = np.zeros((2, far.size), np.int32)
        there = np.ascontiguousarray(far[wired])
        owners[wired] = machine.placement.owners(there)
        split = machine.placement.split
        starts = np.array([start_of(rank, split) for rank in range(machine.transport.size)])
        far_slots[wired] = machine.placement.positions(there) - starts[owners[wired]]
        far_ports[wired] = topology.reverse_port(numbers[wired], ports[wired])
        self._links = layout.Links(nodes, far_slots, far_ports, owners)
        self._crossing_links = int((owners[wired] != machine.transport.rank).sum())
        self.wired_ports = len(wired)
        vcs = self.buffering.vcs if self.limited else 1
        self._busses = make_busses(machine, nodes, (topology.ports + 1) * vcs)
        self._wiring = hop.Wiring(topology.neighbor.native, topology.params)
        self._wayfinding = hop.Wayfinding(
            self.routing.decide.native, self.routing.params, self.routing.words
        )

    def _make_sources(self) -> None:
        nodes, generation = self._links.nodes, self.generation
        count = len(nodes)
        words = np.empty(count, np.uint32)
        prepare_dice(nodes, self.seed, words)
        rows, begins, self._births_most = self._hosted_rows()
        self._begins = begins[:-1]
        self._sources = layout.Sources(
            generation.target.native,
            generation.params,
            words,
            np.zeros(count, np.bool_),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            rows,
            self._begins.copy(),
            self._begins.copy(),
            begins[1:].copy(),
        )

    def _hosted_rows(self) -> tuple[Ints, Ints, int]:
        """A trace's rows (step, target, flits, number) by slot, and where each slot's begin.

        Behind the last slot's stands the end; then the most that are born here in one step.
        """
        nodes, rows = self._links.nodes, self.generation.rows
        if rows is None or len(rows) == 0:
            return np.empty((0, 4), np.int64), np.zeros(len(nodes) + 1, np.int64), len(nodes)
        slots = self.machine.slots(np.ascontiguousarray(rows[:, 1]))
        mine = np.flatnonzero((slots >= 0) & (slots < len(nodes)))
        mine = mine[np.argsort(slots[mine], kind="stable")]
        begins = np.searchsorted(slots[mine], np.arange(len(nodes) + 1))
        chosen = np.stack([rows[mine, 0], rows[mine, 2], rows[mine, 3], mine], axis=1)
        _, births = np.unique(rows[mine, 0], return_counts=True)
        return np.ascontiguousarray(chosen), begins, int(births.max(initial=0))

    def _make_rules(self) -> None:
        buffering, generation, window = self.buffering, self.generation, self.window
        rules = np.zeros(layout.RULES, np.int64)
        generating, on, off = generation.rate, 0.0, 0.0
        if generation.burst:
            generating, off = generation.burst_rate, 1 / generation.burst
            on = off * generation.rate / (generation.burst_rate - generation.rate)
        vcs = buffering.vcs if self.limited else 1
        margin = self._crossing_links
        margin += len(self._links.nodes) * vcs if self.limited else self._births_most
        transport = self.machine.transport
        for place, value in {
            layout.VCS: vcs,
            layout.VCS_OF_CLASS: vcs // self.classes.count if self.limited else 1,
            layout.CLASSES: self.classes.count,
            layout.BUFFER: buffering.buffers,
            layout.SWITCHING: layout.SWITCHINGS.index(buffering.switching),
            layout.POLICY: layout.POLICIES.index(buffering.policy),
            layout.ONE_INPUT: buffering.crossbar == "one",
            layout.ONE_EJECT: buffering.eject == "one",
            layout.DELAY: buffering.link_delay,
            layout.WARMUP: window.warmup,
            layout.WINDOW_END: window.warmup + window.steps,
            layout.LIMIT: window.warmup + window.steps + window.limit,
            layout.SEED: self.seed,
            layout.GENERATING: below(generating),
            layout.FLITS: generation.flits,
            layout.LONG_FLITS: generation.long_flits,
            layout.LONG_BELOW: below(generation.long_share),
            layout.BURSTY: generation.burst > 0,
            layout.ON_BELOW: below(on),
            layout.OFF_BELOW: below(off),
            layout.TRACED: generation.rows is not None,
            layout.HOSTS: self.machine.topology.hosts,
            layout.RANK: transport.rank,
            layout.RANKS: transport.size,
            layout.MARGIN: margin,
            layout.NUMBERED: self.routing.numbered,
        }.items():
            rules[place] = int(value)
        self._rules = rules

    def _make_state(self) -> None:
        nodes, ports = len(self._links.nodes), self.machine.topology.ports
        outputs = nodes * (ports + 1)
        messages = np.empty((0, self._words), np.int64)
        none = np.empty(0, np.int32)
        waiting = np.zeros(nodes, np.int64)
        if not self.limited:
            parts = -(-ports // layout.LANES_PER_WORD)
            self._queues = Queues(
                roots=np.full(nodes * ports, layout.NONE, np.int32),
                busy=np.zeros(nodes * ports, np.int64),
                occupied=np.zeros(nodes * parts, np.int64),
                waiting=waiting,
                left=none,
                right=none,
                due=np.full(self.generation.longest + 1, layout.NONE, np.int32),
                messages=messages,
                free=none,
            )
            return
        buffering = self.buffering
        vcs, buffers, delay = buffering.vcs, buffering.buffers, buffering.link_delay
        count = (ports + 1) * vcs
        parts = -(-count // layout.LANES_PER_WORD)
        lanes = np.zeros((nodes * count, layout.LANE_WORDS), np.int32)
        lanes[:, layout.OUT] = layout.UNDECIDED
        self._state = layout.State(
            lanes=lanes,
            ring=np.zeros(nodes * count * buffers, np.int32),
            occupied=np.zeros(nodes * parts, np.int64),
            credit=np.full(nodes * count, buffers, np.int32),
            holder=np.full(nodes * count, layout.NONE, np.int32),
            held=np.full(outputs, layout.NONE, np.int32),
            pointer=np.zeros(outputs, np.int32),
            waiting=waiting,
            flits=np.zeros(nodes, np.int64),
            messages=messages,
            free=none,
        )
        local = self.wired_ports - self._crossing_links
        flits, credits = (delay, local + 1), (delay, local * vcs + 1)
        self._wires = layout.Wires(
            np.zeros(flits, np.int32),
            np.zeros(flits, np.int32),
            np.zeros(flits, np.int32),
            np.zeros(credits, np.int32),
            np.zeros((delay, 2), np.int64),
        )

    def _make_books(self) -> None:
        nodes, ports, window = len(self._links.nodes), self.machine.topology.ports, self.window
        tenths = np.arange(layout.TENTHS)
        self.books = layout.Books(
            np.zeros(nodes * ports, np.uint32),
            np.zeros(nodes, np.int64),
            np.zeros(1, np.int64),
            window.warmup + window.steps * tenths // layout.TENTHS,
            np.zeros((layout.TENTHS, 2), np.int64),
        )
        vcs = self.buffering.vcs if self.limited else 0
        words = self._crossing_links * (1 + self._words + vcs)
        self._crossing = layout.Crossing(np.empty((words, 1), np.int64), np.empty(words, np.int32))

    def _make_room(self, steps: int) -> None:
        """Make room for messages if the last steps wanted it, and for latencies."""
        ledger = self.ledger
        longest = self.steps + steps + self.generation.longest + 1 - self.window.warmup
        if len(self.books.latencies) < longest:
            longer = np.zeros(2 * longest, np.int64)
            longer[: len(self.books.latencies)] = self.books.latencies
            self.books = self.books._replace(latencies=longer)
        if ledger[layout.FREE] >= self._rules[layout.MARGIN]:
            return
        ledger[layout.WANTS_ROOM] = 0
        of = self._state if self.limited else self._queues
        before = len(of.messages)
        more = before + 2 * int(self._rules[layout.MARGIN]) + 16
        require_memory(8 * self._words * (before + more), "The messages under way")
        messages = np.empty((before + more, self._words), np.int64)
        messages[:before] = of.messages
        free = np.empty(before + more, np.int32)
        there = int(ledger[layout.FREE])
        free[:there] = of.free[:there]
        free[there : there + more] = np.arange(before + more - 1, before - 1, -1)
        ledger[layout.FREE] += more
        if self.limited:
            self._state = self._state._replace(messages=messages, free=free)
            return
        left, right = np.empty((2, before + more), np.int32)
        left[:before], right[:before] = self._queues.left, self._queues.right
        self._queues = self._queues._replace(messages=messages, free=free, left=left, right=right)

    def _fields(self) -> Fields:
        """What a checkpoint between two steps holds."""
        machine, links = self.machine, self._links
        of = self._state if self.limited else self._queues
        fields = {
            **saved.counts(self.ledger, self.books),
            **saved.processors(
                machine, self._sources, self._begins, of.waiting, self.books, self._busses
            ),
        }
        if not self.limited:
            return {**fields, **saved.queues(machine, links, self._queues, self.ledger)}
        rest = self._rules, self._state, self._wires, self._late, self.steps
        return {**fields, **saved.lanes(machine, links, *rest)}

    def _restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `_fields` gave on any ranks."""
        machine, links, rules, ledger = self.machine, self._links, self._rules, self.ledger
        self.books = saved.restore_counts(ledger, self.books, found)
        of = self._state if self.limited else self._queues
        saved.restore_processors(
            self._sources, self._begins, of.waiting, self.books, self._busses, found
        )
        if self.limited:
            self._state, self._wires = saved.restore_lanes(
                machine, links, rules, self._state, found, ledger
            )
            return
        fifo = bool(rules[layout.POLICY] == layout.FIFO)
        self._queues = saved.restore_queues(machine, self._queues, fifo, found, ledger)

    def _error(self) -> RoutingError:
        what, node, port, number = self.ledger[layout.WRONG : layout.WRONG_NUMBER + 1].tolist()
        who = f"Step {self.steps}: routing {self.routing.name} on {self.machine.topology.name}"
        if what == layout.UNWIRED_PORT:
            return RoutingError(f"{who} chose port {port} of processor {node}, which is not wired.")
        if what == layout.NO_CLASS:
            return RoutingError(
                f"{who}: classes {self.classes.name} gave port {port} of processor {node} a class "
                f"that is not among 0..{self.classes.count - 1}."
            )
        if what == layout.NOT_OFFERED:
            return RoutingError(f"{who} chose what is not among processor {node}'s candidates.")
        if what == layout.ELSEWHERE:
            return RoutingError(f"{who} ended at processor {node} with a message for another.")
        return RoutingError(f"{who} does not come to an end: message {number} is at {node}.")

    @property
    def surplus(self) -> tuple[int, int]:
        """Credits and flits in this rank's buffers beyond their sizes; credits outside 0..B."""
        if not self.limited:
            return 0, 0
        credit, flits = self._state.credit, self._state.lanes[:, layout.FILLED]
        size = self.buffering.buffers
        surplus = int(credit.sum(dtype=np.int64) + flits.sum(dtype=np.int64)) - size * len(credit)
        return surplus, int(np.count_nonzero((credit < 0) | (credit > size)))

    def carried(self) -> Ints:
        """Flits over this rank's channels in the window; of busses all ranks' (collective).

        Where there are busses, rank 0 has them all, and the others have none.
        """
        machine = self.machine
        loads = self.books.loads.astype(np.int64)
        if machine.topology.links:
            return loads
        every = np.zeros(machine.topology.busses or 0, np.int64)
        wired = np.flatnonzero(self._busses.of_ports >= 0)
        np.add.at(every, self._busses.numbers[self._busses.of_ports[wired]], loads[wired])
        every = machine.transport.sum(every)
        return every if machine.transport.rank == 0 else every[:0]

    @property
    def waiting(self) -> int:
        """Messages on this rank that have not entered."""
        of = self._state if self.limited else self._queues
        return int(of.waiting.sum())

    @property
    def tails_inside(self) -> int:
        """Messages whose tail is in a lane of this rank, or in a slot whose head has left."""
        if not self.limited:
            return int(len(self._queues.messages) - self.ledger[layout.FREE]) - self.waiting
        state = self._state
        rules = self._rules
        return int(count_tails(
            state, int(rules[layout.VCS]), self.machine.topology.ports, int(rules[layout.BUFFER])
        ))  # fmt: skip

    def cycle(self) -> list[dict[str, Any]]:
        """The channels of a deadlock, each waiting for the next (collective); empty: there is none.

        Of each the node and the port that it leaves from, its virtual channel, and the source,
        the target and the birth of the message at the front of its buffer.
        """
        if not self.limited or not self.machine.sum(int(self.ledger[layout.INSIDE]))[0]:
            return []
        return waiting_cycle(self.machine, self._state, self._links, self._rules)
