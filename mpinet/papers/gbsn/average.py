"""Average distance (section III.C, formulas (1) to (4) as docs/papers/gbsn, 7, reconstructs them).

Means cover all ordered pairs, including each node with itself, as in the formulas.
"""

from __future__ import annotations

from fractions import Fraction

from mpinet.claims import section
from mpinet.papers.gbsn.grids import SEVERAL, SHIFTED, WHOLE_SECTIONS, blocks, ceil_lg, words
from mpinet.papers.gbsn.measured import mean, route_lengths
from mpinet.papers.measured import distances

CLOSE = 0.05
"""Relative difference up to which a formula counts as an approximation (our choice)."""


def crossings(b: int, n: int) -> Fraction:
    """Return the bracket of formulas (1) to (4): n/b - (1/2^b) / (1 - 1/2^b)."""
    # Fractions are exact, because the comparison with lock-step routing is an equality.
    part = Fraction(1, 2**b)
    return Fraction(n, b) - part / (1 - part)


def correction(b: int, n: int) -> Fraction:
    """Return the term that formulas (1) to (4) subtract: 2 (1 - 1/2^b) / 2^(n-b)."""
    return 2 * (1 - Fraction(1, 2**b)) / 2 ** (n - b)


def formula_1(a: int, b: int, n: int) -> Fraction:
    """Return the average distance of BSN(a,b), as reconstructed."""
    return (2 + Fraction(b, a)) * crossings(b, n) - correction(b, n)


def formula_3(b: int, n: int) -> Fraction:
    """Return the lower bound on the average distance of the GBSN, as reconstructed."""
    return 3 * crossings(b, n) - correction(b, n)


def formula_4(alpha: int, b: int, n: int) -> Fraction:
    """Return the upper bound on the GBSN's average distance; alpha is the least ceil(lg m_i)."""
    return alpha * (2 + b) * crossings(b, n) - correction(b, n)


RECONSTRUCTED = (
    "Reconstruction: the scan has lost the exponents of the formula, which is taken as {}. The "
    "count of GBSN-E1-lockstep makes it very likely."
)

NOTES = {
    1: RECONSTRUCTED.format("(2 + b/a)(n/b - 2^-b/(1 - 2^-b)) - 2(1 - 2^-b)/2^(n-b)"),
    3: RECONSTRUCTED.format("3 (n/b - 2^-b/(1 - 2^-b)) - 2(1 - 2^-b)/2^(n-b)"),
    4: RECONSTRUCTED.format(
        "alpha (2 + b)(n/b - 2^-b/(1 - 2^-b)) - 2(1 - 2^-b)/2^(n-b), alpha the least ceil(lg m_i)"
    ),
}
"""Readings of formulas (1), (3) and (4), in words."""


def mean_distance(topology: str) -> float:
    """Return the average distance of a network, by floods from all nodes."""
    return mean(distances(topology))


def average_of_bsn(topology: str) -> float:
    """Return the average distance by formula (1)."""
    return float(formula_1(*words(topology)))


def is_barely_shifted(topology: str) -> bool:
    """Return whether a network is BSN(b,b) on b + 1 bits, b >= 5."""
    a, b, n = words(topology)
    return a == b == n - 1 >= 5


claim_iii_c_1 = section(place="III.C, (1)", grid=SHIFTED, note=NOTES[1], claimed=average_of_bsn)

FORMULA_1 = (
    claim_iii_c_1("GBSN-E1-graph", relation="~", tolerance=CLOSE, measured=mean_distance),
    claim_iii_c_1(
        "GBSN-E1-twsr",
        relation="~",
        tolerance=CLOSE,
        measured=lambda topology: mean(route_lengths(topology, "twsr")),
        fails_where=(
            "it is none of BSN(b,b) on b + 1 bits, b >= 5",
            lambda topology: not is_barely_shifted(topology),
        ),
    ),
)


def mean_of_lockstep(topology: str) -> str:
    """Return formula (1) plus the term that it drops, as an exact fraction."""
    a, b, n = words(topology)
    return str(formula_1(a, b, n) + (2 + Fraction(b, a)) / (2**n * (2**b - 1)))


@claim_iii_c_1("GBSN-E1-lockstep", measures=False, claimed=mean_of_lockstep, grid=WHOLE_SECTIONS)
def mean_lockstep(topology: str) -> str:
    """Return the exact mean number of lock-step routing's steps from node 0."""
    a, b, n = words(topology)
    steps = 0
    for difference in range(1, 2**n):
        # Sections below the highest one that differs are passed in any case, so they cost steps
        # even if they agree.
        highest = max(t for t in range(n // b) if difference >> t * b & (2**b - 1))
        steps += (2 * a + b) * (highest + 1) if highest else b
    return str(Fraction(steps, a * 2**n))


FORMULA_1_AS_BOUND = (
    claim_iii_c_1("GBSN-E1-upper", corrects="GBSN-E1-graph", relation="<=", measured=mean_distance),
    claim_iii_c_1(
        "GBSN-E1-twsr-upper",
        relation="<=",
        grid=WHOLE_SECTIONS,
        measured=lambda topology: mean(route_lengths(topology, "twsr")),
    ),
)


def lower_bound(topology: str) -> float:
    """Formula (3)."""
    of = blocks(topology)
    return float(formula_3(of.b, of.bits))


def upper_bound(topology: str) -> float:
    """Return the upper bound by formula (4)."""
    of = blocks(topology)
    return float(formula_4(min(map(ceil_lg, of.m)), of.b, of.bits))


claim_iii_c_4 = section(
    place="III.C, (4)", grid=SEVERAL, note=NOTES[4], relation="<=", claimed=upper_bound
)

claim_iii_c_3 = section(
    place="III.C, (3)",
    grid=SEVERAL,
    note=NOTES[3],
    relation=">=",
    cause="average",
    claimed=lower_bound,
)

FORMULAS_3_AND_4 = (
    claim_iii_c_3("GBSN-E3-lower-graph", measured=mean_distance),
    claim_iii_c_3(
        "GBSN-E3-lower-route", measured=lambda topology: mean(route_lengths(topology, "gbsn"))
    ),
    claim_iii_c_4("GBSN-E4-upper-graph", measured=mean_distance),
    claim_iii_c_4(
        "GBSN-E4-upper-route", measured=lambda topology: mean(route_lengths(topology, "gbsn"))
    ),
)
