"""Calendars: who has something to do in which window of time (a radix heap: Ahuja et al. 1990).

Numbers of windows are written in digits. What is due in a window whose number differs from that of
the window at hand in digit k at the highest, where it has a digit d, is in a bucket of these two;
bucket 0 has what is due now. Windows only go forward, so that whatever moves moves to a lower
digit, and the first bucket that is not empty has what is due next. `State.least` has the least
number in each bucket, or `NONE` where that is to be looked for again.
"""

import numpy as np

from mpinet.compiled import idiom, phase, routine
from mpinet.machine.timed.layout import (
    BUCKETS,
    DIGIT_BITS,
    DIGITS,
    NEVER,
    NONE,
    PROCESSORS,
    REQUESTS,
)


@idiom
def bucket_of(window, now):
    """Return the bucket of a window, seen from the window at hand."""
    apart, shift = window ^ now, 0
    if apart == 0:
        return 0
    while apart >> DIGIT_BITS > 0:
        apart >>= DIGIT_BITS
        shift += DIGIT_BITS
    return 1 + (shift // DIGIT_BITS * DIGITS | window >> shift & DIGITS - 1)


@routine
def set_alarm(slot, time, state, rules, ledger):
    """Let a processor look at what it has to do at this time, or earlier if it does so anyway."""
    processor = state.processors[slot]
    if time >= processor.alarm:
        return
    window, bucket = time // rules.window, np.int64(processor.bucket)
    if bucket != NONE:
        if window == processor.alarm // rules.window:
            processor.alarm = time
            return
        forget(slot, state)
        state.least[PROCESSORS, bucket] = NONE
    processor.alarm = time
    enter_processor(slot, window, state, ledger)


@routine
def forget(slot, state):
    """Take a processor out of its bucket."""
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
    state.least[PROCESSORS, bucket] = min(state.least[PROCESSORS, bucket], window)


@phase
def enter_request(m, state, rules, ledger):
    """Put a message into the bucket of the window in which it asks for its server."""
    message = state.messages[m]
    window = message.ready // rules.window
    bucket = bucket_of(window, ledger.window)
    message.next = state.heads[REQUESTS, bucket]
    state.heads[REQUESTS, bucket] = m
    state.least[REQUESTS, bucket] = min(state.least[REQUESTS, bucket], window)


@routine
def next_window(state, rules):
    """Return the next window in which there is something to do; `NEVER` if there is none."""
    for bucket in range(BUCKETS):
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
    alarm, slot = NEVER, state.heads[PROCESSORS, bucket]
    while slot != NONE:
        alarm = min(alarm, state.processors[slot].alarm)
        slot = np.int64(state.processors[slot].next)
    return alarm // rules.window if alarm < NEVER else NEVER


@routine
def go_to(window, state, rules, ledger):
    """Make a later window the one at hand; nothing is due before it."""
    bucket = bucket_of(window, ledger.window)
    ledger.window = window
    if bucket == 0:
        return
    slot, m = state.heads[PROCESSORS, bucket], state.heads[REQUESTS, bucket]
    for which in range(2):
        state.heads[which, bucket] = NONE
        state.least[which, bucket] = NEVER
    while slot != NONE:
        processor = state.processors[slot]
        behind = np.int64(processor.next)
        enter_processor(slot, processor.alarm // rules.window, state, ledger)
        slot = behind
    while m != NONE:
        behind = np.int64(state.messages[m].next)
        enter_request(m, state, rules, ledger)
        m = behind
