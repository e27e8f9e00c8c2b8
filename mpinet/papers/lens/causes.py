"""The errors of the report (`Claim.cause`): a sentence on each."""

from __future__ import annotations

CAUSES: dict[str, str] = {
    "outermost-bus": "The square is one too many: outermost busses carry a share of about "
    "2(p-1)/N.",
    "not-joined": "In the uncompleted lens pattern A does not join all processors, and the "
    "farthest "
    "that it joins are 2n-2 apart.",
    "borders": "Ends that agree in a border digit may still both have dots there.",
    "example": "The example's digits are too large for the printed p = 3.",
    "literal-shift": "Shifting the written symbols moves the dot off its digit.",
    "lines": "Of the p and q members of two busses one is the group itself.",
    "diameter": "Over all shared busses, by patterns A and B together, ways are shorter.",
    "single-path": "Some pairs have a single shortest path.",
    "small-cases": "What is said of every p and n fails at p = 2, or at n = 2.",
}
"""The errors by their names."""
