"""The networks G(m,N) at which the claims are tested, by the paper's condition (d) on sizes."""

from __future__ import annotations

from collections.abc import Iterator

from mpinet.claims import PointGrid, points

WIDEST = 18
"""The largest m of the range ALL (docs/papers/gmn, 12)."""

WIDEST_MADE = 107
"""The largest m whose largest N has ports with 64-bit numbers."""


def smallest_above(m: int) -> int:
    """(m-1) 2^((m-1)//2 + 1): sizes of G(m,N) lie above it."""
    return (m - 1) * 2 ** ((m - 1) // 2 + 1)


def largest_size(m: int) -> int:
    """The size m 2^(m//2 + 1): the printed exponent m//2 - 1 is a misprint."""
    # With the printed exponent the largest size of an m would be below its smallest (GMN-S-unique).
    return m * 2 ** (m // 2 + 1)


def sizes(m: int) -> Iterator[int]:
    """Multiples of 2m within the range of m."""
    first = smallest_above(m) // (2 * m) + 1
    return (2 * m * k for k in range(first, largest_size(m) // (2 * m) + 1))


def name(m: int, N: int) -> str:
    """The topology string."""
    return f"gmn:{m},{N}"


def parameters(topology: str) -> tuple[int, int]:
    """The m and N of a topology string."""
    m, _, N = topology.removeprefix("gmn:").partition(",")
    return int(m), int(N)


def size_of(topology: str) -> int:
    """The N of a topology string: about the time of a claim that looks at every node."""
    return parameters(topology)[1]


def sectors_of(topology: str) -> int:
    """The number S = N/m of its sectors."""
    m, N = parameters(topology)
    return N // m


def jumps_half(topology: str) -> bool:
    """Tell if the largest hop jumps N/2, as the diagonal does."""
    m, N = parameters(topology)
    return m % 2 == 0 and m * 2 ** (m // 2) == N


HALF_ROUND = ("the largest hop jumps N/2, as the diagonal does", jumps_half)
"""Condition under which two links are one (`Claim.fails_where`)."""


def listed(first: int, last: int, most: int = 2**62) -> list[dict[str, str]]:
    """All G(m,N) with m in first..last and N <= most as points, by size."""
    return [{"topology": name(m, N)} for m in range(first, last + 1) for N in sizes(m) if most >= N]


def is_small(topology: str) -> bool:
    """Tell if the quick budget looks at it: all up to m = 11, and the largest of some m."""
    m, N = parameters(topology)
    return m <= 11 or (largest_size(m) == N and m <= 16)


def holds_few(topology: str) -> bool:
    """Tell if the quick budget looks at all its pairs."""
    return size_of(topology) <= 300


ALL = points(f"all m <= {WIDEST}", lambda: listed(3, WIDEST)).quick(is_small)
EVEN = points(
    f"all even m <= {WIDEST}",
    lambda: [p for p in listed(3, WIDEST) if parameters(p["topology"])[0] % 2 == 0],
).quick(is_small)
ODD = points(
    f"all odd m <= {WIDEST}",
    lambda: [p for p in listed(3, WIDEST) if parameters(p["topology"])[0] % 2],
).quick(is_small)
MID = points("all m <= 12", lambda: listed(3, 12)).quick(holds_few)
TO_20 = points("all m <= 20", lambda: listed(3, 20)).quick(is_small)
"""The ranges of docs/papers/gmn, 12."""


def each_m(last: int, quick: int) -> PointGrid:
    """Grid of m = 3..last; the quick budget takes those up to `quick`."""
    listed = points(f"m in 3..{last}", lambda: [{"m": m} for m in range(3, last + 1)])
    return listed.quick(lambda m: m <= quick)


def largest_of_each(first: int, last: int) -> PointGrid:
    """Grid of the largest G(m,N) of every m."""
    return points(
        f"m in {first}..{last}, the largest N",
        lambda: [{"topology": name(m, largest_size(m))} for m in range(first, last + 1)],
    )
