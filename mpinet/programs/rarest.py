"""Search for all-port schedules: each processor receives its neighbours' rarest items.

A processor matches its links with lacked items held by its neighbours, those with the fewest
holders first. If all links for an item are taken, one of their items moves to a free link. Every
rank examines the whole network and finds the same timetable.
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
"""Number of starts on a small network, with seeds 0, 1 and so on; the best one is returned."""

FREE, CLOSED = -1, -2
"""Markers in place of a link's item: nothing yet, or closed in this step."""

LOOKS = 2**30
"""Approximate maximum number of held items examined by all starts."""

SEEN = 64
"""Number of items examined per processor and step if all are too many, rounded up to words."""


def rarest_rows(
    topology: Topology, sources: Ints, bound: int, rounds: Ints | None = None, starts: int = STARTS
) -> Ints:
    """Bring items from their sources to all processors, in few steps.

    Parameters
    ----------
    topology : Topology
        A connected network of links. Switches, if any, receive as many items as possible.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.
    sources : ndarray of int64, shape (items,)
        Processor that holds each item first.
    rounds : ndarray of int64, shape (s,), optional
        Capacity of each link in step 1, 2 and so on; the last entry holds for all further steps.
        Default: one message.
    starts : int
        Maximum number of starts.

    Returns
    -------
    ndarray of int64, shape (rows, 4)
        Step, sender, receiver and item of every message, by step.
    """
    lists, size, items = Adjacency.of(topology, parallel=True), topology.size, len(sources)
    rounds = np.ones(1, np.int64) if rounds is None else rounds
    most = int(rounds.max())
    begin, others = lists.begin * most, np.repeat(lists.others, most)
    # A link with capacity k per step appears k times in the list, so the kernel needs no counters.
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
    """Return whether a node holds an item."""
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
    """Run one start; write rows (step, sender, receiver, item) and return their number."""
    size, items = begin.size - 1, sources.size
    words = (items + 63) >> 6
    held = np.zeros((size, words), np.uint64)
    holders = np.ones(items, np.int64)
    for item in range(items):
        held[sources[item], item >> 6] |= np.uint64(1) << np.uint64(item & 63)
    # With very many items, examining all of them at each node would dominate. A random window of
    # items serves equally well.
    most = items if items <= FEW else SEEN
    keys = np.empty(most + 64, np.int64)
    lacking = np.empty(most + 64, np.int64)
    brings = np.empty(others.size, np.int64)
    count, step, left = 0, 0, items * (hosts - 1)
    while left > 0:
        step += 1
        before = count
        # A link is listed once per round of a step. Entries beyond this step's capacity are closed.
        often = rounds[min(step, rounds.size) - 1]
        for at in range(others.size):
            brings[at] = FREE if copies[at] < often else CLOSED
        # A processor sees the choices of processors before it in this step, so the first has an
        # advantage. Each step begins at another processor.
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
                    # Noise orders equally rare items, differently in each start.
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
                # All links for the item are taken. Free one of them if its current item can arrive
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
        # At the end of the step: an item received in a step can be sent in the next one at the
        # earliest.
        for node in range(size):
            for at in range(begin[node], begin[node + 1]):
                if brings[at] >= 0:
                    held[node, brings[at] >> 6] |= np.uint64(1) << np.uint64(brings[at] & 63)
                    left -= node < hosts
                    rows[count, 0], rows[count, 1] = step, others[at]
                    rows[count, 2], rows[count, 3] = node, brings[at]
                    count += 1
        # No processor can receive anything: the network is not connected.
        if count == before:
            break
    return count
