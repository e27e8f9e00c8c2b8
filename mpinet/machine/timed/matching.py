"""MPI's matching: queues of posted receives and of unexpected messages, by source and tag.

A receive with a wildcard is in a queue of its own pattern. An unexpected message is in a queue of
each pattern in the program. The earliest match is therefore always the head of a queue. A hash
table with open addressing contains the queues; deletions leave no marks.
"""

import numpy as np

from mpinet.compiled import inlined, phase, routine
from mpinet.machine.timed.layout import ANY, ANY_SOURCES, ANY_TAG, ANY_TAGS, NONE, PATTERNS

# The hash uses 32-bit words because plain Python has no wraparound: both forms must give the same
# table.
LOW_32 = (1 << 32) - 1


@inlined
def place_of_hash(slot, source, tag, mask):
    """Return the first index of the search for a list, computed in 32-bit arithmetic."""
    # Multipliers after xxHash32. Slots, sources and tags are small consecutive numbers: a weaker
    # hash would cause collisions.
    word = (slot * 0x9E3779B1 & LOW_32) + (source * 0x85EBCA77 & LOW_32) + (tag * 0x42B2AE3D)
    word = (word ^ word >> 15) & LOW_32
    word = word * 0x2C1B3C6D & LOW_32
    return (word ^ word >> 12) & mask


@routine
def place_of(slot, source, tag, entries):
    """Return the index of a list, or of the empty entry for the list."""
    mask = entries.size - 1
    at = place_of_hash(slot, source, tag, mask)
    # Linear probing: neighbouring entries share a cache line, so a longer probe sequence rarely
    # costs a second miss.
    while True:
        entry = entries[at]
        if entry.slot == NONE:
            return at
        if entry.slot == slot and entry.source == source and np.int64(entry.tag) == tag:
            return at
        at = (at + 1) & mask


@routine
def make_list(at, slot, source, tag, row, posted, entries, ledger):
    """Make a list of one row at an empty entry."""
    entry = entries[at]
    entry.slot, entry.source, entry.tag = slot, source, tag
    entry.head = entry.tail = row
    entry.posted = posted
    ledger.entries += 1


@routine
def drop_list(at, entries, ledger):
    """Empty an entry, and move displaced lists behind it forward."""
    # Deletion by backward shift (Knuth, volume 3, algorithm R). Tombstones would accumulate,
    # because each message creates and deletes lists.
    mask = entries.size - 1
    hole = here = at
    while True:
        here = (here + 1) & mask
        entry = entries[here]
        if entry.slot == NONE:
            break
        home = place_of_hash(
            np.int64(entry.slot), np.int64(entry.source), np.int64(entry.tag), mask
        )
        # An entry may fill the hole only if its home is not between hole and entry; differences are
        # cyclic.
        if (here - home) & mask >= (here - hole) & mask:
            free = entries[hole]
            free.slot, free.source, free.tag = entry.slot, entry.source, entry.tag
            free.head, free.tail, free.posted = entry.head, entry.tail, entry.posted
            hole = here
    entries[hole].slot = NONE
    ledger.entries -= 1


@phase
def take_unexpected(slot, row, source, tag, state, rules, ledger):
    """Remove and return the earliest unexpected message for a receive, or post the receive.

    The function returns `NONE` if it posts the receive.
    """
    operation, entries = state.operations[row], state.entries
    at = place_of(slot, source, tag, entries)
    entry = entries[at]
    # A list contains either posted receives or unexpected messages, never both: they would have
    # been matched with each other.
    if entry.slot != NONE and entry.posted == 0:
        m = np.int64(entry.head)
        remove_unexpected(slot, m, state, rules, ledger)
        return m
    # MPI's matching order is the order of posting. The turn is needed only for comparing heads of
    # different lists.
    ledger.turns += 1
    operation.turn, operation.left = ledger.turns, NONE
    if entry.slot == NONE:
        make_list(at, slot, source, tag, row, 1, entries, ledger)
    else:
        state.operations[entry.tail].left = row
        entry.tail = row
    return NONE


@phase
def take_posted(slot, m, state, rules, ledger):
    """Remove and return the earliest posted receive for a message, or keep the message.

    The function returns `NONE` if it keeps the message.
    """
    message, entries = state.messages[m], state.entries
    found, place, turn = np.int64(NONE), NONE, np.int64(0)
    # A message can match a receive with or without wildcards. Each list is in posting order, so the
    # earliest match is a head.
    for pattern in range(PATTERNS):
        # Most programs have no wildcards and need one look-up instead of four.
        if rules.patterns >> pattern & 1:
            source = ANY if pattern & ANY_SOURCES else np.int64(message.source)
            tag = ANY_TAG if pattern & ANY_TAGS else np.int64(message.tag)
            at = place_of(slot, source, tag, entries)
            entry = entries[at]
            if entry.slot != NONE and entry.posted == 1:
                head = np.int64(entry.head)
                if found == NONE or state.operations[head].turn < turn:
                    found, place, turn = head, at, state.operations[head].turn
    if found == NONE:
        add_unexpected(slot, m, state, rules, ledger)
        return found
    entry, behind = entries[place], np.int64(state.operations[found].left)
    if behind == NONE:
        drop_list(place, entries, ledger)
    else:
        entry.head = behind
    return found


@routine
def add_unexpected(slot, m, state, rules, ledger):
    """Append an unexpected message to its list of each kind."""
    message, entries, links = state.messages[m], state.entries, state.links
    # An unexpected message enters a list per used pattern. A later receive then finds the earliest
    # message without a search.
    which = 0
    for pattern in range(PATTERNS):
        if rules.patterns >> pattern & 1:
            source = ANY if pattern & ANY_SOURCES else np.int64(message.source)
            tag = ANY_TAG if pattern & ANY_TAGS else np.int64(message.tag)
            at = place_of(slot, source, tag, entries)
            entry = entries[at]
            links[m, which] = links[m, which + 1] = NONE
            if entry.slot == NONE:
                make_list(at, slot, source, tag, m, 0, entries, ledger)
            else:
                links[entry.tail, which + 1] = m
                links[m, which] = entry.tail
                entry.tail = m
            which += 2
    ledger.unmatched += 1


@routine
def remove_unexpected(slot, m, state, rules, ledger):
    """Remove an unexpected message from all its lists."""
    message, entries, links = state.messages[m], state.entries, state.links
    which = 0
    for pattern in range(PATTERNS):
        if rules.patterns >> pattern & 1:
            source = ANY if pattern & ANY_SOURCES else np.int64(message.source)
            tag = ANY_TAG if pattern & ANY_TAGS else np.int64(message.tag)
            ahead, behind = links[m, which], links[m, which + 1]
            if ahead != NONE:
                links[ahead, which + 1] = behind
            if behind != NONE:
                links[behind, which] = ahead
            # An entry contains only the ends of its list. Removing a message in the middle needs no
            # look-up.
            if ahead == NONE or behind == NONE:
                at = place_of(slot, source, tag, entries)
                entry = entries[at]
                if ahead == NONE and behind == NONE:
                    drop_list(at, entries, ledger)
                elif ahead == NONE:
                    entry.head = behind
                else:
                    entry.tail = ahead
            which += 2
    ledger.unmatched -= 1
