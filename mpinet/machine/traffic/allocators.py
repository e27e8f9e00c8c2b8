"""Switch allocators of detailed nodes (`DETAILED`): separable, iSLIP, wavefront, by age.

Inputs and outputs may get several grants in a step. `switch_allocation` has the policies for one
flit per input and output: there limits are stamps instead of counts.
"""

import numpy as np

from mpinet.compiled import part, routine
from mpinet.machine.traffic.layout import (
    FIFO,
    INPUT_FIRST,
    ISLIP,
    NONE,
    ROTATING,
    WAVEFRONT,
)
from mpinet.machine.traffic.places import rank_of_lane

BY_AGE, BY_LANE, BY_CHANNEL, BY_INPUT, BY_OUTPUT = range(5)
"""Orders of bids. `BY_AGE` uses the policy's keys. The others use the distance from the item with
the turn: of a bid's lane at its output (`BY_LANE`), of its virtual channel at its input
(`BY_CHANNEL`), of its input at its output (`BY_INPUT`), and of its output at its input
(`BY_OUTPUT`).
"""

LATER = 2
"""`Bid.granted` of a message that must wait for the grants of another priority."""

ASKED, PICKED = range(2)
"""Stages of a bid in `Bid.next`, in policies with two phases."""


@routine
def allocate(first, last, granted, slot, now, given):
    """Grant bids of a node; return the number of grants so far."""
    rules, state, bidding, scratch, leads = given
    bids, chosen, outputs = bidding.bids, bidding.chosen, state.outputs
    ports = rules.ports
    limit(slot, now, rules, state, scratch, leads)
    for b in range(first, last):
        each = bids[b]
        # Policies share fields, so each step begins with known values.
        each.next, each.granted = ASKED, 0
        if rules.keeps and outputs[slot * (ports + 1) + each.out].keeper == each.lane:
            each.granted, chosen[granted] = 1, b
            granted += 1
    # Strict priority: a low priority gets the outputs and inputs left by the higher ones.
    for rank in range(rules.priorities):
        if rules.priorities > 1:
            put_off(first, last, rank, rules, bids)
        granted = by_policy(first, last, granted, slot, now, given)
    return granted


@part
def put_off(first, last, rank, rules, bids):
    """Mark the bids of all priorities except `rank` as waiting."""
    for b in range(first, last):
        if bids[b].granted != 1:
            is_next = rank_of_lane(np.int64(bids[b].lane), rules) == rank
            bids[b].granted = 0 if is_next else LATER


@routine
def by_policy(first, last, granted, slot, now, given):
    """Grant bids that need not wait, by the policy; return the number of grants so far."""
    rules, state, bidding, _, leads = given
    bids, chosen, outputs = bidding.bids, bidding.chosen, state.outputs
    ports, policy = rules.ports, rules.policy
    begun = granted
    # Global orders need no turns: the best remaining bid is granted until limits stop it.
    if policy <= FIFO:
        return granted_all(first, last, NONE, ASKED, BY_AGE, granted, slot, given)
    if policy == ROTATING:
        for i in range(ports + 1):
            out = (now + i) % (ports + 1)
            before = granted
            granted = granted_all(first, last, out, ASKED, BY_LANE, granted, slot, given)
            # A port on a bus advances its turn after winning the bus: see `keep_winners`.
            if granted > before and (leads.size == 0 or out == ports):
                outputs[slot * (ports + 1) + out].pointer = behind(
                    np.int64(bids[chosen[granted - 1]].lane), rules.lanes
                )
        return granted
    if policy == WAVEFRONT:
        # The wavefront sweeps diagonals of the request matrix: cells of one diagonal never
        # conflict.
        for i in range((ports + 1) * (ports + 1)):
            port = i % (ports + 1)
            out = (now + i // (ports + 1) - port) % (ports + 1)
            low, high = of_input(first, last, port, bids, rules.vcs)
            granted = granted_all(low, high, out, ASKED, BY_CHANNEL, granted, slot, given)
        pass_turns(begun, granted, slot, BY_CHANNEL, NONE, given)
        return granted
    counted = granted
    for i in range(rules.iterations):
        before = granted
        if policy == INPUT_FIRST:
            granted = inputs_first(first, last, granted, slot, given)
        else:
            granted = outputs_first(first, last, granted, slot, given)
        # iSLIP advances its pointers only for grants of the first iteration, which keeps them
        # desynchronized (McKeown 1999).
        if i == 0 or policy != ISLIP:
            counted = granted
        if granted == before:
            break  # Further rounds would change nothing.
    if policy == INPUT_FIRST:
        pass_turns(begun, counted, slot, BY_CHANNEL, BY_INPUT, given)
    else:
        pass_turns(begun, counted, slot, BY_OUTPUT, BY_LANE, given)
    return granted


@part
def sort_grants(begin, end, chosen):
    """Sort the grants of a node by lane, the order in which flits enter the output queues."""
    for i in range(begin + 1, end):
        b, j = chosen[i], i
        while j > begin and chosen[j - 1] > b:
            chosen[j] = chosen[j - 1]
            j -= 1
        chosen[j] = b


@part
def limit(slot, now, rules, state, scratch, leads):
    """Write the number of grants still possible at each output and input of a node in this step."""
    outputs, sides, ports = state.outputs, state.sides, rules.ports
    room_out, room_in = scratch.room_out, scratch.room_in
    room_in[:] = rules.inputs
    for o in range(ports + 1):
        # Flits in the output's queue, derived from the step in which the queue will be empty.
        waiting = max(np.int64(0), sides[slot * (ports + 1) + o].busy - now)
        room_out[o] = min(rules.at_once, rules.queue + 1 - waiting)
    room_out[ports] = 1 if rules.one_eject else rules.lanes
    for o in range(ports + 1):
        keeper = np.int64(outputs[slot * (ports + 1) + o].keeper)
        if keeper != NONE:
            room_out[lead(leads, slot, o, ports)] = 0
            room_in[keeper // rules.vcs] -= 1


@part
def lead(leads, slot, out, ports):
    """Return the output used by a bid: the lowest port of the node on the same bus."""
    return np.int64(leads[slot * ports + out]) if leads.size > 0 and out < ports else np.int64(out)


@part
def behind(place, count):
    """Return the place after `place` in a cycle of `count` places."""
    return place + 1 if place + 1 < count else 0


@part
def of_input(first, last, port, bids, vcs):
    """Return the first bid of an input port, and the bid after its last."""
    low = first
    while low < last and bids[low].lane < port * vcs:
        low += 1
    high = low
    while high < last and bids[high].lane < (port + 1) * vcs:
        high += 1
    return low, high


@part
def round_to(place, turn, count):
    """Return the distance of a place from the place with the turn, on a circle."""
    return place - turn if place >= turn else place - turn + count


@routine
def keys_of(order, each, slot, rules, state):
    """Return the two keys of a bid in an order; lower keys are granted first."""
    at, many = slot * (rules.ports + 1), rules.ports + 1
    lane, out = np.int64(each.lane), np.int64(each.out)
    port = lane // rules.vcs
    if order == BY_AGE:
        came = np.int64(0)
        if rules.policy == FIFO:
            came += state.lanes[slot * rules.lanes + lane].came
        return came, state.messages[each.message].number
    turn, pointer = np.int64(state.sides[at + port].turn), np.int64(state.outputs[at + out].pointer)
    if order == BY_LANE:
        return round_to(lane, pointer, rules.lanes), np.int64(0)
    if order == BY_OUTPUT:
        return round_to(out, turn, many), lane
    channel = round_to(lane - port * rules.vcs, turn, rules.vcs)
    if order == BY_CHANNEL:
        return channel, np.int64(0)
    return round_to(port, pointer, many), channel


@routine
def best_of(first, last, out, stage, order, slot, given):
    """Return the first bid of an order for an output (`NONE`: any) within the limits.

    In the stage `ASKED` no channel is picked twice.
    """
    rules, state, bidding, scratch, leads = given
    bids, vcs, ports = bidding.bids, rules.vcs, rules.ports
    best, one, two = np.int64(NONE), np.int64(0), np.int64(0)
    for b in range(first, last):
        each = bids[b]
        if each.granted != 0 or each.next != stage or (out != NONE and each.out != out):
            continue
        if scratch.room_in[each.lane // vcs] <= 0:
            continue
        if scratch.room_out[lead(leads, slot, np.int64(each.out), ports)] <= 0:
            continue
        if each.out < ports:
            channel = each.out * vcs + each.vc
            # One flit per virtual channel and step, even if the output grants several.
            if scratch.used_vcs[channel] == slot:
                continue
            if stage == ASKED and scratch.picked_vcs[channel] == slot:
                continue
        first_key, second_key = keys_of(order, each, slot, rules, state)
        if best == NONE or first_key < one or (first_key == one and second_key < two):
            best, one, two = np.int64(b), first_key, second_key
    return best


@routine
def take(b, granted, slot, given):
    """Grant a bid, and reduce the free capacity of its input and output."""
    rules, _, bidding, scratch, leads = given
    each = bidding.bids[b]
    each.granted, bidding.chosen[granted] = 1, b
    scratch.room_in[each.lane // rules.vcs] -= 1
    scratch.room_out[lead(leads, slot, np.int64(each.out), rules.ports)] -= 1
    if each.out < rules.ports:
        scratch.used_vcs[each.out * rules.vcs + each.vc] = slot
    return granted + 1


@routine
def granted_all(first, last, out, stage, order, granted, slot, given):
    """Grant bids of a stage for an output (`NONE`: any), in an order, within the limits.

    Return the number of grants so far.
    """
    while True:
        b = best_of(first, last, out, stage, order, slot, given)
        if b == NONE:
            return granted
        granted = take(b, granted, slot, given)


@routine
def inputs_first(first, last, granted, slot, given):
    """Let inputs pick bids, then outputs grant some of them; return the number of grants."""
    rules, _, bidding, scratch, _ = given
    bids, ports = bidding.bids, rules.ports
    for b in range(first, last):
        bids[b].next = ASKED
    for port in range(ports + 1):
        low, high = of_input(first, last, port, bids, rules.vcs)
        for _ in range(scratch.room_in[port]):
            b = best_of(low, high, NONE, ASKED, BY_CHANNEL, slot, given)
            if b == NONE:
                break
            bids[b].next = PICKED
    for out in range(ports + 1):
        granted = granted_all(first, last, out, PICKED, BY_INPUT, granted, slot, given)
    return granted


@routine
def outputs_first(first, last, granted, slot, given):
    """Let outputs pick bids, then inputs accept some of them; return the number of grants."""
    rules, _, bidding, scratch, _ = given
    bids, ports = bidding.bids, rules.ports
    for b in range(first, last):
        bids[b].next = ASKED
    for out in range(ports + 1):
        for _ in range(scratch.room_out[out]):
            b = best_of(first, last, out, ASKED, BY_LANE, slot, given)
            if b == NONE:
                break
            bids[b].next = PICKED
            if out < ports:
                scratch.picked_vcs[out * rules.vcs + bids[b].vc] = slot
    # Picks are proposals of this round. A pick rejected by its input may be picked again in the
    # next round.
    scratch.picked_vcs[:] = NONE
    for port in range(ports + 1):
        low, high = of_input(first, last, port, bids, rules.vcs)
        granted = granted_all(low, high, NONE, PICKED, BY_OUTPUT, granted, slot, given)
    return granted


@routine
def pass_turns(begin, end, slot, input_order, output_order, given):
    """Advance the turn of each input and each output to the place after its last grant.

    Parameters
    ----------
    begin, end
        The grants to consider, in `Bidding.chosen`.
    input_order, output_order
        The orders that determine the last grant; `NONE`: outputs have no turns.
    """
    rules, state, bidding, _, _ = given
    bids, chosen, ports = bidding.bids, bidding.chosen, rules.ports
    for i in range(begin, end):
        mine = bids[chosen[i]]
        # Two bits: last of its input, last of its output. A grant with a later grant loses its bit.
        mine.next = 3
        for j in range(begin, end):
            other = bids[chosen[j]]
            if mine.lane // rules.vcs == other.lane // rules.vcs and is_later(
                input_order, other, mine, slot, rules, state
            ):
                mine.next &= 2
            if (
                output_order != NONE
                and mine.out == other.out
                and is_later(output_order, other, mine, slot, rules, state)
            ):
                mine.next &= 1
    for i in range(begin, end):
        each = bids[chosen[i]]
        lane, out, at = np.int64(each.lane), np.int64(each.out), slot * (ports + 1)
        port = lane // rules.vcs
        if each.next & 1:
            turn = behind(lane - port * rules.vcs, rules.vcs)
            if input_order == BY_OUTPUT:
                turn = behind(out, ports + 1)
            state.sides[at + port].turn = turn
        if output_order != NONE and each.next & 2:
            pointer = behind(lane, rules.lanes)
            if output_order == BY_INPUT:
                pointer = behind(port, ports + 1)
            state.outputs[at + out].pointer = pointer


@routine
def is_later(order, one, other, slot, rules, state):
    """Return True if a bid comes after another bid in an order."""
    mine, its = keys_of(order, one, slot, rules, state), keys_of(order, other, slot, rules, state)
    return mine[0] > its[0] or (mine[0] == its[0] and mine[1] > its[1])
