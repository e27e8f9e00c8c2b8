"""The errors of the paper: a sentence on each, and the claims that it refutes."""

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

REFUTED: dict[str, str] = {
    "coinciding-links": "GBSN-S2-two-shift-links GBSN-S3-degree-bsn",
    "figure-names": "GBSN-F1-same-a GBSN-F1-same-b",
    "word-for-word": "GBSN-S2-literal-connected GBSN-S2-complementary-literal",
    "small-blocks": "GBSN-S2-two-partial-links GBSN-S2-complementary-canonical "
    "GBSN-S3-degree-gbsn-min",
    "degree": "GBSN-S3-degree-gbsn-max",
    "diameter-bounds": "GBSN-P31-lower-product GBSN-P31-upper-product GBSN-P31-lower-sum "
    "GBSN-P31-upper-sum",
    "factor-b": "GBSN-S3-diameter-factor-b GBSN-S3-operations",
    "average": "GBSN-E1-graph GBSN-E1-twsr GBSN-E3-lower-graph GBSN-E3-lower-route",
    "slowdown": "GBSN-P41-slowdown GBSN-P41-slowdown-max",
    "embedding": "GBSN-P42-partial-existential GBSN-P42-dil-partial GBSN-P42-dil-shift "
    "GBSN-P42-congestion GBSN-S4-three-steps-same",
    "factor-below-one": "GBSN-P41-range",
    "right-shifts": "GBSN-S4-right-shift-suffices",
}
"""The claims that each refutes."""
