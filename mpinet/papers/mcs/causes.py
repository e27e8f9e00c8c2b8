"""The errors of the chapter (`Claim.cause`): a sentence on each, and how much is wrong."""

from __future__ import annotations

from mpinet.claims.cause import BOUNDARY_CASE, OVERSTATEMENT, SLIP, Cause

CAUSES: dict[str, Cause] = {
    "leaves": Cause(
        SLIP,
        "The switches at the tree's bottom, which are more than half of all, have two wires in "
        "and two out.",
    ),
    "two-inputs": Cause(
        BOUNDARY_CASE,
        "Networks of two inputs are too small to differ in this.",
    ),
    "doubled": Cause(
        OVERSTATEMENT,
        "Back to back, two butterflies share columns: the network has two columns less than both "
        "have, and its ways three wires less.",
    ),
}
"""The errors by their names."""
