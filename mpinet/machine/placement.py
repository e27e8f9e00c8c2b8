"""Hosting: assignment of processors to ranks and slots.

A *mapping* is a bijection from processors to positions 0..N-1, given as a rule. Rank r hosts the
r-th block of positions. A processor's *slot* is its index in the block. No rank holds a table,
except for mappings given by the user as a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.blame import is_own
from mpinet.base.memory import require_memory
from mpinet.compiled import Mapped, Rule, inlined, kernel, rule
from mpinet.draws import permuted
from mpinet.networks.promises import check_cluster_order
from mpinet.networks.topology import Topology

TO_POSITION, TO_NODE = 0, 1
DIRECTIONS = 2

# A user's order is checked completely up to this size; beyond, the check would take longer than
# most runs.
ORDERED = 2**22
"""Number of processors whose positions are checked in a user's own order of clusters."""

UNEVEN = -1
"""Stand-in for the number of processors per rank if blocks have different lengths."""


@dataclass(frozen=True, eq=False)
class Mapping:
    """A bijection between processors and positions."""

    name: str
    """Name of the mapping, as the user wrote it."""
    rule: Rule
    """``rule(number, direction, params)``: a node's position (0) or a position's node (1)."""
    params: Ints
    """The rule's parameters; params[0] = N."""
    starts: Callable[[int], Ints] | None = None
    """``starts(ranks)``: the first position of every rank's block, then N; shape (ranks + 1,).
    Default: blocks of nearly equal length.
    """

    @property
    def contiguous(self) -> bool:
        """True if a node's position is its number."""
        return self.rule is in_order


@rule
def in_order(node, direction, params):
    """Contiguous blocks: the position is the number."""
    return node


def blocks(topology: Topology) -> Mapping:
    """Return the mapping to contiguous blocks of processors (the default)."""
    return Mapping("blocks", in_order, np.array([topology.size, 2], np.int64))


# Without the mask a random mapping would equal the permutation of the traffic, and all messages
# would stay local.
APART = 0x6D617070 << 32
"""Mask that makes a mapping's random draws different from the draws for traffic."""


def scattered(topology: Topology, seed: int) -> Mapping:
    """Return a random mapping, in which neighbours are seldom on one rank.

    The mapping differs from the permutation pattern of the same seed.
    """
    return Mapping("random", permuted, np.array([topology.size, 2, seed ^ APART], np.int64))


def clustered(topology: Topology) -> Mapping:
    """Return a mapping to blocks that end at ends of clusters (`Topology.clusters`).

    The largest clusters within a rank's even share stay whole, otherwise the smallest clusters.
    With fewer clusters than ranks, some ranks host nothing. A network without clusters gets even
    blocks.
    """
    order = type(topology).cluster_order
    starts = partial(cluster_starts, topology)
    # A user's rule may be no bijection, which would lose processors without any error.
    if order is not None and is_own(order.function):
        check_cluster_order(topology, np.arange(min(topology.size, ORDERED)))
    if order is None:
        return Mapping("clusters", in_order, np.array([topology.size, 2], np.int64), starts)
    return Mapping("clusters", order, topology.params, starts)


def even_starts(size: int, ranks: int) -> Ints:
    """Return the first positions of even blocks, the longer blocks first, then `size`."""
    share, longer = divmod(size, ranks)
    numbers = np.arange(ranks + 1)
    return numbers * share + np.minimum(numbers, longer)


def cluster_starts(topology: Topology, ranks: int) -> Ints:
    """Return the ends of clusters nearest to the ends of even blocks."""
    starts = even_starts(topology.size, ranks)
    share = topology.size // ranks
    # Boundaries move to the nearest end of a cluster that fits a share, for the best balance.
    for rank in range(1, ranks):
        at = int(starts[rank])
        around = topology.clusters(at) if at < topology.size else []
        parts = [part for part in around if len(part) < topology.size]
        fitting = [part for part in parts if len(part) <= share] or parts[-1:]
        if fitting:
            begin, end = fitting[0].start, fitting[0].stop
            starts[rank] = begin if at - begin <= end - at else end
    # Two boundaries may move to the same end or past one another; blocks must not become negative.
    return np.maximum.accumulate(starts)


class Placement:
    """The processors of one rank among all ranks.

    Parameters
    ----------
    mapping : Mapping
        Order of the processors.
    rank, ranks : int
        This rank, and the number of ranks, which may exceed the number of processors.
    """

    def __init__(self, mapping: Mapping, rank: int, ranks: int):
        self.mapping = mapping
        self.size = int(mapping.params[0])
        self.rank = rank
        self.ranks = ranks
        self.even = True
        share, longer = divmod(self.size, ranks)
        # Two numbers describe even blocks of any machine: ranks then compute owners without a
        # table.
        self.split = np.array([share, longer], np.int64)
        if mapping.starts is not None:
            starts = mapping.starts(ranks)
            self.even = np.array_equal(starts, even_starts(self.size, ranks))
            if not self.even:
                self.split = np.concatenate([[UNEVEN], starts])
        self.first = int(start_of(rank, self.split))
        self.count = int(start_of(rank + 1, self.split)) - self.first
        self._map = Mapped(mapping.rule, mapping.params, ports=DIRECTIONS)

    @cached_property
    def nodes(self) -> Ints:
        """The hosted processors in slot order, shape (count,)."""
        self.require_room()
        return self.hosted(np.arange(self.first, self.first + self.count))

    def require_room(self) -> None:
        """Raise if a rank's memory cannot hold one number per processor.

        Raises
        ------
        TooLarge
            On all ranks: needed and available memory.
        """
        require_memory(8 * self.most, f"A machine of {self.size} processors")

    @property
    def most(self) -> int:
        """Largest number of processors hosted by any rank."""
        if self.even:
            return -(-self.size // self.ranks)
        return int(np.diff(self.split[1:]).max())

    def hosted(self, positions: Ints) -> Ints:
        """Return the processors at any positions."""
        return positions if self.mapping.contiguous else self._map(positions, TO_NODE)

    def slots(self, nodes: Ints) -> Ints:
        """Return the slots of processors, outside of 0..count-1 for processors of other ranks."""
        # Foreign nodes get numbers outside of the block: one subtraction also shows whether a node
        # is hosted here.
        return self.positions(nodes) - self.first

    def positions(self, nodes: Ints) -> Ints:
        """Return the positions of any processors."""
        return nodes if self.mapping.contiguous else self._map(nodes, TO_POSITION)

    def owners(self, nodes: Ints) -> Ints:
        """Return the ranks that host these processors."""
        owners = np.empty(len(nodes), np.int64)
        find_owners(self.positions(nodes), self.split, owners)
        return owners


@inlined
def owner_of(position, split):
    """Return the rank that hosts a position.

    split = (share, number of ranks with one more), or (`UNEVEN`, the blocks' first positions, N).
    The numbers are below 2^52. Floating point division is therefore exact, and faster than integer
    division.
    """
    share, longer = split[0], split[1]
    if share == UNEVEN:
        # Blocks of clusters have any lengths, hence the binary search.
        rank, ranks = 0, split.size - 2
        while ranks > 1:
            half = ranks >> 1
            if split[1 + rank + half] <= position:
                rank += half
            ranks -= half
        return rank
    if position < (share + 1) * longer:
        return int(position / (share + 1))
    return longer + int((position - (share + 1) * longer) / share)


@inlined
def start_of(rank, split):
    """Return the first position of a rank's block; for `rank` = ranks, the number of positions."""
    # Shares are never negative, the sentinel is.
    if split[0] == UNEVEN:
        return split[1 + rank]
    return rank * split[0] + min(rank, split[1])


@kernel
def find_owners(positions: Ints, split: Ints, owners: Ints) -> None:
    """Write the rank that hosts each position."""
    for i in range(positions.size):
        owners[i] = owner_of(positions[i], split)
