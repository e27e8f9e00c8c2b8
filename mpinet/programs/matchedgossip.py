"""Gossip with one port: in every step a largest matching of those who can tell something new.

Receivers take partners in the order of how much they lack, processors before switches, and then
from each what fewest hold. Every rank looks at the whole network and finds the same timetable.
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
"""Starts of a small network, with the seeds 0, 1, ..; the best of them counts."""

LOOKS = 2**29
"""Held items that all starts may look at."""

SEEN = 32
"""Items of its sender that a receiver looks at, and those behind them in a word, if all are many.
"""


def matched_rows(topology: Topology, sources: Ints, bound: int) -> Ints:
    """Bring items from where they are to all processors, in few steps of one port.

    Parameters
    ----------
    topology : Topology
        A connected network of links.
    bound : int
        Steps that nothing beats: there the search stops.
    sources : ndarray of int64, shape (items,)
        The processor that has each item first.

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
    """Tell which rows bring a processor something, or a switch what it sends on, shape (rows,)."""
    if topology.size == topology.hosts:
        return np.ones(len(rows), bool)
    needed = np.zeros(len(rows), bool)
    onward = np.zeros((topology.size, len(sources)), bool)
    # Processors need every item. A switch needs one only if it sends the item on later, which is
    # known once later rows have been looked at.
    onward[: topology.hosts] = True
    # From the last row to the first: what is needed later decides about earlier rows.
    look_back(np.ascontiguousarray(rows), onward, needed)
    return needed


@kernel
def look_back(rows: Table, onward: FlagRows, needed: Flags) -> None:
    """Mark the rows that bring what is needed on, and that their senders need it before."""
    for place in range(len(rows) - 1, -1, -1):
        sender, receiver, item = rows[place, 1], rows[place, 2], rows[place, 3]
        needed[place] = onward[receiver, item]
        onward[sender, item] |= needed[place]


@kernel
def take_matched(
    begin: Ints, others: Shorts, hosts: int, sources: Ints, seed: int, rows: Table
) -> int:
    """Write rows (step, sender, receiver, item), by step; how many there are."""
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
                # A link is useful if its sender has any item that the receiver lacks; which one is
                # chosen only after the matching.
                for word in range(words if lacking[node] > 0 else 0):
                    if held[others[at], word] & ~held[node, word]:
                        useful[at] = True
                        break
            # Those who lack most are served first, processors before switches.
            noise = draw32(int(seed), int(node), int(step), 9) & 0xFFFF
            keys[node] = -(((int(node < hosts) << 24) + lacking[node]) << 16 | noise)
        match(begin, others, useful, np.argsort(keys), mine, theirs, seen, queue, came)
        before = count
        # Holders are counted as items are chosen, so that the receivers of a step do not all take
        # the same item for the rarest; each step another begins.
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
