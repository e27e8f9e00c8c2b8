"""Counts of births, entries into the network and ends of messages; records of rules' errors."""

import numpy as np

from mpinet.compiled import part
from mpinet.draws import draw32
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.traffic.layout import DETAILED, NONE, ROUND
from mpinet.machine.traffic.sources import rank_of


@part
def complain(ledger, what, node, port, number):
    """Record an error of a rule, with its node, port and message."""
    # A kernel cannot raise: the step ends, and Python raises on all ranks in the same collective.
    ledger.wrong, ledger.wrong_node, ledger.wrong_port = what, node, port
    ledger.wrong_number = number


@part
def book_birth(length, rules, ledger):
    """Count a generated message; in a phase the message is already among the open messages."""
    ledger.born += 1
    ledger.born_flits += length
    ledger.backlog += length
    if rules.warmup <= ledger.now < rules.window_end:
        ledger.generated += 1
        ledger.generated_flits += length
        # With a batch, `open` has included all messages of the phase since its beginning. Adding
        # them here would count them twice.
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

    `lost` is True if the routing found no way and a dead end drained the message. `bounds` are the
    bounds of priorities (`State.bounds`).
    """
    born, asked, kind = message.born, np.int64(message.born), np.int64(0)
    # Latencies of replies are separate from latencies of requests. The round trip starts at the
    # request's birth.
    if rules.replying:
        # A reply has its request's number plus 1.
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
    # The seal is a sum: it does not depend on the order in which ranks finish messages.
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
    # Parts begin at floor(i * steps / parts). The message belongs to the last part begun at its
    # birth.
    steps, parts = rules.window_end - rules.warmup, batches.shape[0]
    part = ((asked - rules.warmup + 1) * parts - 1) // steps
    batches[part, 0] += 1
    batches[part, 1] += step - born


@part
def answer(m, node, lost, rules, messages, ledger):
    """Turn a request taken by its target into a reply that waits there; return True if done.

    The processor needs `Rules.service` steps for the reply. Replies wait in order of their births,
    then of their numbers. A processor that takes a reply may send another request.
    """
    message = messages[m]
    if message.number & 1:
        node.unanswered -= not lost
        return False
    # After the close no message is born, or the drain phase would never end.
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
            # If a step takes several requests, the last reply in line is not always the youngest.
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
