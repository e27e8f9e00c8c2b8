"""The errors of the paper: a sentence on each, and the claims that it refutes."""

from __future__ import annotations

CAUSES: dict[str, str] = {
    "cube": "Definition 8's twisted cube has the diameter n-1; lemma 3 and the tables give it "
    "ceil((n+1)/2), the diameter of crossed cubes.",
    "n2": "TQ_2, a ring of four, has the diameter 2.",
    "symmetry": "Twisted and crossed cubes are not vertex-symmetric from four or five dimensions "
    "on.",
    "widths": "The loop's bisection width is 8 or 10 for every m, and that of a product is no "
    "product of widths.",
    "averages": "The mean distance of the loop is divided by the number of nodes twice, and the "
    "cube's is not its own.",
    "hexcell": "Nodes of the last level of a Hex-Cell are taken for all of its nodes, and sizes "
    "are "
    "assumed that no Hex-Cell has.",
    "faults": "Fault diameters are larger than stated, as failures round a node make longer "
    "detours; but that of the crossed cube grows more slowly than n-1, and is smaller for n = 8.",
    "cost-factor": "The cost factor takes m+n+1 for STH's diameter, which is DLH's.",
    "routing": "All four candidate walks lead one way round, so that routes grow with 4m, not with "
    "the diameter.",
    "one-dimension": "Table 8 counts STH and TQ of one dimension, which definition 8 does not "
    "have.",
}
"""The errors by their names."""

REFUTED: dict[str, str] = {
    "cube": "STH-L3-tq-diameter-tq STH-L3-sth-diameter-tq STH-T4-diameter-sth-tq "
    "STH-T4-cost-sth-tq STH-T5-*-sth-tq STH-T6-bc-sth-tq STH-F3-tq STH-F5-tq STH-F6-tq STH-F9-tq "
    "STH-F10-tq",
    "n2": "STH-D8-diameter-n2",
    "symmetry": "STH-L4-tq-transitive-* STH-L4-tq-cayley STH-L4-sth-transitive-*",
    "widths": "STH-T1-* STH-L5-product-rule STH-L5-sth-bisection STH-T4-bw-dlh STH-T4-bw-sth "
    "STH-T6-bw-dlh STH-T6-bw-sth STH-F7",
    "averages": "STH-L6-lst-average STH-L6-tq-average-* STH-L6-additive STH-L6-sth-average-* "
    "STH-T7-avg-dlh STH-T7-avg-sth-* STH-T7-density-dlh STH-T7-density-sth-* "
    "STH-S-average-constant STH-S-density-sth STH-S-density-lowest STH-F11 STH-F12",
    "hexcell": "STH-T4-nodes-hx STH-T4-diameter-hx STH-T4-cf-hx STH-T4-cost-hx STH-T5-hx "
    "STH-T8-*-hx STH-S-scal99-hx STH-F8",
    "faults": "STH-L7-lst-fault-diameter STH-L7-tq-fault-diameter-*",
    "cost-factor": "STH-T4-cf-sth-*",
    "routing": "STH-R-shortest STH-R-optimal",
    "one-dimension": "STH-T8-*-def8",
}
"""The claims that each refutes."""
