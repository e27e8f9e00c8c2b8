"""Floods from many nodes at once: every node stores a bit for each source that has reached it.

In a step all nodes send their new bits on all their ports. The step of a bit's arrival is the
distance of its source in hops.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mpinet.base.arrays import Counts, Flags, Ints, WordRows, Words, WordTables
from mpinet.compiled import idiom, inlined, kernel
from mpinet.machine import Machine
from mpinet.machine.local_broadcast import LocalBroadcast
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology

SOURCES_PER_WORD = 64

WORDS = 8
"""Number of words of sources processed together at a node: 512 sources fill a cache line."""

SOURCES = SOURCES_PER_WORD * WORDS
"""Maximum number of sources that flood together."""

MOST_PORTS = 2**22
"""Maximum number of ports of all nodes for which a rank hosts a whole machine for floods: 600
MB.
"""


def adjacency(topology: Topology) -> Topology:
    """Return a bus network with a link between every two members of a bus, on the same ports."""
    view = copy(topology)
    view.busses = None
    return view


@dataclass(frozen=True, eq=False)
class Wave:
    """One step of a flood, with the sources that reach nodes in this step."""

    distance: int
    """Number of steps so far: the distance of these sources in hops."""
    begin: int
    """Index of the first source of the group that floods together."""
    fresh: Words
    """A bit for each of these sources, by this rank's nodes. Shape (hosted, words)."""
    bits: int
    """Number of set bits on this rank."""
    total: int
    """Number of set bits on all ranks of the machine."""

    @cached_property
    def new(self) -> Ints:
        """Number of sources that reach each of this rank's nodes, shape (hosted,)."""
        counts = np.zeros(len(self.fresh), np.int64)
        count_bits(self.fresh, counts)
        return counts


class Floods:
    """Floods on one machine, many at once.

    Parameters
    ----------
    machine : Machine
        An all-port machine of links.
    ports : (ndarray of int64, ndarray of int64), optional
        Nodes of this rank, and their usable ports. Default: all wired ports.
    dead : ndarray of int64, shape (d,)
        Nodes without usable ports that are not sources either, ascending.
    """

    def __init__(
        self,
        machine: Machine,
        ports: tuple[Ints, Ints] | None = None,
        dead: Ints | None = None,
    ):
        self.machine = machine
        self._broadcast = machine.local_broadcast(ports)
        self._dead = np.empty(0, np.int64) if dead is None else dead

    @property
    def most_links(self) -> int:
        """Largest number of usable ports of a node of this rank."""
        return int(np.diff(self._broadcast.starts.astype(np.int64)).max(initial=0))

    def waves(self, sources: Ints) -> Iterator[Wave]:
        """Flood from some nodes, and yield a wave per step (collective).

        A flood takes one step more than the largest distance. A wave's bits are valid until the
        next wave.
        """
        words = 1 if len(sources) <= SOURCES_PER_WORD else WORDS
        rooms = self._broadcast.room(words), self._broadcast.room(words)
        for begin in range(0, len(sources), SOURCES):
            yield from self._flood(begin, sources[begin : begin + SOURCES], *rooms)

    def _flood(self, begin: int, sources: Ints, fresh: Words, following: Words) -> Iterator[Wave]:
        """Flood from some nodes together; yield the waves."""
        nodes = self.machine.placement.count
        alive = ~np.isin(sources, self._dead)
        seen = self._first_bits(sources, alive, fresh.shape[1])
        fresh[:nodes] = seen
        every = packed(alive, fresh.shape[1])
        missing = int(alive.sum()) * (self.machine.topology.size - len(self._dead))
        bits, distance = int(count_bits(seen, np.zeros(nodes, np.int64))), 0
        while True:
            total = self._broadcast(fresh, bits)
            if total == 0:
                return
            yield Wave(distance, begin, fresh[:nodes], bits, total)
            missing -= total
            if missing == 0:
                return
            bits = take(self._broadcast, fresh, every, seen, following)
            fresh, following = following, fresh
            distance += 1

    def _first_bits(self, sources: Ints, alive: Flags, words: int) -> Words:
        """Return the own bits of the sources that are alive, shape (hosted, words)."""
        bits = np.zeros((self.machine.placement.count, words), np.uint64)
        slots = self.machine.slots(sources)
        here = (slots >= 0) & (slots < len(bits)) & alive
        word, bit = np.divmod(np.flatnonzero(here), SOURCES_PER_WORD)
        np.bitwise_or.at(bits, (slots[here], word), np.uint64(1) << bit.astype(np.uint64))
        return bits


def shared_out(machine: Machine, sources: Ints) -> tuple[Floods, Ints]:
    """Distribute the sources of floods over the ranks; return this rank's floods and sources.

    Each rank floods from a share of the sources, on a machine hosted by the rank alone, because
    floods are independent. All ranks flood on the machine itself in three cases: the machine is too
    large, its messages are recorded, or the user has placed the processors.

    Parameters
    ----------
    machine : Machine
        An all-port machine of links.
    sources : ndarray of int64, shape (k,)
        Source nodes, equal on all ranks.

    Returns
    -------
    floods : Floods
        In both cases the sum of `Wave.bits` over all ranks is the total.
    sources : ndarray of int64, shape (m,)
        Source nodes of this rank.
    """
    topology, observed = machine.topology, machine.metered or machine.trace is not None
    large = topology.size * topology.ports > MOST_PORTS
    if large or observed or not machine.mapping.contiguous:
        return Floods(machine), sources
    share = np.array_split(sources, machine.transport.size)[machine.transport.rank]
    return Floods(Machine(topology, machine.model, Local())), share


def take(
    broadcast: LocalBroadcast, rows: Words, every: Words, seen: Words, following: Words
) -> int:
    """Add to every node the bits received for the first time.

    Parameters
    ----------
    broadcast : LocalBroadcast
        Determines the rows that every node receives.
    rows : ndarray of uint64, shape (rows, words)
        The sent rows; 1 word, or a multiple of `WORDS`.
    every : ndarray of uint64, shape (words,)
        All possible bits: a complete node is skipped.
    seen : ndarray of uint64, shape (hosted, words)
        Bits received by each node so far; new bits are added.
    following : ndarray of uint64, shape (rows, words)
        Its first rows are overwritten with the new bits.

    Returns
    -------
    int
        Number of new bits on this rank.
    """
    words = min(rows.shape[1], WORDS)
    taken = take_new if words == WORDS else take_new_of_one_word
    shape = rows.shape[1] // words, words
    in_blocks = (bits.reshape(*bits.shape[:-1], *shape) for bits in (rows, every, seen, following))
    return int(taken(broadcast.starts, broadcast.origins, *in_blocks))


def packed(flags: Flags, words: int) -> Words:
    """Return flags packed into bits, in `words` words."""
    bits = np.zeros(SOURCES_PER_WORD * words, bool)
    bits[: len(flags)] = flags
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


@idiom
def count_word(word):
    """Return the number of one bits of an unsigned 64-bit word, in a form known to compilers."""
    pairs, halves = np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & halves
    return (int(word) * 0x0101010101010101 >> 56) & 0xFF


@inlined
def lowest_bit(word):
    """Return the position of the lowest one bit of an unsigned 64-bit word other than 0."""
    return count_word((word & (~word + np.uint64(1))) - np.uint64(1))


@kernel
def take_new(
    starts: Words,
    origins: Counts,
    rows: WordTables,
    every: WordRows,
    seen: WordTables,
    following: WordTables,
) -> int:
    """Write the bits received by nodes for the first time; return their number.

    Node u receives the rows ``origins[starts[u]:starts[u + 1]]``, which are blocks of `WORDS`
    words.
    """
    new = 0
    received = np.empty(WORDS, np.uint64)
    for u in range(seen.shape[0]):
        for block in range(seen.shape[1]):
            # A node reached by all sources examines no neighbour. Late in a flood most nodes are.
            missing = np.uint64(0)
            for w in range(WORDS):
                missing |= every[block, w] & ~seen[u, block, w]
                received[w] = 0
            if missing:
                for k in range(starts[u], starts[u + 1]):
                    origin = origins[k]
                    for w in range(WORDS):
                        received[w] |= rows[origin, block, w]
            for w in range(WORDS):
                bits = received[w] & ~seen[u, block, w]
                following[u, block, w] = bits
                seen[u, block, w] |= bits
                new += count_word(bits)
    return new


take_new_of_one_word = take_new.bind("take_new_of_one_word", WORDS=1)


@kernel
def count_bits(words: WordRows, counts: Ints) -> int:
    """Add the number of one bits of each row to its count; return the total."""
    total = 0
    for u in range(words.shape[0]):
        found = 0
        for w in range(words.shape[1]):
            found += count_word(words[u, w])
        counts[u] += found
        total += found
    return total
