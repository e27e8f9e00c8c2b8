"""Largest matchings of senders and receivers: who sends to whom in a step of one port.

Those of one side take partners of the other in an order of theirs; who has a partner keeps one, so
that the matching is a largest one and, of these, serves the first in the order.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints, Shorts
from mpinet.compiled import inlined, kernel
from mpinet.networks.adjacency import Adjacency


@inlined
def match(begin, others, useful, order, mine, theirs, seen, queue, came):
    """Match nodes as one side with their neighbours as the other.

    ``others[at]`` may become the partner of the node whose list it is in, if ``useful[at]``. Writes
    where a node's partner is in its list, -1 for none; and of each partner whose it is. The last
    three arrays, a number a node, are only worked with.
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
                # `seen` bears the start's number, so that it need not be cleared before each
                # search.
                seen[other] = start
                came[other] = at << 32 | node
                if theirs[other] < 0:
                    last = other
                    break
                queue[tail] = theirs[other]
                tail += 1
        # Swap partners back along the way: each node on it gives its partner to the one before, so
        # that the matching grows by one.
        while last >= 0:
            node, at = came[last] & 0xFFFFFFFF, came[last] >> 32
            before = mine[node]
            mine[node], theirs[last] = at, node
            last = others[before] if before >= 0 else -1


@kernel
def match_all(begin: Ints, others: Shorts, useful: Flags, mine: Ints, theirs: Ints) -> None:
    """Match as `match` does, in the order of the nodes."""
    size = begin.size - 1
    order = np.arange(size)
    seen, queue, came = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    match(begin, others, useful, order, mine, theirs, seen, queue, came)


def cover(lists: Adjacency, useful: Flags) -> tuple[Ints, Ints]:
    """Return as few senders and receivers as touch all of some arcs: as many as a step can use.

    Parameters
    ----------
    lists : Adjacency
        An arc leads from ``others[at]`` to the node whose list it is in.
    useful : ndarray of bool, shape (2L,)
        Which arcs are meant.

    Returns
    -------
    senders, receivers : ndarray of int64
        Ascending; together as many as a largest matching has arcs (König, 1931).
    """
    size = len(lists.begin) - 1
    mine, theirs = np.empty(size, np.int64), np.empty(size, np.int64)
    match_all(lists.begin, lists.others, useful, mine, theirs)
    receivers = np.repeat(np.arange(size), lists.degrees)
    concerned = np.zeros(size, bool)
    concerned[receivers[useful]] = True
    # König's theorem: nodes that alternating ways reach from unmatched receivers make a smallest
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
