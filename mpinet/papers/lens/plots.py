"""Diameters of the lens, the snowflake and the star over N, as the ledger draws them."""

from __future__ import annotations

from mpinet.claims.paper import ClaimCurve, Plot

LENS = {
    "completed lens": ("LENS-S8-diameter-completed", "clens:3,"),
    "lens, p = q": ("LENS-S8-diameter-lens", "lens:3,3,"),
}
"""Networks of the paper with three processors on a bus: claim, and how their names begin."""

OTHERS = {
    "dense snowflake": ("LENS-S1-snowflake-diameter", "snowflake:3,"),
    "star": ("LENS-S2-star-diameter-log", "busstar:3,"),
}
"""Networks with three processors on a bus that the paper compares with."""


def _curve(name: str, claim: str, begins: str, value: str = "measured") -> ClaimCurve:
    """The networks of a claim whose names begin so."""
    return ClaimCurve(name, claim, value, of=lambda topology: topology.startswith(begins))


PLOTS = (
    Plot(
        "Diameter: over the number of processors, three processors on a bus",
        "diameter",
        (
            *(_curve(name, *of) for name, of in (LENS | OTHERS).items()),
            _curve("completed lens, stated", *LENS["completed lens"], "claimed"),
            _curve("lens, stated", *LENS["lens, p = q"], "claimed"),
        ),
    ),
)
