"""The servers' part of a window: messages pass one by one, in the order in which they were ready.

A message that passes is ready for what comes next no sooner than a latency later, in a later
window: so within a window no server knows of another, and each serves its requests by itself.
"""

import numpy as np

from mpinet.compiled import phase, prefetch
from mpinet.machine.timed.ahead import AHEAD, fetch_server
from mpinet.machine.timed.calendar import REQUEST_MASK, before_block
from mpinet.machine.timed.heaps import ready_popped, ready_pushed
from mpinet.machine.timed.layout import (
    CELLS,
    CROSSED,
    DIGITS,
    IDEAL,
    LATEST,
    NONE,
    NOTE_BITS,
    REQUEST_BITS,
    REQUESTS,
    STORE,
    TOO_LATE,
)
from mpinet.machine.timed.sending import class_of, note, onward


@phase
def serve(routes, hosting, state, rules, ledger):
    """Serve all requests of the window at hand."""
    gather(state, ledger)
    for i in range(min(AHEAD, ledger.served)):
        fetch_server(i, state)
    for i in range(ledger.served):
        if i + AHEAD < ledger.served:
            fetch_server(i + AHEAD, state)
        number = state.active[i]
        server, m = state.servers[number], np.int64(state.lines[number])
        state.lines[number] = NONE
        while m != NONE and ledger.wrong == 0:
            rest = ready_popped(m, state.messages)
            let_pass(m, server, routes, hosting, state, rules, ledger)
            m = rest


@phase
def gather(state, ledger):
    """Put the requests of the window into their servers' lines; note which servers have some."""
    bucket = ledger.window & DIGITS - 1
    at, ledger.served = state.heads[REQUESTS, bucket], 0
    state.heads[REQUESTS, bucket] = NONE
    while at != NONE:
        block = at & -CELLS
        prefetch(state.cells, state.cells[block])
        for cell in range(block + 1, at + 1):
            prefetch(state.lines, state.cells[cell] >> REQUEST_BITS)
        for cell in range(block + 1, at + 1):
            word = state.cells[cell]
            m, server = word & REQUEST_MASK, word >> REQUEST_BITS
            first = np.int64(state.lines[server])
            if first == NONE:
                state.active[ledger.served] = server
                ledger.served += 1
            else:
                m = ready_pushed(first, m, state.messages)
            state.lines[server] = m
        at = before_block(block, state, ledger)


@phase
def let_pass(m, server, routes, hosting, state, rules, ledger):
    """Let a message pass its server, and go on."""
    message = state.messages[m]
    node, port = np.int64(message.node), np.int64(message.port)
    kind = class_of(node, port, routes, rules)
    latency, busy = routes.latencies[kind], message.length * routes.byte_times[kind]
    begin = message.ready if rules.mode == IDEAL else max(message.ready, server.free)
    through = begin + busy
    if rules.mode != STORE:
        through = max(through, message.tail)
    ledger.waits += begin - message.ready
    ledger.hops += 1
    server.free = through
    server.busy += busy
    server.carried += message.length
    if through > LATEST or server.busy > LATEST:
        ledger.wrong = TOO_LATE
        return
    if rules.noted:
        note(
            CROSSED | message.hop << NOTE_BITS, node, port, message.source, message.index,
            message.ready, begin, through, state, ledger,
        )  # fmt: skip
    message.tail = through + latency
    message.ready = (through if rules.mode == STORE else begin) + latency
    message.node = message.beyond
    message.hop += 1
    onward(m, NONE, routes, hosting, state, rules, ledger)
