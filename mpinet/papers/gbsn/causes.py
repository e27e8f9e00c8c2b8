"""The errors of the paper (`Claim.cause`): a sentence on each."""

from __future__ import annotations

CAUSES: dict[str, str] = {
    "coinciding-links": "Shift links coincide, or lead from a word to itself, where the word is "
    "periodic.",
    "figure-names": "Caption and text of Figure 1 name different networks.",
    "word-for-word": "The construction takes links away and adds none, so that blocks can be left "
    "without a way between them.",
    "small-blocks": "Blocks of two nodes have one partial link, and their only nodes may lack "
    "shift "
    "links.",
    "degree": "Partial links of a block are more than stated where its width is no multiple of a.",
    "diameter-bounds": "Neither reading of Proposition 3.1 bounds the diameter: one lower and one "
    "upper bound fail in each.",
    "factor-b": "Detours between blocks can cost more than a factor of b.",
    "average": "The averages count a fixed number of steps for every section, also where sections "
    "agree.",
    "slowdown": "Some guest links need detours between small blocks, which the slowdown factor "
    "does "
    "not see.",
    "embedding": "Partial links of the guest join nodes of different blocks, between which there "
    "are shift links only.",
    "factor-below-one": "min(a, a/x) is below 1 where x is above a.",
    "right-shifts": "Not every block has a node whose right shift leads to the wanted block.",
}
"""The errors by their names."""
