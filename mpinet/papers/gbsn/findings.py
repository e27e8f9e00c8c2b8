"""The main findings on the paper for the field, each with a command that shows it."""

from __future__ import annotations

from mpinet.claims.paper import MainFinding

FINDINGS = (
    MainFinding(
        number=10,
        title="The construction can be disconnected, and the lower bound (3) on the mean distance, "
        "as it was reconstructed, exceeds the mean distance of every network that was measured.",
        text="Taken word for word, from node 0 node 2 is not reached. The mean distance is 1.25, "
        "at least 2.5 by the formula, whose exponents the scan that was read has lost; it fails at "
        "all 413 measured points.",
        command="mpinet verify GBSN-S2-literal-connected --at topology=gbsn:2,m=2-5,a=1 && "
        "mpinet verify GBSN-E3-lower-graph",
        prints=(
            "source=0",
            "reached=2",
            "measured 1.25, claimed >= 2.5",
            "every measured point (413)",
        ),
        claims=("GBSN-S2-literal-connected", "GBSN-E3-lower-graph"),
    ),
)
