"""A run of open-loop traffic: warm-up, window, closing; the same on any number of ranks.

The file is long because one class is: its first half makes the steps, its second the arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.compiled import kernel
from mpinet.draws import below, dice
from mpinet.errors import RoutingError, UsageError
from mpinet.machine import hop
from mpinet.machine.faults import Faults
from mpinet.machine.machine import Machine
from mpinet.machine.placement import start_of
from mpinet.machine.state import Fields, Frame
from mpinet.machine.timed.layout import NEVER
from mpinet.machine.traffic import layout, saved
from mpinet.machine.traffic.arriving import take_in, take_in_unlimited
from mpinet.machine.traffic.choice import tell_queues
from mpinet.machine.traffic.conservation import check_channels, check_messages, count_tails
from mpinet.machine.traffic.deadlock import waiting_cycle
from mpinet.machine.traffic.intervals import Intervals
from mpinet.machine.traffic.parameters import SHORT_INTEGERS, Buffering, Generation, Window
from mpinet.machine.traffic.played import Played
from mpinet.machine.traffic.sharing import make_busses, settle
from mpinet.machine.traffic.step import (
    advance,
    advance_adaptive,
    advance_detailed,
    advance_detailed_adaptive,
    advance_unlimited,
)
from mpinet.networks.adaptive import ALL_QUEUES, no_candidates, words_seen
from mpinet.networks.bubble import BUBBLE, onward_ports
from mpinet.networks.classes import ChannelClasses
from mpinet.networks.routing import Routing, hop_limit

AT_ONCE = 4096
"""Most steps that a run on one rank makes in one call of the kernel."""

LANES_AT_ONCE = 1 << 22
"""Most lanes that such a call visits, unless one step has more: about a tenth of a second."""


@kernel
def prepare_dice(nodes: layout.Nodes, seed: int) -> None:
    """Write the random words from which these processors draw their births."""
    for i in range(nodes.size):
        nodes[i].dice = np.uint32(dice(seed, nodes[i].number, layout.GENERATE_STREAM))


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
        Buffers and switches.
    generation : Generation
        Targets, rate and lengths of the messages that processors generate.
    window : Window
        Steps of the warm-up, of the window, and of the wait for its messages.
    seed : int
        Seed of the draws.
    faults : Faults, optional
        Dead nodes and links.

    Raises
    ------
    UsageError
        Options contradict each other; the sentence says which values go together.
    TooLarge
        The machine does not fit into memory.
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
        self.detailed = buffering.is_detailed or classes.name == BUBBLE
        self._require_fitting()
        self.ledger = layout.Ledger.counted()
        self.ledger.closed = self.ledger.last_move = -1
        self._since = window.warmup  # no message that is under way was born before it
        self.played: Played | None = None
        self._make_links()
        self._make_sources()
        self._make_rules()
        self.ledger.quiet = self._rules.quiet
        self._make_routes()
        self._make_state()
        self._make_books()
        self.intervals = Intervals(machine, window, self.books.loads) if window.interval else None

    @property
    def steps(self) -> int:
        """Steps made."""
        return self.ledger.now

    def run(self) -> OpenLoop:
        """Make steps to the end (collective), then check that nothing was lost.

        Raises
        ------
        RoutingError
            On every rank: a rule chose an unwired port or an unknown class, or led a message on
            without end or to a wrong processor.
        ConservationError
            A message was lost or doubled, a channel carried more than a flit a step, or credits do
            not agree with buffers.
        """
        lanes = self.buffering.lanes(self.machine.topology.ports) * len(self._nodes)
        steps = max(1, min(AT_ONCE, LANES_AT_ONCE // max(1, lanes)))
        with Frame(self.machine, "traffic", self._fields, self._restore) as frame:
            while not self.ended:
                self.advance(steps)
                frame.boundary()
        check_messages(self.machine, self.ledger, self.tails_inside + self.waiting)
        size = self.buffering.buffers
        check_channels(self.machine, self.carried(), self.window.steps, self.surplus, size)
        return self

    @property
    def ended(self) -> bool:
        """True if the run is over."""
        return self.ledger.ended != 0

    def advance(self, steps: int) -> None:
        """Make up to `steps` steps; with several ranks one (collective)."""
        alone = self.machine.transport.size == 1
        before, moves = self.steps, self.ledger.moves
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
        """Go to the next step in which a calc begins or ends, if nothing moves (collective).

        Without any the run is over. Returns the steps that are passed over.
        """
        ledger = self.ledger
        if ledger.quiet < self._rules.quiet:
            return 0
        coming = -self.machine.max(-played.next)[0]
        if coming == NEVER:
            # What is open waits for what does not come; with nothing open the sources close.
            ledger.ended = int(ledger.open_everywhere > 0)
            return 0
        if coming >= int(self._rules.limit):
            raise UsageError(
                f"{played.program.name} takes {coming} steps or more; a run has up to "
                f"{self._rules.limit}: let a step be more of its units."
            )
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
            if ledger.claimed:
                settle(self.machine, self._busses, ledger.claims)
            # The second half of this step and the first one of the next are one call.
            self._call(min(2, end - self.steps))

    def _call(self, steps: int) -> None:
        """Call the kernel for at most `steps` steps (on busses to the claims); make room first."""
        if self.played is not None:
            self._hear_tails(self.played)
            steps = max(1, min(steps, self.played.next - self.steps))
        self._make_room(steps)
        if self.routing.sees == ALL_QUEUES and self.machine.transport.size > 1:
            self._tell_queues()
        detailed = self.detailed
        make_steps = advance_detailed if detailed else advance
        if self.routing.adaptive:
            make_steps = advance_detailed_adaptive if detailed else advance_adaptive
        if not self.limited:
            make_steps = advance_unlimited
        make_steps(
            self._routes, self._rules, self._sources, self._state, self._wires, self._busses,
            self._bidding, self.books, self._crossing, self.ledger.record, steps,
        )  # fmt: skip
        self._require_right()

    def _hear_tails(self, played: Played) -> None:
        """Let the program's operations know of the last step, unless one is half done."""
        if not self.ledger.claimed:
            played.go_on(self.ledger, self.books.noted[: self.ledger.noted])
            self.ledger.noted = 0

    def _tell_queues(self) -> None:
        """Tell each rank the queues of all nodes (collective)."""
        seen, told = self._bidding.seen, int(self._rules.told)
        seen[:told] = 0
        tell_queues(self._rules, self._state, seen)
        seen[:told] = self.machine.transport.sum(seen[:told])

    def _exchanged(self) -> Ints:
        """Exchange a step's words with the other ranks; return those that came.

        Two totals over all ranks ride along in one integer: the ranks on which anything moves,
        and the open messages in units of one more than there are ranks. They decide on every rank
        alike whether the run is over.
        """
        ledger, transport = self.ledger, self.machine.transport
        unit = transport.size + 1
        away = ledger.away
        owners = self._crossing.owners[:away]
        counts = np.bincount(owners, minlength=transport.size)
        words = self._crossing.words[:away]
        if np.count_nonzero(counts) > 1:
            dealt = np.empty_like(words)
            hop.deal(words, owners, np.cumsum(counts) - counts, dealt)
            words = dealt
        exchanged = self.machine.exchange(words, counts, ledger.moving + unit * ledger.open_told)
        ledger.open_everywhere, moving = divmod(exchanged.total, unit)
        ledger.quiet = 0 if moving else ledger.quiet + 1
        if ledger.quiet >= self._rules.quiet and (
            ledger.closed >= 0 or self.machine.sum(ledger.inside)[0]
        ):
            ledger.ended = 1
        return exchanged.records

    def _take_in(self, words: Ints) -> None:
        """Take in flits and credits of other ranks."""
        if not len(words):
            return
        take = take_in if self.limited else take_in_unlimited
        take(
            words, self._routes, self._rules, self._state, self._wires, self.books,
            self.ledger.record,
        )  # fmt: skip
        self._require_right()

    def _require_fitting(self) -> None:
        """Refuse options that contradict each other, and machines that are too large."""
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
        if generation.is_closed:
            self._require_closed()
        if name == BUBBLE:
            self._require_whole()
        if not self.machine.topology.links and (
            buffering.queue or buffering.policy not in layout.POLICIES[: layout.ROTATING + 1]
        ):
            raise UsageError(
                f"{self.machine.topology.name} has busses: --output-queue, and policies other than "
                "rotating, oldest and fifo, are for links."
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

    def _require_whole(self) -> None:
        """Refuse what may fill a ring in spite of a bubble."""
        generation, buffering = self.generation, self.buffering
        if not self.limited or buffering.switching == "wormhole":
            raise UsageError(
                "--classes bubble counts room for whole messages: give --switching vct or saf, and "
                "buffers."
            )
        if generation.longest != generation.shortest:
            raise UsageError(
                "--classes bubble needs messages of one length: others may fill a ring bit by bit."
            )
        if buffering.buffers < 2 * generation.longest:
            raise UsageError(
                f"With --classes bubble a message enters where there is room for two: give "
                f"--buffers {2 * generation.longest} or more, not {buffering.buffers}."
            )

    def _require_closed(self) -> None:
        """Refuse what does not go with replies or phases."""
        generation = self.generation
        if not self.limited:
            raise UsageError("Replies, phases and programs go with --buffers 1 or more.")
        if generation.rows is not None and not generation.program:
            raise UsageError("Replies and phases go with patterns: a trace has its steps.")
        if generation.reply_flits and self.faults:
            raise UsageError(
                "Requests that dead nodes or links keep from their targets have no reply: give "
                "--replies or --faults, not both."
            )

    def _make_links(self) -> None:
        """Make the hosted nodes, and the table of the other ends of their links."""
        machine, topology = self.machine, self.machine.topology
        self._nodes = layout.Node.array(machine.placement.count)
        self._nodes["number"] = machine.nodes
        self._nodes["posted"] = layout.NONE
        shape = (len(self._nodes), topology.ports)
        numbers = np.broadcast_to(machine.nodes[:, np.newaxis], shape).ravel()
        ports = np.broadcast_to(np.arange(topology.ports), shape).ravel()
        far = np.atleast_1d(topology.neighbor(numbers, ports))
        wired = np.flatnonzero(far >= 0)
        there = np.ascontiguousarray(far[wired])
        owners = machine.placement.owners(there)
        split = machine.placement.split
        starts = np.array([start_of(rank, split) for rank in range(machine.transport.size)])
        slots = machine.placement.positions(there) - starts[owners]
        back = topology.reverse_port(numbers[wired], ports[wired])
        self._links = layout.Link.array(far.size)
        self._links["owner"] = layout.NONE
        self._links["owner"][wired], self._links["slot"][wired] = owners, slots
        # Unlimited queues ignore the lane by which a message arrives.
        vcs = self.buffering.vcs if self.limited else 1
        self._links["lane"][wired] = (slots * (topology.ports + 1) + back) * vcs
        self._make_sides(wired, (numbers[wired], ports[wired]), (there, back))
        self._crossing_links = int((owners != machine.transport.rank).sum())
        self.wired_ports = len(wired)
        self._busses = make_busses(machine)

    def _make_sides(self, wired: Ints, *ends: tuple[Ints, Ints]) -> None:
        """Make what is known of wired ports, with nodes and ports at both ends of their links."""
        buffering, many = self.buffering, self.machine.topology.ports + 1
        self._sides = layout.Side.array(len(self._nodes) * many if self.detailed else 0)
        if self.detailed:
            classes = (np.atleast_1d(self.machine.topology.link_class(*each)) for each in ends)
            flight, way_back = map(buffering.delays, classes)
            rows = wired + wired // (many - 1)
            onward = onward_ports(self.machine.topology, self.machine.nodes)
            self._sides["onward"][rows] = onward.ravel()[wired]
            self._sides["flight"][rows] = flight + buffering.router_delay
            self._sides["back"][rows] = way_back

    def _make_sources(self) -> None:
        """Make the sources' draws, or their rows of the trace."""
        nodes, generation = self._nodes, self.generation
        prepare_dice(nodes, self.seed)
        if generation.program is not None:
            self.played = Played(self.machine, generation.program, nodes)
            rows = self.played.trace
            self.ledger.open, self.ledger.open_everywhere = self.played.part.operations, 1
        else:
            rows, begins = self._hosted_rows()
            nodes["begin"] = nodes["next_born"] = nodes["next_taken"] = begins[:-1]
            nodes["end"] = begins[1:]
        self._sources = layout.Sources(generation.target.native, generation.params, rows)

    def _make_routes(self) -> None:
        """Put together the rules of network, routing and classes as kernels call them."""
        routing, neighbor = self.routing, self.machine.topology.neighbor
        candidates = routing.candidates or no_candidates
        self._routes = layout.Routes(
            neighbor.native,
            self.machine.topology.params,
            routing.decide.native,
            routing.start.native,
            routing.params,
            routing.words,
            self.classes.rule.native,
            self.classes.params,
            candidates.native,
            routing.choose.native,
            routing.escape_classes,
            *self._dead,
        )

    def _hosted_rows(self) -> tuple[Ints, Ints]:
        """Return the trace's rows (step, target, flits, number) by slot, and each slot's first row.

        The list of first rows ends with the number of rows.
        """
        nodes, rows = self.machine.nodes, self.generation.rows
        if rows is None or len(rows) == 0:
            return np.empty((0, 4), np.int64), np.zeros(len(nodes) + 1, np.int64)
        slots = self.machine.slots(np.ascontiguousarray(rows[:, 1]))
        mine = np.flatnonzero((slots >= 0) & (slots < len(nodes)))
        mine = mine[np.argsort(slots[mine], kind="stable")]
        begins = np.searchsorted(slots[mine], np.arange(len(nodes) + 1))
        chosen = np.stack([rows[mine, 0], rows[mine, 2], rows[mine, 3], mine], axis=1)
        return np.ascontiguousarray(chosen), begins

    def _margin(self) -> int:
        """Most messages that a step can add: those generated here, and those that arrive."""
        made = len(self._nodes) * (self.buffering.vcs if self.limited else 1)
        if not self.limited and self.generation.rows is not None:
            _, births = np.unique(self._sources.trace[:, 0], return_counts=True)
            made = int(births.max(initial=0))
        return self._crossing_links + made

    def _make_rules(self) -> None:
        """Write the constants of the run into the record that kernels read."""
        buffering, generation, window = self.buffering, self.generation, self.window
        topology, transport = self.machine.topology, self.machine.transport
        generating, on, off = generation.rate, 0.0, 0.0
        if generation.burst:
            generating, off = generation.burst_rate, 1 / generation.burst
            on = off * generation.rate / (generation.burst_rate - generation.rate)
        vcs = buffering.vcs if self.limited else 1
        self._room = self._margin()
        lanes = buffering.lanes(topology.ports)
        rules = self._rules = layout.Rules.one()
        for name, value in {
            "nodes": topology.size,
            "ports": topology.ports,
            "hosts": topology.hosts,
            "hops_most": hop_limit(topology.size),
            "rank": transport.rank,
            "ranks": transport.size,
            "margin": self._room,
            "vcs": vcs,
            "vcs_of_class": vcs // self.classes.count if self.limited else 1,
            "classes": self.classes.count,
            "lanes": lanes,
            "words": -(-lanes // layout.LANES_PER_WORD),
            "buffer": buffering.buffers,
            "switching": layout.SWITCHINGS.index(buffering.switching),
            "policy": layout.POLICIES.index(buffering.policy),
            "one_input": buffering.crossbar == "one",
            "one_eject": buffering.eject == "one",
            "keeps": buffering.switching != "wormhole" and buffering.queue == 0,
            "inputs": buffering.inputs,
            "at_once": buffering.at_once or buffering.queue + 1,
            "queue": buffering.queue,
            "iterations": buffering.iterations,
            "bubble": self.classes.name == BUBBLE,
            "delay": buffering.longest_flight,
            "quiet": buffering.longest_flight,
            "router_delay": buffering.router_delay,
            "warmup": window.warmup,
            "window_end": window.warmup + window.steps,
            "limit": window.warmup + window.steps + window.limit,
            "seed": self.seed,
            "generating": below(generating),
            "flits": generation.flits,
            "long_flits": generation.long_flits,
            "long_below": below(generation.long_share),
            "bursty": generation.burst > 0,
            "on_below": below(on),
            "off_below": below(off),
            "traced": not generation.is_drawn,
            "numbered": self.routing.numbered,
            "sees": self.routing.sees,
            "told": words_seen(self.routing.sees, topology.size, topology.ports),
            "replying": generation.reply_flits > 0,
            "reply_flits": generation.reply_flits,
            "service": generation.service,
            "outstanding": generation.outstanding,
            "batch": generation.batch,
            "phases": generation.phases,
            "programmed": generation.program is not None,
        }.items():
            setattr(rules, name, value)

    def _make_state(self) -> None:
        """Allocate lanes or queues, channels, wires and bids; messages come with `_make_room`."""
        nodes, rules, limited = len(self._nodes), self._rules, self.limited
        every, delay = nodes * int(rules.lanes), int(rules.delay)
        lanes = every if limited else 0
        self._state = state = layout.State(
            nodes=self._nodes,
            occupied=np.zeros(nodes * int(rules.words), np.int64),
            lanes=layout.Lane.array(lanes),
            ring=np.zeros(lanes * self.buffering.buffers, np.int32),
            channels=layout.Channel.array(lanes),
            queues=layout.Queue.array(every - lanes),
            outputs=layout.Output.array(nodes * (int(rules.ports) + 1) if limited else 0),
            links=self._links,
            sides=self._sides,
            messages=layout.Message.array(0),
            headers=np.empty((0, self.routing.words), np.int64),
            free=np.empty(0, np.int32),
            due=np.full(self.generation.longest + 1, layout.NONE, np.int32),
        )
        state.lanes["out"] = layout.UNDECIDED
        state.queues["root"] = layout.NONE
        state.channels["credit"] = self.buffering.buffers
        state.channels["holder"] = state.outputs["keeper"] = layout.NONE
        # What comes from other ranks and arrives at once is on no wire.
        wired = self.wired_ports - (self._crossing_links if delay == 1 else 0)
        self._wires = saved.wires(wired if limited else 0, delay, int(rules.vcs))
        bids = every
        seen = int(rules.told + rules.ports * rules.classes)
        require_memory(8 * seen, f"What routing {self.routing.name} sees")
        self._bidding = layout.Bidding(
            layout.Bid.array(bids), np.empty(bids, np.int32), np.zeros(seen, np.int64)
        )

    def _make_books(self) -> None:
        """Allocate the books, and the words of one step for other ranks."""
        window = self.window
        self.books = layout.Books(
            np.zeros(len(self._links), np.uint32),
            np.zeros((max(1, len(self.generation.kinds)), 1), np.int64),
            np.zeros(self.generation.phases, np.int64),
            np.zeros((window.parts, 2), np.int64),
            np.empty((2 * len(self._bidding.bids) if self.played else 0, 3), np.int64),
        )
        vcs = self.buffering.vcs if self.limited else 0
        message = 1 + layout.MESSAGE_WORDS + self.routing.words
        words = self._crossing_links * (message + vcs)
        self._crossing = layout.Crossing(np.empty((words, 1), np.int64), np.empty(words, np.int32))

    def _make_room(self, steps: int) -> None:
        """Grow the messages if fewer are free than a step can need, and the latencies."""
        ledger = self.ledger
        longest = self.steps + steps + self.generation.longest + 1 - self._since
        kinds, before = self.books.latencies.shape
        if before < longest:
            longer = np.zeros((kinds, 2 * longest), np.int64)
            longer[:, :before] = self.books.latencies
            self.books = self.books._replace(latencies=longer)
        if ledger.free >= self._room:
            return
        ledger.wants_room = 0
        state, before, there = self._state, len(self._state.messages), ledger.free
        more = before + 2 * self._room + 16
        words = layout.Message.dtype.itemsize + 8 * self.routing.words + 4
        require_memory(words * (before + more), "The messages under way")
        messages = layout.Message.array(before + more)
        headers = np.empty((before + more, self.routing.words), np.int64)
        free = np.empty(before + more, np.int32)
        messages[:before], headers[:before] = state.messages, state.headers
        free[:there] = state.free[:there]
        free[there : there + more] = np.arange(before + more - 1, before - 1, -1)
        ledger.free += more
        self._state = state._replace(messages=messages, headers=headers, free=free)

    def _fields(self) -> Fields:
        """Return the fields of a checkpoint between two steps."""
        machine, state, rules = self.machine, self._state, self._rules
        if self.played is not None:
            self._hear_tails(self.played)
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
        """Take up the state from the fields that `_fields` gave, on any number of ranks."""
        machine, rules, ledger = self.machine, self._rules, self.ledger
        self.books = saved.restore_counts(ledger, self.books, found)
        saved.restore_processors(self._state, self.books, self._busses, found)
        if self.intervals is not None:
            self.intervals.restore(found)
        if self.played is not None:
            self._since = found["since"]
            self.played.restore(found)
        if self.limited:
            self._state, self._wires = saved.restore_lanes(
                machine, rules, self._state, found, ledger
            )
        else:
            self._state = saved.restore_queues(machine, rules, self._state, found, ledger)

    def _require_right(self) -> None:
        """Raise a rule's error, if the last step noted one, on every rank."""
        if self.ledger.wrong:
            self.machine.transport.fail(self._error())

    def _error(self) -> RoutingError:
        """Make the sentence on the error that the ledger holds."""
        ledger = self.ledger
        what, node, port = ledger.wrong, ledger.wrong_node, ledger.wrong_port
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
        return RoutingError(
            f"{who} does not come to an end: message {ledger.wrong_number} is at {node}."
        )

    @property
    def surplus(self) -> tuple[int, int]:
        """Credits and flits beyond this rank's buffer sizes, and credits outside 0..B."""
        if not self.limited:
            return 0, 0
        credit, flits = self._state.channels["credit"], self._state.lanes["filled"]
        size = self.buffering.buffers
        surplus = int(credit.sum(dtype=np.int64) + flits.sum(dtype=np.int64)) - size * len(credit)
        return surplus, int(np.count_nonzero((credit < 0) | (credit > size)))

    def carried(self) -> Ints:
        """Flits over each of this rank's channels in the window (collective on busses).

        The totals of busses are on rank 0; the other ranks return an empty array.
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
        """Messages that wait at the source of this rank with the longest queue."""
        return int(self._nodes["waiting"].max(initial=0))

    @property
    def entered(self) -> Ints:
        """Flits that entered in the window, by processor of this rank."""
        entered: Ints = self._nodes["entered"]
        return entered

    @property
    def tails_inside(self) -> int:
        """Messages whose tail is in a lane of this rank, or in a slot that their head has left."""
        if not self.limited:
            return int(len(self._state.messages) - self.ledger.free) - self.waiting
        return int(count_tails(self._rules, self._state))

    def cycle(self) -> list[dict[str, Any]]:
        """Return the channels of a deadlock, each waiting for the next (collective); else none.

        Each has its sending node and port, its virtual channel, and the source, target and birth
        of the message at the front of its buffer.
        """
        if not self.limited or not self.machine.sum(self.ledger.inside)[0]:
            return []
        return waiting_cycle(self.machine, self._state, self._rules)
