"""The servers' part of a window: queues in front of links and busses, served in order of arrival.

A message that has crossed a link is ready for the next one a latency later at the earliest, which
is in a later window. So within a window servers are independent, and each serves its queue alone.
"""

import numpy as np

from mpinet.compiled import phase, prefetch
from mpinet.machine.timed.calendar import REQUEST_MASK, before_block
from mpinet.machine.timed.heaps import ready_popped, ready_pushed
from mpinet.machine.timed.layout import (
    CELLS,
    CROSSED,
    DIGITS,
    FULL,
    IDEAL,
    LATEST,
    MARK_BITS,
    MARKS,
    NEVER,
    NONE,
    NOTE_BITS,
    REQUEST_BITS,
    REQUESTS,
    STORE,
    TOO_LATE,
    UNWIRED,
)
from mpinet.machine.timed.prefetching import AHEAD, fetch_request
from mpinet.machine.timed.sending import class_of, note, note_error, onward


@phase
def serve(routes, hosting, state, rules, ledger):
    """Serve all requests of the window at hand."""
    # Requests are grouped by server first: within a window servers are independent, and each is
    # then read and written once.
    gather(state, ledger)
    for i in range(min(AHEAD, ledger.served)):
        fetch_request(i, state)
    for i in range(ledger.served):
        if i + AHEAD < ledger.served:
            fetch_request(i + AHEAD, state)
        m, number = state.active[i] & REQUEST_MASK, state.active[i] >> REQUEST_BITS
        # Whole words are wiped: each server with a mark in the word is served in this window as
        # well.
        state.marks[number >> MARK_BITS] = 0
        server, rest = state.servers[number], np.int64(NONE)
        # Most servers have one request a window. Only the others pay for a heap.
        if server.line != NONE:
            m = ready_pushed(np.int64(server.line), m, state.messages)
            rest, server.line = ready_popped(m, state.messages), NONE
        while m != NONE and ledger.wrong == 0:
            cross(m, server, routes, hosting, state, rules, ledger)
            m = rest
            if rest != NONE:
                rest = ready_popped(m, state.messages)


@phase
def gather(state, ledger):
    """List the first request of each server in this window; put the others into its line."""
    bucket = ledger.window & DIGITS - 1
    at, ledger.served = state.heads[REQUESTS, bucket], 0
    state.heads[REQUESTS, bucket] = NONE
    while at != NONE:
        block = at & -CELLS
        prefetch(state.cells, state.cells[block])
        prefetch(state.cells, state.cells[block] & -CELLS)
        for cell in range(block + 1, at + 1):
            word = state.cells[cell]
            number = word >> REQUEST_BITS
            place, mark = number >> MARK_BITS, 1 << (number & MARKS - 1)
            if state.marks[place] & mark == 0:
                state.marks[place] |= mark
                state.active[ledger.served] = word
                ledger.served += 1
            else:
                # Conflicting requests go into the server's own heap, whose order is the time when
                # each was ready.
                server, m = state.servers[number], word & REQUEST_MASK
                server.line = ready_pushed(np.int64(server.line), m, state.messages)
        at = before_block(block, state, ledger)


@phase
def cross(m, server, routes, hosting, state, rules, ledger):
    """Let a message pass its server, and go on."""
    message = state.messages[m]
    node, port = np.int64(message.node), np.int64(message.port)
    beyond = np.int64(server.beyond)
    # Cached for links of one direction. A shared server is entered from several nodes, so its far
    # end differs by request.
    if beyond == NONE or rules.serving != FULL:
        server.beyond = beyond = routes.neighbor(node, port, routes.wired)
        if beyond < 0:
            note_error(UNWIRED, message, rules, ledger)
            return
    kind = class_of(node, port, routes, rules)
    latency, busy = routes.latencies[kind], message.length * routes.byte_times[kind]
    # The ideal mode has no contention: links are infinitely wide, and only latency and bandwidth
    # remain.
    begin = message.ready if rules.mode == IDEAL else max(message.ready, server.free)
    through = begin + busy
    if rules.mode != STORE:
        # Cut-through cannot end before the last byte has come in: a fast link behind a slow one
        # waits for bytes.
        through = max(through, message.tail)
    ledger.waits += begin - message.ready
    ledger.hops += 1
    server.free = through
    server.busy += busy
    server.carried += message.length
    # Checked at each event, before any sum could pass 2^63: wrapped times would reorder events
    # silently.
    if through > LATEST or server.busy > LATEST or ledger.waits > NEVER:
        ledger.wrong = TOO_LATE
        return
    if rules.noted:
        note(
            CROSSED | message.hop << NOTE_BITS, node, port, message.source, message.index,
            message.ready, begin, through, state, ledger,
        )  # fmt: skip
    # Never sooner than one latency, the lookahead: whatever follows from this crossing is in a
    # later window.
    message.tail = through + latency
    message.ready = (through if rules.mode == STORE else begin) + latency
    message.node = beyond
    message.hop += 1
    onward(m, NONE, routes, hosting, state, rules, ledger)
