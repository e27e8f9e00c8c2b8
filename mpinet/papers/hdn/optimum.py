"""Comparison of Theorem 3's and of broadcast(SN)'s steps with the optimum."""

from __future__ import annotations

from mpinet.claims import points
from mpinet.papers.beaten import beaten
from mpinet.papers.hdn.broadcasts import PRODUCTS, sum_of_times, theorem_3
from mpinet.papers.hdn.grids import FIG11, listed, net, of_r1, pairs_of, size_of

MOST = 64
"""Largest number of nodes of a network whose optimum is found."""


def leaves_odd_ring(topology: str) -> bool:
    """Return whether SN^1 is the whole base, or lacks a ring with an odd number of nodes."""
    found = net(topology)
    outside = found.parts(tuple(set(found.all) - set(found.members[0])))
    return not outside or any(kind == "C" and size % 2 == 1 for kind, size in outside)


def has_two_odd_rings(topology: str) -> bool:
    """Return whether two factors are rings with an odd number of nodes."""
    return sum(kind == "C" and size % 2 == 1 for kind, size in net(topology).base) > 1


BESIDE_OPTIMUM = (
    beaten(
        "HDN-B-broadcast",
        beats="HDN-Th3-bound",
        steps="Theorem 3 states",
        stated=theorem_3,
        grid=points(
            f"R1 with N <= {MOST}, from the slowest source; the network of Figure 11",
            lambda: listed([*of_r1(lambda found: size_of(found.name) <= MOST), FIG11]),
        ).quick(lambda topology: size_of(topology) <= 32 or topology == FIG11),
        cost=lambda topology: min(pairs_of(topology), 10.0**5),
        note="For the network of Figure 11 only a schedule is known, which beats the stated steps; "
        "no search was made.",
        large=frozenset([FIG11]),
        fails_where=("SN^1 = B, or an odd ring is outside SN^1", leaves_odd_ring),
    ),
    beaten(
        "HDN-B-product",
        beats="HDN-S5-T-sum",
        steps="the sum of the factors' times in a product",
        stated=sum_of_times,
        grid=PRODUCTS,
        cost=pairs_of,
        fails_where=("two factors are odd rings", has_two_odd_rings),
    ),
)
