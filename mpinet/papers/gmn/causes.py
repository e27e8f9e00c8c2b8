"""The errors of the paper (`Claim.cause`): a sentence on each, and how much is wrong."""

from __future__ import annotations

from mpinet.claims.cause import BOUNDARY_CASE, OVERSTATEMENT, SLIP, WRONG_RESULT, Cause

CAUSES: dict[str, Cause] = {
    "borders": Cause(
        BOUNDARY_CASE,
        "Between the sizes of one m and the next the interval is shorter.",
    ),
    "half-round": Cause(
        BOUNDARY_CASE,
        "Where N = m 2^(m/2) the largest hop is the diagonal, so that two links are one.",
    ),
    "recursive-circulant": Cause(
        WRONG_RESULT,
        "The recursive circulant has jumps that hops do not make, and the degree 2n-1 for 2^n "
        "nodes.",
    ),
    "diagonal-range": Cause(
        SLIP,
        "The printed range for hops without the diagonal is one too small where thirds are "
        "rounded.",
    ),
    "ends-of-routes": Cause(
        WRONG_RESULT,
        "The way to the first hop and from the last can take m + 1 edges, whatever the order of "
        "the hops; in the printed order m + 2.",
    ),
    "odd-sectors": Cause(
        SLIP,
        "A sector of odd m has (m-1)/2 hops, so that there are m-1 signed types.",
    ),
    "bypass": Cause(
        BOUNDARY_CASE,
        "With jumps of half the round the bypass meets the fault again; and not every type has "
        "both neighbours by two.",
    ),
    "powers": Cause(
        SLIP,
        "N = 2^q, m = 2^r has two values of q for every r.",
    ),
    "pseudocode": Cause(
        SLIP,
        "Three places of the printed pseudocode of step 2 are wrong.",
    ),
    "comparison": Cause(
        OVERSTATEMENT,
        "Double loops and chordal rings are compared by bounds or by chords that are not the best.",
    ),
}
"""The errors by their names."""
