"""Any number of nodes (section 8), by removing nodes of degree 2 from the next larger G(m,N)."""

from __future__ import annotations

from mpinet.claims import Measured, PointGrid, once, over, section
from mpinet.measure.wiring import degrees
from mpinet.networks import open as open_topology
from mpinet.papers.gmn import floods
from mpinet.papers.gmn.structure import exists
from mpinet.papers.measured import diameter

LAST = 20000
"""Largest tested N."""


def numbers_below(bound: int) -> PointGrid:
    """Return the grid of all existing N from 8 on; GMN-C-exists covers the others."""
    return over(
        f"N in 8..{bound - 1} that exist",
        # For 17 nodes no G(m,N) has enough nodes of degree 2 to remove (GMN-C-exists counts such
        # N).
        N=[N for N in range(8, bound) if N != 17],
    ).quick(lambda N: N <= 150)


claim_8 = section(place="8", relation="<=")


@claim_8("GMN-C-exists", claimed=0.001, grid=once("N in 1..20000"), cost=lambda: 10**5)
def impossible() -> Measured:
    """Return the fraction of N without a network, with these N; every N is tried."""
    lacking = [N for N in range(1, LAST + 1) if not exists(f"gmnany:{N}")]
    return Measured(len(lacking) / LAST, {"impossible N": lacking})


@claim_8("GMN-C-diam", claimed=0, grid=numbers_below(420), cost=lambda N: 10 * N)
def excess(N: int) -> Measured:
    """Return the difference of the diameters of the two networks, by floods."""
    whole = next_loops(N)
    found = diameter(f"gmnany:{N}")
    of_whole = floods.diameter(whole).value
    there = {"diameter": found.value, "of": whole, "its diameter": of_whole}
    return Measured(found.value - of_whole, {**there, **found.where})


def next_loops(N: int) -> str:
    """Return the topology string of the next G(m,N'), N' >= N."""
    sizes = (f"gmn:{size}" for size in range(N, 2 * N + 9))
    return open_topology(next(topology for topology in sizes if exists(topology))).name


largest_degree = claim_8(
    "GMN-C-maxdeg",
    claimed=4,
    grid=numbers_below(420),
    measured=lambda N: max(degrees(f"gmnany:{N}")),
)
