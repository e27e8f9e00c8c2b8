"""Networks G(m,N) at which the claims are tested, by the paper's condition (d) on sizes."""

from __future__ import annotations

from collections.abc import Iterator

from mpinet.claims import PointGrid, points

WIDEST = 18
"""Largest m of the range ALL (docs/papers/gmn, 12)."""

WIDEST_MADE = 107
"""Largest m for which the largest network has 64-bit port numbers."""


def smallest_above(m: int) -> int:
    """Return the lower limit (m-1) 2^((m-1)//2 + 1) of the sizes N of G(m,N)."""
    return (m - 1) * 2 ** ((m - 1) // 2 + 1)


def largest_size(m: int) -> int:
    """Return the largest size m 2^(m//2 + 1); the printed exponent m//2 - 1 is a misprint."""
    # With the printed exponent the largest size of an m would be below its smallest (GMN-S-unique).
    return m * 2 ** (m // 2 + 1)


def sizes(m: int) -> Iterator[int]:
    """Yield the multiples of 2m within the range of m."""
    first = smallest_above(m) // (2 * m) + 1
    return (2 * m * k for k in range(first, largest_size(m) // (2 * m) + 1))


def name(m: int, N: int) -> str:
    """Return the topology string of G(m,N)."""
    return f"gmn:{m},{N}"


def parameters(topology: str) -> tuple[int, int]:
    """Return the m and N of a topology string."""
    m, _, N = topology.removeprefix("gmn:").partition(",")
    return int(m), int(N)


def size_of(topology: str) -> int:
    """Return the N of a topology string, as the cost of a claim about every node."""
    return parameters(topology)[1]


def sectors_of(topology: str) -> int:
    """Return the number S = N/m of sectors."""
    m, N = parameters(topology)
    return N // m


def jumps_half(topology: str) -> bool:
    """Return whether the largest hop jumps N/2, as the diagonal does."""
    m, N = parameters(topology)
    return m % 2 == 0 and m * 2 ** (m // 2) == N


HALF_ROUND = ("the largest hop jumps N/2, as the diagonal does", jumps_half)
"""Condition under which two links coincide (`Claim.fails_where`)."""


def listed(first: int, last: int, most: int = 2**62) -> list[dict[str, str]]:
    """Return all G(m,N) with m in first..last and N <= most as points, by size."""
    return [{"topology": name(m, N)} for m in range(first, last + 1) for N in sizes(m) if most >= N]


def is_small(topology: str) -> bool:
    """Return whether the quick budget has a network: all up to m = 11, the largest of some m."""
    m, N = parameters(topology)
    return m <= 11 or (largest_size(m) == N and m <= 16)


def holds_few(topology: str) -> bool:
    """Return whether the quick budget includes all pairs of a network."""
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
"""Ranges of docs/papers/gmn, 12."""


def each_m(last: int, quick: int) -> PointGrid:
    """Return the grid of m = 3..last; the quick budget ends at `quick`."""
    listed = points(f"m in 3..{last}", lambda: [{"m": m} for m in range(3, last + 1)])
    return listed.quick(lambda m: m <= quick)


def largest_of_each(first: int, last: int) -> PointGrid:
    """Return the grid of the largest G(m,N) of each m."""
    return points(
        f"m in {first}..{last}, the largest N",
        lambda: [{"topology": name(m, largest_size(m))} for m in range(first, last + 1)],
    )
