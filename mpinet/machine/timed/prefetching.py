"""Prefetching of processors, servers and messages needed soon.

These do not fit into a core's cache, and each is found by a chain of dependent loads. Many chains
are followed in parallel, so their cache misses overlap. No result depends on the prefetching.
"""

import numpy as np

from mpinet.compiled import phase, prefetch
from mpinet.machine.timed.layout import AHEAD, KIND_BITS, NONE, RECV
from mpinet.machine.timed.matching import place_of_hash
from mpinet.machine.timed.processor import peer_of


@phase
def fetch_processors(head, state, rules):
    """Prefetch the data of the next processors of a bucket.

    These are their CPUs, the first arriving message and its posted receive, and the first
    operations to begin.
    """
    processors, messages, cpus = state.processors, state.messages, state.cpus
    # Walking the list takes one dependent load per step. The recorded `further` breaks this chain.
    count, slot = 0, head
    while slot != NONE and count < AHEAD:
        processor = processors[slot]
        prefetch(processors, np.int64(processor.further))
        prefetch(cpus, slot * rules.cpus)
        prefetch(messages, np.int64(processor.coming))
        prefetch(state.operations, np.int64(processor.later))
        count += 1
        slot = np.int64(processor.next)
    # Two levels of indirection, hence two passes: the first pass's data have arrived when the
    # second pass reads them.
    for stage in range(2):
        slot = head
        for _ in range(count):
            processor = processors[slot]
            if processor.coming != NONE:
                # Hash indices are computed without reading the table: the address of an entry is
                # known before its cache line.
                at = place_expected(slot, np.int64(processor.coming), state)
                if stage == 0:
                    prefetch(state.entries, at)
                else:
                    prefetch(state.operations, np.int64(state.entries[at].head))
            if stage == 0:
                if processor.later != NONE:
                    number = np.int64(state.operations[processor.later].number)
                    fetch_list(slot, state.statements[processor.script + number], state)
                cpu = cpus[slot * rules.cpus]
                prefetch(state.operations, np.int64(cpu.calc))
                prefetch(state.operations, np.int64(cpu.send))
            slot = np.int64(processor.next)


@phase
def fetch_list(slot, said, state):
    """Prefetch the list of a statement, if it is a receive."""
    if said.what & KIND_BITS == RECV:
        source, tag = peer_of(slot, said, state), np.int64(said.tag)
        prefetch(state.entries, place_of_hash(slot, source, tag, state.entries.size - 1))


@phase
def place_expected(slot, m, state):
    """Return the index at which the search for a message's posted receives begins."""
    message = state.messages[m]
    return place_of_hash(
        slot, np.int64(message.source), np.int64(message.tag), state.entries.size - 1
    )
