"""All ports: in every step every processor takes from its neighbours what is rarest.

A processor matches its links with items that it lacks and that the neighbour has, those first that
fewest have. Where all links that could bring an item bring another one, one of these is moved to a
free link. Every rank looks at the whole network and finds the same timetable.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Shorts, Table
from mpinet.compiled import inlined, kernel
from mpinet.draws import draw32
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology
from mpinet.programs.starts import FEW, best_rows, first_word
from mpinet.programs.waves import lowest_bit

STARTS = 8
"""Starts of a small network, with the seeds 0, 1, ..; the best of them counts."""

FREE, CLOSED = -1, -2
"""In place of what a link brings: nothing yet, or nothing in this step."""

LOOKS = 2**30
"""Held items that all starts may look at, as far as the bound tells that before."""

SEEN = 64
"""Items that a processor looks at in a step, and those behind them in a word, if all are many."""


def rarest_rows(
    topology: Topology, sources: Ints, bound: int, rounds: Ints | None = None, starts: int = STARTS
) -> Ints:
    """Bring items from where they are to all processors, in few steps.

    Parameters
    ----------
    topology : Topology
        A connected network of links; there may be switches, which take what they can get.
    bound : int
        Steps that nothing beats: there the search stops.
    sources : ndarray of int64, shape (items,)
        The processor that has each item first.
    rounds : ndarray of int64, shape (s,), optional
        How often each link can be used in step 1, 2, ..; the last holds for all further steps.
        Default: once.
    starts : int
        Most starts.

    Returns
    -------
    ndarray of int64, shape (rows, 4)
        Step, sender, receiver and item of every message, by step.
    """
    lists, size, items = Adjacency.of(topology, parallel=True), topology.size, len(sources)
    rounds = np.ones(1, np.int64) if rounds is None else rounds
    most = int(rounds.max())
    begin, others = lists.begin * most, np.repeat(lists.others, most)
    # A link that may be used k times per step stands k times in the list, so that the kernel needs
    # no counters.
    copies = np.tile(np.arange(most), len(lists.others))
    # Small networks get many starts and large ones few, within one budget of counted work.
    looks = max(1, len(others) * items * max(bound, 1))
    rows = np.empty((items * (size - 1), 4), np.int64)

    def take(seed: int) -> int:
        hosts = topology.hosts
        return int(take_rarest(begin, others, copies, rounds, hosts, sources, seed, rows))

    return best_rows(take, rows, min(starts, LOOKS // looks), bound)


@inlined
def has(held, node, item):
    """Tell if a node has an item."""
    return held[node, item >> 6] >> np.uint64(item & 63) & np.uint64(1)


@kernel
def take_rarest(
    begin: Ints,
    others: Shorts,
    copies: Ints,
    rounds: Ints,
    hosts: int,
    sources: Ints,
    seed: int,
    rows: Table,
) -> int:
    """Write rows (step, sender, receiver, item), by step; how many there are."""
    size, items = begin.size - 1, sources.size
    words = (items + 63) >> 6
    held = np.zeros((size, words), np.uint64)
    holders = np.ones(items, np.int64)
    for item in range(items):
        held[sources[item], item >> 6] |= np.uint64(1) << np.uint64(item & 63)
    # With very many items a look at all of them for each node would dominate; a drawn window of
    # them serves as well.
    most = items if items <= FEW else SEEN
    keys = np.empty(most + 64, np.int64)
    lacking = np.empty(most + 64, np.int64)
    brings = np.empty(others.size, np.int64)
    count, step, left = 0, 0, items * (hosts - 1)
    while left > 0:
        step += 1
        before = count
        # A link stands there once for each round of a step; here and now some are left out.
        often = rounds[min(step, rounds.size) - 1]
        for at in range(others.size):
            brings[at] = FREE if copies[at] < often else CLOSED
        # A processor sees what those before it take in this step, so that the first has the choice:
        # each step another begins.
        for turn in range(size):
            node = (turn + draw32(int(seed), int(step), 0, 7)) % size
            first, last = begin[node], begin[node + 1]
            missing, began = 0, first_word(seed, node, step, items)
            for further in range(words):
                if missing >= most:
                    break
                word = (began + further) % words
                wanted = np.uint64(0)
                for at in range(first, last):
                    if brings[at] == FREE:
                        wanted |= held[others[at], word]
                wanted &= ~held[node, word]
                while wanted:
                    item = (word << 6) + lowest_bit(wanted)
                    wanted &= wanted - np.uint64(1)
                    # Among items that equally few have, each start tries another order.
                    noise = draw32(int(seed), int(node * items + item), int(step), 8) & 0xFFFF
                    keys[missing] = holders[item] << 16 | noise
                    lacking[missing] = item
                    missing += 1
            order = np.argsort(keys[:missing])
            free = 0
            for at in range(first, last):
                free += copies[at] < often
            for i in range(missing):
                if free == 0:
                    break
                item, link = lacking[order[i]], -1
                for at in range(first, last):
                    if brings[at] == FREE and has(held, others[at], item):
                        link = at
                        break
                # All links that could bring it are taken: one is freed if what it brings can come
                # over a free link instead.
                if link < 0:
                    for at in range(first, last):
                        if brings[at] < 0 or not has(held, others[at], item):
                            continue
                        for instead in range(first, last):
                            if brings[instead] == FREE and has(held, others[instead], brings[at]):
                                brings[instead] = brings[at]
                                link = at
                                break
                        if link >= 0:
                            break
                if link < 0:
                    continue
                brings[link] = item
                holders[item] += 1
                free -= 1
        # Only now, for what comes in a step can be sent in the next one at the earliest.
        for node in range(size):
            for at in range(begin[node], begin[node + 1]):
                if brings[at] >= 0:
                    held[node, brings[at] >> 6] |= np.uint64(1) << np.uint64(brings[at] & 63)
                    left -= node < hosts
                    rows[count, 0], rows[count, 1] = step, others[at]
                    rows[count, 2], rows[count, 3] = node, brings[at]
                    count += 1
        # Nobody can take anything any more: the network is not connected.
        if count == before:
            break
    return count
