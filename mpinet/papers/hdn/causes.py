"""The errors of the paper (`Claim.cause`): a sentence on each, and how much is wrong."""

from __future__ import annotations

from mpinet.claims.cause import BOUNDARY_CASE, OVERSTATEMENT, SLIP, WRONG_RESULT, Cause

CAUSES: dict[str, Cause] = {
    "asymmetry": Cause(
        WRONG_RESULT,
        "Cross-edges of a level treat nodes of a super-node differently where the next level's "
        "super-node is not contained in it, so that HDNs are not node-symmetric in general.",
    ),
    "sizes-only": Cause(
        WRONG_RESULT,
        "Networks whose super-nodes have the same sizes need not be isomorphic.",
    ),
    "node-count": Cause(
        WRONG_RESULT,
        "The closed form divides by each s_i once; it counts in every level above.",
    ),
    "whole-base": Cause(
        BOUNDARY_CASE,
        "Where SN^1 is the whole base a hop inside the super-node is saved, which Theorem 1 does "
        "not see.",
    ),
    "quotient": Cause(
        WRONG_RESULT,
        "Distances between super-nodes shrink by more than a super-node's diameter.",
    ),
    "brackets": Cause(
        SLIP,
        "The bracket in Table 2's formula closes behind the sum instead of before it.",
    ),
    "bisection": Cause(
        WRONG_RESULT,
        "A cut through the clusters can be narrower than one between them.",
    ),
    "torus-degree": Cause(
        SLIP,
        "The 2x3x5 torus is counted with degree 6, though its sides of two nodes are single "
        "links: it is 5.",
    ),
    "torus-halves": Cause(
        SLIP,
        "Halves of odd sides have to be rounded down, and sides of two nodes are single links.",
    ),
    "ccc-diameter": Cause(
        SLIP,
        "The diameter of the CCC is 2n + floor(n/2) - 2 for n > 3, not 2n.",
    ),
    "dualcube-base": Cause(
        SLIP,
        "The dual-cube(n) is built over an (n-1)-cube, not an n-cube.",
    ),
    "size-range": Cause(
        SLIP,
        "The smallest network of Table 1 has 60 nodes.",
    ),
    "better-degree": Cause(
        OVERSTATEMENT,
        "With one level the degree is no smaller than the 3D torus's.",
    ),
    "snid-range": Cause(
        SLIP,
        "The formula for the range of SN_id is right only where SN^1 is the whole base.",
    ),
    "reindexing": Cause(
        SLIP,
        "The text of section 4 moves coordinates, Table 4 and the example keep serial numbers: the "
        "two re-indexings differ.",
    ),
    "landing": Cause(
        WRONG_RESULT,
        "Algorithm 1's choice of the landing node may lead through a node twice.",
    ),
    "example-path": Cause(
        SLIP,
        "The printed example path is not a route of Algorithm 1, nor a path of links.",
    ),
    "times-multiplied": Cause(
        WRONG_RESULT,
        "The times of the factors' broadcasts add up; they do not multiply.",
    ),
    "broadcast-order": Cause(
        WRONG_RESULT,
        "Algorithm 2 broadcasts in SN^k before the cluster is informed, and recurses without the "
        "nodes of SN^(k-1) that SN^k lacks.",
    ),
}
"""The errors by their names."""
