"""The errors of the paper (`Claim.cause`): a sentence on each, and how much is wrong."""

from __future__ import annotations

from mpinet.claims.cause import BOUNDARY_CASE, OVERSTATEMENT, SLIP, WRONG_RESULT, Cause

CAUSES: dict[str, Cause] = {
    "coinciding-links": Cause(
        BOUNDARY_CASE,
        "Shift links coincide, or lead from a word to itself, where the word is periodic.",
    ),
    "figure-names": Cause(
        SLIP,
        "Caption and text of Figure 1 name different networks.",
    ),
    "word-for-word": Cause(
        WRONG_RESULT,
        "The construction takes links away and adds none, so that blocks can be left without a "
        "way between them.",
    ),
    "small-blocks": Cause(
        BOUNDARY_CASE,
        "Blocks of two nodes have one partial link, and their only nodes may lack shift links.",
    ),
    "degree": Cause(
        WRONG_RESULT,
        "Partial links of a block are more than stated where its width is no multiple of a.",
    ),
    "diameter-bounds": Cause(
        WRONG_RESULT,
        "Neither reading of Proposition 3.1 bounds the diameter: one lower and one upper bound "
        "fail in each.",
    ),
    "factor-b": Cause(
        WRONG_RESULT,
        "Detours between blocks can cost more than a factor of b.",
    ),
    "average": Cause(
        WRONG_RESULT,
        "The averages count a fixed number of steps for every section, also where sections agree.",
    ),
    "slowdown": Cause(
        WRONG_RESULT,
        "Some guest links need detours between small blocks, which the slowdown factor does not "
        "see.",
    ),
    "embedding": Cause(
        WRONG_RESULT,
        "Partial links of the guest join nodes of different blocks, between which there are shift "
        "links only.",
    ),
    "factor-below-one": Cause(
        BOUNDARY_CASE,
        "min(a, a/x) is below 1 where x is above a.",
    ),
    "right-shifts": Cause(
        OVERSTATEMENT,
        "Not every block has a node whose right shift leads to the wanted block.",
    ),
}
"""The errors by their names."""
