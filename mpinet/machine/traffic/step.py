"""The step of a machine under open-loop traffic: generate, bid, grant, leave, arrive.

These are the stages of a router with virtual channels: injection, route computation with virtual
channel allocation, switch allocation, switch traversal, link traversal. Flow control uses credits.

Each phase is a loop over all hosted nodes. No node sees other nodes' actions of the same step,
because a departing flit is on a wire until its arrival. The order of nodes and their distribution
over ranks therefore make no difference. Phases are functions that take whole groups of arrays and
unpack them once, before their loops, because each access to a group counts references. Functions
called within a loop take records, which cost no more than a pointer.

Unlimited queues use the same step with different lanes: a lane is the queue of a channel. A message
chooses its output when it joins a queue, and bids only for this queue's channel. The message leaves
in one piece and keeps the channel busy for as many steps as it has flits.
"""

import numpy as np

from mpinet.compiled import idiom, kernel, part, phase
from mpinet.machine.traffic.arriving import arrive
from mpinet.machine.traffic.injection import begin_phase, generate, withdraw
from mpinet.machine.traffic.layout import (
    ADAPTIVE,
    NONE,
    TILE,
    Bidding,
    Books,
    HostedBusses,
    OutgoingWords,
    RoutingRules,
    Scratch,
    Sources,
    TrafficConstants,
    TrafficLedger,
    TrafficState,
    Wires,
)
from mpinet.machine.traffic.places import set_bit
from mpinet.machine.traffic.plain import any_rules, plain_rules
from mpinet.machine.traffic.route_computation import called, look
from mpinet.machine.traffic.switch_allocation import claim, grant, keep_winners
from mpinet.machine.traffic.switch_traversal import leave
from mpinet.networks.adaptive import ALL_QUEUES


@kernel
def advance(
    routes: RoutingRules,
    rules: TrafficConstants,
    sources: Sources,
    state: TrafficState,
    wires: Wires,
    busses: HostedBusses,
    bidding: Bidding,
    books: Books,
    crossing: OutgoingWords,
    ledger: TrafficLedger,
    steps: int,
) -> None:
    """Make up to `steps` steps; the ledger contains the reason for fewer steps.

    Words for other ranks are appended to `crossing`, so with several ranks make one step per call.
    With busses a call ends in the middle of a step, at the claims on busses. The next call finishes
    the step, and needs the winners in `Bus.won`.
    """
    bussed = busses.of_ports.size > 0
    rules = any_rules(rules)
    calls = called(routes)
    targets = Sources(sources.target.call, sources.params, sources.trace)
    scratch = make_scratch(routes, rules)
    many = max(1, state.nodes.size)
    tile = many if bussed else TILE
    for _ in range(steps):
        # Rows for the worst case, checked before the step: a step cannot be interrupted for an
        # allocation.
        if ledger.free < rules.margin:
            ledger.wants_room = 1
            return
        # With busses the first call of a step ends at the claims. The second call must not generate
        # again.
        if ledger.claimed == 0:
            begin(calls, rules, state, books, ledger)
            # Queues are read once, at the step's begin: nodes must see the state before this step,
            # in any order of bids.
            if ADAPTIVE and rules.sees == ALL_QUEUES and rules.ranks == 1:
                look(rules, state, bidding.seen)
        ledger.away = ledger.noted = 0
        # Tile by tile: bidding, granting and leaving of a tile use the same records while they are
        # in the cache.
        for first in range(0, many, tile):
            if ledger.claimed != 0:
                keep_winners(rules, state, busses, bidding, ledger)
            else:
                end = min(first + tile, state.nodes.size)
                generate(first, end, calls, rules, targets, state, books, scratch, ledger)
                grant(first, end, calls, rules, state, busses, bidding, scratch, ledger)
                if ledger.wrong != 0:
                    return
                # Members of a bus may be on other ranks: Python compares all claims between calls.
                if bussed:
                    claim(rules, state, busses, bidding, ledger)
                    return
            leave(rules, state, wires, bidding, books, crossing, scratch, ledger)
        # Before arrivals: all ranks then exchange the state at the same moment.
        note_end(rules, ledger)
        arrive(calls, rules, state, wires, books, scratch, ledger)
        # With several ranks, `OpenLoop` decides after the exchange.
        if rules.ranks == 1 and is_over(rules, ledger):
            return
        # A program needs the tails before the next step, because they may let operations begin.
        if ledger.noted > 0:
            return


@idiom
def make_scratch(routes, rules):
    """Allocate a step's scratch arrays, once per call: phases cannot allocate."""
    ways = np.empty((rules.ports * rules.classes if ADAPTIVE else 1, 2), np.int64)
    # The set of lanes of each input port: blocking a whole port is then one operation on words.
    whole = np.zeros((rules.ports + 1) * rules.words, np.int64)
    port_of = np.arange(rules.lanes) // rules.vcs
    for at in range(rules.lanes):
        set_bit(whole, port_of[at], at, rules.words)
    return Scratch(
        np.empty(routes.header_words, np.int64),
        ways,
        np.empty(rules.ports + 1, np.int64),
        np.empty(rules.ports + 1, np.int64),
        port_of,
        np.arange(rules.lanes) % rules.vcs // rules.vcs_of_class,
        np.zeros(whole.size, np.int64),
        np.empty(rules.words, np.int64),
        whole,
        np.empty(rules.lanes, np.int64),
        np.empty(rules.ports + 1, np.int64),
        np.empty(rules.ports + 1, np.int64),
        np.empty(rules.ports * rules.vcs, np.int64),
        np.full(rules.ports * rules.vcs, NONE, np.int64),
    )


@phase
def begin(routes, rules, state, books, ledger):
    """Close the sources once the window's messages are done, or at the limit of steps.

    Messages outside of the network are then withdrawn. A phase ends, and the next phase begins,
    when all its messages are done; the sources close after the last phase.
    """
    if closes(rules, ledger):
        ledger.closed = ledger.now
        withdraw(rules, state, ledger)
    elif rules.batch > 0 and ledger.closed < 0 and ledger.open_everywhere == 0:
        begin_phase(routes, rules, state.nodes, books.begun, ledger)
    note_begin(rules, ledger)


@part
def closes(rules, ledger):
    """Return True if the sources close in this step."""
    # Sources stay open until the window's messages are done. In an emptying network the last of
    # these messages would be too fast.
    over = rules.programmed or ledger.now >= rules.window_end
    if rules.batch > 0:
        over = ledger.phase == rules.phases
    over = ledger.now >= rules.limit or (over and ledger.open_everywhere == 0)
    return ledger.closed < 0 and over


@part
def note_begin(rules, ledger):
    """Record the backlog before the window."""
    # Backlogs at both ends of the window distinguish a stable network from a saturated one.
    if ledger.now == rules.warmup:
        ledger.backlog_before = ledger.backlog


@phase
def note_end(rules, ledger):
    """Count the step, and record the numbers for other ranks before arrivals change them."""
    if ledger.now == rules.window_end - 1:
        ledger.backlog_after = ledger.backlog
    ledger.moving = ledger.last_move >= ledger.now
    ledger.open_told = ledger.open
    ledger.now += 1


@phase
def is_over(rules, ledger):
    """Count the steps without a move; return True if the run is over (one rank).

    After `TrafficConstants.quiet` steps without a move nothing is in flight. With closed sources,
    nothing moves again. With open sources, flits in lanes are then in a deadlock. A program may
    still calculate.
    """
    # A single rank uses the number that several ranks would have exchanged, and therefore decides
    # in the same step.
    ledger.open_everywhere = ledger.open_told
    if ledger.moving != 0:
        ledger.quiet = 0
        return False
    # Quiescence needs more than one idle step: flits and credits may be on long links.
    ledger.quiet += 1
    if ledger.quiet >= rules.quiet and (ledger.closed >= 0 or ledger.inside > 0):
        ledger.ended = 1
    # A program may be calculating: Python then skips the idle steps at once.
    return ledger.ended != 0 or (rules.programmed and ledger.quiet >= rules.quiet)


advance_plain = advance.bind("advance_plain", any_rules=plain_rules)
"""Variant of `advance` for plain runs; each variant is compiled at first use."""

advance_ahead = advance_plain.bind("advance_ahead", AHEAD=True)
"""Variant of `advance_plain` for machines larger than the caches."""

advance_adaptive = advance.bind("advance_adaptive", ADAPTIVE=True)
"""Variant of `advance` for adaptive routings."""

advance_plain_adaptive = advance_plain.bind("advance_plain_adaptive", ADAPTIVE=True)
"""Variant of `advance_plain` for adaptive routings."""

advance_detailed = advance.bind("advance_detailed", DETAILED=True)
"""Variant of `advance` for nodes with different ports, or with more than a link per port."""

advance_detailed_adaptive = advance_detailed.bind("advance_detailed_adaptive", ADAPTIVE=True)
"""Variant of `advance_detailed` for adaptive routings."""

advance_unlimited = advance.bind("advance_unlimited", UNLIMITED=True)
"""Variant of `advance` for unlimited queues."""
