"""Messages in flight: injection, the queues of links, the next hop, other ranks, delivery.

After crossing a link, a message is ready for the next link at least one latency later, hence in a
later window. Within a window servers (links and busses) are therefore independent, and each serves
its queue in order of arrival.
"""

import numpy as np

from mpinet.compiled import inlined, phase, prefetch, routine
from mpinet.machine.hop import position_of
from mpinet.machine.placement import owner_of
from mpinet.machine.timed.calendar import REQUEST_MASK, before_block, enter_request, set_alarm
from mpinet.machine.timed.heaps import coming_pushed, ready_popped, ready_pushed
from mpinet.machine.timed.layout import (
    AHEAD,
    ARRIVAL,
    ASTRAY,
    BEGIN,
    BUS,
    CELLS,
    COMES,
    CROSSED,
    DIGITS,
    END,
    ENDLESS,
    FULL,
    IDEAL,
    INDEX,
    LATEST,
    MARK_BITS,
    MARKS,
    NEVER,
    NODE,
    NONE,
    NOTE_BITS,
    PLACE,
    READY,
    REQUEST,
    REQUEST_BITS,
    REQUESTS,
    ROW_WORDS,
    SOURCE,
    STORE,
    TOO_LATE,
    TRAVELS,
    UNWIRED,
    WHAT,
)
from mpinet.networks.routing import ARRIVED

CPU_PLACE = 2
"""Number of bits of a row's first word below the CPU, for its kind."""


@routine
def new_message(state, ledger):
    """Take a free row for a message."""
    # A stack of free rows: the last freed row is reused first, while it is still in the cache.
    ledger.free -= 1
    return np.int64(state.free[ledger.free])


@routine
def free_message(m, state, ledger):
    """Return a message's row to the free rows."""
    state.messages[m].state = 0
    state.free[ledger.free] = m
    ledger.free += 1


@routine
def note(what, node, place, source, index, ready, begin, end, state, ledger):
    """Record an event of the run in a row of `notes` (see `layout.NOTE`)."""
    row = state.notes[ledger.notes]
    row[WHAT], row[NODE], row[PLACE], row[SOURCE], row[INDEX] = what, node, place, source, index
    row[READY], row[BEGIN], row[END] = ready, begin, end
    ledger.notes += 1


@routine
def note_error(what, message, rules, ledger):
    """Record a routing's first error."""
    # The first error in the order of events is reported. Later errors may be consequences, and
    # would depend on the window's order.
    if ledger.wrong == 0:
        ledger.wrong, ledger.wrong_node = what, message.node
        ledger.wrong_source, ledger.wrong_target = message.source, message.target


@phase
def inject(slot, m, time, routes, hosting, state, rules, ledger):
    """Put a message into the network, or directly into the receiver's queue without a network."""
    message = state.messages[m]
    more = (message.length - 1) * rules.gap_byte
    message.hop = 0
    # Messages of a flat machine, and messages to the same processor, take no links: they go
    # straight to the receiver's queue.
    if rules.nodes == 0 or message.source == message.target:
        message.ready = time + (rules.apart if rules.nodes == 0 else 0)
        message.tail = message.ready + more
        arrive(m, slot, hosting, state, rules, ledger)
        return
    source, target = np.int64(message.source), np.int64(message.target)
    message.state = TRAVELS
    message.tail = time + more
    # Cut-through forwards the first byte at once; store-and-forward waits until the last byte has
    # left the NIC.
    message.ready = time + more if rules.mode == STORE else time
    message.node = source
    header = state.headers[m]
    # The row has been used before, and a start rule may write only some words of the header.
    header[:] = 0
    if rules.numbered:
        header[routes.header_words - 1] = state.numbers[slot] + message.index
    routes.start(source, target, header, routes.params)
    onward(m, slot, routes, hosting, state, rules, ledger)


@phase
def onward(m, slot, routes, hosting, state, rules, ledger):
    """Route a message at its current node: request the next server, or deliver the message."""
    message = state.messages[m]
    node = np.int64(message.node)
    port = routes.decide(node, state.headers[m], routes.params)
    # The routing decides by its header alone. A stop at another node must not count as a delivery.
    if port == ARRIVED and node == message.target:
        arrive(m, slot, hosting, state, rules, ledger)
        return
    if port < 0:
        note_error(ASTRAY, message, rules, ledger)
        return
    if port >= rules.ports or (
        # For shared servers the channel rule is called next, which is undefined for unwired ports.
        rules.serving != FULL and routes.neighbor(node, port, routes.wired) < 0
    ):
        note_error(UNWIRED, message, rules, ledger)
        return
    # Livelock of a faulty routing ends here; otherwise the run would never reach quiescence.
    if message.hop >= rules.hops_most:
        note_error(ENDLESS, message, rules, ledger)
        return
    message.port = port
    ask(m, routes, hosting, state, rules, ledger)


@inlined
def class_of(node, port, routes, rules):
    """Return the class of a link, limited to the number of classes with different costs."""
    if rules.classes == 1:
        return np.int64(0)
    return min(routes.link_class(node, port, routes.wired), rules.classes - 1)


@phase
def ask(m, routes, hosting, state, rules, ledger):
    """Put a message into the queue of its server, on this rank or the server's rank."""
    message = state.messages[m]
    node, port = np.int64(message.node), np.int64(message.port)
    # Both ends of a half-duplex link, and all members of a bus, must reach the same server.
    if rules.serving != FULL:
        channel = routes.channel(node, port, routes.wired)
        node, port = channel // rules.ports, channel % rules.ports
        if rules.serving == BUS:
            owner, server = channel // rules.busses_each, channel - rules.first_bus
    if rules.serving != BUS:
        position = position_of(node, hosting.place, hosting.in_order, hosting.params)
        owner = owner_of(position, hosting.split) if rules.ranks > 1 else rules.rank
        server = (position - rules.first_position) * rules.ports + port
    # Because of the lookahead, the request is for a later window and may wait for the exchange at
    # the window's end.
    if owner != rules.rank:
        send_to_rank(m, REQUEST, owner, state, ledger)
        return
    enter_request(m, server, state, rules, ledger)


@routine
def arrive(m, here, hosting, state, rules, ledger):
    """Put a message into its receiver's queue; `here` is the processor at work, if any."""
    message = state.messages[m]
    target = np.int64(message.target)
    position = position_of(target, hosting.place, hosting.in_order, hosting.params)
    if rules.ranks > 1:
        owner = owner_of(position, hosting.split)
        if owner != rules.rank:
            send_to_rank(m, ARRIVAL, owner, state, ledger)
            return
    slot = position - rules.first_position
    message.state = COMES
    processor = state.processors[slot]
    processor.coming = coming_pushed(np.int64(processor.coming), m, state.messages)
    # The processor at work checks its queue after each event anyway. An alarm would put it into the
    # calendar while it works.
    if slot != here:
        set_alarm(slot, message.ready, state, rules, ledger)


@routine
def send_to_rank(m, kind, owner, state, ledger):
    """Convert a message to a row for another rank."""
    message, row = state.messages[m], state.rows[ledger.away]
    # Fields become words, because the words of the header follow in the same row.
    row[0] = kind | np.int64(message.cpu) << CPU_PLACE
    row[1], row[2], row[3], row[4] = message.sent, message.length, message.ready, message.tail
    row[5], row[6], row[7], row[8] = message.tag, message.source, message.index, message.target
    row[9], row[10], row[11] = message.node, message.port, message.hop
    row[12], row[13] = message.before, message.order
    for word in range(state.headers.shape[1]):
        row[ROW_WORDS + word] = state.headers[m, word]
    state.owners[ledger.away] = owner
    ledger.away += 1
    # The receiver's rank uses its own row, so rows here count only messages on this rank.
    free_message(m, state, ledger)


@phase
def fetch_request(i, state):
    """Prefetch the data for the first request of a server."""
    word = state.active[i]
    m = word & REQUEST_MASK
    # Three independent addresses from one word: all three cache misses overlap.
    prefetch(state.servers, word >> REQUEST_BITS)
    prefetch(state.messages, m)
    prefetch(state.headers, m)


@phase
def serve(routes, hosting, state, rules, ledger):
    """Serve all requests of the current window."""
    # Requests are grouped by server first: within a window servers are independent, and each is
    # then read and written once.
    gather(state, ledger)
    for i in range(min(AHEAD, ledger.served)):
        fetch_request(i, state)
    for i in range(ledger.served):
        if i + AHEAD < ledger.served:
            fetch_request(i + AHEAD, state)
        m, number = state.active[i] & REQUEST_MASK, state.active[i] >> REQUEST_BITS
        # Whole words are reset: each server with a mark in the word is also served in this window.
        state.marks[number >> MARK_BITS] = 0
        server, rest = state.servers[number], np.int64(NONE)
        # Most servers have one request per window. Only the others need a heap.
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
    """List the first request of each server in this window; put further requests into its heap."""
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
                # Conflicting requests go into the server's own heap, ordered by ready time.
                server, m = state.servers[number], word & REQUEST_MASK
                server.line = ready_pushed(np.int64(server.line), m, state.messages)
        at = before_block(block, state, ledger)


@phase
def cross(m, server, routes, hosting, state, rules, ledger):
    """Let a message cross its server, and route it at the next node."""
    message = state.messages[m]
    node, port = np.int64(message.node), np.int64(message.port)
    beyond = np.int64(server.beyond)
    # Cached for unidirectional links. A shared server has several entry nodes, and its far end
    # differs by request.
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
        # Cut-through cannot end before the last byte has arrived: a fast link behind a slow link
        # waits for bytes.
        through = max(through, message.tail)
    ledger.waits += begin - message.ready
    ledger.hops += 1
    server.free = through
    server.busy += busy
    server.carried += message.length
    # Checked at each event, before any sum could exceed 2^63: times that wrap around would reorder
    # events silently.
    if through > LATEST or server.busy > LATEST or ledger.waits > NEVER:
        ledger.wrong = TOO_LATE
        return
    if rules.noted:
        note(
            CROSSED | message.hop << NOTE_BITS, node, port, message.source, message.index,
            message.ready, begin, through, state, ledger,
        )  # fmt: skip
    # At least one latency, the lookahead: all consequences of this crossing are in a later window.
    message.tail = through + latency
    message.ready = (through if rules.mode == STORE else begin) + latency
    message.node = beyond
    message.hop += 1
    onward(m, NONE, routes, hosting, state, rules, ledger)
