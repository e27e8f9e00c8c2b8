"""Construction of the GBSN (section II), and connectedness of the result (III)."""

from __future__ import annotations

import numpy as np

from mpinet.claims import BEYOND, Measured, PointGrid, claim, points, section
from mpinet.papers.gbsn.definition import is_needy, subsection_widths
from mpinet.papers.gbsn.grids import (
    SEVERAL,
    BlockParameters,
    F,
    blocks,
    bsn,
    ceil_lg,
    divisors,
    every,
    few,
    literal,
    name,
)
from mpinet.papers.gbsn.measured import (
    addresses,
    compare,
    least,
    links,
    most,
    partial_links,
    ports,
    reached,
    shift_links,
)


def complementary(topology: str) -> Measured | bool:
    """Return whether each block has two nodes with a shift link: rightmost bit 0, and 1.

    If not, the result also contains the first block and rightmost bit without such a node.
    """
    of, words = blocks(topology), np.array(addresses(topology))
    shifting = words[(ports(topology).shift >= 0).any(axis=1)]
    found = set(zip((shifting >> of.place_bits).tolist(), (shifting & 1).tolist(), strict=True))
    # Step 3 requires both kinds of nodes in each block: they connect the block by both shifts.
    for block in range(len(of.m)):
        for bit in range(2):
            if (block, bit) not in found:
                return Measured(False, {"block": block, "rightmost bit": bit})
    return True


def has_one_partial_link(of: BlockParameters) -> bool:
    """Return whether a block of 2^j + 1 nodes has a highest subsection of one bit.

    The last node of this block differs from the others in the highest bit and in lower bits. Among
    the changes of one subsection, only the change of the highest bit leads to a node.
    """
    return any(
        (size - 1).bit_count() == 1 and subsection_widths(ceil_lg(size), a)[-1] == 1
        for size, a in zip(of.m, of.a, strict=True)
    )


ONE_PARTIAL_LINK = (
    "some block has 2^j + 1 nodes (two, for j = 0) and its a_i divides j, so that its last node "
    "has one partial link",
    lambda topology: has_one_partial_link(blocks(topology)),
)


def never(**_: object) -> bool:
    """Return False: no point is degenerate, because the measured graph is the paper's own."""
    return False


claim_ii_step_3 = section(place="II, step 3", grid=SEVERAL, relation="all")

claim_ii_step_4 = section(place="II, step 4", grid=F, relation="<=", claimed=2)

SECTION_2 = (
    claim(
        "GBSN-S2-any-size",
        place="II, III.A",
        statement="every valid vector of block sizes gives a connected graph (with the completion)",
        corrects="GBSN-S2-literal-connected",
        relation="all",
        grid=F,
        measured=reached,
    ),
    claim(
        "GBSN-S2-literal-connected",
        place="III.B",
        statement="the paper's construction, taken word for word, is connected, so that the "
        "diameter is bounded",
        relation="all",
        grid=F,
        degenerate=never,
        measured=lambda topology: reached(literal(topology)),
        cause="word-for-word",
        fails_where=(
            "some block's first node has no right shift of its own",
            lambda topology: has_needy_blocks(blocks(topology)),
        ),
    ),
    claim_ii_step_4(
        "GBSN-S2-max-two-shift",
        statement="a node has at most two shift links",
        measured=lambda topology: most(shift_links(topology)),
    ),
    claim_ii_step_4(
        "GBSN-S2-step4-vacuous",
        statement="already before step 4, in the literal graph, a node has at most two shift links",
        degenerate=never,
        measured=lambda topology: most(shift_links(literal(topology))),
    ),
    claim(
        "GBSN-S2-two-partial-links",
        place="II, step 2",
        statement="each node has at least two partial links",
        relation=">=",
        claimed=2,
        grid=F,
        measured=lambda topology: least(partial_links(topology)),
        cause="small-blocks",
        fails_where=ONE_PARTIAL_LINK,
    ),
    claim_ii_step_3(
        "GBSN-S2-complementary-literal",
        statement="in each block a node with rightmost bit 0 and one with rightmost bit 1 have a "
        "shift link each, in the literal graph",
        degenerate=never,
        measured=lambda topology: complementary(literal(topology)),
        cause="word-for-word",
    ),
    claim_ii_step_3(
        "GBSN-S2-complementary-canonical",
        statement="in each block a node with rightmost bit 0 and one with rightmost bit 1 have a "
        "shift link each, with the completion",
        measured=complementary,
        cause="small-blocks",
    ),
)


def cut_out() -> PointGrid:
    """Return block vectors of F with n <= 8, shift amount w, a_i = min(a, w_i), a dividing w."""
    # The comparison with the BSN does not depend on the a_i of F, so each block vector is used
    # once.
    vectors = dict.fromkeys(blocks(topology).m for topology in every())
    listed = [
        {"topology": name(w, m, tuple(min(a, ceil_lg(size)) for size in m)), "a": a}
        for m in vectors
        for w in [ceil_lg(max(m))]
        if ceil_lg(len(m)) + w <= 8
        for a in divisors(w)
    ]
    text = "block vectors of F with n <= 8, b = w, a | w"
    return points(text, listed)


@claim(
    "GBSN-S2-subgraph-of-bsn",
    place="I, II",
    statement="the literal GBSN(min(a,w_i)|w|m) is what the valid addresses leave of BSN(a,w) on "
    "n bits, for a | w",
    relation="all",
    grid=cut_out(),
)
def part_of_bsn(topology: str, a: int) -> Measured | bool:
    """Return whether the links, as pairs of words, are the BSN's links between valid words."""
    of, words = blocks(topology), addresses(literal(topology))
    there = set(words)
    regular = links(bsn(a, of.place_bits, of.bits))
    expected = {(u, v) for u, v in regular if u in there and v in there}
    return compare({(words[u], words[v]) for u, v in links(literal(topology))}, expected)


def has_needy_blocks(of: BlockParameters) -> bool:
    """Return whether the completion adds a link."""
    return any(is_needy(block, of.b, of.m, of.place_bits) for block in range(1, len(of.m)))


def leans_on_completion(topology: str = "", **_: object) -> bool:
    """Return whether a point's network has a link of our completion, which the paper lacks."""
    return (
        topology.startswith("gbsn:")
        and not topology.endswith(literal(""))
        and has_needy_blocks(blocks(topology))
    )


address_bits = claim(
    "GBSN-S2-address-bits",
    place="II",
    statement="an address has ceil(lg k) + max ceil(lg m_i) bits",
    claimed=lambda topology: (
        ceil_lg(len(blocks(topology).m)) + max(map(ceil_lg, blocks(topology).m))
    ),
    grid=F,
    measured=lambda topology: max(addresses(topology)).bit_length(),
)

completion_is_silent = claim(
    "GBSN-S2-completion-silent",
    place=BEYOND,
    statement="where every block's first node has a right shift of its own the completion changes "
    "nothing",
    relation="all",
    grid=few(lambda of: not has_needy_blocks(of), " (N <= 10, and drawn), no block needy"),
    measured=lambda topology: compare(links(topology), set(links(literal(topology)))),
)
