"""What the points have in common at which claims fail; where nothing is named, nothing is known."""

from __future__ import annotations

from collections.abc import Callable

from mpinet.claims.paper import Failing
from mpinet.papers.grids import of


def beyond(n: int) -> tuple[str, Callable[..., bool]]:
    """More dimensions than this, of a cube or of STH(m,n)."""
    return f"n > {n}", of(lambda *parameters: parameters[-1] > n)


SEVERAL_LEVELS = ("i > 1", of(lambda i: i > 1))
NOT_FOUR = ("m is not 4", of(lambda m, n: m != 4))

FAILING: Failing = {
    "STH-L3-tq-diameter-tq": beyond(4),
    "STH-L3-sth-diameter-tq": beyond(4),
    "STH-L4-tq-transitive-tq": beyond(3),
    "STH-L4-tq-transitive-cq": beyond(4),
    "STH-L4-tq-transitive-hkv": beyond(3),
    "STH-L4-tq-cayley": beyond(3),
    "STH-L4-sth-transitive-tq": beyond(3),
    "STH-L4-sth-transitive-cq": beyond(4),
    "STH-L4-sth-transitive-hkv": beyond(3),
    "STH-L6-tq-average-*": beyond(3),
    "STH-L7-tq-fault-diameter-cq": (
        "n < 6, where it is n, or n > 7, where it is less than n-1",
        of(lambda n: n < 6 or n > 7),
    ),
    "STH-L7-tq-fault-diameter-hkv": ("n < 7, where it is n", of(lambda n: n < 7)),
    "STH-T4-nodes-hx": SEVERAL_LEVELS,
    "STH-T4-diameter-hx": SEVERAL_LEVELS,
    "STH-T4-cost-hx": SEVERAL_LEVELS,
    "STH-T4-diameter-sth-tq": beyond(4),
    "STH-T4-cost-sth-tq": beyond(4),
    "STH-T4-cf-sth-*": beyond(2),
    "STH-T4-bw-dlh": NOT_FOUR,
    "STH-T6-bw-dlh": NOT_FOUR,
    "STH-S-density-lowest": ("m > 2", of(lambda m, n: m > 2)),
}
"""By id, or pattern of ids: in words, and as a predicate of a point."""
