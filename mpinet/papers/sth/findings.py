"""The main findings on the paper for the field, each with a command that shows it."""

from __future__ import annotations

from mpinet.claims.paper import MainFinding

FINDINGS = (
    MainFinding(
        number=5,
        title="The bisection width of LST(m) does not grow as 12m - 4.",
        text="For LST(2) it is 8, not 20.",
        command="mpinet verify STH-T1-general --at topology=lst:2",
        prints=("measured 8, claimed = 20",),
        claims=("STH-T1-general",),
    ),
    MainFinding(
        number=6,
        title="The average distance of STH is not almost constant: it grows linearly with m.",
        text="It is 68.3164 in STH(128,7), printed 3.58316.",
        command="mpinet verify STH-T7-avg-sth-tq --at topology=sth:128,7",
        prints=("measured 68.3164, claimed = 3.58316",),
        claims=("STH-T7-avg-sth-tq", "STH-T7-avg-sth-cq"),
    ),
    MainFinding(
        number=7,
        title="The routing that is called optimal takes up to 4m - 2 hops in LST(m), whose "
        "diameter is m + 1.",
        text="In LST(16) the longest route has 62 hops; the diameter is 17.",
        command="mpinet verify STH-R-optimal --at topology=lst:16",
        prints=("measured 62, claimed <= 17",),
        claims=("STH-R-optimal",),
    ),
)
