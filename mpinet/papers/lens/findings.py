"""The main findings on the paper for the field, each with a command that shows it."""

from __future__ import annotations

from mpinet.claims.paper import MainFinding

FINDINGS = (
    MainFinding(
        number=9,
        title="The diameter of the completed lens is max(n, floor(3n/2) - 1), one less than "
        "stated for n > 1.",
        text="For clens:3,4 it is 5, not 6.",
        command="mpinet verify LENS-S8-diameter-completed --at topology=clens:3,4",
        prints=("measured 5, claimed = 6", "clens:3,4"),
        claims=("LENS-S8-diameter-completed",),
    ),
)
