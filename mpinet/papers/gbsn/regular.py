"""The BSN: links, size and connection methods (section II)."""

from __future__ import annotations

import numpy as np

from mpinet.claims import Corrected, Measured, over, section
from mpinet.papers.gbsn.definition import Link, bsn_links, link, shift_links
from mpinet.papers.gbsn.grids import SHIFTED, UP_TO_8, bsn, words
from mpinet.papers.gbsn.measured import compare, least, links, most
from mpinet.papers.gbsn.measured import shift_links as shift_links_of
from mpinet.papers.measured import distances, informed

claim_ii = section(place="II", grid=UP_TO_8)

DEFINITION = (
    claim_ii(
        "GBSN-S2-bsn-links",
        relation="all",
        measured=lambda topology: compare(links(topology), bsn_links(*words(topology))),
    ),
    claim_ii(
        "GBSN-S2-bsn-size", claimed=lambda topology: 2 ** words(topology).n, measured=informed
    ),
)


@claim_ii("GBSN-S2-partial-one-step", relation="all")
def patterns_in_one_step(topology: str) -> Measured | bool:
    """Return whether all words that differ in one subsection are at distance 1."""
    a, b, n = words(topology)
    nodes = np.arange(2**n)[:, np.newaxis]
    changed = np.array([d << low for low in range(0, b, a) for d in range(1, 2**a)])
    far = np.argwhere(distances(topology)[nodes, nodes ^ changed] != 1)
    if not len(far):
        return True
    source, which = far[0].tolist()
    return Measured(False, {"source": source, "target": source ^ int(changed[which])})


@claim_ii(
    "GBSN-S2-special-cases",
    relation="all",
    grid=over(
        "1 <= b <= n <= 7",
        n=range(1, 8),
        b=lambda n: range(1, n + 1),
        connection=("sequential", "concurrent"),
    ),
)
def special_cases(n: int, b: int, connection: str) -> Measured | bool:
    """Return whether the links are those of the connection method."""
    inside = concurrent_links(b, n) if connection == "concurrent" else sequential_links(b, n)
    between = {link(u, v) for u, v in shift_links(b, n)}
    return compare(links(bsn(b if connection == "concurrent" else 1, b, n)), inside | between)


def concurrent_links(b: int, n: int) -> set[Link]:
    """Return the links between all words with the same block."""
    blocks = range(0, 2**n, 2**b)
    return {(first + u, first + v) for first in blocks for v in range(2**b) for u in range(v)}


def sequential_links(b: int, n: int) -> set[Link]:
    """Return the links between words that differ in one of the rightmost b bits."""
    return {(u, u + 2**i) for u in range(2**n) for i in range(b) if not u & 2**i}


@claim_ii(
    "GBSN-S2-two-shift-links",
    claimed=2,
    grid=SHIFTED,
    reading="a shift that leads to the node itself is no link, and two shifts to one node are one "
    "link. The word of zeros has no shift link, even if both shifts count.",
    corrected=Corrected(
        "GBSN-C-two-shift-links",
        relation="<=",
        measured=lambda topology: most(shift_links_of(topology)),
    ),
)
def shift_links_of_nodes(topology: str) -> Measured:
    """Return the smallest number of shift links of a node, or any number above two."""
    counts = shift_links_of(topology)
    # The claim is an equality for all nodes, so a count above two refutes it like a count below.
    return least(counts) if counts.max() <= 2 else Measured(int(counts.max()))
