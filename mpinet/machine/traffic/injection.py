"""Phase 1 of a step: sources generate messages, which enter injection channels (slots) or queues.

Messages without a slot wait in unlimited source queues, as required for open-loop traffic.
"""

import numpy as np

from mpinet.compiled import part, sweep
from mpinet.machine.traffic.arriving import join
from mpinet.machine.traffic.counting import book_birth
from mpinet.machine.traffic.layout import DETAILED, FIFO, NONE, UNDECIDED, UNLIMITED
from mpinet.machine.traffic.places import clear, give_back, is_set, set_bit, taken_from
from mpinet.machine.traffic.queues import joined, without_first
from mpinet.machine.traffic.sources import (
    comes,
    following_birth,
    is_among,
    length_of,
    rank_of,
    turned,
)


@part
def withdraw(rules, state, ledger):
    """Withdraw the messages that still wait at their sources."""
    nodes, lanes, queues, occupied, messages, free = (
        state.nodes, state.lanes, state.queues, state.occupied, state.messages, state.free
    )  # fmt: skip
    # Messages that never entered the network are withdrawn: they are no measure of the network, and
    # conservation counts them separately.
    network_lanes = rules.ports * rules.vcs
    for slot in range(nodes.size):
        node, base = nodes[slot], slot * rules.lanes
        ledger.withdrawn += node.waiting
        ledger.source_queue_max = max(ledger.source_queue_max, np.int64(node.waiting))
        node.queued = node.waiting = 0
        if rules.replying:
            m = np.int64(node.posted)
            while m != NONE:
                give_back(m, free, ledger)
                m = np.int64(messages[m].left)
            node.posted = NONE
        if UNLIMITED:
            for at in range(network_lanes):
                queue = queues[base + at]
                # Unlimited queues mix messages at their source with messages in transit; the queue
                # is rebuilt from the latter.
                kept, rest = np.int64(NONE), np.int64(queue.root)
                while rest != NONE:
                    m = rest
                    rest = without_first(rest, messages, rules.policy == FIFO)
                    if messages[m].hops > 0:
                        kept = joined(kept, m, messages, rules.policy == FIFO)
                    else:
                        give_back(m, free, ledger)
                queue.root = kept
                if kept == NONE:
                    clear(occupied, slot, at, rules.words)
            continue
        for at in range(network_lanes, rules.lanes):
            lane = lanes[base + at]
            # A message whose head has left must be finished: its flits hold channels downstream.
            if is_set(occupied, slot, at, rules.words) and lane.sent == 0:
                clear(occupied, slot, at, rules.words)
                give_back(lane.incoming, free, ledger)
    for row in range(state.lines.size):
        state.lines[row].queued = 0
    ledger.withdrawn_flits += ledger.backlog
    ledger.backlog = 0


@sweep
def generate(begin, end, routes, rules, sources, state, books, scratch, ledger):
    """Phase 1: generate messages, and put them into slots of their sources or unlimited queues.

    The function handles the sources of nodes `begin` to `end` - 1.
    """
    nodes, lines, occupied, lanes, messages, headers = (
        state.nodes, state.lines, state.occupied, state.lanes, state.messages, state.headers
    )  # fmt: skip
    # Groups are unpacked before the loop: this loop visits every node in every step, usually
    # without any work.
    trace, target_of, pattern, start = (
        sources.trace, sources.target, sources.params, routes.start
    )  # fmt: skip
    params, dead = routes.params, routes.dead
    t, hosts, vcs, network_lanes = ledger.now, rules.hosts, rules.vcs, rules.ports * rules.vcs
    traced, faulty, header = rules.traced, dead.size > 0, scratch.header
    replying, outstanding = rules.replying, rules.outstanding
    # Number of slots per priority; messages of the last priority wait at the node itself.
    last, share = rules.priorities - 1, vcs // rules.priorities
    # Closed sources draw nothing: the drain phase costs no random words.
    if ledger.closed >= 0:
        return
    queue_max = ledger.source_queue_max
    for slot in range(begin, end):
        node = nodes[slot]
        if node.number >= hosts or (faulty and is_among(node.number, dead)):
            continue
        # The backlog after the previous step: this loop visits every node anyway.
        queue_max = max(queue_max, np.int64(node.waiting))
        # At most one random birth per node and step; a trace may contain several.
        births = 0
        if traced:
            while node.next_born < node.end and trace[node.next_born, 0] == t:
                book_birth(trace[node.next_born, 2], rules, ledger)
                node.next_born += 1
                births += 1
        elif is_born(node, t, rules):
            births = book_drawn(node, slot, t, rules, state, books, ledger)
        if births:
            if node.queued == 0:
                node.first_born = t
            node.queued += births
            node.waiting += births
        k = 0
        # Slots are the injection channels: a source has as many messages competing for the network
        # as a link has virtual channels.
        while UNLIMITED or k < vcs:
            reply = earlier = False
            rank = last
            while DETAILED and k < last * share and not earlier:
                rank = k // share
                earlier = lines[slot * last + rank].queued > 0
                if not earlier:
                    k, rank = (rank + 1) * share, last
            # Replies precede new requests. Otherwise a source at its limit could delay the replies
            # that other sources wait for.
            if replying:
                reply = node.posted != NONE and messages[node.posted].born <= t
            # A source with its largest number of unanswered requests waits for a reply.
            if not (reply or earlier) and (node.queued == 0 or 0 < outstanding <= node.unanswered):
                break
            at = network_lanes + k
            k += 1
            if not UNLIMITED:
                if is_set(occupied, slot, at, rules.words):
                    continue
                set_bit(occupied, slot, at, rules.words)
            if reply:
                m = np.int64(node.posted)
                message = messages[m]
                node.posted = message.left
            else:
                m = taken_from(state.free, ledger)
                message = messages[m]
                given = (node, message, trace, target_of, pattern, rank, state.bounds, rules)
                if DETAILED and earlier:
                    draw_message(lines[slot * last + rank], given)
                else:
                    draw_message(node, given)
                if replying:
                    # Even numbers are requests, odd numbers are replies: both are ordered by age,
                    # and a reply finds its request.
                    message.number *= 2
                    node.unanswered += 1
            # Rows of headers are reused, and a start rule need not write all words.
            header[:] = 0
            if rules.numbered:
                header[header.size - 1] = message.number
            start(node.number, message.target, header, params)
            for j in range(header.size):
                headers[m, j] = header[j]
            if UNLIMITED:
                join(m, slot, header, routes, rules, state, books, ledger)
            else:
                lane = lanes[slot * rules.lanes + at]
                lane.incoming, lane.sent, lane.out = m, 0, UNDECIDED
                # A message also passes the source's router before its head can bid.
                lane.came = t + rules.router_delay
    ledger.source_queue_max = queue_max


@part
def is_born(node, t, rules):
    """Return True if a source without a trace generates a message in step `t`; update its burst."""
    if rules.bursty:
        node.on = turned(node.on != 0, node, t, rules)
    return (
        (not rules.bursty or node.on != 0)
        and (rules.batch == 0 or node.made < rules.batch)
        and comes(node, t, rules)
    )


@part
def book_drawn(node, slot, t, rules, state, books, ledger):
    """Count a message generated by a source; return 1, or 0 if it waits in a queue of `lines`."""
    # At birth the length is drawn for the counts only. It is drawn again, with the same result,
    # when the message takes a slot.
    length, births = length_of(node, t, rules), 1
    book_birth(length, rules, ledger)
    node.made += rules.batch > 0
    if DETAILED and rules.priorities > 1:
        rank = rank_of(rules.seed, node.number, t, state.bounds)
        if rules.warmup <= t < rules.window_end:
            books.shares[rank, 0] += length
        if rank < rules.priorities - 1:
            line = state.lines[slot * (rules.priorities - 1) + rank]
            if line.queued == 0:
                line.first_born = t
            line.queued += 1
            node.waiting += 1
            births = 0
    return births


@part
def draw_message(line, given):
    """Fill in a message record with the first message in a queue of a source."""
    node, message, trace, target_of, pattern, rank, bounds, rules = given
    # A trace's messages are numbered by row, random messages by step and node: both orders are by
    # birth on any number of ranks.
    if rules.traced:
        line.queued -= 1
        row = node.next_taken
        node.next_taken += 1
        message.born, message.target, message.length = trace[row, 0], trace[row, 1], trace[row, 2]
        message.number = trace[row, 3]
    else:
        born = taken_first(line, node, rank, bounds, rules)
        message.born = born
        message.target = target_of(node.number, rules.seed, node.taken - 1, born, pattern)
        message.length = length_of(node, born, rules)
        message.number = born * rules.nodes + node.number
    message.source, message.hops = node.number, 0


@part
def taken_first(line, node, rank, bounds, rules):
    """Remove the first message from a queue of a source; return the step of its birth."""
    born = np.int64(line.first_born)
    line.queued -= 1
    node.taken += 1
    if line.queued > 0:
        line.first_born = following(node, born, rank, bounds, rules)
    return born


@part
def following(node, born, rank, bounds, rules):
    """Return the birth step of the next message after step `born`, of the same priority."""
    while True:
        born = following_birth(born, node, rules)
        # Births of all priorities are one stream of draws. Skipping the other priorities' births
        # leads to the next birth of this priority.
        if not DETAILED or rules.priorities == 1:
            return born
        if rank_of(rules.seed, node.number, born, bounds) == rank:
            return born


@part
def begin_phase(routes, rules, nodes, begun, ledger):
    """Begin a phase, in which every processor may generate its batch of messages."""
    # A barrier between phases: all ranks begin in the same step, because they see the same count of
    # open messages.
    begun[ledger.phase] = ledger.now
    ledger.phase += 1
    faulty = routes.dead.size > 0
    for slot in range(nodes.size):
        node = nodes[slot]
        if node.number < rules.hosts:
            # A node that is dead now takes no part in this phase, even after a recovery.
            is_out = faulty and is_among(node.number, routes.dead)
            node.made = rules.batch if is_out else 0
            ledger.open += rules.batch - node.made
