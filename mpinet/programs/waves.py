"""Floods from many nodes at once: every node keeps a bit for each source that has reached it.

In a step all nodes send the bits that are new to them on all their ports; the step in which a bit
comes is its source's distance in hops.
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
"""Words of sources that a node looks at together: 512 sources fill a cache line."""

SOURCES = SOURCES_PER_WORD * WORDS
"""Most sources that flood together."""

MOST_PORTS = 2**22
"""Ports of all nodes up to which a rank hosts a whole machine for floods: 600 MB at most."""


def adjacency(topology: Topology) -> Topology:
    """A bus network with a link between every two members of a bus, on the same ports."""
    view = copy(topology)
    view.busses = None
    return view


@dataclass(frozen=True, eq=False)
class Wave:
    """One step of a flood: the sources that come to nodes in it."""

    distance: int
    """Steps made: the hops from these sources."""
    begin: int
    """Place of the first of the sources that flood together."""
    fresh: Words
    """A bit for each of these sources, by this rank's nodes. Shape (hosted, words)."""
    bits: int
    """Bits that are set on this rank."""
    total: int
    """Bits that are set on all ranks of the machine."""

    @cached_property
    def new(self) -> Ints:
        """Sources that come to each of this rank's nodes, shape (hosted,)."""
        counts = np.zeros(len(self.fresh), np.int64)
        count_bits(self.fresh, counts)
        return counts


class Floods:
    """Floods on one machine, many at once.

    Parameters
    ----------
    machine : Machine
        All-port, of links.
    ports : (ndarray of int64, ndarray of int64), optional
        The nodes of this rank and ports over which anything goes. Default: all wired ones.
    dead : ndarray of int64, shape (d,)
        The nodes with no such ports that are no sources either, ascending.
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
        """The largest number of ports over which a node of this rank floods."""
        return int(np.diff(self._broadcast.starts.astype(np.int64)).max(initial=0))

    def waves(self, sources: Ints) -> Iterator[Wave]:
        """Flood from some nodes, a wave a step (collective).

        A flood takes a step more than the largest distance. A wave's bits may be looked at until
        the next one.
        """
        words = 1 if len(sources) <= SOURCES_PER_WORD else WORDS
        rooms = self._broadcast.room(words), self._broadcast.room(words)
        for begin in range(0, len(sources), SOURCES):
            yield from self._flood(begin, sources[begin : begin + SOURCES], *rooms)

    def _flood(self, begin: int, sources: Ints, fresh: Words, following: Words) -> Iterator[Wave]:
        """Flood from some nodes together."""
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
        """The own bits of the sources that are alive, shape (hosted, words)."""
        bits = np.zeros((self.machine.placement.count, words), np.uint64)
        slots = self.machine.slots(sources)
        here = (slots >= 0) & (slots < len(bits)) & alive
        word, bit = np.divmod(np.flatnonzero(here), SOURCES_PER_WORD)
        np.bitwise_or.at(bits, (slots[here], word), np.uint64(1) << bit.astype(np.uint64))
        return bits


def shared_out(machine: Machine, sources: Ints) -> tuple[Floods, Ints]:
    """Share out the nodes that the ranks together flood from, and return this rank's.

    Each floods from a share of the sources, on a machine that it alone hosts: they have nothing to
    do with one another. Where a machine is too large for that, or its user wants to see every
    message or has placed the processors, all ranks flood on the machine itself.

    Parameters
    ----------
    machine : Machine
        All-port, of links.
    sources : ndarray of int64, shape (k,)
        The nodes, the same on all ranks.

    Returns
    -------
    floods : Floods
        Its waves' `Wave.bits` add up over the ranks in either case.
    sources : ndarray of int64, shape (m,)
        The nodes to flood from.
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
    """Add to every node the bits that it receives and has not seen.

    Parameters
    ----------
    broadcast : LocalBroadcast
        Whose rows every node receives.
    rows : ndarray of uint64, shape (rows, words)
        As they were sent; 1 word, or a multiple of `WORDS`.
    every : ndarray of uint64, shape (words,)
        All bits that there are: a node that has seen them need not look.
    seen : ndarray of uint64, shape (hosted, words)
        The bits that nodes have met; the new ones are added.
    following : ndarray of uint64, shape (rows, words)
        Its first rows are overwritten with the new bits.

    Returns
    -------
    int
        The number of new bits on this rank.
    """
    words = min(rows.shape[1], WORDS)
    taken = take_new if words == WORDS else take_new_of_one_word
    shape = rows.shape[1] // words, words
    in_blocks = (bits.reshape(*bits.shape[:-1], *shape) for bits in (rows, every, seen, following))
    return int(taken(broadcast.starts, broadcast.origins, *in_blocks))


def packed(flags: Flags, words: int) -> Words:
    """A bit for each flag, in so many words."""
    bits = np.zeros(SOURCES_PER_WORD * words, bool)
    bits[: len(flags)] = flags
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


@idiom
def count_word(word):
    """Number of one bits of an unsigned 64-bit word, in the form that compilers know."""
    pairs, halves = np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & halves
    return (int(word) * 0x0101010101010101 >> 56) & 0xFF


@inlined
def lowest_bit(word):
    """Place of the lowest one bit of an unsigned 64-bit word that is not 0."""
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
    """Write the bits that nodes get for the first time; their number.

    Node u receives the rows ``origins[starts[u]:starts[u + 1]]``, which are blocks of `WORDS`
    words.
    """
    new = 0
    received = np.empty(WORDS, np.uint64)
    for u in range(seen.shape[0]):
        for block in range(seen.shape[1]):
            # A node that all sources have reached looks at no neighbour; late in a flood most have.
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
    """Add the number of one bits of each row to its count; the number of all."""
    total = 0
    for u in range(words.shape[0]):
        found = 0
        for w in range(words.shape[1]):
            found += count_word(words[u, w])
        counts[u] += found
        total += found
    return total
