"""Network size and degree (section III.A, Table I)."""

from __future__ import annotations

from mpinet.claims import BEYOND, Corrected, Measured, claim
from mpinet.networks.shortest import neighbor_table
from mpinet.papers.gbsn.definition import subsection_widths
from mpinet.papers.gbsn.grids import SHIFTED, F, blocks, ceil_lg, few, regular, words
from mpinet.papers.gbsn.measured import degree_of_each, least, most, network
from mpinet.papers.measured import informed

size = claim(
    "GBSN-S3-size", claimed=lambda topology: sum(blocks(topology).m), grid=F, measured=informed
)


def stated_largest(topology: str) -> float:
    """Return the largest degree of the GBSN as printed."""
    of = blocks(topology)
    widths = map(ceil_lg, of.m)
    # Divided exactly, as printed: rounding would hide that b need not be a multiple of the width.
    return max((2**width - 1) * of.b / width + 2 for width in widths)


def partial_ports_and_two(topology: str) -> int:
    """Return the largest number of patterns that a node can set in one hop, plus two shifts."""
    of = blocks(topology)
    widths = [subsection_widths(ceil_lg(size), a) for size, a in zip(of.m, of.a, strict=True)]
    return max(sum(2**width - 1 for width in of_block) for of_block in widths) + 2


def largest_degree(topology: str) -> Measured:
    """Return the largest number of different neighbours, with the first node that has it."""
    return most(degree_of_each(topology))


def stated_degree(topology: str) -> int:
    """Return the degree of BSN(a,b) as printed."""
    a, b, _ = words(topology)
    return (2**a - 1) * b // a + 2


DEGREES = (
    claim(
        "GBSN-S3-degree-bsn",
        claimed=stated_degree,
        grid=SHIFTED,
        reading="a degree counts different neighbours.",
        measured=largest_degree,
        fails_where=("n = 2b", lambda topology: words(topology).n == 2 * words(topology).b),
        corrected=Corrected("GBSN-C-degree-bsn", relation="<="),
    ),
    claim(
        "GBSN-S3-degree-bsn-links",
        claimed=stated_degree,
        grid=SHIFTED,
        reading="a degree counts links: both shifts of a node are links of their own, even to one "
        "node.",
        measured=lambda topology: most((neighbor_table(network(topology)) >= 0).sum(axis=1)),
    ),
    claim(
        "GBSN-S3-degree-bsn-generic",
        claimed=stated_degree,
        grid=regular("a | b < n <= 8, n != 2b", 8, lambda of: of.n not in (of.b, 2 * of.b)),
        measured=largest_degree,
    ),
    claim(
        "GBSN-S3-degree-gbsn-max",
        relation="<=",
        claimed=stated_largest,
        grid=F,
        measured=largest_degree,
        fails_where=(
            "some block's nodes have more partial ports, with two for shifts, than the bound",
            lambda topology: partial_ports_and_two(topology) > stated_largest(topology),
        ),
    ),
    claim(
        "GBSN-S3-degree-gbsn-max-bw",
        relation="<=",
        claimed=stated_largest,
        grid=few(lambda of: of.b == of.place_bits, " (N <= 12, and drawn), b = w"),
        measured=largest_degree,
    ),
    claim(
        "GBSN-S3-degree-bound-spec",
        place=BEYOND,
        corrects="GBSN-S3-degree-gbsn-max",
        relation="<=",
        claimed=partial_ports_and_two,
        grid=F,
        measured=largest_degree,
    ),
    claim(
        "GBSN-S3-degree-gbsn-min",
        relation=">=",
        claimed=2,
        grid=few(lambda of: of.fulfils_step_2, " (N <= 12, and drawn), step 2 fulfilled"),
        measured=lambda topology: least(degree_of_each(topology)),
    ),
)
