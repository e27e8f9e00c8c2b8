"""Networks whose links shift the processor's number: de Bruijn, shuffle-exchange, Moebius.

Port rule of docs/papers/gmn, 9: the listed targets in order, without self-loops and later
repetitions, numbered without gaps. Routing is by full tables, up to their size limit.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import ClassVar

from mpinet.compiled import inlined, open_part, rule
from mpinet.networks.binary import BinaryLabels
from mpinet.networks.cycle import Cycle
from mpinet.networks.parameters import whole_number

BITS, LISTED = 2, 3
"""Places in the rules' parameters: n, and the number of listed targets."""


# A family's list of targets, which `bind` inserts: ``listed(node, index, bits)``.
listed = open_part


@rule
def kept_target(node, port, params):
    """Return listed target number `port`, without self-loops and repetitions."""
    kept = 0
    for index in range(params[LISTED]):
        target = listed(node, index, params[BITS])
        fresh = target != node
        # Shifts of words such as 0101 coincide. Repetitions are dropped by comparing all earlier
        # targets, at most three.
        for earlier in range(index):
            fresh = fresh and listed(node, earlier, params[BITS]) != target
        if fresh:
            if kept == port:
                return target
            kept += 1
    return -1


@inlined
def de_bruijn_target(node, index, bits):
    """Return target `index` of 2u, 2u+1, u>>1, (u>>1) + 2^(n-1), modulo 2^n."""
    if index < 2:
        return ((node << 1) & ((1 << bits) - 1)) + index
    return (node >> 1) + ((index - 2) << (bits - 1))


@inlined
def shuffle_exchange_target(node, index, bits):
    """Return target `index` of rotate left, rotate right, u XOR 1."""
    if index == 0:
        return ((node << 1) & ((1 << bits) - 1)) + (node >> (bits - 1))
    if index == 1:
        return (node >> 1) + ((node & 1) << (bits - 1))
    return node ^ 1


@inlined
def moebius_target(node, index, bits):
    """Return target `index`: rotate left or right with the moved bit complemented, or u XOR 1."""
    if index == 0:
        return ((node << 1) & ((1 << bits) - 1)) + 1 - (node >> (bits - 1))
    if index == 1:
        return (node >> 1) + ((1 - (node & 1)) << (bits - 1))
    return node ^ 1


class ShiftNetwork(BinaryLabels):
    """Base of the shift networks: 2^n processors whose addresses are their bits."""

    targets: ClassVar[int]
    """Number of listed targets."""

    def __init__(self, n: int):
        self.bits = n
        # With two bits, both rotations lead to the same processor: one port less.
        ports = self.targets - (n == 2)
        super().__init__(f"{n}", size=2**n, ports=ports, params=[n, self.targets])


class DeBruijn(ShiftNetwork):
    """De Bruijn graph B(2,n) as an undirected simple graph (de Bruijn 1946)."""

    parameters = (whole_number("n", 2, 60),)
    example = "debruijn:7"
    paper = "textbook"
    specification = "papers/gmn 9"

    neighbor = kept_target.bind("DeBruijn.neighbor", listed=de_bruijn_target)

    targets = 4

    ascend_schedules = MappingProxyType(
        {"debruijn": "mpinet.programs.schedules.shifting:DeBruijnSchedule"}
    )

    def cycle(self) -> Cycle:
        """Hamiltonian cycle: the words of a de Bruijn sequence."""
        return Cycle("sequence", next_of_sequence, self.params)


class ShuffleExchange(ShiftNetwork):
    """Shuffle-exchange network (Stone 1971): shuffle, unshuffle, exchange."""

    parameters = (whole_number("n", 2, 61),)
    example = "shuffleexchange:6"
    paper = "textbook"
    specification = "papers/gmn 9"

    neighbor = kept_target.bind("ShuffleExchange.neighbor", listed=shuffle_exchange_target)

    targets = 3

    ascend_schedules = MappingProxyType(
        {"shuffle": "mpinet.programs.schedules.shifting:ShuffleExchangeSchedule"}
    )


class Moebius(ShiftNetwork):
    """Moebius graph (Leland, Solomon 1982), a reconstruction: the paper could not be found.

    Shuffle with the moved bit complemented, unshuffle likewise, exchange.
    """

    parameters = (whole_number("n", 3, 61),)
    example = "moebius:6"
    paper = "Leland, Solomon (reconstruction)"
    specification = "papers/gmn 9"

    neighbor = kept_target.bind("Moebius.neighbor", listed=moebius_target)

    targets = 3


@rule
def next_of_sequence(node, way, params):
    """Return the port of the next word of a de Bruijn sequence.

    The bit that is shifted out is shifted in again. Its complement is shifted in if the other bits
    and a 1 are a necklace: the smallest of its rotations. The rule joins the cycles of rotations to
    one (Jansen, Franx, Boekee 1991). Only the word of zeros has no port for a 0.
    """
    if node == 0:
        return 0
    bits = params[BITS]
    word = ((node << 1) & ((1 << bits) - 1)) + 1
    rotated, leaving = word, node >> (bits - 1)
    # The word is a necklace if no rotation is smaller. One complement per necklace joins all cycles
    # of rotations to one sequence.
    for _ in range(bits - 1):
        rotated = shuffle_exchange_target(rotated, 0, bits)
        if rotated < word:
            return leaving
    return 1 - leaving
