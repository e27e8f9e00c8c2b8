"""Sets of nonempty lanes, flits in lanes, and free rows for messages on a rank."""

import numpy as np

from mpinet.compiled import part
from mpinet.machine.traffic.layout import LANES_PER_WORD, NONE
from mpinet.networks.arithmetic import lowest_one


@part
def bit_of(row, at, words):
    """Return the index of a lane's word in rows of `words` words, and the lane's bit."""
    # Most nodes have at most `LANES_PER_WORD` lanes and need no division.
    word = at // LANES_PER_WORD if words > 1 else 0
    return row * words + word, 1 << at - word * LANES_PER_WORD


@part
def is_set(sets, row, at, words):
    """Return True if a lane is in a set, such as a node's occupied lanes."""
    word, bit = bit_of(row, at, words)
    return sets[word] & bit != 0


@part
def is_any_set(sets, row, words):
    """Return True if a set contains any lane."""
    for word in range(row * words, (row + 1) * words):
        if sets[word] != 0:
            return True
    return False


@part
def set_bit(sets, row, at, words):
    """Add a lane to a set."""
    word, bit = bit_of(row, at, words)
    sets[word] |= bit


@part
def clear(sets, row, at, words):
    """Remove a lane from a set."""
    word, bit = bit_of(row, at, words)
    sets[word] &= ~bit


@part
def make_empty(sets, row, words):
    """Remove all lanes from a set."""
    sets[row * words] = 0
    for word in range(1, words):
        sets[row * words + word] = 0


@part
def add_all(sets, row, others, other, words):
    """Add the lanes of another set."""
    sets[row * words] |= others[other * words]
    for word in range(1, words):
        sets[row * words + word] |= others[other * words + word]


@part
def first_from(lane, sets, row, barred, words):
    """Return the first lane of a set, cyclically from `lane` on, that is not barred.

    `NONE` if all are barred.
    """
    if words == 1:
        bits = sets[row] & ~barred[0]
        ahead = bits & -(1 << lane)
        return lowest_one(ahead if ahead != 0 else bits) if bits != 0 else np.int64(NONE)
    word = lane // LANES_PER_WORD
    bits = sets[row * words + word] & ~barred[word] & -(1 << lane - word * LANES_PER_WORD)
    for _ in range(words + 1):
        if bits != 0:
            return word * LANES_PER_WORD + lowest_one(bits)
        word = word + 1 if word + 1 < words else 0
        bits = sets[row * words + word] & ~barred[word]
    return np.int64(NONE)


@part
def rank_of_lane(at, rules):
    """Return the priority of the messages in a lane: each priority has a part of a port's lanes."""
    # Integer arithmetic instead of a table: lanes of a port are divided evenly among priorities.
    return at % rules.vcs // (rules.vcs // rules.priorities)


@part
def taken_from(free, ledger):
    """Take a free row for a new message, and return the row."""
    ledger.free -= 1
    return np.int64(free[ledger.free])


@part
def give_back(m, free, ledger):
    """Return the row of a message to the free rows."""
    free[ledger.free] = m
    ledger.free += 1


@part
def put_in(m, to, slot, rules, lanes, ring, occupied, nodes):
    """Append a flit of a message to a lane."""
    lane, node = lanes[to], nodes[slot]
    seat = lane.first + lane.filled
    # A comparison instead of a remainder: a division costs more than the rest of this function.
    if seat >= rules.buffer:
        seat -= rules.buffer
    ring[to * rules.buffer + seat] = m
    if lane.filled == 0:
        set_bit(occupied, slot, to - slot * rules.lanes, rules.words)
    lane.filled += 1
    node.flits += 1
