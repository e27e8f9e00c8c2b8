"""Phase 2 of a step, switch allocation: each node grants bids of its lanes for its outputs.

With busses the granted bids become claims. All members of a bus compare their claims
(`bus_arbitration.settle`).
"""

import numpy as np

from mpinet.compiled import part, phase, sweep
from mpinet.machine.traffic.allocators import allocate, lead, sort_grants
from mpinet.machine.traffic.layout import (
    AHEAD,
    DETAILED,
    FIFO,
    FOREVER,
    NONE,
    ROTATING,
    UNLIMITED,
    WORMHOLE,
)
from mpinet.machine.traffic.places import add_all, clear, first_from, make_empty, set_bit
from mpinet.machine.traffic.prefetching import fetch_soon
from mpinet.machine.traffic.vc_allocation import bid
from mpinet.networks.arithmetic import lowest_one


@sweep
def grant(begin, end, routes, rules, state, busses, bidding, scratch, ledger):
    """Phase 2: collect the bids of lanes, choose among the bids, and write the granted ones.

    The function handles the lanes of nodes `begin` to `end` - 1. `Bidding.chosen` gets the indices
    of the granted bids.
    """
    given = (rules, state, bidding, scratch, busses.leads)
    chosen, ports, policy, words = bidding.chosen, rules.ports, rules.policy, rules.words
    # Each output and input has a stamp: the last node (slot) that used it. A node compares stamps
    # with its own slot, so no node has to clear them. Slots start again with each tile, and old
    # stamps must not match.
    scratch.used_out[:] = NONE
    scratch.used_in[:] = NONE
    scratch.used_vcs[:] = NONE
    granted = last = 0
    for slot in range(begin, end):
        first = last
        # Prefetches run a few nodes ahead of the loop, about one memory latency.
        if AHEAD:
            fetch_soon(slot, routes, rules, state)
        last, clash = bid(slot, first, routes, rules, state, busses, bidding, scratch, ledger)
        if ledger.wrong != 0:
            return
        if UNLIMITED:
            # A queue is the only bidder for its channel, and there is no crossbar.
            for b in range(first, last):
                chosen[b] = b
            granted = last
            continue
        if first == last:
            continue
        if DETAILED:
            before = granted
            granted = allocate(first, last, granted, slot, ledger.now, given)
            sort_grants(before, granted, chosen)
            continue
        # Messages in transit come first: virtual cut-through never interleaves flits of two
        # messages on an output.
        if rules.switching != WORMHOLE:
            granted = grant_begun(first, last, granted, slot, given)
        # Without a conflict every bid wins under any policy. This is by far the most common case.
        if clash == 0 if words == 1 else last == first + 1:
            for b in range(first, last):
                granted = grant_alone(b, granted, slot, given)
        elif policy == ROTATING:
            granted = grant_in_turn(first, last, granted, slot, ledger.now % (ports + 1), given)
        else:
            granted = grant_in_order(first, last, granted, slot, given)
    ledger.granted = granted


@part
def grant_begun(first, last, granted, slot, given):
    """Grant the bids of messages in transit, which keep their output and input until the tail.

    Only wormhole switching shares an output among messages, flit by flit. Otherwise an output stays
    idle in a step if the message that keeps it does not bid.
    """
    rules, state, bidding, scratch, leads = given
    bids, outputs, ports = bidding.bids, state.outputs, rules.ports
    # Kept outputs and inputs are blocked even if their message has no flit here in this step.
    for o in range(ports + 1):
        keeper = outputs[slot * (ports + 1) + o].keeper
        if keeper != NONE:
            scratch.used_out[lead(leads, slot, o, ports)] = slot
            scratch.used_in[scratch.port_of[keeper]] = slot
    for b in range(first, last):
        each = bids[b]
        each.granted = outputs[slot * (ports + 1) + each.out].keeper == each.lane
        if each.granted != 0:
            bidding.chosen[granted] = b
            granted += 1
    return granted


@part
def pass_turn(output, lane, count):
    """Set the start of an output's next search to the lane after the served lane."""
    output.pointer = lane + 1 if lane + 1 < count else 0


@part
def grant_alone(bid, granted, slot, given):
    """Grant a bid without competitors for its output and input, unless a message keeps them.

    Most bids are of this kind. The function has the effect of `grant_in_turn` and `grant_in_order`,
    without their searches.
    """
    rules, state, bidding, scratch, leads = given
    each, ports = bidding.bids[bid], rules.ports
    if rules.switching != WORMHOLE:
        port = scratch.port_of[each.lane]
        if each.granted != 0 or (rules.one_input and scratch.used_in[port] == slot):
            return granted
        many = each.out == ports and not rules.one_eject
        if scratch.used_out[lead(leads, slot, each.out, ports)] == slot and not many:
            return granted
    if rules.policy == ROTATING and (leads.size == 0 or each.out == ports):
        pass_turn(state.outputs[slot * (ports + 1) + each.out], each.lane, rules.lanes)
    bidding.chosen[granted] = bid
    return granted + 1


@part
def grant_in_turn(first, last, granted, slot, turn, given):
    """Let each output grant the next lane in turn, starting at another output in every step.

    The rotating start matters if an input port sends one flit per step: the first output to choose
    finds all inputs free. Lanes are bits of words, so a search need not look at every bid.
    """
    rules, state, bidding, scratch, leads = given
    bids, ports, words, port_of = bidding.bids, rules.ports, rules.words, scratch.port_of
    used_out, used_in = scratch.used_out, scratch.used_in
    asked, barred, whole, bid_of = scratch.asked, scratch.barred, scratch.whole, scratch.bid_of
    left = 0
    # Lanes as bit sets: masks and a bit scan find the next lane in turn, without a loop over bids.
    make_empty(barred, 0, words)
    if rules.switching != WORMHOLE and rules.one_input:
        for port in range(ports + 1):
            if used_in[port] == slot:
                add_all(barred, 0, whole, port, words)
    for b in range(first, last):
        each = bids[b]
        if rules.switching == WORMHOLE or each.granted == 0:
            bid_of[each.lane] = b
            set_bit(asked, np.int64(each.out), np.int64(each.lane), words)
            # The set of outputs with bids: idle outputs cost nothing.
            left |= 1 << np.int64(each.out) if words == 1 else 0  # type: ignore[assignment]
    for i in range(ports + 1):
        if words == 1:
            # There are as many outputs as inputs, so the outputs also fit into one word.
            if left == 0:
                break
            ahead = left & -(1 << turn)
            out = lowest_one(ahead if ahead != 0 else left)
            left &= ~(1 << out)
        else:
            out = turn + i if turn + i <= ports else turn + i - (ports + 1)
        output, to = state.outputs[slot * (ports + 1) + out], lead(leads, slot, out, ports)
        many = out == ports and not rules.one_eject
        # Ejection may take several flits per step; every other output takes one.
        while many or used_out[to] != slot:
            lane = first_from(np.int64(output.pointer), asked, out, barred, words)
            if lane == NONE:
                break
            clear(asked, out, lane, words)
            port = port_of[lane]
            used_out[to] = used_in[port] = slot
            if rules.one_input:
                add_all(barred, 0, whole, port, words)
            if leads.size == 0 or out == ports:
                # A port on a bus advances its turn after winning the bus: see `keep_winners`.
                pass_turn(output, lane, rules.lanes)
            bidding.chosen[granted] = bid_of[lane]
            granted += 1
        make_empty(asked, out, words)
    return granted


@part
def grant_in_order(first, last, granted, slot, given):
    """Grant bids by age of their messages, as outputs and inputs allow (`fifo`: by arrival).

    Message numbers increase with birth, so the lowest number is the oldest, and numbers are unique.
    Each round takes the best remaining bid. The bid is dropped if its output or input is already
    taken.
    """
    rules, state, bidding, scratch, leads = given
    bids, used_out, used_in = bidding.bids, scratch.used_out, scratch.used_in
    ports, base = rules.ports, slot * rules.lanes
    # The field may contain marks of an earlier step; for other switchings `grant_begun` has set it.
    if rules.switching == WORMHOLE:
        for b in range(first, last):
            bids[b].granted = 0
    while True:
        winner = NONE
        came = number = 0
        for b in range(first, last):
            each = bids[b]
            if each.granted != 0:
                continue
            when = 0
            if rules.policy == FIFO:
                when = int(state.lanes[base + each.lane].came)
            which = state.messages[each.message].number
            if winner == NONE or when < came or (when == came and which < number):
                winner, came, number = b, when, which
        if winner == NONE:
            return granted
        # Marked as seen even if the bid loses: with its output or input taken, it cannot win in
        # this step.
        each = bids[winner]
        each.granted = 1
        to, port = lead(leads, slot, each.out, ports), each.lane // rules.vcs
        if used_out[to] == slot and (to < ports or rules.one_eject):
            continue
        if rules.one_input and used_in[port] == slot:
            continue
        used_out[to] = used_in[port] = slot
        bidding.chosen[granted] = winner
        granted += 1


@phase
def claim(rules, state, busses, bidding, ledger):
    """Write a claim on a bus for every granted bid for a port on a bus.

    `bus_arbitration.settle` compares the claims with the claims of the bus's other members.
    """
    nodes, lanes, messages = state.nodes, state.lanes, state.messages
    of_ports, rows, claims, bids, chosen = (
        busses.of_ports, busses.rows, busses.claims, bidding.bids, bidding.chosen
    )  # fmt: skip
    claimed = 0
    for i in range(ledger.granted):
        each = bids[chosen[i]]
        # Ejection uses no bus: no other rank needs to agree.
        if each.out == rules.ports:
            continue
        message = messages[each.message]
        node, bus = nodes[each.slot].number, rows[of_ports[each.slot * rules.ports + each.out]]
        own = claims[claimed]
        claimed += 1
        own.node, own.bus, own.claimant = node, bus.number, node * rules.lanes + each.lane
        own.first_key, own.second_key = 0, message.number
        if UNLIMITED:
            own.first_key = message.came if rules.policy == FIFO else 0
            own.until = ledger.now + message.length
            continue
        lane = lanes[each.slot * rules.lanes + each.lane]
        # Members after the pointer sort first, then by number: the least keys belong to the next
        # member round the bus.
        if rules.policy == ROTATING:
            own.first_key, own.second_key = node < bus.pointer, node
        elif rules.policy == FIFO:
            own.first_key = lane.came
        # A message keeps the bus until its tail has crossed, as `Output.keeper` keeps an output.
        keeps = rules.keeps and lane.sent + 1 < message.length
        own.until = FOREVER if keeps else 0
    ledger.claims, ledger.claimed = claimed, 1


@phase
def keep_winners(rules, state, busses, bidding, ledger):
    """Drop the granted bids that lost their bus; advance the turn of the winners' outputs."""
    nodes, outputs, bids, chosen = state.nodes, state.outputs, bidding.bids, bidding.chosen
    of_ports, rows, ports = busses.of_ports, busses.rows, rules.ports
    kept = 0
    # Compacted in place: kept bids move forward and stay sorted by node.
    for i in range(ledger.granted):
        each = bids[chosen[i]]
        if each.out < ports:
            claimant = nodes[each.slot].number * rules.lanes + each.lane
            if rows[of_ports[each.slot * ports + each.out]].won != claimant:
                continue
            if rules.policy == ROTATING:
                output = outputs[each.slot * (ports + 1) + each.out]
                if rules.switching == WORMHOLE or output.keeper != each.lane:
                    pass_turn(output, each.lane, rules.lanes)
        chosen[kept] = chosen[i]
        kept += 1
    ledger.granted, ledger.claimed = kept, 0
