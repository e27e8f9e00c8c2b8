"""Fault diameter: the largest diameter after the failure of some nodes.

Many removals are flooded at once on one machine. Each removal has its own bits, one per source;
dead nodes do not forward these bits. Each rank handles a share of the removals.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, inf

import numpy as np

from mpinet.base.arrays import Ints, Table, WordRows, Words
from mpinet.base.fielddocs import described
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.transport import Local, world
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.programs.waves import SOURCES_PER_WORD, WORDS, adjacency, count_word, take

MOST_REMOVALS = 10**8
"""Largest number of removals in an exhaustive search."""

WORDS_AT_ONCE = 2**17
"""Number of words sent over links in a step: 1 MiB."""

DRAWN_AT_ONCE = 2**22
"""Number of random numbers drawn at a time."""


@described
@dataclass(frozen=True)
class FaultDiameter:
    """Effect of removing nodes on a network's diameter."""

    value: int | float
    """Largest diameter after a removal, in hops; infinite if some removal disconnects the
    network."""
    removed: tuple[int, ...]
    """First removal with this diameter, in lexicographic order; nodes ascending."""
    tested: int
    """Number of different removals tested."""
    exhaustive: bool
    """True if all removals were tested."""


def fault_diameter(
    topology: NetworkLike, faults: int = 1, sample: int | None = None, seed: int = 0
) -> FaultDiameter:
    """Return the worst diameter after the removal of any `faults` nodes (collective).

    Parameters
    ----------
    topology : Topology or str
        The network; switches may be removed as well. In a bus network, all members of a bus are
        neighbours.
    faults : int
        Number of removed nodes, 0..N-1.
    sample : int, optional
        Number of random removals to test. Default: test all removals.
    seed : int
        Seed of the sample.

    Raises
    ------
    UsageError
        No node would be left, the sample is empty, or there are too many removals to test all.

    Examples
    --------
    >>> fault_diameter("ring:8").value
    6
    """
    network = open_topology(topology)
    count = _removals(network, faults, sample)
    drawn = None if sample is None or sample >= count else _draw(network, faults, sample, seed)
    count = count if drawn is None else len(drawn)
    transport = world()
    tries = Tries(network)
    # Removals are independent, and ranks take contiguous shares. Only the worst value of each rank
    # is then compared.
    share = -(-count // transport.size)
    begin = min(share * transport.rank, count)
    worst, at = -1, 0
    for first in range(begin, min(begin + share, count), tries.at_once):
        last = min(first + tries.at_once, begin + share, count)
        if drawn is None:
            removals = subsets(network.size, faults, first, last - first)
        else:
            removals = drawn[first:last]
        diameters = tries.diameters(removals)
        place = int(diameters.argmax())
        if diameters[place] > worst:
            worst, at = int(diameters[place]), first + place
    worst, at = _worst_of_all(transport, worst, at)
    removed = subsets(network.size, faults, at, 1)[0] if drawn is None else drawn[at]
    value = inf if worst == network.size else worst
    return FaultDiameter(value, tuple(removed.tolist()), count, drawn is None)


def _removals(network: Topology, faults: int, sample: int | None) -> int:
    """Return the number of possible removals; raise an error for invalid arguments."""
    if not 0 <= faults < network.size:
        raise UsageError(
            f"{faults} of the nodes of {network.name} cannot be removed: one must stay, and "
            f"0..{network.size - 1} can be removed."
        )
    if sample is not None and sample < 1:
        raise UsageError(f"A sample has at least one removal, not {sample}.")
    count = comb(network.size, faults)
    if sample is None and count > MOST_REMOVALS:
        raise UsageError(
            f"{faults} of the {network.size} nodes of {network.name} can be removed in {count} "
            f"ways, more than the limit of {MOST_REMOVALS}: give a sample."
        )
    return count


def _draw(network: Topology, faults: int, sample: int, seed: int) -> Ints:
    """Return random removals, sorted, without repetition, shape (up to sample, faults)."""
    random = np.random.default_rng(seed)
    rows = max(1, DRAWN_AT_ONCE // network.size)
    drawn = []
    for begin in range(0, sample, rows):
        order = random.random((min(rows, sample - begin), network.size)).argsort(axis=1)
        drawn.append(np.sort(order[:, :faults], axis=1))
    return np.unique(np.concatenate(drawn), axis=0)


def _worst_of_all(transport: Local, worst: int, at: int) -> tuple[int, int]:
    """Return the largest diameter of all ranks, and its first removal (collective)."""
    largest = int(transport.max(np.array([worst]))[0])
    # Ranks can only compute a maximum together. The first removal is the largest of the negated
    # indices.
    never = np.iinfo(np.int64).min
    first = transport.max(np.array([-at if worst == largest else never]))
    return largest, -int(first[0])


class Tries:
    """Removals from one network, many at once, separately on each rank.

    Parameters
    ----------
    network : Topology
        The network.
    """

    def __init__(self, network: Topology):
        # A member of a bus hears all others, even if some of them are dead. Busses therefore become
        # links between all pairs of members.
        network = network if network.links else adjacency(network)
        self._size = network.size
        self._broadcast = Machine(network, "all", Local()).local_broadcast()
        self._words = -(-network.size // SOURCES_PER_WORD)
        self.at_once = max(1, WORDS_AT_ONCE // (self._words * max(1, self._broadcast.sends)))

    def diameters(self, removals: Ints) -> Ints:
        """Return the diameters after some removals.

        Parameters
        ----------
        removals : ndarray of int64, shape (r, faults)
            The removed nodes of each removal.

        Returns
        -------
        ndarray of int64, shape (r,)
            Diameters in hops; N if the network is disconnected.
        """
        count, left = len(removals), self._size - removals.shape[1]
        fresh, seen, every = self._first_bits(removals)
        following = np.empty_like(fresh)
        diameters, pairs = np.zeros(count, np.int64), np.zeros(count, np.int64)
        distance = 0
        while True:
            distance += 1
            self._broadcast(fresh)
            if take(self._broadcast, fresh, every, seen, following) == 0:
                break
            fresh, following = following, fresh
            book_pairs(fresh, self._words, distance, diameters, pairs)
        # Counting pairs is cheap during the flood. If a pair is missing at the end, the network is
        # disconnected.
        return np.where(pairs == left * (left - 1), diameters, self._size)

    def _first_bits(self, removals: Ints) -> tuple[Words, Words, Words]:
        """Return the initial bits of each node (its own), the bits already seen, and all bits.

        All bits of a dead node count as seen, so it forwards nothing.
        """
        which = np.repeat(np.arange(len(removals)) * self._words, removals.shape[1])
        removed, nodes = removals.ravel(), np.arange(self._size)
        word, bit = np.divmod(nodes, SOURCES_PER_WORD)
        columns = word[:, np.newaxis] + np.arange(len(removals)) * self._words
        fresh = self._broadcast.room(-(-len(removals) * self._words // WORDS) * WORDS)
        fresh[nodes[:, np.newaxis], columns] = np.uint64(1) << bit.astype(np.uint64)[:, np.newaxis]
        fresh[removed, which + word[removed]] = 0
        seen = fresh.copy()
        # A dead node that has seen everything is never fresh and forwards nothing. The flood needs
        # no test for dead nodes.
        seen[removed[:, np.newaxis], which[:, np.newaxis] + np.arange(self._words)] = ~np.uint64(0)
        return fresh, seen, np.bitwise_or.reduce(fresh, axis=0)


@kernel
def book_pairs(fresh: WordRows, words: int, distance: int, diameters: Ints, pairs: Ints) -> None:
    """Record for every removal the number of pairs at this distance, and the distance if any."""
    for u in range(fresh.shape[0]):
        for w in range(fresh.shape[1]):
            if fresh[u, w]:
                removal = w // words
                diameters[removal] = distance
                pairs[removal] += count_word(fresh[u, w])


def subsets(size: int, members: int, begin: int, count: int) -> Ints:
    """Return some subsets of the numbers 0..size-1, in lexicographic order.

    Parameters
    ----------
    size, members : int
        Numbers to choose from, and number of chosen members.
    begin, count : int
        Index of the first subset, and number of subsets.

    Returns
    -------
    ndarray of int64, shape (count, members)
        Subsets, with members ascending.
    """
    rows = np.zeros((count, members), np.int64)
    number = 0
    # The combinatorial number system: a rank finds its first subset without listing the subsets of
    # other ranks.
    for place in range(members):
        following = comb(size - number - 1, members - place - 1)
        while begin >= following:
            begin -= following
            number += 1
            following = comb(size - number - 1, members - place - 1)
        rows[0, place] = number
        number += 1
    follow_subsets(size, rows)
    return rows


@kernel
def follow_subsets(size: int, rows: Table) -> None:
    """Write the subsets that follow the subset in the first row."""
    members = rows.shape[1]
    for i in range(1, rows.shape[0]):
        place = members - 1
        while rows[i - 1, place] == size - members + place:
            place -= 1
        for j in range(members):
            rows[i, j] = rows[i - 1, j]
        rows[i, place] += 1
        for j in range(place + 1, members):
            rows[i, j] = rows[i, j - 1] + 1
