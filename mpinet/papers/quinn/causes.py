"""The errors of the section (`Claim.cause`): a sentence on each, and how much is wrong."""

from __future__ import annotations

from mpinet.claims.cause import BOUNDARY_CASE, SLIP, WRONG_RESULT, Cause

CAUSES: dict[str, Cause] = {
    "odd-sides": Cause(
        WRONG_RESULT,
        "A plane does not halve a mesh of odd sides: each narrowest cut has steps.",
    ),
    "short-sides": Cause(
        BOUNDARY_CASE,
        "A mesh whose sides are two nodes long has no interior.",
    ),
    "two-of-a-side": Cause(
        BOUNDARY_CASE,
        "With two nodes to a side, both networks have one diameter.",
    ),
    "butterfly-width": Cause(
        SLIP,
        "The text gives half the width that the book's own table has.",
    ),
    "combined-ranks": Cause(
        BOUNDARY_CASE,
        "Of the smallest butterflies, links coincide when the first and last rank are combined.",
    ),
    "cycles": Cause(
        WRONG_RESULT,
        "Besides the k links across, a way has up to 3k/2 - 2 links along cycles, not k.",
    ),
    "de-bruijn-width": Cause(
        WRONG_RESULT,
        "The width is of the order 2^k/k, but larger: from 1.5 times so much on.",
    ),
}
"""The errors by their names."""
