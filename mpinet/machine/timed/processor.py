"""The processors' part of a window, step by step, in the order of the steps' keys.

A processor is a logical process with its own CPUs, NICs and event queues. Inside a window it needs
no data of other processors.
"""

import numpy as np

from mpinet.compiled import inlined, phase, routine
from mpinet.machine.hop import position_of
from mpinet.machine.timed.calendar import forget, set_alarm
from mpinet.machine.timed.heaps import (
    coming_popped,
    coming_pushed,
    issued_popped,
    issued_pushed,
    later_popped,
    later_pushed,
    sent_popped,
    sent_pushed,
)
from mpinet.machine.timed.layout import (
    ASTRAY,
    BEGAN,
    CALC,
    COMES,
    CPU_SHIFT,
    DONE_WITH,
    HAS_STARTERS,
    KIND_BITS,
    LATEST,
    MATCHED,
    NEVER,
    NONE,
    NOTE_BITS,
    POSTED,
    PROCESSORS,
    RECEIVED,
    RECV,
    SEND,
    STALLED,
    TAKEN,
    TOO_LATE,
    UNEXPECTED,
    WAITS,
)
from mpinet.machine.timed.matching import take_posted, take_unexpected
from mpinet.machine.timed.sending import arrive, class_of, free_message, inject, new_message, note
from mpinet.networks.routing import ARRIVED

DONE, BEGUN = range(2)
"""Kinds of requirements, the lowest bit of a requirement: an operation is done, or has begun."""

MESSAGE, ANSWER = 3, 4
"""Kinds of steps in addition to CALC, SEND and RECV: a message is accepted, an answer arrives."""


@phase
def work(slot, until, routes, hosting, state, rules, ledger):
    """Process all events of a processor before `until`, and set its alarm for the next event."""
    while True:
        # Event-driven within the window: local events may cause further local events before its
        # end, without any exchange.
        time = next_time(slot, state, rules)
        if time >= until or ledger.wrong != 0:
            break
        events = ledger.events
        play_events(slot, time, routes, hosting, state, rules, ledger)
        require_progress(events, rules, ledger)
    # One alarm stands for all pending events of the processor; the calendar has one entry per
    # processor.
    if time < NEVER and ledger.wrong == 0:
        set_alarm(slot, time, state, rules, ledger)


@phase
def first_of_all(time, bucket, state, rules, ledger):
    """Return slot, CPU and kind of the first step of all processors in a bucket at a time.

    The slot is `NONE` if no processor has a step to make. Processors without a step leave the
    bucket.
    """
    found, place, kind, first = np.int64(NONE), np.int64(NONE), NONE, (NEVER, NEVER, NEVER, NEVER)
    slot = np.int64(state.heads[PROCESSORS, bucket])
    while slot != NONE:
        behind = np.int64(state.processors[slot].next)
        receive_coming(slot, time, state, rules, ledger)
        c, what, key = first_ready(slot, time, state, rules)
        if what == NONE:
            forget(slot, state)
            state.processors[slot].alarm = NEVER
            set_alarm(slot, next_time(slot, state, rules), state, rules, ledger)
        elif key < first:
            found, place, kind, first = slot, np.int64(c), what, key
        slot = behind
    return found, place, kind


@inlined
def require_progress(events, rules, ledger):
    """Count consecutive turns without a new event; too many of them are an error."""
    if ledger.wrong == 0:
        # Progress is an event, not a turn. A turn without an event is legal, for example if a
        # message waits for a busy NIC.
        ledger.idle = 0 if ledger.events != events else ledger.idle + 1
        if ledger.idle > rules.idle_most:
            ledger.wrong = STALLED


@phase
def next_time(slot, state, rules):
    """Return the time of the next arrival or possible begin at a processor; else `NEVER`."""
    processor = state.processors[slot]
    # The minimum over the processor's own queues. A global event list would be larger, and would
    # serialize the ranks.
    time = NEVER
    if processor.later != NONE:
        time = state.operations[processor.later].ready
    if processor.coming != NONE:
        time = min(time, state.messages[processor.coming].ready)
    for c in range(slot * rules.cpus, (slot + 1) * rules.cpus):
        cpu = state.cpus[c]
        # A calc needs the CPU alone; sends and messages also need the NIC, hence the maxima below.
        if cpu.calc != NONE:
            time = min(time, cpu.free)
        if cpu.send != NONE:
            time = min(time, max(cpu.free, processor.out_free))
        if cpu.message != NONE:
            # On a network the NIC has already received the message.
            time = min(time, cpu.free if rules.nodes > 0 else max(cpu.free, processor.in_free))
    return time


@phase
def play_events(slot, time, routes, hosting, state, rules, ledger):
    """Process all steps of a processor at a time."""
    # One step at a time, because each can issue the next one.
    while ledger.wrong == 0:
        # Items that are due are moved first: a message that arrives now competes with operations
        # issued now.
        receive_coming(slot, time, state, rules, ledger)
        c, what, _ = first_ready(slot, time, state, rules)
        if what == NONE:
            break
        ledger.events += 1
        make_step(slot, c, what, time, routes, hosting, state, rules, ledger)


@phase
def make_step(slot, c, what, time, routes, hosting, state, rules, ledger):
    """Make a step of a processor, and issue all that follows from the step."""
    processor, cpu = state.processors[slot], state.cpus[c]
    if what == MESSAGE:
        m = np.int64(cpu.message)
        cpu.message = sent_popped(m, state.messages)
        before = state.messages[m].sent
        take_in(slot, c, m, time, routes, hosting, state, rules, ledger)
    elif what == ANSWER:
        m = np.int64(processor.coming)
        processor.coming = coming_popped(m, state.messages)
        before = state.messages[m].sent
        finish(slot, np.int64(state.messages[m].index), state.messages[m].tail, state, rules)
        free_message(m, state, ledger)
    elif what == RECV:
        row = np.int64(processor.later)
        processor.later = later_popped(row, state.operations)
        before = state.operations[row].turn
        post(slot, row, time, routes, hosting, state, rules, ledger)
    elif what == SEND:
        row = np.int64(cpu.send)
        cpu.send = issued_popped(row, state.operations)
        before = state.operations[row].turn
        send_message(slot, c, row, time, routes, hosting, state, rules, ledger)
    else:
        row = np.int64(cpu.calc)
        cpu.calc = issued_popped(row, state.operations)
        before = state.operations[row].turn
        begin_calc(slot, c, row, time, state, rules, ledger)
    issue(slot, slot, time, before, state, rules)
    if ledger.matched != 0:
        end_at_once(slot, time, before, hosting, state, rules, ledger)
    # The CPU is busy beyond the last receive, so a processor's end is not always the end of an
    # operation.
    if cpu.free > processor.end:
        processor.end = cpu.free
    # Rejected here, before the time enters any sum: 2^60 leaves two bits of headroom.
    if processor.end > LATEST:
        ledger.wrong = TOO_LATE


@phase
def receive_coming(slot, time, state, rules, ledger):
    """Move arrived messages and released operations to the heaps of their CPUs.

    An answer and a receive need no CPU. They stay at the head of their heaps and hide only items
    with later keys.
    """
    processor, messages, operations = state.processors[slot], state.messages, state.operations
    while processor.coming != NONE and messages[processor.coming].ready <= time:
        m = np.int64(processor.coming)
        if messages[m].length == 0:
            break
        # In flight, messages are ordered by arrival. Waiting messages compete with operations by
        # their keys.
        processor.coming = coming_popped(m, messages)
        if rules.nodes > 0 and messages[m].state == COMES:
            receive(slot, m, state, rules, ledger)
        messages[m].state = WAITS
        if messages[m].ready > time:
            processor.coming = coming_pushed(np.int64(processor.coming), m, messages)
            continue
        cpu = state.cpus[slot * rules.cpus + messages[m].cpu]
        cpu.message = sent_pushed(np.int64(cpu.message), m, messages)
    while processor.later != NONE and operations[processor.later].ready <= time:
        row = np.int64(processor.later)
        what = np.int64(statement_of(slot, np.int64(operations[row].number), state).what)
        if what & KIND_BITS == RECV:
            break
        processor.later = later_popped(row, operations)
        wait_for_cpu(slot, row, what, state, rules)


@phase
def receive(slot, m, state, rules, ledger):
    """Let the NIC of a network's processor receive a message; set when its CPU may take it in."""
    message, processor = state.messages[m], state.processors[slot]
    first, more = message.ready, (message.length - 1) * rules.gap_byte
    # In the order of first bytes: a NIC cannot wait for a message that was sent earlier.
    begin = max(first, processor.in_free)
    processor.in_free = begin + rules.gap + more
    # The CPU is free until the last byte is there, so computation overlaps communication.
    message.ready = max(message.tail, begin + more)
    if rules.noted:
        note(
            RECEIVED, processor.number, NONE, message.source, message.index, first, begin,
            message.ready, state, ledger,
        )  # fmt: skip


@inlined
def wait_for_cpu(slot, row, what, state, rules):
    """Put a calc or send into the heap of its CPU."""
    cpu = state.cpus[slot * rules.cpus + (what >> CPU_SHIFT)]
    if what & KIND_BITS == CALC:
        cpu.calc = issued_pushed(np.int64(cpu.calc), row, state.operations)
    else:
        cpu.send = issued_pushed(np.int64(cpu.send), row, state.operations)


@inlined
def key_of_message(message):
    """Return the key of a message or an answer."""
    return message.sent, message.before, np.int64(message.source), np.int64(message.order)


@inlined
def key_of_operation(operation):
    """Return the key of an operation."""
    return operation.turn, operation.before, np.int64(operation.issuer), np.int64(operation.order)


@phase
def first_ready(slot, time, state, rules):
    """Return CPU, kind and key of the first step to make at a time.

    The kind is `NONE` if there is no step to make.
    """
    processor, operations, messages = state.processors[slot], state.operations, state.messages
    place, kind = slot * rules.cpus, NONE
    first = (NEVER, NEVER, NEVER, NEVER)
    if processor.coming != NONE and messages[processor.coming].ready <= time:
        first, kind = key_of_message(messages[processor.coming]), ANSWER
    if processor.later != NONE and operations[processor.later].ready <= time:
        key = key_of_operation(operations[processor.later])
        if key < first:
            first, kind = key, RECV
    # A linear scan over the CPUs: a processor has few of them, and the heads of their heaps are the
    # only candidates.
    for c in range(slot * rules.cpus, (slot + 1) * rules.cpus):
        cpu = state.cpus[c]
        if cpu.free > time:
            continue
        # All CPUs of a processor share the receiving NIC, and the sending NIC below.
        if cpu.message != NONE and (rules.nodes > 0 or processor.in_free <= time):
            key = key_of_message(messages[cpu.message])
            if key < first:
                first, place, kind = key, c, MESSAGE
        if cpu.send != NONE and processor.out_free <= time:
            key = key_of_operation(operations[cpu.send])
            if key < first:
                first, place, kind = key, c, SEND
        if cpu.calc != NONE:
            key = key_of_operation(operations[cpu.calc])
            if key < first:
                first, place, kind = key, c, CALC
    return place, kind, first


@phase
def begin_calc(slot, c, row, time, state, rules, ledger):
    """Begin a calc."""
    number = np.int64(state.operations[row].number)
    meet_begun(slot, number, time, state, rules)
    cpu = state.cpus[c]
    cpu.free = time + statement_of(slot, number, state).amount
    finish(slot, number, cpu.free, state, rules)
    if rules.noted:
        note_operation(BEGAN, slot, number, time, cpu.free, state, ledger)


@phase
def send_message(slot, c, row, time, routes, hosting, state, rules, ledger):
    """Begin a send."""
    number = np.int64(state.operations[row].number)
    meet_begun(slot, number, time, state, rules)
    said, cpu, processor = statement_of(slot, number, state), state.cpus[c], state.processors[slot]
    # LogGOPS charges the first byte within overhead and gap, and only further bytes separately.
    more = said.amount - 1
    cpu.free = time + rules.overhead + more * rules.overhead_byte
    processor.out_free = time + rules.gap + more * rules.gap_byte
    # A rendezvous send stays open until the answer about its match arrives.
    if said.amount <= rules.eager:
        finish(slot, number, cpu.free, state, rules)
    if rules.noted:
        note_operation(BEGAN, slot, number, time, cpu.free, state, ledger)
    ledger.messages += 1
    m = new_message(state, ledger)
    message = state.messages[m]
    message.length, message.tag = said.amount, said.tag
    message.source, message.index = processor.number, number
    set_key(message, time, state.operations[row].turn, processor)
    # A message may arrive before its receive is posted, so the message alone must determine the
    # receiving CPU.
    message.target, message.cpu = peer_of(slot, said, state), said.what >> CPU_SHIFT
    inject(slot, m, time + rules.overhead, routes, hosting, state, rules, ledger)


@inlined
def set_key(message, time, before, processor):
    """Write the key of a message, or answer, that a step of a processor issues."""
    processor.orders += 1
    message.sent, message.before, message.order = time, before, processor.orders


@phase
def take_in(slot, c, m, time, routes, hosting, state, rules, ledger):
    """Begin the reception of an arrived message; match it with a posted receive, if any."""
    message, processor = state.messages[m], state.processors[slot]
    more = message.length - 1
    if rules.nodes > 0:
        message.tail = time + rules.overhead + more * rules.overhead_byte
    else:
        # As in LogGOPSim, CPU and NIC process the bytes in parallel, so the slower rate counts.
        taken = time + rules.overhead + more * max(rules.overhead_byte, rules.gap_byte)
        message.tail = max(taken, message.tail + rules.overhead)
        processor.in_free = time + rules.gap + more * rules.gap_byte
    state.cpus[c].free = message.tail
    if rules.noted:
        note(
            TAKEN | message.cpu << NOTE_BITS, processor.number, NONE, message.source, message.index,
            message.ready, time, message.tail, state, ledger,
        )  # fmt: skip
    row = take_posted(slot, m, state, rules, ledger)
    if row == NONE:
        # MPI's unexpected queue: its order is the order of arrival, numbered by `turns`.
        message.state = UNEXPECTED
        ledger.turns += 1
        message.ready = ledger.turns
        return
    match(slot, row, m, time, message.sent, routes, hosting, state, rules, ledger)


@phase
def post(slot, row, time, routes, hosting, state, rules, ledger):
    """Post a receive; match it with an unexpected message, if any."""
    number, before = np.int64(state.operations[row].number), state.operations[row].turn
    meet_begun(slot, number, time, state, rules)
    said = statement_of(slot, number, state)
    if rules.noted:
        note_operation(POSTED, slot, number, time, time, state, ledger)
    source, tag = peer_of(slot, said, state), np.int64(said.tag)
    # Posting takes no processor time, so the match with a waiting message is at `time` itself.
    m = take_unexpected(slot, row, source, tag, state, rules, ledger)
    if m != NONE:
        match(slot, row, m, time, before, routes, hosting, state, rules, ledger)


@routine
def match(slot, row, m, time, before, routes, hosting, state, rules, ledger):
    """Match a message with a receive, and determine the ends of the receive and of the send.

    The step that matches was issued at the time `before`.
    """
    number, message = np.int64(state.operations[row].number), state.messages[m]
    # Only rendezvous sends wait for the match; eager sends have ended with their CPU time.
    if message.length > rules.eager and rules.at_once:
        meet_sender(slot, m, time, state, rules, ledger)
    elif message.length > rules.eager:
        answer(slot, m, time, before, routes, hosting, state, rules, ledger)
    done = max(time, message.tail)
    if rules.noted:
        note(
            MATCHED, state.processors[slot].number, number, message.source, message.index, time,
            time, done, state, ledger,
        )  # fmt: skip
    finish(slot, number, done, state, rules)
    free_message(m, state, ledger)


@inlined
def sent_at(message, rules):
    """Return the time at which the CPU of the sender has finished."""
    return message.sent + rules.overhead + (message.length - 1) * rules.overhead_byte


@routine
def meet_sender(slot, m, time, state, rules, ledger):
    """End a send by rendezvous at its match; another processor's send ends after the step."""
    message, index = state.messages[m], np.int64(state.messages[m].index)
    done = max(time, sent_at(message, rules))
    if message.source == state.processors[slot].number:
        finish(slot, index, done, state, rules)
        return
    ledger.matched, ledger.matched_source = 1, message.source
    ledger.matched_index, ledger.matched_done = index, done


@routine
def end_at_once(slot, time, before, hosting, state, rules, ledger):
    """End the matched send of another processor, and issue what follows from the end."""
    source = np.int64(ledger.matched_source)
    sender = position_of(source, hosting.place, hosting.in_order, hosting.params)
    sender -= rules.first_position
    ledger.matched = 0
    finish(sender, ledger.matched_index, ledger.matched_done, state, rules)
    issue(sender, slot, time, before, state, rules)
    set_alarm(sender, max(time, next_time(sender, state, rules)), state, rules, ledger)


@routine
def answer(slot, m, time, before, routes, hosting, state, rules, ledger):
    """Send an answer about a message matched at `time` to the sender of the message."""
    # The answer takes latency alone: it occupies no link, no CPU and no NIC. The latency is at
    # least the lookahead, which makes windows legal for rendezvous programs.
    message, back = state.messages[m], np.int64(0)
    if rules.nodes == 0:
        back = rules.apart
    # A message to the same processor uses no network.
    elif message.source != message.target:
        back = way_back(m, routes, state, rules, ledger)
    word = new_message(state, ledger)
    found, processor = state.messages[word], state.processors[slot]
    found.length, found.ready = 0, time + back
    found.source, found.target, found.index = processor.number, message.source, message.index
    # The send's CPU time may end after the match: a send never ends before its own overhead.
    found.tail = max(sent_at(message, rules), found.ready)
    set_key(found, time, before, processor)
    arrive(word, slot, hosting, state, rules, ledger)


@routine
def way_back(m, routes, state, rules, ledger):
    """Return the sum of the latencies on the way from a message's receiver to its sender."""
    message, header = state.messages[m], state.headers[m]
    node, target = np.int64(message.target), np.int64(message.source)
    # The message has arrived, so its header is free for routing the answer in the other direction.
    header[:] = 0
    routes.start(node, target, header, routes.params)
    total, hops = np.int64(0), 0
    # The answer's path is followed at once: the answer uses no link time, so no hop needs an event.
    while True:
        port = routes.decide(node, header, routes.params)
        if port < 0 or port >= rules.ports or hops > rules.hops_most:
            break
        total += routes.latencies[class_of(node, port, routes, rules)]
        node = routes.neighbor(node, port, routes.wired)
        hops += 1
    if (port != ARRIVED or node != target) and ledger.wrong == 0:
        ledger.wrong, ledger.wrong_node = ASTRAY, node
        ledger.wrong_source, ledger.wrong_target = message.target, target
    return total


@inlined
def row_of(slot, number, state, rules):
    """Return the row with an operation's state."""
    # Rows are a ring of `span` operations per processor. A program of millions of operations needs
    # few rows at a time.
    place = number if number < rules.span else number % rules.span
    return np.int64(state.processors[slot].first) + place


@inlined
def statement_of(slot, number, state):
    """Return the program's statement of an operation: kind, amount, peer and tag."""
    return state.statements[state.processors[slot].script + number]


@inlined
def peer_of(slot, said, state):
    """Return the other processor of a statement, given as a number or as a distance of a digit."""
    peer, way = np.int64(said.peer), np.int64(said.way)
    # Stored programs name the peers. Scripted programs compute the peers, and all processors share
    # one statement.
    if way == 0:
        return peer
    own, stride, radix = (
        np.int64(state.processors[slot].number),
        state.ways[way, 0],
        state.ways[way, 1],
    )
    # One digit of a mixed-radix number: neighbours in a grid and partners of butterflies both have
    # this form.
    digit = own // stride % radix
    return own + ((digit + peer) % radix - digit) * stride


@routine
def note_operation(kind, slot, number, time, end, state, ledger):
    """Record an event of an operation in a row of `notes` (see `layout.NOTE`)."""
    what = kind | (statement_of(slot, number, state).what >> CPU_SHIFT) << NOTE_BITS
    node = state.processors[slot].number
    note(what, node, number, NONE, NONE, time, time, end, state, ledger)


@inlined
def meet_begun(slot, number, time, state, rules):
    """Meet the requirements of followers on the begin of an operation."""
    if statement_of(slot, number, state).what & HAS_STARTERS:
        meet(slot, number, BEGUN, time, state, rules)


@phase
def finish(slot, number, done, state, rules):
    """Record the end of an operation, possibly in the future, and meet requirements on this end."""
    processor = state.processors[slot]
    state.operations[row_of(slot, number, state, rules)].missing = DONE_WITH
    if done > processor.end:
        processor.end = done
    meet(slot, number, DONE, done, state, rules)


@routine
def meet(slot, cause, wanted, time, state, rules):
    """Meet requirements on an operation's end or begin at a time.

    Operations without further requirements are added to `freed`; `issue` issues them.
    """
    operations, statements, freed = state.operations, state.statements, state.freed
    script = np.int64(state.processors[slot].script)
    for at in range(statements[script + cause].followers, statements[script + cause + 1].followers):
        follower = np.int64(state.followers[at])
        if follower & 1 != wanted:
            continue
        number = follower >> 1
        row, said = row_of(slot, number, state, rules), statements[script + number]
        operation = operations[row]
        # The ring of rows is reused: this follower takes over the row of a finished operation.
        if operation.number != number:
            begin_row(row, number, said.needs, statements[script + number + 1].needs, state)
        operation.ready = max(operation.ready, time)
        operation.missing -= 1
        if operation.missing == 0:
            free_operation(row, said.what & KIND_BITS, operations, freed)


@inlined
def free_operation(row, kind, operations, freed):
    """Append an operation to the operations of its kind that the current step issues."""
    operations[row].left = NONE
    if freed[kind, 0] == NONE:
        freed[kind, 0] = row
    else:
        operations[freed[kind, 1]].left = row
    freed[kind, 1] = row


@inlined
def begin_row(row, number, first, last, state):
    """Assign a row to an operation, whose requirements are `first` to `last` - 1."""
    operation = state.operations[row]
    operation.number, operation.missing, operation.ready = number, last - first, 0


@routine
def issue(slot, issuer, time, before, state, rules):
    """Issue the operations of a processor in `freed`.

    The cause is a step of the processor `issuer` at `time`, which was issued at `before`.
    """
    processor, operations, freed = state.processors[slot], state.operations, state.freed
    cause = state.processors[issuer]
    # Sends first, then receives, then calcs, as LogGOPSim does.
    for kind in (SEND, RECV, CALC):
        row = np.int64(freed[kind, 0])
        freed[kind, 0] = NONE
        while row != NONE:
            operation = operations[row]
            behind = np.int64(operation.left)
            cause.orders += 1
            operation.turn, operation.before = time, before
            operation.issuer, operation.order = cause.number, cause.orders
            what = np.int64(statement_of(slot, np.int64(operation.number), state).what)
            free = state.cpus[slot * rules.cpus + (what >> CPU_SHIFT)].free
            # A receive waits for its CPU as the CPU is now, not for later work of this CPU.
            if kind == RECV:
                operation.ready = max(operation.ready, free)
            if kind == RECV or operation.ready > max(free, time):
                processor.later = later_pushed(np.int64(processor.later), row, operations)
            else:
                wait_for_cpu(slot, row, what, state, rules)
            row = behind


@routine
def release_all(slot, state, rules, ledger):
    """Issue at time 0 the operations without requirements that have rows then.

    The start counts as a step at time -1, before all others.
    """
    processor, statements = state.processors[slot], state.statements
    script, first = np.int64(processor.script), np.int64(processor.first)
    for number in range(min(np.int64(processor.count), rules.span)):
        said, behind = statements[script + number], statements[script + number + 1]
        begin_row(first + number, number, said.needs, behind.needs, state)
        if said.needs == behind.needs:
            free_operation(first + number, said.what & KIND_BITS, state.operations, state.freed)
    issue(slot, slot, np.int64(-1), np.int64(-1), state, rules)
    # The calendar gets the processor once, after all its operations of time 0 are known.
    set_alarm(slot, np.int64(0), state, rules, ledger)
