"""Plots of average distances and of formulas (1), (3) and (4) for the ledger."""

from __future__ import annotations

from mpinet.claims.paper import ClaimCurve, Plot
from mpinet.papers.gbsn.grids import blocks, words


def _bsn(a: int, b: int) -> ClaimCurve:
    """Return the curve of measured means of BSN(a,b) over n."""
    return ClaimCurve(f"BSN({a},{b})", "GBSN-E1-graph", of=lambda name: words(name)[:2] == (a, b))


def _formula_1(a: int, b: int) -> ClaimCurve:
    """Return the curve of formula (1) for BSN(a,b) over n."""
    return ClaimCurve(
        f"formula (1), BSN({a},{b})",
        "GBSN-E1-graph",
        "claimed",
        of=lambda name: words(name)[:2] == (a, b),
    )


def is_binary(topology: str) -> bool:
    """Return whether a GBSN has b = 1 and blocks of two words."""
    of = blocks(topology)
    return of.b == 1 and set(of.m) == {2}


PLOTS = (
    Plot(
        "Average distance: of BSN(a,b), measured, and by formula (1)",
        "mean over all ordered pairs",
        tuple(make(a, b) for make in (_bsn, _formula_1) for a, b in ((1, 1), (1, 2), (2, 2))),
    ),
    Plot(
        "Average distance: of GBSNs with b = 1 and m_i = 2, between formulas (3) and (4)",
        "mean over all ordered pairs",
        (
            ClaimCurve("GBSN", "GBSN-E3-lower-graph", of=is_binary),
            ClaimCurve("formula (3), lower bound", "GBSN-E3-lower-graph", "claimed", of=is_binary),
            ClaimCurve("formula (4), upper bound", "GBSN-E4-upper-graph", "claimed", of=is_binary),
        ),
    ),
)
