"""The step of a machine under open-loop traffic: generate, bid, grant, leave, arrive.

These are the stages of a router with virtual channels: injection, route computation with virtual
channel allocation, switch allocation, switch traversal, link traversal. Flow control is by credits.

Each phase is a loop over all hosted nodes. No node sees in a step what another does in it, because
a flit that leaves is on a wire until it arrives: so the order of nodes, and the ranks that host
them, make no difference. Phases are functions that take whole groups of arrays and unpack them
once, before their loops, because each access to a group counts references. Functions that are
called within a loop take records, which cost no more than a pointer.

Unlimited queues are the same step with other lanes. There a lane is the queue of a channel: a
message chooses its output when it joins a queue, bids for that queue's channel alone, and leaves in
one piece, which keeps the channel busy for as many steps as the message has flits.
"""

import numpy as np

from mpinet.compiled import idiom, kernel, phase
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
    """Make up to `steps` steps; the ledger says why there were fewer.

    Words for other ranks are appended to `crossing`, so with several ranks make one step per call.
    On busses a call ends with the claims on busses, halfway through a step, and the next call needs
    the winners in `Bus.won` to finish that step.
    """
    bussed = busses.of_ports.size > 0
    rules = any_rules(rules)
    calls = called(routes)
    targets = Sources(sources.target.call, sources.params, sources.trace)
    scratch = make_scratch(routes, rules)
    many = max(1, state.nodes.size)
    tile = many if bussed else TILE
    for _ in range(steps):
        # Checked before the step begins: rows for the worst case, because a step cannot be
        # interrupted and allocate.
        if ledger.free < rules.margin:
            ledger.wants_room = 1
            return
        # On busses the first call of a step ends at the claims. The second one must not generate
        # again.
        if ledger.claimed == 0:
            begin(calls, rules, state, books, ledger)
            # Queues are looked at once, at the step's begin: nodes must see the state before this
            # step, in whatever order they bid.
            if ADAPTIVE and rules.sees == ALL_QUEUES and rules.ranks == 1:
                look(rules, state, bidding.seen)
        ledger.away = ledger.noted = 0
        # Node by node, tile by tile: bidding, granting and leaving of a tile read the same records
        # while these are cached.
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
        # Before arrivals: what ranks tell each other is the state at the same moment on all of
        # them.
        note_end(rules, ledger)
        arrive(calls, rules, state, wires, books, scratch, ledger)
        # Of several ranks none can tell alone: there `OpenLoop` decides after the exchange.
        if rules.ranks == 1 and is_over(rules, ledger):
            return
        # A program must learn of tails before the next step: they may let its operations begin.
        if ledger.noted > 0:
            return


@idiom
def make_scratch(routes, rules):
    """Allocate a step's scratch arrays, once per call: phases cannot allocate."""
    ways = np.empty((rules.ports * rules.classes if ADAPTIVE else 1, 2), np.int64)
    # For each input port the set of its lanes: blocking a whole port is then one word operation.
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
    """Close the sources, once the window's messages are done or the limit of steps is reached.

    Messages that have not entered by then are withdrawn. Where messages come in phases, one ends,
    and the next begins, when all its messages are done; the sources close after the last.
    """
    t = ledger.now
    # Sources go on until the window's messages are done. In an emptying network the last of these
    # would be too fast.
    over = rules.programmed or t >= rules.window_end
    if rules.batch > 0:
        over = ledger.phase == rules.phases
        if ledger.closed < 0 and not over and ledger.open_everywhere == 0 and t < rules.limit:
            begin_phase(routes, rules, state.nodes, books.begun, ledger)
    if ledger.closed < 0 and (t >= rules.limit or (over and ledger.open_everywhere == 0)):
        ledger.closed = t
        withdraw(rules, state, ledger)
    # Backlogs at both ends of the window tell a stable network from one beyond saturation.
    if t == rules.warmup:
        ledger.backlog_before = ledger.backlog


@phase
def note_end(rules, ledger):
    """Count the step, and note what ranks tell each other of it, before arrivals change it."""
    if ledger.now == rules.window_end - 1:
        ledger.backlog_after = ledger.backlog
    ledger.moving = ledger.last_move >= ledger.now
    ledger.open_told = ledger.open
    ledger.now += 1


@phase
def is_over(rules, ledger):
    """Count the steps without a move; return whether the run is over (one rank).

    After `TrafficConstants.quiet` such steps nothing is under way: nothing moves again once sources
    are closed, and flits that stand in lanes even before are in a deadlock. A program may still
    calculate.
    """
    # One rank takes the value that several ranks would have exchanged, so that it decides in the
    # same step as they do.
    ledger.open_everywhere = ledger.open_told
    if ledger.moving != 0:
        ledger.quiet = 0
        return False
    # Quiescence needs more than one idle step: flits and credits may be on long links.
    ledger.quiet += 1
    if ledger.quiet >= rules.quiet and (ledger.closed >= 0 or ledger.inside > 0):
        ledger.ended = 1
    # A program may be calculating: Python then passes over the idle steps at once.
    return ledger.ended != 0 or (rules.programmed and ledger.quiet >= rules.quiet)


advance_plain = advance.bind("advance_plain", any_rules=plain_rules)
"""`advance` for plain runs; each of these is compiled at first use."""

advance_ahead = advance_plain.bind("advance_ahead", AHEAD=True)
"""`advance_plain` for machines that are beyond the caches."""

advance_adaptive = advance.bind("advance_adaptive", ADAPTIVE=True)
"""`advance` for routings whose nodes choose among candidates."""

advance_plain_adaptive = advance_plain.bind("advance_plain_adaptive", ADAPTIVE=True)
"""`advance_plain` for routings whose nodes choose."""

advance_detailed = advance.bind("advance_detailed", DETAILED=True)
"""`advance` for nodes whose ports differ, or have more than a link."""

advance_detailed_adaptive = advance_detailed.bind("advance_detailed_adaptive", ADAPTIVE=True)
"""`advance_detailed` for routings whose nodes choose."""

advance_unlimited = advance.bind("advance_unlimited", UNLIMITED=True)
"""`advance` for unlimited queues."""
