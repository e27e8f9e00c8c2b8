"""Plot of the diameters of the lens, the snowflake and the star over N, for the ledger."""

from __future__ import annotations

from mpinet.claims.paper import ClaimCurve, Plot

LENS = {
    "completed lens": ("LENS-S8-diameter-completed", "clens:3,"),
    "lens, p = q": ("LENS-S8-diameter-lens", "lens:3,3,"),
}
"""The paper's own networks with three processors per bus: claim, and start of their names."""

OTHERS = {
    "dense snowflake": ("LENS-S1-snowflake-diameter", "snowflake:3,"),
    "star": ("LENS-S2-star-diameter-log", "busstar:3,"),
}
"""Compared networks with three processors per bus."""


def _curve(name: str, claim: str, begins: str, value: str = "measured") -> ClaimCurve:
    """Return the curve of a claim's networks whose names start with `begins`."""
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
