"""Counts of messages that are born, enter the network and are finished; notes of rules' errors."""

from mpinet.compiled import part
from mpinet.draws import draw32
from mpinet.machine.hop import SEAL_MASK


@part
def complain(ledger, what, node, port, number):
    """Note which error a rule made, where, and with which message."""
    ledger.wrong, ledger.wrong_node, ledger.wrong_port = what, node, port
    ledger.wrong_number = number


@part
def book_birth(length, rules, ledger):
    """Count a message that is generated."""
    ledger.born += 1
    ledger.backlog += length
    if rules.warmup <= ledger.now < rules.window_end:
        ledger.generated += 1
        ledger.generated_flits += length
        ledger.open += 1


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
def finish(message, step, lost, rules, latencies, batches, ledger):
    """Count a message whose last flit is taken in `step`, and add it to the latencies.

    `lost` says that the routing knew no way, so that a dead end drained it.
    """
    born, measured = message.born, rules.warmup <= message.born < rules.window_end
    if measured:
        ledger.open -= 1
    if lost:
        ledger.lost += 1
        if measured:
            ledger.undeliverable += 1
        return
    ledger.done += 1
    # The seal is a sum, so that it is the same in whatever order ranks finish messages.
    word = draw32(step, born, message.source, message.entered + message.hops)
    ledger.seal = (ledger.seal + word) & SEAL_MASK
    if rules.warmup <= step < rules.window_end:
        ledger.accepted += 1
        ledger.accepted_flits += message.length
    if not measured:
        return
    ledger.delivered += 1
    ledger.inside_sum += step - message.entered
    ledger.hops_sum += message.hops
    latencies[step - born] += 1
    # Of the parts that begin at floor(i * steps / parts), the last that has begun at the birth.
    steps, parts = rules.window_end - rules.warmup, batches.shape[0]
    part = ((born - rules.warmup + 1) * parts - 1) // steps
    batches[part, 0] += 1
    batches[part, 1] += step - born
