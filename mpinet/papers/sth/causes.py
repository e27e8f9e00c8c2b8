"""The errors of the paper (`Claim.cause`): a sentence on each, and how much is wrong."""

from __future__ import annotations

from mpinet.claims.cause import BOUNDARY_CASE, SLIP, WRONG_RESULT, Cause

CAUSES: dict[str, Cause] = {
    "cube": Cause(
        WRONG_RESULT,
        "Definition 8's twisted cube has the diameter n-1; lemma 3 and the tables give it "
        "ceil((n+1)/2), the diameter of crossed cubes.",
    ),
    "n2": Cause(
        SLIP,
        "TQ_2, a ring of four, has the diameter 2.",
    ),
    "symmetry": Cause(
        WRONG_RESULT,
        "Twisted and crossed cubes are not vertex-symmetric from four or five dimensions on.",
    ),
    "widths": Cause(
        WRONG_RESULT,
        "The loop's bisection width is 8 or 10 for every m, and that of a product is no product "
        "of widths.",
    ),
    "averages": Cause(
        WRONG_RESULT,
        "The mean distance of the loop is divided by the number of nodes twice, and the cube's is "
        "not its own.",
    ),
    "hexcell": Cause(
        WRONG_RESULT,
        "Nodes of the last level of a Hex-Cell are taken for all of its nodes, and sizes are "
        "assumed that no Hex-Cell has.",
    ),
    "faults": Cause(
        WRONG_RESULT,
        "Fault diameters are larger than stated, as failures round a node make longer detours; "
        "but that of the crossed cube grows more slowly than n-1, and is smaller for n = 8.",
    ),
    "cost-factor": Cause(
        SLIP,
        "The cost factor takes m+n+1 for STH's diameter, which is DLH's.",
    ),
    "routing": Cause(
        WRONG_RESULT,
        "All four candidate walks lead one way round, so that routes grow with 4m, not with the "
        "diameter.",
    ),
    "one-dimension": Cause(
        BOUNDARY_CASE,
        "Table 8 counts STH and TQ of one dimension, which definition 8 does not have.",
    ),
}
"""The errors by their names."""
