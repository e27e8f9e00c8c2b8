"""Networks at which the claims are tested, smallest first."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from math import log2
from typing import NamedTuple

from mpinet.claims import PointGrid, over, points
from mpinet.claims.remembered import remembered
from mpinet.papers.gbsn.definition import is_needy, subsection_widths

Sizes = tuple[int, ...]


def ceil_lg(x: int) -> int:
    """Return the least e with 2^e >= x."""
    return (x - 1).bit_length()


class BlockParameters(NamedTuple):
    """Parameters of a GBSN."""

    b: int
    m: Sizes
    a: Sizes

    @property
    def size(self) -> int:
        """Number N of nodes, the sum of the block sizes."""
        return sum(self.m)

    @property
    def block_bits(self) -> int:
        """Number c of bits of a block's number."""
        return ceil_lg(len(self.m))

    @property
    def place_bits(self) -> int:
        """Number w of bits of a place in the largest block."""
        return ceil_lg(max(self.m))

    @property
    def bits(self) -> int:
        """Number n of bits of an address."""
        return self.block_bits + self.place_bits

    @property
    def sections(self) -> int:
        """Number of sections of b bits of an address, ceil(n/b); the last may be shorter."""
        return -(-self.bits // self.b)

    @property
    def fulfils_step_2(self) -> bool:
        """True if each node has two partial links, as step 2 of the construction requires.

        Only the last node of a block of 2^j + 1 nodes may have one. It differs from the others in
        the highest bit and in lower bits. If the highest subsection has one bit, among the changes
        of one subsection only the change of this bit leads to a node.
        """
        return not any(
            (size - 1).bit_count() == 1 and subsection_widths(ceil_lg(size), a)[-1] == 1
            for size, a in zip(self.m, self.a, strict=True)
        )

    @property
    def needs_completion(self) -> bool:
        """True if the completion adds a link."""
        blocks = range(1, len(self.m))
        return any(is_needy(block, self.b, self.m, self.place_bits) for block in blocks)


class Words(NamedTuple):
    """Parameters of a BSN(a,b) on n bits."""

    a: int
    b: int
    n: int


def name(b: int, m: Sizes, a: Sizes) -> str:
    """Return the topology string of a GBSN."""
    parts = a if len(set(a)) > 1 else a[:1]
    return f"gbsn:{b},m={'-'.join(map(str, m))},a={'-'.join(map(str, parts))}"


@remembered
def blocks(topology: str) -> BlockParameters:
    """Return the parameters of a GBSN's topology string."""
    b, m, a = topology.removeprefix("gbsn:").removesuffix(",completed=no").split(",")
    sizes = tuple(map(int, m.removeprefix("m=").split("-")))
    parts = tuple(map(int, a.removeprefix("a=").split("-")))
    return BlockParameters(int(b), sizes, parts if len(parts) > 1 else parts * len(sizes))


def literal(topology: str) -> str:
    """Return the GBSN without the completion: the paper's construction word for word."""
    return f"{topology},completed=no"


def bsn(a: int, b: int, n: int) -> str:
    """Return the topology string of BSN(a,b) on n bits."""
    return f"bsn:{a},{b},{n}"


def words(topology: str) -> Words:
    """Return the parameters of a BSN's topology string."""
    a, b, n = map(int, topology.removeprefix("bsn:").split(","))
    return Words(a, b, n)


def divisors(b: int) -> list[int]:
    """Return the values of a that divide b."""
    return [a for a in range(1, b + 1) if b % a == 0]


def regular(text: str, most: int, chosen: Callable[[Words], bool] = lambda of: True) -> PointGrid:
    """Return the grid of all BSN(a,b) on n <= `most` bits that satisfy `chosen`."""
    listed = [
        {"topology": bsn(a, b, n)}
        for n in range(1, most + 1)
        for b in range(1, n + 1)
        for a in divisors(b)
        if chosen(Words(a, b, n))
    ]
    return points(text, listed)


UP_TO_8 = regular("a | b <= n <= 8", 8)
UP_TO_6 = regular("a | b <= n <= 6", 6)
SHIFTED = regular("a | b < n <= 8", 8, lambda of: of.b < of.n)
WHOLE_SECTIONS = regular("a | b | n, b < n <= 8", 8, lambda of: of.b < of.n and of.n % of.b == 0)
"""Ranges of BSNs."""


def bits(most: int) -> PointGrid:
    """Return the grid of the numbers of bits n up to `most`."""
    return over(f"n <= {most}", n=range(1, most + 1))


@remembered
def vectors(N: int) -> list[Sizes]:
    """Return all block vectors of N nodes with blocks of at least 2 nodes, fewer blocks first."""

    def made(rest: int) -> Iterator[Sizes]:
        if rest == 0:
            yield ()
        for first in range(2, rest + 1):
            yield from ((first, *others) for others in made(rest - first))

    return sorted(made(N), key=lambda m: (len(m), m))


def largest_parts(m: Sizes) -> Sizes:
    """Return the largest partial parameter of every block."""
    return tuple(map(ceil_lg, m))


def of_vector(m: Sizes, maximal_only: bool = False) -> list[str]:
    """Return the GBSNs of a block vector: all b, with all a_i = 1 and with maximal a_i."""
    ones, largest = (1,) * len(m), largest_parts(m)
    parts = [largest] if maximal_only else sorted({ones, largest})
    return [name(b, m, a) for b in range(1, max(largest) + 1) for a in parts]


IRREGULAR = 48
"""Number of randomly drawn irregular networks, of 11, 16, .., 246 nodes."""


def drawn(number: int) -> str:
    """Return the irregular GBSN with a number in 0..47, drawn at random."""
    # Seeded by text, so existing networks stay the same when others are added.
    draw = random.Random(f"irregular {number}")
    N, largest = 11 + 5 * number, draw.choice([3, 4, 5, 8, 11, 16, 33, 64])
    m: list[int] = []
    while sum(m) < N:
        rest = N - sum(m)
        size = min(draw.choice([2, largest, draw.randint(2, largest)]), rest)
        # A block of one node has no partial links, so a remaining single node joins the last block.
        m.append(rest if rest - size == 1 else size)
    widths = largest_parts(tuple(m))
    b = draw.choice([1, max(widths), draw.randint(1, max(widths))])
    mixed = tuple(draw.randint(1, width) for width in widths)
    return name(b, tuple(m), draw.choice([(1,) * len(m), widths, mixed]))


@remembered
def every() -> list[str]:
    """Return the range F of docs/papers/gbsn, 9."""
    whole = [text for N in range(2, 13) for m in vectors(N) for text in of_vector(m)]
    # The networks of 11 and 12 nodes are numerous. They are included because some statements first
    # fail there on a network that the paper's construction allows.
    small = [text for text in whole if blocks(text).size < 11 or blocks(text).fulfils_step_2]
    found = dict.fromkeys([*small, *(drawn(number) for number in range(IRREGULAR))])
    return sorted(found, key=lambda topology: blocks(topology).size)


def few(chosen: Callable[[BlockParameters], bool], text: str = "") -> PointGrid:
    """Return the grid of the networks of F that satisfy `chosen`."""
    listed = [{"topology": topology} for topology in every() if chosen(blocks(topology))]
    return points(f"F{text}", listed)


F = few(
    lambda of: True,
    ": all GBSN of N <= 10, and those of N <= 12 that fulfil step 2, a_i all 1 or maximal; 48 "
    "drawn ones of N <= 246",
)
SEVERAL = few(lambda of: len(of.m) > 1, " (N <= 12, and drawn), k >= 2")
"""The range F of docs/papers/gbsn, 9: all its networks, and the networks with two or more
blocks.
"""

CAPTION, TEXT = name(1, (4, 4, 4, 2), (1,) * 4), name(2, (4, 4, 4, 3), (1,) * 4)
"""Names of Fig. 1(b): GBSN(1|4,4,4,2) in its caption, GBSN(2|4,4,4,3) in the text."""

FIGURE_1B = over("both GBSNs of Fig. 1(b)", topology=(CAPTION, TEXT))


def guests(topology: str) -> list[int]:
    """Return the a of each BSN(a,b) with the host's b that Propositions 4.1 and 4.2 cover."""
    b, m, _ = blocks(topology)
    return [a for a in divisors(b) if a <= log2(max(m))]


def guest_of(topology: str, a: int) -> str:
    """Return the BSN(a,b) with the host's b and size."""
    of = blocks(topology)
    return bsn(a, of.b, of.size.bit_length() - 1)


def hosts(vectors_of: list[Sizes], maximal_only: bool = True) -> list[dict[str, object]]:
    """Return points of GBSN hosts and equally large BSN(a,b): `topology` and the guest's `a`."""
    return [
        {"topology": topology, "a": a}
        for m in vectors_of
        for topology in of_vector(m, maximal_only)
        for a in guests(topology)
    ]


def sampled(N: int, count: int) -> list[Sizes]:
    """Return randomly drawn block vectors of two or more blocks."""
    draw = random.Random(f"vectors of {N}")
    found: set[Sizes] = set()
    while len(found) < count:
        largest = draw.choice([2, 3, 4, 6, 8, 16, N - 2])
        m: list[int] = []
        while sum(m) < N:
            rest = N - sum(m)
            size = min(draw.randint(2, largest), rest)
            m.append(rest if rest - size == 1 else size)
        if len(m) > 1:
            found.add(tuple(m))
    return sorted(found, key=lambda m: (len(m), m))


def powers(text: str, least_blocks: int, sample: int = 0, maximal_only: bool = True) -> PointGrid:
    """Return the grid of hosts with N = 4, 8 and 16 nodes, and some with 32.

    Parameters
    ----------
    text : str
        Description of the range.
    least_blocks : int
        Minimum number of blocks.
    sample : int
        Number of drawn block vectors of 32 nodes.
    maximal_only : bool
        True if the a_i are always maximal; False to include all a_i equal to 1.
    """

    def listed() -> list[dict[str, object]]:
        all_of = [m for N in (4, 8, 16) for m in vectors(N) if len(m) >= least_blocks]
        return hosts(all_of + sampled(32, sample), maximal_only)

    return points(text, listed)


def is_small(topology: str, a: int) -> bool:
    """Return whether the quick budget includes a host in expensive claims: up to 8 nodes."""
    return blocks(topology).size <= 8


def regular_hosts() -> PointGrid:
    """Return the grid of GBSNs of equal blocks 2^b, with a_i = a and maximal a_i, for BSN(a,b)."""
    return points(
        "2^c blocks of 2^b, b and c in 1..3",
        [
            {"topology": name(b, (2**b,) * 2**c, (part,) * 2**c), "a": a}
            for c, b in product(range(1, 4), repeat=2)
            for a in divisors(b)
            for part in sorted({a, b})
        ],
    )
