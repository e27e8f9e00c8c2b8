"""The worst permutation for a routing: the one with the most messages over one channel.

Towles and Dally (2002): a permutation that loads a channel most is a largest matching of the
sources and targets whose paths use this channel. The worst of all channels gives the worst
permutation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import inlined
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.networks.walks import rules, walk
from mpinet.programs.matching import match_all

MOST_HOSTS = 512
"""Maximum number of processors for the search of the worst permutation, which takes seconds."""


class Passed(NamedTuple):
    """Results of `note_hops`: pairs and channels of all hops, and their number."""

    rows: Table
    many: Ints


@inlined
def note_hop(visit, header, notes):
    """Record pair and channel of a hop while there is room."""
    at = notes.many[0]
    notes.many[0] = at + 1
    if at < notes.rows.shape[0]:
        notes.rows[at, 0], notes.rows[at, 1] = visit.channel, visit.pair
    return False


note_hops = walk.bind("note_hops", notes=Passed, hop=note_hop)


def worst_permutation(topology: Topology) -> Ints:
    """Return every processor's target in a worst permutation for the network's first routing.

    Among equally bad channels the lowest is taken. Processors with irrelevant paths send to each
    other in ascending order.

    Returns
    -------
    ndarray of int64, shape (hosts,)

    Raises
    ------
    UsageError
        The network has more than `MOST_HOSTS` processors.
    """
    hosts, routing = topology.hosts, topology.routing()
    if hosts > MOST_HOSTS:
        raise UsageError(
            f"The pattern adversarial is searched on at most {MOST_HOSTS} processors (dragonflies "
            f"need no search), and {topology.name} has {hosts}."
        )
    sources, targets = np.divmod(np.arange(hosts * hosts), hosts)
    notes = Passed(np.empty((0, 2), np.int64), np.zeros(1, np.int64))
    for _ in range(2):  # first to count the hops, then to record them
        notes = Passed(np.empty((int(notes.many[0]), 2), np.int64), np.zeros(1, np.int64))
        note_hops(rules(topology, routing), sources, targets, notes)
    rows = notes.rows[np.lexsort((notes.rows[:, 1], notes.rows[:, 0]))]
    channels, begins = np.unique(rows[:, 0], return_index=True)
    ends = [*begins[1:].tolist(), len(rows)]
    users = [rows[a:b, 1] for a, b in zip(begins.tolist(), ends, strict=True)]
    most = [min(len(np.unique(pairs // hosts)), len(np.unique(pairs % hosts))) for pairs in users]
    best = np.full(hosts, -1, np.int64)
    for at in np.lexsort((channels, -np.array(most, np.int64))).tolist():
        if most[at] <= np.count_nonzero(best >= 0):
            break
        found = _matched(hosts, *np.divmod(users[at], hosts))
        if np.count_nonzero(found >= 0) > np.count_nonzero(best >= 0):
            best = found
    best[best < 0] = np.setdiff1d(np.arange(hosts), best)
    return best


def _matched(hosts: int, sources: Ints, targets: Ints) -> Ints:
    """Return the target of each source in a largest matching of ascending pairs, or -1."""
    begin = np.searchsorted(sources, np.arange(hosts + 1))
    mine, theirs = np.empty((2, hosts), np.int64)
    useful = np.ones(len(targets), bool)
    match_all(begin, targets.astype(np.int32), useful, mine, theirs)
    return np.where(mine >= 0, targets[mine], -1)
