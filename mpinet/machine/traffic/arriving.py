"""Phase 4 of a step, the end of link traversal: flits enter buffers, credits return to channels."""

import numpy as np

from mpinet.base.arrays import Table
from mpinet.compiled import kernel, part, prefetch, sweep
from mpinet.machine.traffic.counting import enter, finish
from mpinet.machine.traffic.layout import (
    AHEAD,
    CREDIT,
    FIFO,
    HEAD,
    KIND_BITS,
    MESSAGE_WORDS,
    NONE,
    PLACE_BITS,
    SAF,
    UNLIMITED,
    Books,
    RoutingRules,
    TrafficConstants,
    TrafficLedger,
    TrafficState,
    Wires,
)
from mpinet.machine.traffic.places import give_back, put_in, set_bit, taken_from
from mpinet.machine.traffic.prefetching import SOON, fetch_arrival
from mpinet.machine.traffic.queues import joined
from mpinet.machine.traffic.route_computation import called, port_on
from mpinet.machine.traffic.switch_traversal import put_due, steps_of
from mpinet.networks.routing import STUCK


@sweep
def arrive(routes, rules, state, wires, books, scratch, ledger):
    """Phase 4: process the arrival of flits and credits usable from the next step on."""
    lanes, ring, occupied, nodes, channels, messages, due = (
        state.lanes, state.ring, state.occupied, state.nodes, state.channels, state.messages,
        state.due,
    )  # fmt: skip
    if UNLIMITED:
        # `Message.left` links the messages that arrive in one step.
        header = scratch.header
        row = ledger.now % due.size
        m = np.int64(due[row])
        due[row] = NONE
        while m != NONE:
            following = np.int64(messages[m].left)
            join(m, np.int64(messages[m].slot), header, routes, rules, state, books, ledger)
            m = following
        return
    row = ledger.now % rules.delay
    # `note_end` has counted the step: this row is the next one, and `leave` fills it again.
    flits, credits, wire = wires.flits, wires.credits, wires.counts[row]
    flits_max = ledger.node_flits_max
    for i in range(wire.flits):
        if AHEAD and i + SOON < wire.flits:
            fetch_arrival(flits[row, i + SOON], rules, state)
        flit = flits[row, i]
        m, slot = np.int64(flit.message) >> 1, np.int64(flit.slot)
        # The arrival step of a head is its age for the policy fifo; body flits have no age.
        if flit.message & 1:
            messages[m].came = ledger.now
        put_in(m, np.int64(flit.lane), slot, rules, lanes, ring, occupied, nodes)
        flits_max = max(flits_max, np.int64(nodes[slot].flits))
    for i in range(wire.credits):
        if AHEAD and i + SOON < wire.credits:
            prefetch(channels, np.int64(credits[row, i + SOON]))
        # Credits are processed after flits of the same step. The two loops share no data.
        channels[credits[row, i]].credit += 1
    ledger.inside += wire.flits
    ledger.node_flits_max = flits_max
    wire.flits = wire.credits = 0


@part
def join(m, slot, header, routes, rules, state, books, ledger):
    """Queue a message, arrived or newly born, for its next channel, or finish it at its target."""
    message, messages = state.messages[m], state.messages
    message.came = ledger.now
    # With unlimited queues a message is routed on arrival: the output queue is chosen before the
    # message waits.
    out = port_on(m, slot, header, routes, rules, state, ledger)
    if ledger.wrong != 0:
        return
    if out >= 0:
        queue = state.queues[slot * rules.lanes + out]
        queue.root = joined(np.int64(queue.root), m, messages, rules.policy == FIFO)
        set_bit(state.occupied, slot, out, rules.words)
        return
    last = ledger.now + message.length - 1
    if message.hops == 0:
        enter(state.nodes[slot], message, rules, ledger)
    # A stored message has arrived completely, including its last flit.
    elif rules.switching == SAF:
        last = ledger.now
    finish(message, last, out == STUCK, rules, state.bounds, books, ledger)
    give_back(m, state.free, ledger)


@kernel
def take_in(
    words: Table,
    routes: RoutingRules,
    rules: TrafficConstants,
    state: TrafficState,
    wires: Wires,
    books: Books,
    ledger: TrafficLedger,
) -> None:
    """Process flits and credits received from other ranks: each arrives, or is in flight.

    Words of one rank are in the order of sending: a message's flits after its head.
    """
    messages, headers, lanes, channels = (
        state.messages, state.headers, state.lanes, state.channels
    )  # fmt: skip
    header, routes = np.empty(routes.header_words, np.int64), called(routes)
    i = m = 0
    # A stream of words with heads and their records: words of one rank must be read in order, and
    # cannot be sorted.
    while i < words.shape[0]:
        to, kind = words[i, 0] >> KIND_BITS, words[i, 0] & (1 << KIND_BITS) - 1
        # The exchange itself took one step of the flight.
        ahead, to = (to >> PLACE_BITS) - 1, to & (1 << PLACE_BITS) - 1
        row = (ledger.now + ahead) % rules.delay
        i += 1
        if kind == CREDIT:
            if ahead == 0:
                channels[to].credit += 1
            else:
                wire = wires.counts[row]
                wires.credits[row, wire.credits] = to
                wire.credits += 1
            continue
        if kind == HEAD:
            m = taken_from(state.free, ledger)
            message = messages[m]
            message.number, message.length = words[i, 0], words[i + 1, 0]
            message.born, message.source = words[i + 2, 0], words[i + 3, 0]
            message.target, message.entered = words[i + 4, 0], words[i + 5, 0]
            message.hops, message.came = words[i + 6, 0], ledger.now
            i += MESSAGE_WORDS
            for j in range(headers.shape[1]):
                headers[m, j] = words[i, 0]
                i += 1
        if UNLIMITED:
            # The step was counted before the exchange, so the flight began one step earlier.
            comes_in = ledger.now - 1 + steps_of(messages[m], rules)
            if comes_in > ledger.now:
                put_due(m, to, comes_in, messages, state.due)
            else:
                join(m, to, header, routes, rules, state, books, ledger)
            continue
        lane = lanes[to]
        # The sender holds the lane's channel for this message until its tail.
        if kind == HEAD:
            lane.incoming = m
        slot = to // rules.lanes
        if ahead > 0:
            wire = wires.counts[row]
            flit = wires.flits[row, wire.flits]
            wire.flits += 1
            flit.lane, flit.slot, flit.message = to, slot, lane.incoming << 1 | (kind == HEAD)
            continue
        put_in(
            np.int64(lane.incoming), to, slot, rules, lanes, state.ring, state.occupied, state.nodes
        )
        ledger.inside += 1
        ledger.node_flits_max = max(ledger.node_flits_max, int(state.nodes[slot].flits))


take_in_unlimited = take_in.bind("take_in_unlimited", UNLIMITED=True)
"""Variant of `take_in` for unlimited queues."""
