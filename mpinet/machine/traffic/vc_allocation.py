"""First half of phase 2 of a step: virtual channel allocation, and bids for the switch."""

import numpy as np

from mpinet.compiled import part
from mpinet.machine.traffic.allocators import lead
from mpinet.machine.traffic.layout import (
    ADAPTIVE,
    DETAILED,
    FIXED,
    LANES_PER_WORD,
    NONE,
    SAF,
    UNDECIDED,
    UNLIMITED,
    WORMHOLE,
)
from mpinet.machine.traffic.places import is_any_set
from mpinet.machine.traffic.route_computation import ask, is_entering, needed, write_queues
from mpinet.networks.adaptive import ALL_QUEUES, CREDITS, QUEUES
from mpinet.networks.arithmetic import lowest_one


@part
def bid(slot, many, routes, rules, state, busses, bidding, scratch, ledger):
    """Let every lane of a node with a movable front flit bid for an output.

    Returns the number of all bids so far, and a word. The word is 0 if no two bids of this node
    have the same output or the same input (only where `switch_allocation` needs it). The bids of a
    node are consecutive, by ascending lane.
    """
    nodes, occupied, lanes, queues, ring, channels, messages = (
        state.nodes, state.occupied, state.lanes, state.queues, state.ring, state.channels,
        state.messages,
    )  # fmt: skip
    bids, seen, of_ports, bus_rows = bidding.bids, bidding.seen, busses.of_ports, busses.rows
    t, ports, vcs, count, words = ledger.now, rules.ports, rules.vcs, rules.lanes, rules.words
    network_lanes, buffer, bussed = ports * vcs, rules.buffer, of_ports.size > 0
    number, base, before = nodes[slot].number, slot * count, many
    own = number * ports if rules.sees == ALL_QUEUES else 0
    if ADAPTIVE and rules.sees == QUEUES and is_any_set(occupied, slot, words):
        write_queues(slot, own, rules, state, seen)
    # Conflicts are detected during bidding. Most nodes have none, and skip the switch allocator's
    # search.
    outs = ins = clash = 0
    # Only occupied lanes are visited, found by bit scans: at moderate loads most lanes are empty.
    for word in range(words):
        bits = occupied[slot * words + word]
        while bits:
            at = word * LANES_PER_WORD + lowest_one(bits)
            bits &= bits - 1
            v = np.int64(NONE)
            if UNLIMITED:
                queue = queues[base + at]
                # The channel is still busy with the previous message: with unlimited queues a
                # message leaves in one piece.
                if queue.until > t:
                    continue
                m, out = np.int64(queue.root), at
            else:
                lane = lanes[base + at]
                if at < network_lanes:
                    m = np.int64(ring[(base + at) * buffer + lane.first])
                else:
                    m = np.int64(lane.incoming)
                    # The head is still in the router's pipeline and takes part in no allocation.
                    if DETAILED and lane.came > t:
                        continue
                # A waiting head with a choice chooses again in every step, because credits change.
                if lane.out == UNDECIDED or (ADAPTIVE and lane.sent == 0 and lane.vc != FIXED):
                    waits = ask(m, lane, at, slot, routes, rules, state, seen, scratch, ledger)
                    if ledger.wrong != 0:
                        return many, clash
                    if waits:
                        continue
                out = np.int64(lane.out)
            if bussed and out < ports:
                bus = bus_rows[of_ports[slot * ports + out]]
                # A message that keeps a bus until its tail is the only bidder for the bus.
                if bus.until > t and bus.claimant != number * count + at:
                    continue
            if out < ports and not UNLIMITED:
                # Virtual channel allocation precedes switch allocation: a flit without credit
                # downstream must not win an output.
                v = allocate_channel(
                    lane, messages[m], at < network_lanes, base + out * vcs, channels, rules,
                    routes.escape, enters(at, lane, slot, routes.escape, rules, state),
                )  # fmt: skip
                if v == NONE:
                    continue
            each = bids[many]
            each.slot, each.lane, each.out, each.vc, each.message = slot, at, out, v, m
            many += 1
            # Later bidding lanes see this flit in the port's queue. Otherwise all heads of a node
            # would see the same shortest queue, and bid for one channel.
            if ADAPTIVE and rules.sees != CREDITS and out < ports:
                seen[own + out] += 1
            if not UNLIMITED and not DETAILED and words == 1:
                output = 1 << lead(busses.leads, slot, out, ports)
                port = scratch.whole[scratch.port_of[at]]
                clash |= outs & output | ins & port
                outs |= output
                ins |= port
    if ADAPTIVE and rules.sees == ALL_QUEUES:
        for b in range(before, many):  # other nodes see the old queues
            if bids[b].out < ports:
                seen[own + bids[b].out] -= 1
    return many, clash


@part
def enters(at, lane, slot, escape, rules, state):
    """Return True if the front message of a lane would enter a ring with a bubble."""
    if not DETAILED or not rules.bubble:
        return False
    # Continuing along the ring needs no bubble; injection and turns into the ring do.
    port = at // rules.vcs
    came_by = (at - port * rules.vcs) // rules.vcs_of_class
    return is_entering(
        np.int64(NONE) if port == rules.ports else port, came_by, np.int64(lane.out),
        np.int64(lane.group), escape, slot, rules, state,
    )  # fmt: skip


@part
def allocate_channel(lane, message, in_network, first, channels, rules, escape, entering):
    """Return the virtual channel available to a lane's front flit, or `NONE`.

    Among the free channels of its class a head takes the channel with most credits, then the
    lowest.
    """
    # Body flits inherit the channel of the head. Only credits can hold them back.
    if lane.sent > 0:
        # Flits follow their head through its channel, which is held until the tail has left.
        return np.int64(lane.vc) if channels[first + lane.vc].credit > 0 else np.int64(NONE)
    need = np.int64(1)
    # Store-and-forward: the head waits until the tail is in the same buffer.
    if rules.switching == SAF and in_network and lane.filled < message.length:
        return np.int64(NONE)
    if ADAPTIVE:
        group = np.int64(lane.group)
        if DETAILED:
            group %= rules.classes
        need = needed(message.length, rules.buffer, rules.switching != WORMHOLE, group < escape)
    elif rules.switching != WORMHOLE:
        # The next buffer must take the whole message, so that it never occupies two channels.
        need = message.length
    if DETAILED and entering:
        # Bubble flow control: entering a ring needs room for two messages, so room for one always
        # remains.
        need *= 2
    # Most credits first balances the channels of a class. The lowest number breaks ties, the same
    # on all ranks.
    best, found = need - 1, np.int64(NONE)
    group = lane.group * rules.vcs_of_class
    for c in range(group, group + rules.vcs_of_class):
        channel = channels[first + c]
        if channel.holder == NONE and channel.credit > best:
            best, found = np.int64(channel.credit), np.int64(c)
    return found
