"""Calendars: the priority queue of future events, by window (a radix heap: Ahuja et al. 1990).

Window numbers are written in digits. An item due in window w is in bucket (k, d): k is the highest
digit in which w differs from the current window, and d is w's digit there. Each bucket of the
lowest digit therefore contains one window. Windows only go forward, items move to lower digits
only, and the first nonempty bucket contains the next events. `State.least` is the least window in
each bucket of the higher digits, or `NONE` if unknown.

A bucket has a linked list of processors, because processors may be removed. Messages are never
removed: a bucket has blocks of words with message and server. These blocks are one stream through
memory that needs no access to messages.
"""

import numpy as np

from mpinet.compiled import idiom, phase, prefetch, routine
from mpinet.machine.timed.layout import (
    BUCKETS,
    CELLS,
    DIGIT_BITS,
    DIGITS,
    NEVER,
    NONE,
    PROCESSORS,
    RECENT,
    REQUEST_BITS,
    REQUESTS,
)

REQUEST_MASK = (1 << REQUEST_BITS) - 1


@idiom
def bucket_of(window, now):
    """Return the bucket of a window, relative to the current window."""
    # The highest different digit determines the bucket. An exclusive or finds the digit without
    # decoding both numbers.
    apart, shift = window ^ now, 0
    while apart >> DIGIT_BITS > 0:
        apart >>= DIGIT_BITS
        shift += DIGIT_BITS
    return shift // DIGIT_BITS * DIGITS | window >> shift & DIGITS - 1


@routine
def set_alarm(slot, time, state, rules, ledger):
    """Set the time of a processor's next events (its alarm), unless already earlier."""
    processor = state.processors[slot]
    # A later alarm is redundant: at the earlier alarm the processor handles everything due.
    if time >= processor.alarm:
        return
    window, bucket = time // rules.window, np.int64(processor.bucket)
    # Decrease-key. Within one window the order does not matter: only the time changes, and the list
    # stays unchanged.
    if bucket != NONE:
        if window == processor.alarm // rules.window:
            processor.alarm = time
            return
        forget(slot, state)
        # The minimum may just have left. It is recomputed only if needed: most buckets become empty
        # before.
        state.least[PROCESSORS, bucket] = NONE
    processor.alarm = time
    enter_processor(slot, window, state, ledger)


@routine
def forget(slot, state):
    """Remove a processor from its bucket."""
    # Lists are doubly linked because alarms move to earlier windows: a removal must not search.
    processor = state.processors[slot]
    before, behind = np.int64(processor.before), np.int64(processor.next)
    if before == NONE:
        state.heads[PROCESSORS, processor.bucket] = behind
    else:
        state.processors[before].next = behind
    if behind != NONE:
        state.processors[behind].before = before
    processor.bucket = NONE


@routine
def enter_processor(slot, window, state, ledger):
    """Put a processor into the bucket of a window."""
    bucket = bucket_of(window, ledger.window)
    processor, head = state.processors[slot], state.heads[PROCESSORS, bucket]
    processor.bucket, processor.before, processor.next = bucket, NONE, head
    if head != NONE:
        state.processors[head].before = slot
    state.heads[PROCESSORS, bucket] = slot
    # This ring serves prefetching alone. It predicts the processor some places further in the list.
    recent = state.recent[bucket]
    recent[0] += 1
    place = 1 + (recent[0] & RECENT - 1)
    processor.further, recent[place] = recent[place], slot
    state.least[PROCESSORS, bucket] = min(state.least[PROCESSORS, bucket], window)


@phase
def enter_request(m, server, state, rules, ledger):
    """Put a message into the bucket of the window in which it requests its server."""
    window = state.messages[m].ready // rules.window
    enter_word(server << REQUEST_BITS | m, window, state, ledger)


@phase
def enter_word(word, window, state, ledger):
    """Put the word of a request into the bucket of a window."""
    bucket = bucket_of(window, ledger.window)
    at = state.heads[REQUESTS, bucket]
    # `NONE` is -1, all bits set: one test covers a full block and an empty bucket.
    if at & CELLS - 1 == CELLS - 1:  # also without any block
        block = ledger.blocks
        ledger.blocks = state.cells[block]
        # The next free block is needed once this block is full; its address is already known.
        prefetch(state.cells, ledger.blocks)
        state.cells[block] = at
        at = block
    state.cells[at + 1] = word
    state.heads[REQUESTS, bucket] = at + 1
    state.least[REQUESTS, bucket] = min(state.least[REQUESTS, bucket], window)


@phase
def before_block(block, state, ledger):
    """Free a block; return the index of the last word of the previous block, or `NONE`."""
    before = state.cells[block]
    state.cells[block] = ledger.blocks
    ledger.blocks = block
    return before


@routine
def next_window(state, rules, ledger):
    """Return the next window with an event; `NEVER` if there is none."""
    # Each bucket of the lowest digit contains one window, so the first nonempty bucket is the
    # answer.
    for bucket in range(ledger.window & DIGITS - 1, DIGITS):
        if state.heads[PROCESSORS, bucket] != NONE or state.heads[REQUESTS, bucket] != NONE:
            return ledger.window & -DIGITS | bucket
    # All windows of a lower digit come before the windows of a higher digit. The scan stops at the
    # first nonempty bucket.
    for bucket in range(DIGITS, BUCKETS):
        if state.least[PROCESSORS, bucket] == NONE:
            state.least[PROCESSORS, bucket] = least_of(bucket, state, rules)
        found = NEVER
        for which in range(2):
            if state.heads[which, bucket] != NONE:
                found = min(found, state.least[which, bucket])
        if found != NEVER:
            return found
    return NEVER


@routine
def least_of(bucket, state, rules):
    """Return the first window of the processors in a bucket; `NEVER` if it is empty."""
    # Linear in the bucket, but amortized: the bucket is then split, which visits all members
    # anyway.
    alarm, slot = NEVER, state.heads[PROCESSORS, bucket]
    while slot != NONE:
        alarm = min(alarm, state.processors[slot].alarm)
        slot = np.int64(state.processors[slot].next)
    return alarm // rules.window if alarm < NEVER else NEVER


@routine
def advance_to(window, state, rules, ledger):
    """Make a later window the current one; nothing may be due before it."""
    bucket = bucket_of(window, ledger.window)
    ledger.window = window
    # Within the lowest digit nothing is redistributed: each of these buckets already is one window.
    if bucket < DIGITS:
        return
    slot, at = state.heads[PROCESSORS, bucket], state.heads[REQUESTS, bucket]
    # The bucket is emptied before its members are entered again. Each member moves to a lower
    # digit, which bounds the number of moves.
    for which in range(2):
        state.heads[which, bucket] = NONE
        state.least[which, bucket] = NEVER
    while slot != NONE:
        processor = state.processors[slot]
        behind = np.int64(processor.next)
        enter_processor(slot, processor.alarm // rules.window, state, ledger)
        slot = behind
    while at != NONE:
        block = at & -CELLS
        # Two independent streams, blocks and messages: both are prefetched before the loop that
        # needs them.
        prefetch(state.cells, state.cells[block])
        for cell in range(block + 1, at + 1):
            prefetch(state.messages, state.cells[cell] & REQUEST_MASK)
        for cell in range(block + 1, at + 1):
            word = state.cells[cell]
            ready = state.messages[word & REQUEST_MASK].ready
            enter_word(word, ready // rules.window, state, ledger)
        at = before_block(block, state, ledger)
