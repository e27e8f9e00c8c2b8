"""Tables of a run of open-loop traffic: links, sources, rules, state and books of hosted nodes."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.blame import is_own
from mpinet.base.memory import require_memory
from mpinet.base.records import lined, longer
from mpinet.compiled import kernel
from mpinet.draws import below, dice
from mpinet.errors import UsageError
from mpinet.machine.faults import Faults
from mpinet.machine.machine import Machine
from mpinet.machine.placement import start_of
from mpinet.machine.traffic import layout, saved
from mpinet.machine.traffic.bus_arbitration import make_busses
from mpinet.machine.traffic.failing import Failing
from mpinet.machine.traffic.intervals import Intervals
from mpinet.machine.traffic.parameters import SHORT_INTEGERS, Buffering, Generation, Window
from mpinet.machine.traffic.played import Played
from mpinet.machine.traffic.route_computation import KNOWN
from mpinet.networks.adaptive import no_candidates, words_seen
from mpinet.networks.bubble import BUBBLE, onward_ports
from mpinet.networks.classes import ChannelClasses, one_class
from mpinet.networks.routing import Routing, hop_limit, target_only

# Four megabytes: a cache miss in a larger table costs as much as most rules.
MOST_WAYS = 1 << 22
"""Largest size of a rank's table of decisions, one byte each; larger tables do not fit into the
cache.
"""


@kernel
def prepare_dice(nodes: layout.Nodes, seed: int) -> None:
    """Write the random words from which these processors draw their births."""
    for i in range(nodes.size):
        nodes[i].dice = np.uint32(dice(seed, nodes[i].number, layout.GENERATE_STREAM))


class Tables:
    """Tables of open-loop traffic on a machine, and checks for incompatible options.

    Parameters
    ----------
    machine : Machine
        The processors and their ranks.
    routing : Routing
        The nodes' decisions.
    classes : ChannelClasses
        The classes of channels, with a known count.
    buffering : Buffering
        Buffers and switches.
    generation : Generation
        Targets, rate and lengths of the generated messages.
    window : Window
        Steps of the warm-up, of the window, and of the wait for its messages.
    seed : int
        Seed of the draws.
    faults : Faults, optional
        Dead nodes and links.

    Raises
    ------
    UsageError
        Options contradict each other; the message states compatible values.
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
        self._dead = self.faults.at(-1)
        self.routing = routing.around(*self._dead)
        self.failing: Failing | None = None
        self.classes = classes
        self.limited = buffering.buffers > 0
        self.bubble = classes.name == BUBBLE or self.routing.bubble
        self.detailed = buffering.is_detailed or self.bubble or generation.priorities > 1
        self._require_fitting()
        if self.faults.changes:
            self._require_passing()
            self.failing = Failing(machine, self.faults, routing)
        self.ledger = layout.TrafficLedger.counted()
        self.ledger.closed = self.ledger.last_move = -1
        self._since = window.warmup  # earliest possible birth of a message in flight
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
        """Number of steps so far."""
        return self.ledger.now

    def _require_fitting(self) -> None:
        """Raise if options contradict each other, or the machine is too large."""
        buffering, generation = self.buffering, self.generation
        count = self.classes.count * generation.priorities
        if generation.bounds:
            self._require_priority()
        if self.routing.adaptive and not self.machine.topology.links:
            raise UsageError(
                f"{self.machine.topology.name} has busses; routing {self.routing.name} needs links."
            )
        if self.routing.adaptive and not self.limited:
            raise UsageError(
                f"Routing {self.routing.name} chooses by credits, but queues without limit have no "
                "credits: give --buffers 1 or more."
            )
        if self.limited and buffering.vcs % count:
            raise UsageError(
                f"{self._divisions}: --vcs must be a multiple of {count}, not {buffering.vcs}."
            )
        if generation.is_closed:
            self._require_closed()
        if self.bubble:
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

    @property
    def _divisions(self) -> str:
        """Return the reasons for dividing the virtual channels of a link, as half a sentence."""
        of_a_link, divided = "the virtual channels of a link", []
        if self.generation.priorities > 1:
            divided.append(f"{self.generation.priorities} priorities share {of_a_link}")
        if self.classes.count > 1:
            name, what = self.classes.name, "each part" if divided else of_a_link
            who = f"routing {self.routing.name}" if name == "own" else f"--classes {name}"
            divided.append(f"{who} divides {what} into {self.classes.count} classes")
        said = ", and ".join(divided)
        return said[0].upper() + said[1:]

    @property
    def _bubbles(self) -> str:
        """Return the option for rings with a bubble."""
        own = self.routing.bubble
        return f"--routing {self.routing.name}" if own else f"--classes {BUBBLE}"

    def _require_whole(self) -> None:
        """Raise if an option could fill a ring in spite of its bubble."""
        generation, buffering = self.generation, self.buffering
        if not self.limited or buffering.switching == "wormhole":
            raise UsageError(
                f"{self._bubbles} needs room for whole messages: give --switching vct or saf, and "
                "--buffers 1 or more."
            )
        if generation.longest != generation.shortest:
            raise UsageError(
                f"{self._bubbles} needs messages of one length: different lengths may fill a ring."
            )
        if buffering.buffers < 2 * generation.longest:
            raise UsageError(
                f"With {self._bubbles} a message needs room for two to enter a ring: give "
                f"--buffers {2 * generation.longest} or more, not {buffering.buffers}."
            )

    def _require_priority(self) -> None:
        """Raise if an option is incompatible with priorities."""
        if not self.limited or not self.machine.topology.links:
            raise UsageError("--priority is for links, not busses, and for --buffers 1 or more.")
        if self.generation.reply_flits or self.generation.long_flits:
            raise UsageError("--priority goes with messages of one length, without --replies.")

    def _require_passing(self) -> None:
        """Raise if an option is incompatible with faults that begin in a step."""
        if not self.limited:
            raise UsageError("--faults with steps are for --buffers 1 or more.")
        program = self.generation.program
        busy = np.flatnonzero(np.diff(program.first)) if program else np.empty(0, np.int64)
        dying = [node for node in self.faults.passing_nodes if node in busy]
        if dying:
            raise UsageError(
                f"--faults: processor {dying[0]} has operations of the program and must not die at "
                "a step. Use faults of links (link:U-V@FROM), or of processors without operations."
            )

    def _require_closed(self) -> None:
        """Raise if an option is incompatible with replies or phases."""
        generation = self.generation
        if not self.limited:
            raise UsageError("Replies, phases and programs go with --buffers 1 or more.")
        if generation.rows is not None and not generation.program:
            raise UsageError("Replies and phases need a pattern: the steps of a trace are fixed.")
        if generation.outstanding and self.faults:
            raise UsageError(
                "With --outstanding, a source would wait forever for the reply to a request lost "
                "by a fault: give --faults or --outstanding, not both."
            )

    def _make_links(self) -> None:
        """Make the hosted nodes, and the table of the other ends of their links."""
        machine, topology = self.machine, self.machine.topology
        self._nodes = layout.MessageSource.array(machine.placement.count)
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
        # The position of the other end is computed here, once: no step needs a rule or another rank
        # for this.
        slots = machine.placement.positions(there) - starts[owners]
        back = topology.reverse_port(numbers[wired], ports[wired])
        self._links = layout.Link.array(far.size)
        self._links["owner"] = layout.NONE
        self._links["owner"][wired], self._links["slot"][wired] = owners, slots
        # Unlimited queues ignore the lane of an arriving message.
        vcs = self.buffering.vcs if self.limited else 1
        self._links["lane"][wired] = (slots * (topology.ports + 1) + back) * vcs
        self._make_sides(wired, (numbers[wired], ports[wired]), (there, back))
        self._crossing_links = int((owners != machine.transport.rank).sum())
        self.wired_ports = len(wired)
        self._busses = make_busses(machine)

    def _make_sides(self, wired: Ints, *ends: tuple[Ints, Ints]) -> None:
        """Make the `Side` records of wired ports, from nodes and ports at both ends of links."""
        buffering, many = self.buffering, self.machine.topology.ports + 1
        self._sides = layout.Side.array(len(self._nodes) * many if self.detailed else 0)
        if self.detailed:
            flight, way_back = (buffering.delays(self.machine.topology, *each) for each in ends)
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
        """Combine the rules of network, routing and classes in the form for kernels."""
        routing, neighbor = self.routing, self.machine.topology.neighbor
        candidates = routing.candidates or no_candidates
        self._routes = layout.RoutingRules(
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
            np.zeros(self._known_ways, np.uint8),
        )

    @property
    def _known_ways(self) -> int:
        """Return the size of the table of known decisions; 0 without a table.

        There is no table for users' rules, which may read further state, for faults, which change
        the ways, and for large machines.
        """
        routing, topology = self.routing, self.machine.topology
        size = len(self._nodes) * topology.size
        # Only functions of node and target may be remembered. Headers that change on the way
        # exclude this.
        fixed = routing.stateless and routing.start is target_only and not routing.adaptive
        if not fixed or self.faults or is_own(routing.decide.function):
            return 0
        return size if size <= MOST_WAYS and topology.ports + KNOWN <= 255 else 0

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
        """Return the largest number of messages added in a step: generated here, or arriving."""
        made = len(self._nodes) * (self.buffering.vcs if self.limited else 1)
        if not self.limited and self.generation.rows is not None:
            _, births = np.unique(self._sources.trace[:, 0], return_counts=True)
            made = int(births.max(initial=0))
        return self._crossing_links + made

    def _per_class(self, vcs: int) -> int:
        """Return the virtual channels per class, for messages of one priority."""
        if not self.limited:
            return 1
        return vcs // (self.classes.count * self.generation.priorities)

    def _make_rules(self) -> None:
        """Write the constants of the run into the record for kernels."""
        buffering, generation, window = self.buffering, self.generation, self.window
        topology, transport = self.machine.topology, self.machine.transport
        # Rates become thresholds for 32-bit draws: comparisons of integers give the same births on
        # every host.
        generating, on, off = generation.rate, 0.0, 0.0
        if generation.burst:
            generating, off = generation.burst_rate, 1 / generation.burst
            on = off * generation.rate / (generation.burst_rate - generation.rate)
        vcs = buffering.vcs if self.limited else 1
        self._room = self._margin()
        lanes = buffering.lanes(topology.ports)
        rules = self._rules = layout.TrafficConstants.one()
        rules.nodes = topology.size
        rules.ports = topology.ports
        rules.hosts = topology.hosts
        rules.hops_most = hop_limit(topology.size)
        rules.rank = transport.rank
        rules.ranks = transport.size
        rules.margin = self._room
        rules.vcs = vcs
        rules.vcs_of_class = self._per_class(vcs)
        rules.classes = self.classes.count
        rules.classed = self.classes.rule is not one_class
        rules.lanes = lanes
        rules.words = -(-lanes // layout.LANES_PER_WORD)
        rules.buffer = buffering.buffers
        rules.switching = layout.SWITCHINGS.index(buffering.switching)
        rules.policy = layout.POLICIES.index(buffering.policy)
        rules.one_input = buffering.crossbar == "one"
        rules.one_eject = buffering.eject == "one"
        rules.keeps = buffering.switching != "wormhole" and buffering.queue == 0
        rules.inputs = buffering.inputs
        rules.at_once = buffering.at_once or buffering.queue + 1
        rules.queue = buffering.queue
        rules.iterations = buffering.iterations
        rules.bubble = self.bubble
        rules.delay = buffering.longest_flight
        rules.quiet = buffering.longest_flight
        rules.router_delay = buffering.router_delay
        rules.warmup = window.warmup
        rules.window_end = window.warmup + window.steps
        rules.limit = window.warmup + window.steps + window.limit
        rules.seed = self.seed
        rules.generating = below(generating)
        rules.flits = generation.flits
        rules.long_flits = generation.long_flits
        rules.long_below = below(generation.long_share)
        rules.bursty = generation.burst > 0
        rules.on_below = below(on)
        rules.off_below = below(off)
        rules.traced = not generation.is_drawn
        rules.numbered = self.routing.numbered
        rules.sees = self.routing.sees
        rules.eager = self.routing.is_eager and not self.faults
        rules.told = words_seen(self.routing.sees, topology.size, topology.ports)
        rules.replying = generation.reply_flits > 0
        rules.reply_flits = generation.reply_flits
        rules.service = generation.service
        rules.outstanding = generation.outstanding
        rules.batch = generation.batch
        rules.phases = generation.phases
        rules.programmed = generation.program is not None
        rules.priorities = generation.priorities

    def _make_state(self) -> None:
        """Allocate lanes or queues, channels, wires and bids; `_make_room` allocates messages."""
        nodes, rules, limited = len(self._nodes), self._rules, self.limited
        every, delay = nodes * int(rules.lanes), int(rules.delay)
        lanes = every if limited else 0
        self._state = state = layout.TrafficState(
            nodes=self._nodes,
            occupied=np.zeros(nodes * int(rules.words), np.int64),
            lanes=layout.Lane.array(lanes),
            ring=lined(lanes * self.buffering.buffers, np.int32),
            channels=layout.Channel.array(lanes),
            queues=layout.ChannelQueue.array(every - lanes),
            outputs=layout.OutputPort.array(nodes * (int(rules.ports) + 1) if limited else 0),
            links=self._links,
            sides=self._sides,
            messages=layout.FlitMessage.array(0),
            headers=np.empty((0, self.routing.words), np.int64),
            free=np.empty(0, np.int32),
            due=np.full(self.generation.longest + 1, layout.NONE, np.int32),
            lines=layout.SourceQueue.array(nodes * (int(rules.priorities) - 1)),
            bounds=np.array(self.generation.bounds, np.int64),
        )
        state.lanes["out"] = layout.UNDECIDED
        state.queues["root"] = layout.NONE
        state.channels["credit"] = self.buffering.buffers
        state.channels["holder"] = state.outputs["keeper"] = layout.NONE
        # Flits from other ranks that arrive at once are on no wire.
        wired = self.wired_ports - (self._crossing_links if delay == 1 else 0)
        self._wires = saved.wires(wired if limited else 0, delay, int(rules.vcs))
        tile = nodes if self._busses.of_ports.size else min(nodes, layout.TILE)
        bids = tile * int(rules.lanes)
        seen = int(rules.told + rules.ports * rules.classes)
        require_memory(8 * seen, f"The queues seen by routing {self.routing.name}")
        self._bidding = layout.Bidding(
            layout.Bid.array(bids), np.empty(bids, np.int32), np.zeros(seen, np.int64)
        )

    def _make_books(self) -> None:
        """Allocate the arrays for measurements, and for one step's words to other ranks."""
        window = self.window
        self.books = layout.Books(
            np.zeros(len(self._links), np.uint32),
            np.zeros((max(1, len(self.generation.kinds)), 1), np.int64),
            np.zeros(self.generation.phases, np.int64),
            np.zeros((window.parts, 2), np.int64),
            np.empty((2 * len(self._state.lanes) if self.played else 0, 3), np.int64),
            np.zeros((self.generation.priorities, 2), np.int64),
        )
        vcs = self.buffering.vcs if self.limited else 0
        message = 1 + layout.MESSAGE_WORDS + self.routing.words
        # The worst case of a step: each link to another rank carries a head with its record, and a
        # credit per channel.
        words = self._crossing_links * (message + vcs)
        self._crossing = layout.OutgoingWords(
            np.empty((words, 1), np.int64), np.empty(words, np.int32)
        )

    def _make_room(self, steps: int) -> None:
        """Enlarge the memory for messages and latencies, if a step could need more."""
        ledger = self.ledger
        # The histogram must hold the latency of the oldest message that could arrive in this call.
        longest = self.steps + steps + self.generation.longest + 1 - self._since
        kinds, before = self.books.latencies.shape
        if before < longest:
            latencies = np.zeros((kinds, 2 * longest), np.int64)
            latencies[:, :before] = self.books.latencies
            self.books = self.books._replace(latencies=latencies)
        if ledger.free >= self._room:
            return
        ledger.wants_room = 0
        state, before, there = self._state, len(self._state.messages), ledger.free
        more = before + 2 * self._room + 16
        words = layout.FlitMessage.dtype.itemsize + 8 * self.routing.words + 4
        require_memory(words * (before + more), "The messages in flight")
        messages, headers, free = (
            longer(each, before + more) for each in (state.messages, state.headers, state.free)
        )
        free[there : there + more] = np.arange(before + more - 1, before - 1, -1)
        ledger.free += more
        self._state = state._replace(messages=messages, headers=headers, free=free)
