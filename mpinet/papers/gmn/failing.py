"""What the points have in common at which claims fail; where nothing is named, nothing is known."""

from __future__ import annotations

from mpinet.claims.paper import Failing
from mpinet.papers.gmn.grids import jumps_half, largest_size, parameters, sectors_of, size_of


def has_odd_half(topology: str) -> bool:
    """Whether it is the largest G(m,N) of an m for which m//2 is odd."""
    m, N = parameters(topology)
    return largest_size(m) == N and m // 2 % 2 == 1


def bypass_jumps_half(topology: str, hop: int) -> bool:
    """Whether the hop of type r+2, twice of which the bypass takes, jumps N/2."""
    return 2 * 2 ** (hop + 2) == sectors_of(topology)


def has_jumps_beyond(topology: str) -> bool:
    """Whether the circulant has a jump that neither a hop nor the way round makes."""
    m, sectors = parameters(topology)[0], sectors_of(topology)
    return sectors > 2 ** (m // 2) and sectors.bit_count() > 2


HALF_ROUND = ("the largest hop jumps N/2, as the diagonal does", jumps_half)

FAILING: Failing = {
    "GMN-S-gap": (
        "N is the largest size of its m, and N mod 2(m+1) is neither 0 nor 2",
        lambda N, m, next_m: m != next_m and N % (2 * (m + 1)) not in (0, 2),
    ),
    "GMN-S-avgdeg-even": HALF_ROUND,
    "GMN-S-super-rc": (
        "N/m is larger than 2^floor(m/2), and no power of 2 nor the sum of two",
        has_jumps_beyond,
    ),
    "GMN-S-super-eq": HALF_ROUND,
    "GMN-S-rcdeg": ("n > 2", lambda n: n > 2),
    "GMN-D-diag-printed": ("N = m 2^(floor(m/2) + 1) and floor(m/2) is odd", has_odd_half),
    "GMN-R-len": (
        "m is neither 10 nor 11",
        lambda topology: parameters(topology)[0] not in (10, 11),
    ),
    "GMN-R-hoptypes": ("m is odd", lambda topology: parameters(topology)[0] % 2 == 1),
    "GMN-FT-case2x2": ("the hop of type r+2 jumps N/2", bypass_jumps_half),
    "GMN-FT-avail": (
        "r < 2, or r is one of the two highest types",
        lambda topology, hop: not 2 <= hop < parameters(topology)[0] // 2 - 2,
    ),
    "GMN-A-q": HALF_ROUND,
    "GMN-A-print-bit": ("m > 4", lambda topology: parameters(topology)[0] > 4),
    "GMN-I-superior": ("N <= 208", lambda topology: size_of(topology) <= 208),
}
"""By id: in words, and as a predicate of a point."""
