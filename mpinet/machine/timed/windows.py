"""The kernel: conservative windows of time, in each of which processors work first, then links.

This is a conservative parallel discrete event simulation in synchronous windows. A window is as
wide as the lookahead: the least time in which an event at one processor or link can affect another.
So within a window each of them goes on alone, in any order and on any rank. Messages between ranks
are exchanged at its end, and nothing is ever rolled back. Empty windows are skipped.
"""

import numpy as np

from mpinet.base.arrays import Table
from mpinet.compiled import idiom, kernel, phase, routine
from mpinet.machine.hop import position_of
from mpinet.machine.timed.calendar import advance_to, forget, next_window, set_alarm
from mpinet.machine.timed.layout import (
    AHEAD,
    ANSWER,
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
from mpinet.machine.timed.prefetching import fetch_lists, fetch_processors
from mpinet.machine.timed.processor import end_matched, release_all, require_progress, work
from mpinet.machine.timed.sending import CPU_PLACE, arrive, ask, new_message, serve


@idiom
def called(routes):
    """Return the routes with plain functions for their boxed rules, which phases cannot unbox."""
    return PricedRoutes(
        routes.neighbor.call, routes.channel.call, routes.link_class.call, routes.wired,
        routes.start.call, routes.decide.call, routes.params, routes.header_words,
        routes.latencies, routes.byte_times,
    )  # fmt: skip


@idiom
def placed(hosting):
    """Return the mapping with a plain function for its boxed rule, as `called`."""
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
    """Go to a window and through it; on one rank go on until so many events have happened.

    With several ranks one call is one window, or half of one where servers have several senders:
    these get the requests of other ranks in between. `WindowLedger.wants_room` says that there are
    too few free rows; the same call goes on from there when there are more.
    """
    # Boxed rules are unpacked once per call: phases are compiled without reference counts and
    # cannot unbox them.
    play(called(routes), placed(hosting), rules, state, ledger, window, events)


@phase
def play(routes, hosting, rules, state, ledger, window, events):
    """Do what `advance` says."""
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
        # Answers come last, so a local sender learns of a match no sooner than a remote one.
        deliver_answers(hosting, state, rules, ledger)
        ledger.passed = 0
        ledger.next = next_window(state, rules, ledger)
        # With several ranks the next window is a minimum over all of them: this rank alone must not
        # go on.
        if rules.ranks > 1 or ledger.next == NEVER or ledger.events >= most:
            return
        advance_to(ledger.next, state, rules, ledger)


@phase
def has_room(state, rules, ledger):
    """Return whether there is room for all that a processor can do in a window."""
    # Room is checked before a processor works, for the worst case: a kernel can neither allocate
    # nor stop in the middle of an event.
    posted, alive = ledger.entries + rules.receives_most, state.messages.size - ledger.free
    lists = max(2 * posted, posted + rules.lists * alive + 1)
    if ledger.free < rules.sends_most + rules.receives_most or lists > state.entries.size:
        ledger.wants_room = ROWS
        return False
    return has_room_for_notes(state, rules, ledger)


@phase
def has_room_for_notes(state, rules, ledger):
    """Return whether there is room for a note of each message, and all of a processor's."""
    if rules.noted and ledger.notes + rules.notes_most + state.messages.size > len(state.notes):
        ledger.wants_room = NOTES
        return False
    return True


@routine
def all_begun(routes, hosting, rules, state, ledger):
    """Release the operations that require nothing; return False if there is too little room."""
    while ledger.begun < state.processors.size:
        # The run continues here after Python has made room: `begun` is the resume point.
        if not has_room(state, rules, ledger):
            return False
        slot = ledger.begun
        fetch_lists(slot, state, rules)
        release_all(slot, routes, hosting, state, rules, ledger)
        ledger.begun += 1
    return True


@phase
def worked(routes, hosting, rules, state, ledger):
    """Let processors work to the end of the window; return False if there is too little room."""
    # No message of another processor can arrive before the window ends. So each processor may work
    # alone until then: the conservative condition.
    until, bucket = (ledger.window + 1) * rules.window, ledger.window & DIGITS - 1
    count = 0
    while state.heads[PROCESSORS, bucket] != NONE and ledger.wrong == 0:
        # A batch of prefetches at a time, so that their misses overlap instead of following one
        # another.
        if count % AHEAD == 0:
            fetch_processors(state.heads[PROCESSORS, bucket], state, rules)
        count += 1
        if not has_room(state, rules, ledger):
            return False
        slot = state.heads[PROCESSORS, bucket]
        # Out of the calendar before it works: events of its own may set its alarm for this very
        # window again.
        forget(slot, state)
        state.processors[slot].alarm = NEVER
        events = ledger.events
        work(slot, until, routes, hosting, state, rules, ledger)
        # A processor may be woken without an event, for example by a message that it takes later.
        # Only long series are an error.
        require_progress(events, rules, ledger)
    return True


@routine
def deliver_answers(hosting, state, rules, ledger):
    """Let the senders of this rank know which of their messages were matched in this window."""
    while ledger.answers != NONE:
        m = ledger.answers
        ledger.answers = np.int64(state.messages[m].left)
        tell(m, hosting, state, rules, ledger)


@routine
def tell(m, hosting, state, rules, ledger):
    """Let the sender of a message know that it was matched."""
    source = np.int64(state.messages[m].source)
    position = position_of(source, hosting.place, hosting.in_order, hosting.params)
    slot = position - rules.first_position
    end_matched(slot, m, state, rules)
    set_alarm(slot, state.messages[m].ready, state, rules, ledger)


@kernel
def take_rows(
    rows: Table,
    routes: PricedRoutes,
    hosting: BlockMapping,
    rules: TimedConstants,
    state: TimedState,
    ledger: WindowLedger,
) -> None:
    """Take in what other ranks have handed over; there are as many free rows of messages."""
    taken(rows, called(routes), placed(hosting), rules, state, ledger)


@routine
def taken(rows, routes, hosting, rules, state, ledger):
    """Do what `take_rows` says."""
    for i in range(rows.shape[0]):
        row, m = rows[i], new_message(state, ledger)
        message, kind = state.messages[m], row[0] & ((1 << CPU_PLACE) - 1)
        message.cpu = row[0] >> CPU_PLACE
        message.sent, message.length, message.ready, message.tail = row[1], row[2], row[3], row[4]
        # Rows are signed words; tags use all 32 bits and must not come back negative.
        message.tag = np.uint32(row[5])
        message.source, message.index, message.target = row[6], row[7], row[8]
        message.node, message.port, message.hop = row[9], row[10], row[11]
        for word in range(state.headers.shape[1]):
            state.headers[m, word] = row[ROW_WORDS + word]
        # Rows of one rank come in a fixed order, and lower ranks come first. Heaps and lists impose
        # total orders anyway.
        if kind == ARRIVAL:
            arrive(m, NONE, hosting, state, rules, ledger)
        elif kind == ANSWER:
            tell(m, hosting, state, rules, ledger)
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
            # Places depend on the table's size, so entries are hashed again; list heads are row
            # numbers and stay valid.
            place = place_of(slot, source, tag, new)
            make_list(
                place, slot, source, tag, np.int64(entry.head), np.int64(entry.posted), new, ledger
            )
            new[place].tail = entry.tail
