"""Plot of the cost ratio of table 3 over the number of nodes, for the ledger."""

from __future__ import annotations

from mpinet.claims.paper import ClaimCurve, Plot

HDNS = {
    "HDN-Tab3-1-3": 600,
    "HDN-Tab3-1-2": 900,
    "HDN-Tab3-1-1": 1800,
    "HDN-Tab3-2-5-2": 129600,
    "HDN-Tab3-2-2-5": 324000,
    "HDN-Tab3-2-2-2": 810000,
}
CUBES = {"HDN-Tab3-cube10": 1024, "HDN-Tab3-cube19": 524288}
TORI = {"HDN-Tab3-tori10": 1000, "HDN-Tab3-tori80": 512000}
"""Rows of table 3, with the printed numbers of nodes."""

SERIES = {"HDN over the 2x3x5 torus": HDNS, "hypercube": CUBES, "3D torus": TORI}

PLOTS = (
    Plot(
        "Cost ratio: table 3 over the number of nodes, with the paper's degrees",
        "cost ratio, w = 1/2",
        (
            *(ClaimCurve(name, key="CR", at=rows) for name, rows in SERIES.items()),
            *(
                ClaimCurve(f"{name}, printed", "", "claimed", "CR", rows)
                for name, rows in SERIES.items()
            ),
        ),
    ),
)
