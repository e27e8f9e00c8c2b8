"""Plots of the diameter over N, with other networks, for the ledger."""

from __future__ import annotations

from mpinet.claims.paper import ClaimCurve, Plot
from mpinet.papers.gmn.comparison import SECTORS
from mpinet.papers.gmn.grids import largest_size, parameters


def is_largest(topology: str) -> bool:
    """Return whether G(m,N) is the largest for its m, like the networks of table 1."""
    m, N = parameters(topology)
    return largest_size(m) == N


def _of_table(ending: str) -> dict[str, float]:
    """Return the claims of a column of table 1, with their numbers of nodes."""
    return {f"GMN-TB1-{N}-{ending}": N for N in SECTORS}


CHORDAL, DOUBLE = "chordal ring: diameter", "double loop: diameter"

PLOTS = (
    Plot(
        "Diameter: over the number of nodes, the largest G(m,N) for each m, its bound, and the "
        "networks of table 1",
        "diameter",
        (
            ClaimCurve("G(m,N)", "GMN-T1-D", of=is_largest),
            ClaimCurve("bound of theorem 1, m + B2", "GMN-T1-D", "claimed", of=is_largest),
            ClaimCurve("best chordal ring", key=CHORDAL, at=_of_table("ch-diam")),
            ClaimCurve("best double loop", key=DOUBLE, at=_of_table("dl-diam")),
            ClaimCurve("chordal ring, printed", "", "claimed", CHORDAL, _of_table("ch-diam")),
            ClaimCurve("double loop, printed", "", "claimed", DOUBLE, _of_table("dl-diam")),
        ),
    ),
)
