"""Counts of messages that are born, enter the network and are finished; notes of rules' errors."""

import numpy as np

from mpinet.compiled import part
from mpinet.draws import draw32
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.traffic.layout import DETAILED, NONE, ROUND
from mpinet.machine.traffic.sources import rank_of


@part
def complain(ledger, what, node, port, number):
    """Note which error a rule made, where, and with which message."""
    # A kernel cannot raise: the step ends, and Python raises on all ranks in the same collective.
    ledger.wrong, ledger.wrong_node, ledger.wrong_port = what, node, port
    ledger.wrong_number = number


@part
def book_birth(length, rules, ledger):
    """Count a message that is generated; of a phase it is among the open ones already."""
    ledger.born += 1
    ledger.born_flits += length
    ledger.backlog += length
    if rules.warmup <= ledger.now < rules.window_end:
        ledger.generated += 1
        ledger.generated_flits += length
        # With a batch, all messages of the phase were added to `open` at its beginning. Adding them
        # again would count them twice.
        ledger.open += rules.batch == 0


@part
def enter(node, message, rules, ledger):
    """Count a message that leaves its source and enters the network."""
    message.entered = ledger.now
    node.waiting -= 1
    ledger.entered += 1
    ledger.backlog -= message.length
    if rules.warmup <= ledger.now < rules.window_end:
        node.entered += message.length


@part
def finish(message, step, lost, rules, bounds, books, ledger):
    """Count a message whose last flit is taken in `step`, and add it to the latencies.

    `lost` says that the routing knew no way, so that a dead end drained it; `bounds` are those of
    priorities (`State.bounds`).
    """
    born, asked, kind = message.born, np.int64(message.born), np.int64(0)
    # Latencies of replies are kept apart from requests, and the round trip is measured from the
    # request's birth.
    if rules.replying:
        # A reply has its request's number, and 1 more.
        kind = message.number & 1
        if kind == 1:
            asked = (message.number >> 1) // rules.nodes
    elif rules.long_flits > 0:
        kind = np.int64(message.length == rules.long_flits)
    if DETAILED and rules.priorities > 1:
        kind += rank_of(rules.seed, message.source, born, bounds)
    measured = rules.warmup <= asked < rules.window_end
    if measured:
        ledger.open -= 1
    if lost:
        ledger.lost += 1
        ledger.lost_flits += message.length
        if rules.warmup <= step < rules.window_end:
            ledger.dropped_flits += message.length
        if measured:
            ledger.undeliverable += 1
        return
    ledger.done += 1
    ledger.done_flits += message.length
    # The seal is a sum, so that it is the same in whatever order ranks finish messages.
    word = draw32(step, born, message.source, message.entered + message.hops)
    ledger.seal = (ledger.seal + word) & SEAL_MASK
    if rules.warmup <= step < rules.window_end:
        ledger.accepted += 1
        ledger.accepted_flits += message.length
        if DETAILED and rules.priorities > 1:
            books.shares[kind, 1] += message.length
    if not measured:
        return
    latencies, batches = books.latencies, books.batches
    ledger.delivered += 1
    ledger.inside_sum += step - message.entered
    ledger.hops_sum += message.hops
    latencies[kind, step - born] += 1
    if rules.replying and kind == 1:
        latencies[ROUND, step - asked] += 1
    # Of the parts that begin at floor(i * steps / parts), the last that has begun at the birth.
    steps, parts = rules.window_end - rules.warmup, batches.shape[0]
    part = ((asked - rules.warmup + 1) * parts - 1) // steps
    batches[part, 0] += 1
    batches[part, 1] += step - born


@part
def answer(m, node, lost, rules, messages, ledger):
    """Turn a request that its target has taken into a reply, which waits there; return whether.

    The processor needs `Rules.service` steps for it. Replies wait in the order of their births,
    then of their numbers. A reply that is taken lets its target send another request.
    """
    message = messages[m]
    if message.number & 1:
        node.unanswered -= not lost
        return False
    # After the close nothing new is born, or the drain phase would never end.
    if lost or ledger.closed >= 0:
        return False
    measured = rules.warmup <= message.born < rules.window_end
    message.number += 1
    message.source, message.target = node.number, message.source
    message.born, message.length = ledger.now + rules.service, rules.reply_flits
    message.hops, message.left = 0, NONE
    before, after = np.int64(NONE), np.int64(NONE)
    if node.posted != NONE:
        before = np.int64(node.posted_last)
        last = messages[before]
        if last.born == message.born and last.number > message.number:
            # Of several requests taken in one step the last in line is not always the youngest.
            before, after = np.int64(NONE), np.int64(node.posted)
            while messages[after].born < message.born or messages[after].number < message.number:
                before, after = after, np.int64(messages[after].left)
    message.left = after
    if before == NONE:
        node.posted = m
    else:
        messages[before].left = m
    if after == NONE:
        node.posted_last = m
    node.waiting += 1
    ledger.born += 1
    ledger.born_flits += rules.reply_flits
    ledger.backlog += rules.reply_flits
    if measured:
        ledger.generated += 1
        ledger.generated_flits += rules.reply_flits
        ledger.open += 1
    return True
