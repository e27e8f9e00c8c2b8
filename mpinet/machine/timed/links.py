"""The servers' part of a window: messages pass one by one, in the order in which they were ready.

A message that passes is ready for what comes next no sooner than a latency later, in a later
window: so within a window no server knows of another, and each serves its requests by itself.
"""

import numpy as np

from mpinet.compiled import phase
from mpinet.machine.timed.heaps import ready_popped, ready_pushed
from mpinet.machine.timed.layout import (
    CROSSED,
    IDEAL,
    LATEST,
    NEVER,
    NONE,
    NOTE_BITS,
    REQUESTS,
    STORE,
    TOO_LATE,
)
from mpinet.machine.timed.sending import note, onward


@phase
def serve(routes, hosting, state, rules, ledger):
    """Serve all requests of the window at hand."""
    gather(state, ledger)
    for i in range(ledger.served):
        server = state.servers[state.active[i]]
        while server.first != NONE and ledger.wrong == 0:
            m = np.int64(server.first)
            server.first = ready_popped(m, state.messages)
            let_pass(m, server, routes, hosting, state, rules, ledger)


@phase
def gather(state, ledger):
    """Put the requests of the window into their servers' lines; note which servers have some."""
    ledger.served = 0
    while state.heads[REQUESTS, 0] != NONE:
        m = state.heads[REQUESTS, 0]
        message = state.messages[m]
        state.heads[REQUESTS, 0] = message.next
        server = state.servers[message.server]
        if server.first == NONE:
            state.active[ledger.served] = message.server
            ledger.served += 1
        server.first = ready_pushed(np.int64(server.first), m, state.messages)
    state.least[REQUESTS, 0] = NEVER


@phase
def let_pass(m, server, routes, hosting, state, rules, ledger):
    """Let a message pass its server, and go on."""
    message = state.messages[m]
    node, port = np.int64(message.node), np.int64(message.port)
    kind = min(routes.link_class(node, port, routes.wired), rules.classes - 1)
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
    message.node = routes.neighbor(node, port, routes.wired)
    message.hop += 1
    onward(m, NONE, routes, hosting, state, rules, ledger)
