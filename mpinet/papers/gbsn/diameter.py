"""Network diameter (section III.B, Proposition 3.1)."""

from __future__ import annotations

from functools import partial
from math import log2

from mpinet import measure
from mpinet.claims import BEYOND, Measured, OutOfReach, claim, over, points, section
from mpinet.papers.gbsn.construction import leans_on_completion
from mpinet.papers.gbsn.grids import (
    UP_TO_8,
    BlockParameters,
    blocks,
    bsn,
    few,
    guest_of,
    literal,
    powers,
    regular,
    words,
)
from mpinet.papers.gbsn.measured import reached
from mpinet.papers.measured import diameter

LARGEST_BITS = 16
"""Largest number n of bits of a BSN that is flooded from all its 2^n nodes."""


def has_distinct_blocks(of: BlockParameters) -> bool:
    """Return whether there are sections to sum over, and at least as many different blocks."""
    return len(of.m) > 1 and 2 <= of.sections <= len(of.m) + 1


PROPOSITION_3_1 = few(has_distinct_blocks, " (N <= 12, and drawn), k >= 2, 2 <= ceil(n/b) <= k + 1")
"""Networks for which the sums of Proposition 3.1 are defined."""


def lower_sum(topology: str) -> float:
    """Return the sum of b / lg m'_i over the ceil(n/b) - 1 smallest blocks, the largest sum."""
    of = blocks(topology)
    # The bound holds for any blocks on the route, and is largest for the smallest blocks.
    return sum(of.b / log2(size) for size in sorted(of.m)[: of.sections - 1])


def upper_sum(topology: str) -> int:
    """Return the sum of b over ceil(n/b) - 1 blocks."""
    of = blocks(topology)
    return of.b * (of.sections - 1)


bound = partial(
    claim,
    place="Prop. 3.1",
    grid=PROPOSITION_3_1,
    measured=diameter,
    cause="diameter-bounds",
)
"""Function that makes a row on the bounds of the diameter."""

BOUNDS = (
    bound(
        "GBSN-P31-lower-product",
        statement="the diameter is at least ceil(n/b) times the sum of b/lg m' (product reading)",
        relation=">=",
        claimed=lambda topology: lower_sum(topology) * blocks(topology).sections,
    ),
    bound(
        "GBSN-P31-upper-product",
        statement="the diameter is at most ceil(n/b) times the sum of b (product reading)",
        relation="<=",
        claimed=lambda topology: upper_sum(topology) * blocks(topology).sections,
        fails_where=("n <= 2b", lambda topology: blocks(topology).sections == 2),
    ),
    bound(
        "GBSN-P31-lower-sum",
        statement="the diameter is at least ceil(n/b) plus the sum of b/lg m' (sum reading)",
        relation=">=",
        claimed=lambda topology: lower_sum(topology) + blocks(topology).sections,
    ),
    bound(
        "GBSN-P31-upper-sum",
        statement="the diameter is at most ceil(n/b) plus the sum of b (sum reading)",
        relation="<=",
        claimed=lambda topology: upper_sum(topology) + blocks(topology).sections,
    ),
)


def between_the_sums(topology: str) -> tuple[int, ...]:
    """Return all diameters between the bounds of Proposition 3.1, in its sum reading.

    The sum reading adds ceil(n/b) to a sum over sections; the other reading multiplies. The
    network is a BSN(b,b) with b | n, for which lg m' = b.
    """
    _, b, n = words(topology)
    sections = n // b
    return tuple(range(sections - 1 + sections, b * (sections - 1) + sections + 1))


diameter_between_sums = claim(
    "GBSN-P31-sum-bsnbb",
    relation="in",
    claimed=between_the_sums,
    grid=regular("b <= 3, b | n <= 9", 9, lambda of: of.a == of.b <= 3 and of.n % of.b == 0),
    measured=diameter,
)


def diameter_against_bsn(topology: str, a: int) -> Measured:
    """Return the ratio of the two networks' diameters, by floods from all nodes."""
    guest = guest_of(topology, a)
    own, of_guest = diameter(topology), diameter(guest).value
    there = {"diameter": own.value, "of": guest, "its diameter": of_guest}
    return Measured(own.value / of_guest, there | own.where)


HOSTS = powers(
    "N = 4, 8, 16, all b, a | b, a <= lg max m, a_i all 1 or maximal", 1, maximal_only=False
)


def hosts_of_step_2() -> list[dict[str, object]]:
    """Return the points of `HOSTS` that fulfil step 2, without our links, if still connected."""
    return [
        {"topology": literal(topology), "a": a}
        for topology, a in (point.values() for point in HOSTS.points("full"))
        if blocks(topology).fulfils_step_2
        if not blocks(topology).needs_completion or reached(literal(topology)) is True
    ]


factor_b = partial(
    claim,
    place="III.B",
    statement="the diameter of a GBSN is at most b times the diameter of the equally large "
    "BSN(a,b)",
    relation="<=",
    claimed=lambda topology, a: blocks(topology).b,
    measured=diameter_against_bsn,
)

FACTOR_B = (
    factor_b(
        "GBSN-S3-diameter-factor-b",
        grid=points(f"{HOSTS.text}; step 2 fulfilled, literal, connected", hosts_of_step_2),
        reading="step 2 requires two partial links of every node.",
    ),
    factor_b(
        "GBSN-S3-diameter-factor-b-advice",
        grid=HOSTS,
        reading="step 2 only advises two partial links, which the networks of Fig. 1(b) lack.",
        degenerate=leans_on_completion,
        cause="factor-b",
    ),
)


@claim(
    "GBSN-S3-bsnbb-vs-hypercube",
    relation="<",
    claimed=lambda n: n,
    grid=over(n=range(9, 65)).quick(lambda n: n <= 12),
    cost=lambda n: 4.0 ** (n - 9) if n <= LARGEST_BITS else 1,
)
def diameter_against_hypercube(n: int) -> int:
    """Return the diameter of BSN(b,b), by floods from all nodes."""
    # The claim covers all n > 8. Beyond the limit it stays open, because no formula replaces a
    # measurement.
    if n > LARGEST_BITS:
        raise OutOfReach(f"BSN(b,b) on {n} bits has 2^{n} nodes: too many to flood from all")
    b = max(b for b in range(1, n) if 2**b + 1 <= n)
    return measure.diameter(bsn(b, b, n))


def stated_diameter(topology: str) -> int:
    """Return the printed diameter of BSN(a,b): ceil(n/a) + ceil(n/b) - 1."""
    a, b, n = words(topology)
    return -(-n // a) + -(-n // b) - 1


claim_beyond = section(place=BEYOND, claimed=stated_diameter)

DIAMETERS_OF_BSN = (
    claim_beyond("GBSN-X-diameter-bsn", grid=UP_TO_8, measured=diameter),
    claim_beyond(
        "GBSN-X-diameter-bsn-large",
        grid=points(
            "n = 10, 11, 12",
            [
                {"topology": bsn(*of)}
                for of in ((1, 2, 10), (5, 5, 10), (2, 4, 11), (3, 3, 11), (1, 3, 12), (4, 4, 12))
            ],
        ),
        cost=lambda topology: 4.0 ** (words(topology).n - 9),
        measured=measure.diameter,
    ),
)
