"""MPI's matching: queues of posted receives and of unexpected messages, by source and tag.

A receive with a wildcard is in a queue of its own pattern. An unexpected message is in a queue of
each pattern that the program has. So the earliest match is always the head of a queue. Queues are
found in a hash table with open addressing, in which deletions leave no marks.
"""

import numpy as np

from mpinet.compiled import inlined, phase, routine
from mpinet.machine.timed.layout import ANY, ANY_SOURCES, ANY_TAG, ANY_TAGS, NONE, PATTERNS

# The hash stays within 32-bit words because plain Python has no wraparound: both forms must give
# the same table.
LOW_32 = (1 << 32) - 1


@inlined
def place_of_hash(slot, source, tag, mask):
    """Return the place at which the search for a list begins; 32-bit arithmetic."""
    # Multipliers after xxHash32. Slots, sources and tags are small consecutive numbers, which a
    # weaker hash would pile up.
    word = (slot * 0x9E3779B1 & LOW_32) + (source * 0x85EBCA77 & LOW_32) + (tag * 0x42B2AE3D)
    word = (word ^ word >> 15) & LOW_32
    word = word * 0x2C1B3C6D & LOW_32
    return (word ^ word >> 12) & mask


@routine
def place_of(slot, source, tag, entries):
    """Return the place of a list, or the empty one where it would be."""
    mask = entries.size - 1
    at = place_of_hash(slot, source, tag, mask)
    # Linear probing: neighbouring entries share a line of the cache, so a longer probe sequence
    # rarely costs a second miss.
    while True:
        entry = entries[at]
        if entry.slot == NONE:
            return at
        if entry.slot == slot and entry.source == source and np.int64(entry.tag) == tag:
            return at
        at = (at + 1) & mask


@routine
def make_list(at, slot, source, tag, row, posted, entries, ledger):
    """Make a list of one row at an empty place."""
    entry = entries[at]
    entry.slot, entry.source, entry.tag = slot, source, tag
    entry.head = entry.tail = row
    entry.posted = posted
    ledger.entries += 1


@routine
def drop_list(at, entries, ledger):
    """Empty a place; lists behind it that were put off by it move forward."""
    # Deletion by backward shift (Knuth, volume 3, algorithm R). Tombstones would pile up, for lists
    # come and go with each message.
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
    """Return the earliest unexpected message that fits a receive, taken out, or post the receive.

    Then the answer is `NONE`.
    """
    operation, entries = state.operations[row], state.entries
    at = place_of(slot, source, tag, entries)
    entry = entries[at]
    # A list holds either posted receives or unexpected messages, never both: one would have been
    # matched with the other.
    if entry.slot != NONE and entry.posted == 0:
        m = np.int64(entry.head)
        remove_unexpected(slot, m, state, rules, ledger)
        return m
    # MPI's matching order is the order of posting. The turn is needed only to compare heads of
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
    """Return the earliest posted receive that fits a message, taken out, or keep the message.

    Then the answer is `NONE`.
    """
    message, entries = state.messages[m], state.entries
    found, place, turn = np.int64(NONE), NONE, np.int64(0)
    # A message can match a receive with or without wildcards. Each list is in posting order, so the
    # earliest match is a head.
    for pattern in range(PATTERNS):
        # Programs without wildcards, the usual ones, pay for one look-up instead of four.
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
    """Put an unexpected message behind the others, in its list of each kind."""
    message, entries, links = state.messages[m], state.entries, state.links
    # An unexpected message enters a list per pattern in use. A later receive then finds the
    # earliest message without a search.
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
    """Take an unexpected message out of all its lists."""
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
            # Only the ends of a list are in its entry. A message in the middle is unlinked without
            # a look-up.
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
