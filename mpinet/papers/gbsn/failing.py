"""What the points have in common at which claims fail; where nothing is named, nothing is known."""

from __future__ import annotations

from mpinet.claims.paper import Failing
from mpinet.papers.gbsn.construction import has_needy_blocks
from mpinet.papers.gbsn.definition import subsection_widths
from mpinet.papers.gbsn.degree import partial_ports_and_two, stated_largest
from mpinet.papers.gbsn.grids import Blocks, blocks, ceil_lg, words


def has_one_partial_link(of: Blocks) -> bool:
    """Whether a block of 2^j + 1 nodes has a highest subsection of one bit.

    Its last node differs from the others in the highest bit and in lower ones, so that changing
    the highest bit is the only change of one subsection that leads to a node.
    """
    return any(
        (size - 1).bit_count() == 1 and subsection_widths(ceil_lg(size), a)[-1] == 1
        for size, a in zip(of.m, of.a, strict=True)
    )


def is_barely_shifted(topology: str) -> bool:
    """Whether it is BSN(b,b) on b + 1 bits, b >= 5."""
    a, b, n = words(topology)
    return a == b == n - 1 >= 5


ONE_PARTIAL_LINK = (
    "some block has 2^j + 1 nodes (two, for j = 0) and its a_i divides j, so that its last node "
    "has one partial link",
    lambda topology: has_one_partial_link(blocks(topology)),
)

UNEQUAL = (
    "the blocks are not all of one size",
    lambda topology, **_: len(set(blocks(topology).m)) > 1,
)

FAILING: Failing = {
    "GBSN-S2-two-partial-links": ONE_PARTIAL_LINK,
    "GBSN-S3-degree-gbsn-min": ONE_PARTIAL_LINK,
    "GBSN-S2-literal-connected": (
        "some block's first node has no right shift of its own",
        lambda topology: has_needy_blocks(blocks(topology)),
    ),
    "GBSN-S3-degree-bsn": ("n = 2b", lambda topology: words(topology).n == 2 * words(topology).b),
    "GBSN-S3-degree-gbsn-max": (
        "some block's nodes have more partial ports, with two for shifts, than the bound",
        lambda topology: partial_ports_and_two(topology) > stated_largest(topology),
    ),
    "GBSN-P31-upper-product": ("n <= 2b", lambda topology: blocks(topology).sections == 2),
    "GBSN-E1-twsr": (
        "it is none of BSN(b,b) on b + 1 bits, b >= 5",
        lambda topology: not is_barely_shifted(topology),
    ),
    "GBSN-P42-partial-existential": UNEQUAL,
    "GBSN-P42-dil-partial": UNEQUAL,
    "GBSN-P42-congestion": UNEQUAL,
    "GBSN-P41-range": ("x > a", lambda a, x: x > a),
    "GBSN-S4-right-shift-suffices": (
        "there are two or more blocks",
        lambda topology: len(blocks(topology).m) > 1,
    ),
    "GBSN-S4-three-steps-same": (
        "there are three or more blocks",
        lambda topology, a: len(blocks(topology).m) > 2,
    ),
}
"""By id: in words, and as a predicate of a point."""
