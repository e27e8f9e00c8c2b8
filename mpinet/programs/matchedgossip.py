"""Search for one-port gossip schedules: each step uses a largest matching of useful sends.

Receivers choose partners in the order of their number of missing items, processors before switches.
A receiver then takes its partner's item with the fewest holders. Every rank examines the whole
network and finds the same timetable.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import FlagRows, Flags, Ints, Shorts, Table
from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology
from mpinet.programs.matching import match
from mpinet.programs.starts import FEW, best_rows, first_word
from mpinet.programs.waves import lowest_bit

STARTS = 2**10
"""Number of starts on a small network, with seeds 0, 1 and so on; the best one is returned."""

LOOKS = 2**29
"""Maximum number of held items examined by all starts."""

SEEN = 32
"""Number of the sender's items examined by a receiver if all are too many, rounded up to words."""


def matched_rows(topology: Topology, sources: Ints, bound: int) -> Ints:
    """Bring items from their sources to all processors, in few steps with one port.

    Parameters
    ----------
    topology : Topology
        A connected network of links.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.
    sources : ndarray of int64, shape (items,)
        Processor that holds each item first.

    Returns
    -------
    ndarray of int64, shape (rows, 4)
        Step, sender, receiver and item of every message, by step.
    """
    lists, hosts, items = Adjacency.of(topology), topology.hosts, len(sources)
    looks = max(1, len(lists.others) * items * max(bound, 1))
    rows = np.empty((topology.size * items, 4), np.int64)

    def take(seed: int) -> int:
        return int(take_matched(lists.begin, lists.others, hosts, sources, seed, rows))

    return best_rows(take, rows, min(STARTS, LOOKS // looks), bound)


def needed_rows(rows: Ints, topology: Topology, sources: Ints) -> Flags:
    """Return a flag for each row: True if the row's item is needed, shape (rows,).

    Processors need all items. A switch needs the items of its later sends.
    """
    if topology.size == topology.hosts:
        return np.ones(len(rows), bool)
    needed = np.zeros(len(rows), bool)
    onward = np.zeros((topology.size, len(sources)), bool)
    # Processors need every item. A switch needs an item only for a later send, which is known after
    # later rows have been examined.
    onward[: topology.hosts] = True
    # From the last row to the first: later needs decide about earlier rows.
    look_back(np.ascontiguousarray(rows), onward, needed)
    return needed


@kernel
def look_back(rows: Table, onward: FlagRows, needed: Flags) -> None:
    """Mark rows that bring an item needed later; their senders then need the item earlier."""
    for place in range(len(rows) - 1, -1, -1):
        sender, receiver, item = rows[place, 1], rows[place, 2], rows[place, 3]
        needed[place] = onward[receiver, item]
        onward[sender, item] |= needed[place]


@kernel
def take_matched(
    begin: Ints, others: Shorts, hosts: int, sources: Ints, seed: int, rows: Table
) -> int:
    """Run one start; write rows (step, sender, receiver, item) and return their number."""
    size, items = begin.size - 1, sources.size
    words = (items + 63) >> 6
    held = np.zeros((size, words), np.uint64)
    lacking, holders = np.full(size, items), np.ones(items, np.int64)
    for item in range(items):
        held[sources[item], item >> 6] |= np.uint64(1) << np.uint64(item & 63)
        lacking[sources[item]] -= 1
    most = items if items <= FEW else SEEN
    useful = np.empty(others.size, np.bool_)
    keys, came_by = np.empty(size, np.int64), np.empty(size, np.int64)
    mine, theirs = np.empty(size, np.int64), np.empty(size, np.int64)
    seen, queue, came = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    count, step, left = 0, 0, items * (hosts - 1)
    while left > 0:
        step += 1
        for node in range(size):
            for at in range(begin[node], begin[node + 1]):
                useful[at] = False
                # A link is useful if its sender holds any item lacked by the receiver. The item is
                # chosen after the matching.
                for word in range(words if lacking[node] > 0 else 0):
                    if held[others[at], word] & ~held[node, word]:
                        useful[at] = True
                        break
            # Receivers with most missing items are served first, processors before switches.
            noise = draw32(int(seed), int(node), int(step), 9) & 0xFFFF
            keys[node] = -(((int(node < hosts) << 24) + lacking[node]) << 16 | noise)
        match(begin, others, useful, np.argsort(keys), mine, theirs, seen, queue, came)
        before = count
        # Holders are counted as items are chosen, so the receivers of a step do not all take the
        # same item as the rarest. Each step begins at another receiver.
        for turn in range(size):
            node = (turn + draw32(int(seed), int(step), 0, 10)) % size
            came_by[node] = -1
            if mine[node] < 0:
                continue
            sender, rarest, fewest = others[mine[node]], -1, 0
            looked, began = 0, first_word(seed, node, step, items)
            for further in range(words):
                if looked >= most:
                    break
                word = (began + further) % words
                wanted = held[sender, word] & ~held[node, word]
                while wanted:
                    item = (word << 6) + lowest_bit(wanted)
                    wanted &= wanted - np.uint64(1)
                    noise = draw32(int(seed), int(node * items + item), int(step), 11) & 0xFFFF
                    key = holders[item] << 16 | noise
                    looked += 1
                    if rarest < 0 or key < fewest:
                        rarest, fewest = item, key
            came_by[node] = rarest
            # Copies in switches do not count: only processors have to get the item.
            holders[rarest] += node < hosts
        for node in range(size):
            item = came_by[node]
            if item < 0:
                continue
            held[node, item >> 6] |= np.uint64(1) << np.uint64(item & 63)
            lacking[node] -= 1
            left -= node < hosts
            rows[count, 0], rows[count, 1] = step, others[mine[node]]
            rows[count, 2], rows[count, 3] = node, item
            count += 1
        if count == before:
            break
    return count
