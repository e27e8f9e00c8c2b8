"""The processors' part of a window, event by event: ends first, then begins in order of issue.

A processor is a logical process with its own CPUs, NICs and event queues. Inside a window it needs
no data of other processors.
"""

import numpy as np

from mpinet.compiled import inlined, phase, routine
from mpinet.machine.timed.calendar import set_alarm
from mpinet.machine.timed.heaps import (
    ended_popped,
    ended_pushed,
    issued_popped,
    issued_pushed,
    ready_popped,
    sent_popped,
    sent_pushed,
)
from mpinet.machine.timed.layout import (
    ASTRAY,
    BEGAN,
    CALC,
    CPU_SHIFT,
    DONE_WITH,
    ENDS,
    HAS_STARTERS,
    KIND_BITS,
    LATEST,
    MATCHED,
    NEVER,
    NONE,
    NOTE_BITS,
    POSTED,
    RECV,
    SEND,
    STALLED,
    TAKEN,
    TOO_LATE,
    UNEXPECTED,
    WAITS,
)
from mpinet.machine.timed.matching import take_posted, take_unexpected
from mpinet.machine.timed.sending import answer, class_of, free_message, inject, new_message, note
from mpinet.networks.routing import ARRIVED

DONE, BEGUN = range(2)
"""Kinds of requirements, the lowest bit of a requirement: an operation is done, or has begun."""

MESSAGE = 2
"""A third kind of activity on a CPU, in addition to CALC and SEND: reception of a message."""


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
    """Return the time of the next end, arrival or possible begin at a processor; else `NEVER`."""
    processor = state.processors[slot]
    # The minimum over the processor's own queues. A global event list would be larger, and would
    # serialize the ranks.
    time = NEVER
    if processor.ended != NONE:
        time = state.messages[processor.ended].ready
    if processor.coming != NONE:
        time = min(time, state.messages[processor.coming].ready)
    for c in range(slot * rules.cpus, (slot + 1) * rules.cpus):
        cpu = state.cpus[c]
        # A calc needs the CPU alone; sends and messages also need the NIC, hence the maxima below.
        if cpu.running != NONE or cpu.calc != NONE:
            time = min(time, cpu.free)
        if cpu.send != NONE:
            time = min(time, max(cpu.free, processor.out_free))
        if cpu.message != NONE:
            time = min(time, max(cpu.free, processor.in_free))
    return time


@phase
def play_events(slot, time, routes, hosting, state, rules, ledger):
    """Process all events of a processor at a time."""
    processor = state.processors[slot]
    # One event at a time, because each can change the next one. Ends precede begins at the same
    # time, as stated in docs/reference/time.md.
    while ledger.wrong == 0:
        # Messages are moved first: a message that arrives now competes with operations released
        # now.
        receive_coming(slot, time, state, rules)
        # An end may release operations issued earlier than all ready operations. Therefore all ends
        # of this time come before any begin.
        number = first_ended(slot, time, state, rules, ledger)
        if number != NONE:
            satisfy(slot, number, DONE, time, routes, hosting, state, rules, ledger)
            continue
        c, what = first_ready(slot, time, state, rules)
        if what == NONE:
            break
        ledger.events += 1
        cpu = state.cpus[c]
        if what == MESSAGE:
            m = np.int64(cpu.message)
            cpu.message = sent_popped(m, state.messages)
            take_in(slot, c, m, time, routes, hosting, state, rules, ledger)
        elif what == SEND:
            row = np.int64(cpu.send)
            cpu.send = issued_popped(row, state.operations)
            send_message(slot, c, row, time, routes, hosting, state, rules, ledger)
        else:
            row = np.int64(cpu.calc)
            cpu.calc = issued_popped(row, state.operations)
            begin_calc(slot, c, row, time, routes, hosting, state, rules, ledger)
        # The CPU is busy beyond the last receive, so a processor's end is not always the end of an
        # operation.
        if cpu.free > processor.end:
            processor.end = cpu.free
        # Rejected here, before the time enters any sum: 2^60 leaves two bits of headroom.
        if cpu.free > LATEST:
            ledger.wrong = TOO_LATE


@phase
def receive_coming(slot, time, state, rules):
    """Move messages whose first byte has arrived to the heap of their CPU."""
    processor, messages = state.processors[slot], state.messages
    while processor.coming != NONE and messages[processor.coming].ready <= time:
        m = np.int64(processor.coming)
        # In flight, messages are ordered by arrival. Waiting messages compete with operations by
        # issue time, which is the time of the send.
        processor.coming = ready_popped(m, messages)
        messages[m].state = WAITS
        cpu = state.cpus[slot * rules.cpus + messages[m].cpu]
        cpu.message = sent_pushed(np.int64(cpu.message), m, messages)


@phase
def first_ended(slot, time, state, rules, ledger):
    """Return the number of the first operation that has ended, and remove its end; else `NONE`.

    The first operation is the one with the earliest end, then with the lowest number.
    """
    processor = state.processors[slot]
    # Ends are in two places, the heap and the CPUs. Pushing ends of local operations would double
    # the heap's traffic.
    found, when, of_cpu = np.int64(NONE), time + 1, NONE
    m = np.int64(processor.ended)
    if m != NONE and state.messages[m].ready <= time:
        found, when = np.int64(state.messages[m].index), state.messages[m].ready
    for c in range(slot * rules.cpus, (slot + 1) * rules.cpus):
        cpu = state.cpus[c]
        if cpu.running != NONE and (
            cpu.free < when or (cpu.free == when and cpu.running < found and found != NONE)
        ):
            found, when, of_cpu = np.int64(cpu.running), cpu.free, c
    # Nothing ended: the caller looks for work to begin.
    if found == NONE:
        return found
    if of_cpu != NONE:
        state.cpus[of_cpu].running = NONE
    else:
        processor.ended = ended_popped(m, state.messages)
        # An end is stored in a message's row: heaps and checkpoints need no second record type.
        free_message(m, state, ledger)
    operation = state.operations[row_of(slot, found, state, rules)]
    # An operation that was released twice ends twice; only the first end counts.
    if operation.missing > DONE_WITH:
        operation.missing = DONE_WITH
        ledger.done += 1
    return found


@phase
def first_ready(slot, time, state, rules):
    """Return CPU and kind of the first activity to begin at a time; the kind is `NONE` if none may.

    The first activity is the one issued first. At equal times messages precede operations.
    """
    processor, operations, messages = state.processors[slot], state.operations, state.messages
    # A linear scan over the CPUs: a processor has few of them, and the heads of their heaps are the
    # only candidates.
    place, kind, turn, row = NONE, NONE, NEVER, np.int64(NONE)
    for c in range(slot * rules.cpus, (slot + 1) * rules.cpus):
        cpu = state.cpus[c]
        if cpu.free > time:
            continue
        # All CPUs of a processor share the receiving NIC, and the sending NIC below.
        if cpu.message != NONE and processor.in_free <= time:
            m = np.int64(cpu.message)
            sent = messages[m].sent
            # Kind, then source or number break ties: otherwise the result would depend on the order
            # of the CPUs.
            better = kind == NONE or sent < turn or (sent == turn and kind != MESSAGE)
            if not better and sent == turn:
                one, other = messages[m], messages[row]
                better = (one.source, one.index) < (other.source, other.index)
            if better:
                place, kind, turn, row = c, MESSAGE, sent, m
        for which in range(2):
            at = np.int64(cpu.calc) if which == CALC else np.int64(cpu.send)
            if at == NONE or (which == SEND and processor.out_free > time):
                continue
            issued = operations[at].turn
            if (
                kind == NONE
                or issued < turn
                or (
                    issued == turn
                    and kind != MESSAGE
                    and operations[at].number < operations[row].number
                )
            ):
                place, kind, turn, row = c, which, issued, at
    return place, kind


@phase
def begin_calc(slot, c, row, time, routes, hosting, state, rules, ledger):
    """Begin a calc."""
    # Begins are announced before the CPU is taken: a receive that waits for this begin is posted at
    # the same time.
    number = np.int64(state.operations[row].number)
    note_begin(slot, number, time, routes, hosting, state, rules, ledger)
    cpu = state.cpus[c]
    cpu.free = time + statement_of(slot, number, state).amount
    cpu.running = number
    if rules.noted:
        note_operation(BEGAN, slot, number, time, cpu.free, state, ledger)


@phase
def send_message(slot, c, row, time, routes, hosting, state, rules, ledger):
    """Begin a send."""
    number = np.int64(state.operations[row].number)
    note_begin(slot, number, time, routes, hosting, state, rules, ledger)
    said, cpu, processor = statement_of(slot, number, state), state.cpus[c], state.processors[slot]
    # LogGOPS charges the first byte within overhead and gap, and only further bytes separately.
    more = said.amount - 1
    cpu.free = time + rules.overhead + more * rules.overhead_byte
    processor.out_free = time + rules.gap + more * rules.gap_byte
    # A rendezvous send stays open until its match is known; `end_matched` then sets its end.
    if said.amount <= rules.eager:
        cpu.running = number
    if rules.noted:
        note_operation(BEGAN, slot, number, time, cpu.free, state, ledger)
    ledger.messages += 1
    m = new_message(state, ledger)
    message = state.messages[m]
    message.sent, message.length, message.tag = time, said.amount, said.tag
    message.source, message.index = processor.number, number
    # A message may arrive before its receive is posted, so the message alone must determine the
    # receiving CPU.
    message.target, message.cpu = peer_of(slot, said, state), said.what >> CPU_SHIFT
    inject(slot, m, time + rules.overhead, routes, hosting, state, rules, ledger)


@phase
def take_in(slot, c, m, time, routes, hosting, state, rules, ledger):
    """Begin the reception of an arrived message; match it with a posted receive, if any."""
    message, processor = state.messages[m], state.processors[slot]
    more = message.length - 1
    # CPU and NIC process the bytes in parallel, so the slower of both rates counts.
    taken = time + rules.overhead + more * max(rules.overhead_byte, rules.gap_byte)
    # The last byte may still be in flight. The CPU then waits for the last byte and needs its
    # overhead afterwards.
    message.tail = max(taken, message.tail + rules.overhead)
    state.cpus[c].free = message.tail
    if rules.noted:
        note(
            TAKEN | message.cpu << NOTE_BITS, processor.number, NONE, message.source, message.index,
            message.ready, time, message.tail, state, ledger,
        )  # fmt: skip
    processor.in_free = time + rules.gap + more * rules.gap_byte
    row = take_posted(slot, m, state, rules, ledger)
    if row == NONE:
        # MPI's unexpected queue: its order is the order of arrival, numbered by `turns`.
        message.state = UNEXPECTED
        ledger.turns += 1
        message.ready = ledger.turns
        return
    match(slot, row, m, time, routes, hosting, state, rules, ledger)


@routine
def post(slot, row, time, routes, hosting, state, rules, ledger):
    """Post a receive; match it with an unexpected message, if any."""
    number = np.int64(state.operations[row].number)
    said = statement_of(slot, number, state)
    if rules.noted:
        note_operation(POSTED, slot, number, time, time, state, ledger)
    source, tag = peer_of(slot, said, state), np.int64(said.tag)
    # Posting takes no processor time, so the match with a waiting message is at `time` itself.
    m = take_unexpected(slot, row, source, tag, state, rules, ledger)
    if m != NONE:
        match(slot, row, m, time, routes, hosting, state, rules, ledger)


@routine
def match(slot, row, m, time, routes, hosting, state, rules, ledger):
    """Match a message with a receive, and determine the ends of the receive and of the send."""
    number, message = np.int64(state.operations[row].number), state.messages[m]
    # The row of the number, not `row`: a receive released twice runs in its own row.
    state.operations[row_of(slot, number, state, rules)].event = time
    # Only rendezvous sends wait for the match; eager sends have ended with their CPU time.
    if message.length > rules.eager:
        # A message to the same processor uses no network, and the sender is this processor.
        if rules.nodes > 0 and message.source == message.target:
            end_send(slot, m, time, state, rules, ledger)
        else:
            # The answer takes at least the lookahead, which makes windows legal for rendezvous
            # programs.
            back = rules.apart if rules.nodes == 0 else way_back(m, routes, state, rules, ledger)
            answer(m, slot, time, back, hosting, state, rules, ledger)
    message.ready = max(time, message.tail)
    if rules.noted:
        note(
            MATCHED, state.processors[slot].number, number, message.source, message.index, time,
            time, message.ready, state, ledger,
        )  # fmt: skip
    # From here on the row stands for the end of the receive; the send's number is no longer needed.
    message.index = number
    add_end(slot, m, state)


@routine
def end_send(slot, m, time, state, rules, ledger):
    """End the send of a message to the same processor, after its match."""
    message, row = state.messages[m], new_message(state, ledger)
    # The send's CPU time may end after the match: a send never ends before its own overhead.
    began = state.operations[row_of(slot, np.int64(message.index), state, rules)].event
    sent = began + rules.overhead + (message.length - 1) * rules.overhead_byte
    state.messages[row].ready = max(sent, time)
    state.messages[row].index = message.index
    add_end(slot, row, state)


@routine
def end_matched(slot, m, state, rules):
    """End a rendezvous send at its sender, after the answer about its match."""
    word = state.messages[m]
    began = state.operations[row_of(slot, np.int64(word.index), state, rules)].event
    # If the operation has begun again since the match, use the earlier begin.
    began = began if began <= word.tail else word.sent
    # Recomputed from the begin instead of stored: an open send then needs no further field.
    sent = began + rules.overhead + (word.length - 1) * rules.overhead_byte
    word.ready = max(sent, word.ready)
    add_end(slot, m, state)


@routine
def add_end(slot, m, state):
    """Add the end of an operation, represented by message row `m`, to the future ends."""
    processor, message = state.processors[slot], state.messages[m]
    message.state, message.target = ENDS, processor.number
    # Future ends are a heap, not a queue: tails of messages do not arrive in the order of their
    # matches.
    processor.ended = ended_pushed(np.int64(processor.ended), m, state.messages)
    if message.ready > processor.end:
        processor.end = message.ready


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
    """Return the row with an operation's state (an operation released twice has another row)."""
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


@routine
def note_begin(slot, number, time, routes, hosting, state, rules, ledger):
    """Record the begin of an operation; release operations that wait for this begin."""
    # Set before followers are released, because their issue time is derived from it.
    state.operations[row_of(slot, number, state, rules)].event = time
    if statement_of(slot, number, state).what & HAS_STARTERS:
        satisfy(slot, number, BEGUN, time, routes, hosting, state, rules, ledger)


@routine
def satisfy(slot, cause, wanted, time, routes, hosting, state, rules, ledger):
    """Fulfil requirements on an operation's end or begin; release the ready operations.

    A released receive begins at once, and may release further operations before being posted. A
    stack in the operations' own fields contains the interrupted operations.
    """
    operations, followers, statements = state.operations, state.followers, state.statements
    # Depth-first, without recursion: a chain of receives may be as long as the program, and kernels
    # have a small stack.
    script, owner = np.int64(state.processors[slot].script), cause
    at = np.int64(statements[script + cause].followers)
    last = np.int64(statements[script + cause + 1].followers)
    while True:
        # All followers of this begin are processed. The receive itself is posted last, as the
        # reference does on return.
        if at == last:
            if owner == cause:
                return
            row = row_of(slot, owner, state, rules)
            owner, at = np.int64(operations[row].left), np.int64(operations[row].right)
            last = np.int64(statements[script + owner + 1].followers)
            post(slot, row, time, routes, hosting, state, rules, ledger)
            continue
        follower = np.int64(followers[at])
        at += 1
        # Nested receives announce their begin only. The outer cause may be a begin or an end.
        if follower & 1 != (wanted if owner == cause else BEGUN):
            continue
        number = follower >> 1
        row, said = row_of(slot, number, state, rules), statements[script + number]
        operation = operations[row]
        # The ring of rows is reused: this follower takes over the row of a finished operation.
        if operation.number != number:  # the row's previous operation is done
            begin_row(row, number, said.needs, statements[script + number + 1].needs, state)
        operation.missing -= 1
        if operation.missing != 0:
            continue
        # Calcs and sends need a CPU and wait in its heap. A receive needs no CPU, and begins in the
        # middle of this loop.
        if said.what & KIND_BITS != RECV:
            make_ready(slot, number, row, state, rules)
            continue
        operation.event = time
        if said.what & HAS_STARTERS:
            # A receive is in no heap, so its links are free: they store the return address of the
            # explicit stack.
            operation.left, operation.right = owner, at
            owner, at = number, np.int64(said.followers)
            last = np.int64(statements[script + number + 1].followers)
        else:
            post(slot, row, time, routes, hosting, state, rules, ledger)


@inlined
def begin_row(row, number, first, last, state):
    """Assign a row to an operation, whose requirements are `first` to `last` - 1."""
    operation = state.operations[row]
    operation.number, operation.missing = number, last - first


@routine
def make_ready(slot, number, row, state, rules):
    """Put a released operation into the heap of its CPU."""
    operations, statements, turn = state.operations, state.statements, np.int64(0)
    at = np.int64(state.processors[slot].script) + number
    # Issue time is the latest event among the requirements, recomputed because a requirement may
    # have begun again.
    for place in range(statements[at].needs, statements[at + 1].needs):
        needed = np.int64(state.needs[place]) >> 1
        turn = max(turn, operations[row_of(slot, needed, state, rules)].event)
    operations[row].turn = turn
    what = np.int64(statements[at].what)
    cpu = state.cpus[slot * rules.cpus + (what >> CPU_SHIFT)]
    if what & KIND_BITS == CALC:
        cpu.calc = issued_pushed(np.int64(cpu.calc), row, operations)
    else:
        cpu.send = issued_pushed(np.int64(cpu.send), row, operations)


@routine
def release_all(slot, routes, hosting, state, rules, ledger):
    """Release at time 0 the operations without requirements that have rows then.

    A receive that starts in this loop may release an operation further on. This operation is then
    released a second time when the loop reaches it, as stated in docs/reference/time.md. Its second
    release gets a separate row at the end.
    """
    processor, statements, time = state.processors[slot], state.statements, np.int64(0)
    script, first = np.int64(processor.script), np.int64(processor.first)
    count = min(np.int64(processor.count), rules.span)
    # All rows are initialized before any release: a release may reach operations further on.
    for number in range(count):
        said, behind = statements[script + number], statements[script + number + 1]
        begin_row(first + number, number, said.needs, behind.needs, state)
    for number in range(count):
        row, said = first + number, statements[script + number]
        if state.operations[row].missing != 0:
            continue
        own = row
        # The operation has requirements, yet none is missing: a receive of this loop has already
        # released it.
        if said.needs != statements[script + number + 1].needs:
            own = copied(number, state, ledger)
        if said.what & KIND_BITS == RECV:
            note_begin(slot, number, time, routes, hosting, state, rules, ledger)
            post(slot, own, time, routes, hosting, state, rules, ledger)
        else:
            make_ready(slot, number, own, state, rules)
    # The calendar gets the processor once, after all its operations of time 0 are known.
    set_alarm(slot, time, state, rules, ledger)


@routine
def copied(number, state, ledger):
    """Return a new row for the second release of an operation."""
    # The marked requirements determine the number of spare rows in advance: they cannot run out.
    clone = state.operations.size - ledger.clones
    ledger.clones -= 1
    state.operations[clone].number = number
    return clone
