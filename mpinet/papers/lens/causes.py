"""The errors of the report (`Claim.cause`): a sentence on each, and how much is wrong."""

from __future__ import annotations

from mpinet.claims.cause import BOUNDARY_CASE, OVERSTATEMENT, SLIP, WRONG_RESULT, Cause

CAUSES: dict[str, Cause] = {
    "outermost-bus": Cause(
        WRONG_RESULT,
        "The square is one too many: outermost busses carry a share of about 2(p-1)/N.",
    ),
    "not-joined": Cause(
        WRONG_RESULT,
        "In the uncompleted lens pattern A does not join all processors, and the farthest that it "
        "joins are 2n-2 apart.",
    ),
    "borders": Cause(
        BOUNDARY_CASE,
        "Ends that agree in a border digit may still both have dots there.",
    ),
    "example": Cause(
        SLIP,
        "The example's digits are too large for the printed p = 3.",
    ),
    "literal-shift": Cause(
        SLIP,
        "Shifting the written symbols moves the dot off its digit.",
    ),
    "lines": Cause(
        SLIP,
        "Of the p and q members of two busses one is the group itself.",
    ),
    "diameter": Cause(
        WRONG_RESULT,
        "Over all shared busses, by patterns A and B together, ways are shorter.",
    ),
    "single-path": Cause(
        OVERSTATEMENT,
        "Some pairs have a single shortest path.",
    ),
    "end-processors": Cause(
        OVERSTATEMENT,
        "A processor on one bus alone, as most are, splits nothing when it fails.",
    ),
    "small-cases": Cause(
        BOUNDARY_CASE,
        "What is said of every p and n fails at p = 2, or at n = 2.",
    ),
}
"""The errors by their names."""
