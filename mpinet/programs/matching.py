"""Largest matchings of senders and receivers for steps with one port.

The nodes of one side choose partners of the other side in a given order, and a matched node stays
matched. The result is a largest matching that serves the first nodes of the order.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints, Shorts
from mpinet.compiled import inlined, kernel
from mpinet.networks.adjacency import Adjacency


@inlined
def match(begin, others, useful, order, mine, theirs, seen, queue, came):
    """Find a largest matching of nodes, as one side, with their neighbours, as the other.

    Neighbour ``others[at]`` is a possible partner if ``useful[at]``. Write to `mine` the index of
    each node's partner in ``others``, or -1, and to `theirs` the node of each partner. The last
    three arrays, with one entry per node, are scratch space.
    """
    mine[:] = -1
    theirs[:] = -1
    seen[:] = -1
    for i in range(order.size):
        start, head, tail, last = order[i], 0, 1, -1
        queue[0] = start
        while head < tail and last < 0:
            node = queue[head]
            head += 1
            for at in range(begin[node], begin[node + 1]):
                other = others[at]
                if not useful[at] or seen[other] == start:
                    continue
                # `seen` holds the number of the start, so searches need not clear it.
                seen[other] = start
                came[other] = at << 32 | node
                if theirs[other] < 0:
                    last = other
                    break
                queue[tail] = theirs[other]
                tail += 1
        # Augment along the path: each node takes the next partner and leaves its old partner to the
        # node before, so the matching grows by one.
        while last >= 0:
            node, at = came[last] & 0xFFFFFFFF, came[last] >> 32
            before = mine[node]
            mine[node], theirs[last] = at, node
            last = others[before] if before >= 0 else -1


@kernel
def match_all(begin: Ints, others: Shorts, useful: Flags, mine: Ints, theirs: Ints) -> None:
    """Find a largest matching with `match`, in the order of the node numbers."""
    size = begin.size - 1
    order = np.arange(size)
    seen, queue, came = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    match(begin, others, useful, order, mine, theirs, seen, queue, came)


def cover(lists: Adjacency, useful: Flags) -> tuple[Ints, Ints]:
    """Return a smallest vertex cover of some arcs; its size is the most arcs usable in one step.

    Parameters
    ----------
    lists : Adjacency
        An arc leads from ``others[at]`` to the node of the list.
    useful : ndarray of bool, shape (2L,)
        True for the arcs to cover.

    Returns
    -------
    senders, receivers : ndarray of int64
        Ascending; together as many nodes as a largest matching has arcs (König, 1931).
    """
    size = len(lists.begin) - 1
    mine, theirs = np.empty(size, np.int64), np.empty(size, np.int64)
    match_all(lists.begin, lists.others, useful, mine, theirs)
    receivers = np.repeat(np.arange(size), lists.degrees)
    concerned = np.zeros(size, bool)
    concerned[receivers[useful]] = True
    # König's theorem: nodes on alternating paths from unmatched receivers determine a smallest
    # cover.
    wave = np.flatnonzero(concerned & (mine < 0))
    reached, asked = np.zeros(size, bool), np.zeros(size, bool)
    asked[wave] = True
    while len(wave):
        new = np.zeros(size, bool)
        new[lists.others[useful & asked[receivers]]] = True
        new &= ~reached
        reached |= new
        wave = theirs[np.flatnonzero(new)]
        wave = wave[(wave >= 0) & ~asked[wave]]
        asked[wave] = True
    return np.flatnonzero(reached), np.flatnonzero(concerned & ~asked)
