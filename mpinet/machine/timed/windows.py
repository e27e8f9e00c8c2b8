"""The kernel: conservative windows of time, in each of which processors work first, then links.

This is a conservative parallel discrete event simulation with synchronous windows. The width of a
window is the lookahead: the least time in which an event at one processor or link can affect
another. Within a window all processors and links are therefore independent, in any order and on any
rank. Messages between ranks are exchanged at the end of the window, and no event is ever rolled
back. Empty windows are skipped.
"""

import numpy as np

from mpinet.base.arrays import Table
from mpinet.compiled import idiom, kernel, phase, routine
from mpinet.machine.timed.calendar import advance_to, forget, next_window
from mpinet.machine.timed.layout import (
    AHEAD,
    ARRIVAL,
    DIGITS,
    FULL,
    NEVER,
    NONE,
    NOTES,
    PROCESSORS,
    ROW_WORDS,
    ROWS,
    TRAVELS,
    BlockMapping,
    Entries,
    PricedRoutes,
    TimedConstants,
    TimedState,
    WindowLedger,
)
from mpinet.machine.timed.matching import make_list, place_of
from mpinet.machine.timed.prefetching import fetch_processors
from mpinet.machine.timed.processor import (
    first_of_all,
    make_step,
    release_all,
    require_progress,
    work,
)
from mpinet.machine.timed.sending import CPU_PLACE, arrive, ask, new_message, serve


@idiom
def called(routes):
    """Return `routes` with plain functions as rules, because phases cannot unbox boxed rules."""
    return PricedRoutes(
        routes.neighbor.call, routes.channel.call, routes.link_class.call, routes.wired,
        routes.start.call, routes.decide.call, routes.params, routes.header_words,
        routes.latencies, routes.byte_times,
    )  # fmt: skip


@idiom
def placed(hosting):
    """Return the mapping with a plain function as rule, as in `called`."""
    return BlockMapping(hosting.place.call, hosting.params, hosting.split, hosting.in_order)


@kernel
def advance(
    routes: PricedRoutes,
    hosting: BlockMapping,
    rules: TimedConstants,
    state: TimedState,
    ledger: WindowLedger,
    window: int,
    events: int,
) -> None:
    """Advance to a window and execute it; a single rank continues for `events` events.

    With several ranks one call is one window. If servers have several senders, a call is half a
    window, and the servers get the requests of other ranks before the second half.
    `WindowLedger.wants_room` reports too few free rows; the same call continues once there are more
    rows.
    """
    # Boxed rules are unpacked once per call: phases are compiled without reference counts and
    # cannot unbox rules.
    play(called(routes), placed(hosting), rules, state, ledger, window, events)


@phase
def play(routes, hosting, rules, state, ledger, window, events):
    """Execute `advance` with unboxed rules."""
    if not all_begun(routes, hosting, rules, state, ledger):
        return
    # A call may resume a window whose first half is done; the calendar must not move then.
    if ledger.passed == 0:
        advance_to(window, state, rules, ledger)
    most = ledger.events + events
    while ledger.wrong == 0:
        if ledger.passed == 0:
            if not worked(routes, hosting, rules, state, ledger):
                return
            ledger.passed = 1
            # Requests of other ranks for a shared server belong to this window. They have to be
            # exchanged before the server decides.
            if rules.serving != FULL and rules.ranks > 1:
                return
        if rules.nodes > 0:
            if not has_room_for_notes(state, rules, ledger):
                return
            serve(routes, hosting, state, rules, ledger)
            if ledger.served > 0:
                ledger.idle = 0
        ledger.passed = 0
        ledger.next = next_window(state, rules, ledger)
        # With several ranks the next window is a minimum over all ranks: this rank alone must not
        # continue.
        if rules.ranks > 1 or ledger.next == NEVER or ledger.events >= most:
            return
        advance_to(ledger.next, state, rules, ledger)


@phase
def has_room(state, rules, ledger):
    """Return True if the free rows suffice for all possible events of a processor in a window."""
    # Checked before a processor works, for the worst case: a kernel can neither allocate nor stop
    # in the middle of an event.
    posted, alive = ledger.entries + rules.receives_most, state.messages.size - ledger.free
    lists = max(2 * posted, posted + rules.lists * alive + 1)
    if ledger.free < rules.sends_most + rules.receives_most or lists > state.entries.size:
        ledger.wants_room = ROWS
        return False
    return has_room_for_notes(state, rules, ledger)


@phase
def has_room_for_notes(state, rules, ledger):
    """Return True if there are rows for two notes of each message, and all notes of a processor."""
    if rules.noted and ledger.notes + rules.notes_most + 2 * state.messages.size > len(state.notes):
        ledger.wants_room = NOTES
        return False
    return True


@routine
def all_begun(routes, hosting, rules, state, ledger):
    """Issue the operations without requirements; return False if there are too few free rows."""
    while ledger.begun < state.processors.size:
        # The run continues here after Python has allocated memory: `begun` is the resume point.
        if not has_room(state, rules, ledger):
            return False
        slot = ledger.begun
        release_all(slot, state, rules, ledger)
        ledger.begun += 1
    return True


@phase
def worked(routes, hosting, rules, state, ledger):
    """Let processors work to the end of the window; return False if there are too few free rows."""
    # The conservative condition: no message of another processor can arrive before the window ends,
    # so each processor may work alone until then.
    until, bucket = (ledger.window + 1) * rules.window, ledger.window & DIGITS - 1
    if rules.at_once:
        return worked_in_turn(bucket, routes, hosting, rules, state, ledger)
    count = 0
    while state.heads[PROCESSORS, bucket] != NONE and ledger.wrong == 0:
        # A batch of prefetches at a time: their cache misses overlap.
        if count % AHEAD == 0:
            fetch_processors(state.heads[PROCESSORS, bucket], state, rules)
        count += 1
        if not has_room(state, rules, ledger):
            return False
        slot = state.heads[PROCESSORS, bucket]
        # Removed from the calendar first: the processor's own events may set its alarm for this
        # window again.
        forget(slot, state)
        state.processors[slot].alarm = NEVER
        events = ledger.events
        work(slot, until, routes, hosting, state, rules, ledger)
        # A processor may be woken without an event, for example by a message received later. Only
        # long series are an error.
        require_progress(events, rules, ledger)
    return True


@routine
def worked_in_turn(bucket, routes, hosting, rules, state, ledger):
    """Make the steps of a window of one tick, the first of all processors' steps each time.

    A match affects another processor at the same time, so no processor may work alone. The time is
    quadratic in the number of processors with steps at the same tick.
    """
    while ledger.wrong == 0:
        if not has_room(state, rules, ledger):
            return False
        slot, c, what = first_of_all(ledger.window, bucket, state, rules, ledger)
        if slot == NONE:
            break
        ledger.events += 1
        make_step(slot, c, what, ledger.window, routes, hosting, state, rules, ledger)
    return True


@kernel
def take_rows(
    rows: Table,
    routes: PricedRoutes,
    hosting: BlockMapping,
    rules: TimedConstants,
    state: TimedState,
    ledger: WindowLedger,
) -> None:
    """Process rows received from other ranks; there must be enough free rows of messages."""
    taken(rows, called(routes), placed(hosting), rules, state, ledger)


@routine
def taken(rows, routes, hosting, rules, state, ledger):
    """Execute `take_rows` with unboxed rules."""
    for i in range(rows.shape[0]):
        row, m = rows[i], new_message(state, ledger)
        message, kind = state.messages[m], row[0] & ((1 << CPU_PLACE) - 1)
        message.cpu = row[0] >> CPU_PLACE
        message.sent, message.length, message.ready, message.tail = row[1], row[2], row[3], row[4]
        # Rows are signed words; tags use all 32 bits and must not become negative.
        message.tag = np.uint32(row[5])
        message.source, message.index, message.target = row[6], row[7], row[8]
        message.node, message.port, message.hop = row[9], row[10], row[11]
        message.before, message.order = row[12], row[13]
        for word in range(state.headers.shape[1]):
            state.headers[m, word] = row[ROW_WORDS + word]
        # Rows of one rank are in a fixed order, and lower ranks come first. Heaps and lists impose
        # total orders anyway.
        if kind == ARRIVAL:
            arrive(m, NONE, hosting, state, rules, ledger)
        else:
            message.state = TRAVELS
            ask(m, routes, hosting, state, rules, ledger)
    ledger.next = next_window(state, rules, ledger)


@kernel
def move_lists(old: Entries, new: Entries, ledger: WindowLedger) -> None:
    """Enter all lists into a larger table."""
    ledger.entries = 0
    for at in range(old.size):
        entry = old[at]
        if entry.slot != NONE:
            slot, source, tag = np.int64(entry.slot), np.int64(entry.source), np.int64(entry.tag)
            # Indices depend on the table's size, so entries are hashed again; list heads are row
            # numbers and stay valid.
            place = place_of(slot, source, tag, new)
            make_list(
                place, slot, source, tag, np.int64(entry.head), np.int64(entry.posted), new, ledger
            )
            new[place].tail = entry.tail
