"""Places of flits and messages on a rank: lanes that hold something, free rows for messages."""

import numpy as np

from mpinet.compiled import part
from mpinet.machine.traffic.layout import LANES_PER_WORD


@part
def is_set(occupied, slot, at, words):
    """Tell if a lane is marked as occupied."""
    return occupied[slot * words + at // LANES_PER_WORD] & 1 << at % LANES_PER_WORD != 0


@part
def set_bit(occupied, slot, at, words):
    """Mark a lane as occupied."""
    occupied[slot * words + at // LANES_PER_WORD] |= 1 << at % LANES_PER_WORD


@part
def clear(occupied, slot, at, words):
    """Mark a lane as empty."""
    occupied[slot * words + at // LANES_PER_WORD] &= ~(1 << at % LANES_PER_WORD)


@part
def is_ordinary(at, rules):
    """Tell if a lane is in the second half of its port's, which urgent messages do not take."""
    return at % rules.vcs >= rules.vcs // 2


@part
def taken_from(free, ledger):
    """Take a free row for a new message, and return it."""
    ledger.free -= 1
    return np.int64(free[ledger.free])


@part
def give_back(m, free, ledger):
    """Return the row of a message to the free ones."""
    free[ledger.free] = m
    ledger.free += 1


@part
def put_in(m, to, slot, rules, lanes, ring, occupied, nodes):
    """Append a flit of a message to a lane."""
    lane, node = lanes[to], nodes[slot]
    seat = lane.first + lane.filled
    if seat >= rules.buffer:
        seat -= rules.buffer
    ring[to * rules.buffer + seat] = m
    if lane.filled == 0:
        set_bit(occupied, slot, to - slot * rules.lanes, rules.words)
    lane.filled += 1
    node.flits += 1
