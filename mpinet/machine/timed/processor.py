"""The processors' part of a window, event by event: ends first, then begins in order of issue.

A processor is a logical process: its CPUs, NICs and queues of events are its own. Inside a window
it needs nothing of any other.
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
"""Kinds of requirements, the lowest bit of a requirement's row: an operation is done, or has begun.
"""

MESSAGE = 2
"""Beside CALC and SEND: what may begin on a CPU."""


@phase
def work(slot, until, routes, hosting, state, rules, ledger):
    """Let a processor do all that it does before `until`, and set its alarm for what follows."""
    while True:
        # Event-driven within the window: local events may cause further local events before its
        # end, without any exchange.
        time = next_time(slot, state, rules)
        if time >= until or ledger.wrong != 0:
            break
        events = ledger.events
        play_events(slot, time, routes, hosting, state, rules, ledger)
        require_progress(events, rules, ledger)
    # One alarm stands for all pending events of the processor; the calendar never holds more than
    # that.
    if time < NEVER and ledger.wrong == 0:
        set_alarm(slot, time, state, rules, ledger)


@inlined
def require_progress(events, rules, ledger):
    """Count a turn in which no event is added to so many; too many in a row are an error."""
    if ledger.wrong == 0:
        # Progress is an event, not a turn. A turn without one is legal, for example when a message
        # waits for a busy NIC.
        ledger.idle = 0 if ledger.events != events else ledger.idle + 1
        if ledger.idle > rules.idle_most:
            ledger.wrong = STALLED


@phase
def next_time(slot, state, rules):
    """Return when something ends, comes or may begin at a processor; `NEVER` if nothing does."""
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
        # A calc needs the CPU alone; sends and messages need the NIC as well, hence the maxima
        # below.
        if cpu.running != NONE or cpu.calc != NONE:
            time = min(time, cpu.free)
        if cpu.send != NONE:
            time = min(time, max(cpu.free, processor.out_free))
        if cpu.message != NONE:
            time = min(time, max(cpu.free, processor.in_free))
    return time


@phase
def play_events(slot, time, routes, hosting, state, rules, ledger):
    """Let a processor do all that it does at a time."""
    processor = state.processors[slot]
    # One event at a time, for each can change what comes next. Ends precede begins at the same
    # time, as docs/reference/time.md states.
    while ledger.wrong == 0:
        # Messages are moved first: one that comes now competes with operations released now.
        receive_coming(slot, time, state, rules)
        # An end may release operations that were issued earlier than all ready ones. So all ends of
        # this time come before any begin.
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
        # Refused here, before the time enters any sum: 2^60 leaves two bits of headroom.
        if cpu.free > LATEST:
            ledger.wrong = TOO_LATE


@phase
def receive_coming(slot, time, state, rules):
    """Put messages whose first byte has come into the line of their CPU."""
    processor, messages = state.processors[slot], state.messages
    while processor.coming != NONE and messages[processor.coming].ready <= time:
        m = np.int64(processor.coming)
        # In flight the order is that of arrival. Waiting messages compete with operations by issue
        # time, which is when they were sent.
        processor.coming = ready_popped(m, messages)
        messages[m].state = WAITS
        cpu = state.cpus[slot * rules.cpus + messages[m].cpu]
        cpu.message = sent_pushed(np.int64(cpu.message), m, messages)


@phase
def first_ended(slot, time, state, rules, ledger):
    """Return the number of the first operation that has ended, and forget its end; else `NONE`.

    The first is the one that ended first; of several, the one with the lowest number.
    """
    processor = state.processors[slot]
    # Ends are in two places, the heap and the CPUs. Local operations would double the heap's
    # traffic if they were pushed.
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
        # An end is stored in a message's row, so that heaps and checkpoints need no second record
        # type.
        free_message(m, state, ledger)
    operation = state.operations[row_of(slot, found, state, rules)]
    # An operation that was released twice ends twice; only the first end counts.
    if operation.missing > DONE_WITH:
        operation.missing = DONE_WITH
        ledger.done += 1
    return found


@phase
def first_ready(slot, time, state, rules):
    """Return the CPU and the kind of what begins first at a time; the kind is `NONE` if none may.

    It is what was issued first; a message goes before an operation.
    """
    processor, operations, messages = state.processors[slot], state.operations, state.messages
    # A linear scan over the CPUs: a processor has few of them, and the heads of their heaps are the
    # only candidates.
    place, kind, turn, row = NONE, NONE, NEVER, np.int64(NONE)
    for c in range(slot * rules.cpus, (slot + 1) * rules.cpus):
        cpu = state.cpus[c]
        if cpu.free > time:
            continue
        # The receiving NIC is shared by all CPUs of a processor; the sending one below likewise.
        if cpu.message != NONE and processor.in_free <= time:
            m = np.int64(cpu.message)
            sent = messages[m].sent
            # Ties are settled by kind, then by source or number: otherwise the result would depend
            # on the order of the CPUs.
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
    """Begin to compute."""
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
    """Begin to send."""
    number = np.int64(state.operations[row].number)
    note_begin(slot, number, time, routes, hosting, state, rules, ledger)
    said, cpu, processor = statement_of(slot, number, state), state.cpus[c], state.processors[slot]
    # LogGOPS charges the first byte within overhead and gap, and only further bytes separately.
    more = said.amount - 1
    cpu.free = time + rules.overhead + more * rules.overhead_byte
    processor.out_free = time + rules.gap + more * rules.gap_byte
    # A rendezvous send stays open until its match is known; then `end_matched` gives its end.
    if said.amount <= rules.eager:
        cpu.running = number
    if rules.noted:
        note_operation(BEGAN, slot, number, time, cpu.free, state, ledger)
    ledger.messages += 1
    m = new_message(state, ledger)
    message = state.messages[m]
    message.sent, message.length, message.tag = time, said.amount, said.tag
    message.source, message.index = processor.number, number
    # A message may come before its receive is posted, so the CPU that takes it in can follow from
    # the message alone.
    message.target, message.cpu = peer_of(slot, said, state), said.what >> CPU_SHIFT
    inject(slot, m, time + rules.overhead, routes, hosting, state, rules, ledger)


@phase
def take_in(slot, c, m, time, routes, hosting, state, rules, ledger):
    """Take in a message that has come; match it with a receive, if one is posted."""
    message, processor = state.messages[m], state.processors[slot]
    more = message.length - 1
    # CPU and NIC work side by side on the bytes, so the slower of both rates counts.
    taken = time + rules.overhead + more * max(rules.overhead_byte, rules.gap_byte)
    # The last byte may still be on its way. The CPU then waits for it and needs its overhead after
    # that.
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
        # MPI's unexpected queue: its order is the order of arrival, which `turns` numbers.
        message.state = UNEXPECTED
        ledger.turns += 1
        message.ready = ledger.turns
        return
    match(slot, row, m, time, routes, hosting, state, rules, ledger)


@routine
def post(slot, row, time, routes, hosting, state, rules, ledger):
    """Post a receive; match it with an unexpected message, if one fits."""
    number = np.int64(state.operations[row].number)
    said = statement_of(slot, number, state)
    if rules.noted:
        note_operation(POSTED, slot, number, time, time, state, ledger)
    source, tag = peer_of(slot, said, state), np.int64(said.tag)
    # Posting costs no processor time, so a match with a waiting message is at `time` itself.
    m = take_unexpected(slot, row, source, tag, state, rules, ledger)
    if m != NONE:
        match(slot, row, m, time, routes, hosting, state, rules, ledger)


@routine
def match(slot, row, m, time, routes, hosting, state, rules, ledger):
    """Give a message to a receive: both ends know when the receive, and the send, are done."""
    number, message = np.int64(state.operations[row].number), state.messages[m]
    # The row of the number, not `row`: a receive released twice runs in a row of its own.
    state.operations[row_of(slot, number, state, rules)].event = time
    # Only rendezvous sends wait for the match; eager ones have ended with their CPU time.
    if message.length > rules.eager:
        # No network lies between a processor and itself, and this processor is the one that works
        # now.
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
    """Let the send of a message to oneself end, which was matched at once."""
    message, row = state.messages[m], new_message(state, ledger)
    # The send's CPU time may exceed the match: a send never ends before its own overhead.
    began = state.operations[row_of(slot, np.int64(message.index), state, rules)].event
    sent = began + rules.overhead + (message.length - 1) * rules.overhead_byte
    state.messages[row].ready = max(sent, time)
    state.messages[row].index = message.index
    add_end(slot, row, state)


@routine
def end_matched(slot, m, state, rules):
    """Let the sender know that its message was matched: then its send ends."""
    word = state.messages[m]
    began = state.operations[row_of(slot, np.int64(word.index), state, rules)].event
    # An operation that began once more since the match is as it was then.
    began = began if began <= word.tail else word.sent
    # Recomputed from the begin instead of stored: an open send then needs no field of its own.
    sent = began + rules.overhead + (word.length - 1) * rules.overhead_byte
    word.ready = max(sent, word.ready)
    add_end(slot, m, state)


@routine
def add_end(slot, m, state):
    """Put the end of an operation, which `m` stands for, among those to come."""
    processor, message = state.processors[slot], state.messages[m]
    message.state, message.target = ENDS, processor.number
    # Future ends are a heap, not a queue: the tails of messages do not come in the order of their
    # matches.
    processor.ended = ended_pushed(np.int64(processor.ended), m, state.messages)
    if message.ready > processor.end:
        processor.end = message.ready


@routine
def way_back(m, routes, state, rules, ledger):
    """Return the sum of the latencies on the way from a message's receiver to its sender."""
    message, header = state.messages[m], state.headers[m]
    node, target = np.int64(message.target), np.int64(message.source)
    # The message has arrived, so its header is free to route the answer in the other direction.
    header[:] = 0
    routes.start(node, target, header, routes.params)
    total, hops = np.int64(0), 0
    # The answer's path is walked at once: it uses no link time, so no event is needed per hop.
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
    """Return the row that has an operation's state; it has another where it is released twice."""
    # Rows are a ring of `span` operations per processor. A program of millions of operations needs
    # few of them at a time.
    place = number if number < rules.span else number % rules.span
    return np.int64(state.processors[slot].first) + place


@inlined
def statement_of(slot, number, state):
    """Return what the program says of an operation."""
    return state.statements[state.processors[slot].script + number]


@inlined
def peer_of(slot, said, state):
    """Return the other processor of a statement; its digit is so far off from this one's."""
    peer, way = np.int64(said.peer), np.int64(said.way)
    # Stored programs name their peers. Scripted ones compute them, so that all processors share one
    # statement.
    if way == 0:
        return peer
    own, stride, radix = (
        np.int64(state.processors[slot].number),
        state.ways[way, 0],
        state.ways[way, 1],
    )
    # One digit of a mixed-radix number: neighbours in a grid and partners of butterflies are both
    # of this form.
    digit = own // stride % radix
    return own + ((digit + peer) % radix - digit) * stride


@routine
def note_operation(kind, slot, number, time, end, state, ledger):
    """Take a note of an operation."""
    what = kind | (statement_of(slot, number, state).what >> CPU_SHIFT) << NOTE_BITS
    node = state.processors[slot].number
    note(what, node, number, NONE, NONE, time, time, end, state, ledger)


@routine
def note_begin(slot, number, time, routes, hosting, state, rules, ledger):
    """Note that an operation begins; release what waits for that."""
    # Released followers take their issue time from this, so it is set before they are met.
    state.operations[row_of(slot, number, state, rules)].event = time
    if statement_of(slot, number, state).what & HAS_STARTERS:
        satisfy(slot, number, BEGUN, time, routes, hosting, state, rules, ledger)


@routine
def satisfy(slot, cause, wanted, time, routes, hosting, state, rules, ledger):
    """Meet the requirements that an operation is done, or has begun; release what lacks none.

    A receive that is released begins at once, which may release others before it is posted. The
    operations in whose midst that happens are kept in their own fields, as a stack.
    """
    operations, followers, statements = state.operations, state.followers, state.statements
    # Depth-first, without recursion: a chain of receives may be as long as the program, and kernels
    # have a small stack.
    script, owner = np.int64(state.processors[slot].script), cause
    at = np.int64(statements[script + cause].followers)
    last = np.int64(statements[script + cause + 1].followers)
    while True:
        # All followers of this begin are met. The receive itself is posted last, as the reference
        # does on return.
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
        # The ring of rows is reused: this follower takes over the row of an operation that is done.
        if operation.number != number:  # the one that had the row is done with
            begin_row(row, number, said.needs, statements[script + number + 1].needs, state)
        operation.missing -= 1
        if operation.missing != 0:
            continue
        # Calcs and sends need a CPU and wait in its heap. A receive needs none, and begins in the
        # middle of this loop.
        if said.what & KIND_BITS != RECV:
            make_ready(slot, number, row, state, rules)
            continue
        operation.event = time
        if said.what & HAS_STARTERS:
            # A receive is in no heap, so its links are free: they hold the return address of the
            # explicit stack.
            operation.left, operation.right = owner, at
            owner, at = number, np.int64(said.followers)
            last = np.int64(statements[script + number + 1].followers)
        else:
            post(slot, row, time, routes, hosting, state, rules, ledger)


@inlined
def begin_row(row, number, first, last, state):
    """Let a row be an operation's, whose requirements are from `first` to before `last`."""
    operation = state.operations[row]
    operation.number, operation.missing = number, last - first


@routine
def make_ready(slot, number, row, state, rules):
    """Put a released operation into the line for its CPU."""
    operations, statements, turn = state.operations, state.statements, np.int64(0)
    at = np.int64(state.processors[slot].script) + number
    # Issue time is the latest event among the requirements. Recomputed here, since a requirement
    # may have begun again.
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
    """Release what requires nothing, at time 0, of the operations that have rows then.

    An operation whose requirements are met by receives that begin meanwhile is released by them,
    and when it is its turn once more, as the reference has it: a row behind all others stands for
    it then.
    """
    processor, statements, time = state.processors[slot], state.statements, np.int64(0)
    script, first = np.int64(processor.script), np.int64(processor.first)
    count = min(np.int64(processor.count), rules.span)
    # All rows are initialized before any is released: a release may reach operations further on.
    for number in range(count):
        said, behind = statements[script + number], statements[script + number + 1]
        begin_row(first + number, number, said.needs, behind.needs, state)
    for number in range(count):
        row, said = first + number, statements[script + number]
        if state.operations[row].missing != 0:
            continue
        own = row
        # It has requirements, yet none is missing: a receive of this loop has released it before
        # its turn.
        if said.needs != statements[script + number + 1].needs:
            own = copied(number, state, ledger)
        if said.what & KIND_BITS == RECV:
            note_begin(slot, number, time, routes, hosting, state, rules, ledger)
            post(slot, own, time, routes, hosting, state, rules, ledger)
        else:
            make_ready(slot, number, own, state, rules)
    # The calendar learns of the processor once, after all its operations of time 0 are known.
    set_alarm(slot, time, state, rules, ledger)


@routine
def copied(number, state, ledger):
    """Return a row that stands for an operation that is released once more."""
    # Spare rows are counted in advance from the marked requirements, so that this cannot run out.
    clone = state.operations.size - ledger.clones
    ledger.clones -= 1
    state.operations[clone].number = number
    return clone
