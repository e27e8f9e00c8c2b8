"""The main findings on the paper for the field, each with a command that shows it."""

from __future__ import annotations

from mpinet.claims.paper import MainFinding

FINDINGS = (
    MainFinding(
        number=8,
        title="G(m,N) is compared with chordal rings and double loops that are not the best.",
        text="The chordal ring of 3584 nodes with w = 1609 has a diameter of 51; Table "
        "1 says 59 or more for all. A double loop with s = 18 has the diameter 10 of "
        "G(8,208), which is said to be less than that of any.",
        command="mpinet verify GMN-TB1-3584-ch-diam && "
        "mpinet verify GMN-I-superior --at topology=gmn:8,208",
        prints=("3584", "diameter=51", "diameter=59", "w=1609", "diameter=10", "loop=10 s=18"),
        claims=("GMN-TB1-3584-ch-diam", "GMN-I-superior"),
    ),
)
