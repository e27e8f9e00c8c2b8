"""Construction of the GBSN (section II), and connectedness of the result (III)."""

from __future__ import annotations

import numpy as np

from mpinet.claims import BEYOND, Measured, PointGrid, claim, once, points, section
from mpinet.papers.gbsn.grids import (
    FIGURE_1B,
    SEVERAL,
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


def breaks_step_2(topology: str = "", **_: object) -> bool:
    """Return whether the paper's step 2 excludes a point's network."""
    return topology.startswith("gbsn:") and not blocks(topology).fulfils_step_2


def leans_on_completion(topology: str = "", **_: object) -> bool:
    """Return whether a point's network has a link of our completion, which the paper lacks."""
    return (
        topology.startswith("gbsn:")
        and not topology.endswith(literal(""))
        and blocks(topology).needs_completion
    )


def is_excluded(topology: str = "", **_: object) -> bool:
    """Return whether a point's network has links of ours, or is excluded by the paper's step 2."""
    return leans_on_completion(topology) or breaks_step_2(topology)


claim_ii_step_3 = section(place="II, step 3", grid=SEVERAL, relation="all")

claim_ii_step_4 = section(place="II, step 4", grid=F, relation="<=", claimed=2)

SECTION_2 = (
    claim(
        "GBSN-S2-any-size",
        place="II, III.A",
        corrects="GBSN-S2-literal-connected",
        relation="all",
        grid=F,
        measured=reached,
    ),
    claim(
        "GBSN-S2-literal-connected",
        relation="all",
        grid=F,
        degenerate=breaks_step_2,
        measured=lambda topology: reached(literal(topology)),
        fails_where=(
            "some block's first node has no right shift of its own",
            lambda topology: blocks(topology).needs_completion,
        ),
    ),
    claim_ii_step_4("GBSN-S2-max-two-shift", measured=lambda topology: most(shift_links(topology))),
    claim_ii_step_4(
        "GBSN-S2-step4-vacuous",
        degenerate=breaks_step_2,
        measured=lambda topology: most(shift_links(literal(topology))),
    ),
    claim(
        "GBSN-S2-two-partial-links",
        relation=">=",
        claimed=2,
        grid=FIGURE_1B,
        degenerate=leans_on_completion,
        measured=lambda topology: least(partial_links(topology)),
    ),
    claim_ii_step_3(
        "GBSN-S2-complementary-literal",
        degenerate=breaks_step_2,
        measured=lambda topology: complementary(literal(topology)),
    ),
    claim_ii_step_3("GBSN-S2-complementary-canonical", measured=complementary),
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


@claim("GBSN-S2-subgraph-of-bsn", relation="all", grid=cut_out())
def part_of_bsn(topology: str, a: int) -> Measured | bool:
    """Return whether the links, as pairs of words, are the BSN's links between valid words."""
    of, words = blocks(topology), addresses(literal(topology))
    there = set(words)
    regular = links(bsn(a, of.place_bits, of.bits))
    expected = {(u, v) for u, v in regular if u in there and v in there}
    return compare({(words[u], words[v]) for u, v in links(literal(topology))}, expected)


@claim("GBSN-S2-losses", relation="exists", grid=once("GBSN(2|4,2,4,4), a = 1"))
def losses() -> Measured:
    """Return whether one network shows each of the losses."""
    topology = name(2, (4, 2, 4, 4), (1,) * 4)
    words, wiring = addresses(topology), ports(topology)
    facts = {
        "links lost": len(links(topology)) < len(links("bsn:1,2,4")),
        "gaps": max(words) >= len(words),
        "shift lost": int((wiring.shift < 0).sum()) > int((ports("bsn:1,2,4").shift < 0).sum()),
        "partial link lost": int(partial_links(topology).min()) < 2,
    }
    return Measured(all(facts.values()), facts)


address_bits = claim(
    "GBSN-S2-address-bits",
    claimed=lambda topology: (
        ceil_lg(len(blocks(topology).m)) + max(map(ceil_lg, blocks(topology).m))
    ),
    grid=F,
    measured=lambda topology: max(addresses(topology)).bit_length(),
)

completion_is_silent = claim(
    "GBSN-S2-completion-silent",
    place=BEYOND,
    relation="all",
    grid=few(lambda of: not of.needs_completion, " (N <= 12, and drawn), no block needy"),
    measured=lambda topology: compare(links(topology), set(links(literal(topology)))),
)
