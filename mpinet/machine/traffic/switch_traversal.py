"""Phase 3 of a step, switch traversal: granted flits go onto wires, to other ranks, or end.

A flit that leaves a buffer returns a credit to the node upstream.
"""

import numpy as np

from mpinet.compiled import part, sweep
from mpinet.machine.traffic.counting import answer, enter, finish
from mpinet.machine.traffic.layout import (
    BODY,
    CAME,
    CREDIT,
    DETAILED,
    DRAINED,
    FIFO,
    HEAD,
    KIND_BITS,
    NONE,
    PLACE_BITS,
    SAF,
    SENT,
    UNDECIDED,
    UNLIMITED,
)
from mpinet.machine.traffic.places import clear, give_back
from mpinet.machine.traffic.queues import without_first


@sweep
def leave(rules, state, wires, bidding, books, crossing, scratch, ledger):
    """Phase 3: move each granted flit from its lane onto a wire, or eject it.

    A flit leaving a buffer returns a credit. Flits and credits for other ranks become words in
    `crossing`.
    """
    nodes, lanes, queues, channels, outputs, links, messages, free = (
        state.nodes, state.lanes, state.queues, state.channels, state.outputs, state.links,
        state.messages, state.free,
    )  # fmt: skip
    occupied, due, headers, bids, chosen, loads, words, owners = (
        state.occupied, state.due, state.headers, bidding.bids, bidding.chosen, books.loads,
        crossing.words, crossing.owners,
    )  # fmt: skip
    noted, port_of = books.noted, scratch.port_of
    row = ledger.now % rules.delay
    flits, credits, counts, sides = wires.flits, wires.credits, wires.counts, state.sides
    wire, flight, way_back = counts[row], rules.delay, rules.delay
    t, ports, vcs, network_lanes = ledger.now, rules.ports, rules.vcs, rules.ports * rules.vcs
    measuring = rules.warmup <= t < rules.window_end
    gone = moved = 0
    made, returned = wire.flits, wire.credits
    # All grants of a tile move in one pass, node by node, in the order of bids: each record is
    # accessed once.
    for i in range(ledger.granted):
        each = bids[chosen[i]]
        slot, out, m = np.int64(each.slot), np.int64(each.out), np.int64(each.message)
        at, v, base = np.int64(each.lane), np.int64(each.vc), slot * rules.lanes
        node, message = nodes[slot], messages[m]
        if UNLIMITED:
            moved += message.length
            leave_whole(
                m, at, slot, node, queues[base + at], links[slot * ports + at], rules, messages,
                headers, occupied, free, due, loads, words, owners, ledger,
            )  # fmt: skip
            continue
        lane = lanes[base + at]
        lane.sent += 1
        head, tail = lane.sent == 1, lane.sent == message.length
        moved += 1
        # A flit from a network lane frees a buffer place; a flit from a slot enters the network.
        if at < network_lanes:
            gone += 1
            take_flit(node, lane, rules)
            port = port_of[at]
            behind, place = links[slot * ports + port], at - port * vcs
            if DETAILED:
                way_back = np.int64(sides[slot * (ports + 1) + port].back)
                row = (t + way_back) % rules.delay
                returned = counts[row].credits
            # Credits travel like flits: the upstream node may use the place only after the link's
            # delay.
            if behind.owner == rules.rank:
                credits[row, returned] = behind.lane + place
                returned += 1
            else:
                to = under_way(np.int64(behind.lane + place), way_back)
                send(to | CREDIT, behind.owner, words, owners, ledger)
            if DETAILED:
                counts[row].credits = returned
        elif head:
            enter(node, message, rules, ledger)
        # A slot stays occupied until the tail has left; a network lane may become empty in the
        # middle of a message.
        if lane.filled == 0 if at < network_lanes else tail:
            clear(occupied, slot, at, rules.words)
        if rules.keeps and (out < ports or rules.one_eject):
            outputs[slot * (ports + 1) + out].keeper = NONE if tail else at
        if out < ports:
            link = links[slot * ports + out]
            use_channel(channels[base + out * vcs + v], at, tail)
            # The head alone counts the hop, because its record travels.
            message.hops += head
            if DETAILED:
                side = sides[slot * (ports + 1) + out]
                goes = queue_behind(side, t)
                measuring = rules.warmup <= goes < rules.window_end
                flight = goes - t + side.flight
                row = (t + flight) % rules.delay
                made = counts[row].flits
            # A channel's load counts flits that enter the channel, so each flit counts once on
            # links of any length.
            if measuring:
                loads[slot * ports + out] += np.uint32(1)
            if link.owner == rules.rank:
                flit = flits[row, made]
                made += 1
                flit.lane, flit.slot, flit.message = link.lane + v, link.slot, m << 1 | head
            else:
                to = under_way(np.int64(link.lane) + v, flight)
                send_flit(m, head, to, link.owner, messages, headers, words, owners, ledger)
            if DETAILED:
                counts[row].flits = made
        elif tail:
            finish(message, t, lane.group == DRAINED, rules, state.bounds, books, ledger)
        if tail:
            if rules.programmed:
                note_tail(slot, at >= network_lanes, out == ports, message, lane, noted, ledger)
            lane.out, lane.sent = UNDECIDED, 0
            # The record leaves this rank with the tail, not with the head: body flits still need
            # it.
            if out == ports or links[slot * ports + out].owner != rules.rank:
                end_record(m, out == ports, node, lane, rules, messages, free, ledger)
        else:
            lane.vc = v
    if not DETAILED:
        wire.flits, wire.credits = made, returned
    ledger.moves += moved
    ledger.inside -= gone
    if moved and not UNLIMITED:
        ledger.last_move = t


@part
def take_flit(node, lane, rules):
    """Remove the first flit of a lane's buffer."""
    node.flits -= 1
    lane.filled -= 1
    lane.first = lane.first + 1 if lane.first + 1 < rules.buffer else 0


@part
def use_channel(channel, at, tail):
    """Spend a credit; a message holds the channel from head to tail, so flits never mix."""
    channel.credit -= 1
    channel.holder = NONE if tail else at


@part
def queue_behind(side, t):
    """Put a flit into the queue of an output, which sends one flit per step; return its step."""
    # An output queue is represented by a time only: flits leave in order, one per step, so none has
    # to be stored.
    goes = max(t, np.int64(side.busy))
    side.busy = goes + 1
    return goes


@part
def end_record(m, arrives, node, lane, rules, messages, free, ledger):
    """Free the record of a message that has left this rank, unless the message becomes a reply."""
    kept = False
    if arrives and rules.replying:
        kept = answer(m, node, lane.group == DRAINED, rules, messages, ledger)
    if not kept:
        give_back(m, free, ledger)


@part
def note_tail(slot, leaves, arrives, message, lane, noted, ledger):
    """Record, for a program, that a message has left its source or has reached its target."""
    if leaves:
        noted[ledger.noted, 0], noted[ledger.noted, 1] = slot, SENT
        noted[ledger.noted, 2] = message.number
        ledger.noted += 1
    if arrives and lane.group != DRAINED:
        noted[ledger.noted, 0], noted[ledger.noted, 1] = slot, CAME
        noted[ledger.noted, 2] = message.number
        ledger.noted += 1


@part
def leave_whole(
    m, at, slot, node, queue, link, rules, messages, headers, occupied, free, due, loads, words,
    owners, ledger,
):  # fmt: skip
    """Send the first message of an unlimited queue; its channel is busy one step per flit."""
    message, t = messages[m], ledger.now
    queue.root, queue.until = without_first(m, messages, rules.policy == FIFO), t + message.length
    if queue.root == NONE:
        clear(occupied, slot, at, rules.words)
    if message.hops == 0:
        enter(node, message, rules, ledger)
    message.hops += 1
    ledger.last_move = max(ledger.last_move, t + message.length - 1)
    # The channel is busy for one step per flit; only steps within the window are measured.
    within = min(t + message.length, rules.window_end) - max(t, rules.warmup)
    if within > 0:
        loads[slot * rules.ports + at] += np.uint32(within)
    if link.owner == rules.rank:
        put_due(m, link.slot, t + steps_of(message, rules), messages, due)
    else:
        to = under_way(np.int64(link.slot), np.int64(1))
        send_flit(m, True, to, link.owner, messages, headers, words, owners, ledger)
        give_back(m, free, ledger)


@part
def steps_of(message, rules):
    """Return the steps until a message can leave the next node: its length if stored, else 1."""
    return message.length if rules.switching == SAF else 1


@part
def put_due(m, slot, step, messages, due):
    """Put a whole message in flight to a node, to arrive in `step`."""
    message, row = messages[m], step % due.size
    message.slot, message.left = slot, due[row]
    due[row] = m


@part
def under_way(to, steps):
    """Return the bits of a word, without its kind, for a place and a flight of `steps` steps."""
    # One word per flit: the bytes on the network limit the exchanges of large runs.
    return (steps << PLACE_BITS | to) << KIND_BITS


@part
def send(word, owner, words, owners, ledger):
    """Append a word for another rank."""
    words[ledger.away, 0], owners[ledger.away] = word, owner
    ledger.away += 1


@part
def send_flit(m, head, to, owner, messages, headers, words, owners, ledger):
    """Append a flit for another rank (see `under_way`); after a head, append its message.

    A body flit is one word: the receiver knows the lane's message from the head.
    """
    # The message's record follows its head once. Body flits name the lane, and the lane has stored
    # its message.
    send(to | (HEAD if head else BODY), owner, words, owners, ledger)
    if not head:
        return
    message = messages[m]
    ledger.crossed += 1
    for word in (
        message.number, np.int64(message.length), message.born, message.source, message.target,
        message.entered, np.int64(message.hops),
    ):  # fmt: skip
        send(word, owner, words, owners, ledger)
    for j in range(headers.shape[1]):
        send(headers[m, j], owner, words, owners, ledger)
