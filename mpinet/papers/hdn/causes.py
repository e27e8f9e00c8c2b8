"""The errors of the paper: a sentence on each, and the claims that it refutes."""

from __future__ import annotations

CAUSES: dict[str, str] = {
    "asymmetry": "Cross-edges of a level treat nodes of a super-node differently where the next "
    "level's super-node is not contained in it, so that HDNs are not node-symmetric in general.",
    "sizes-only": "Networks whose super-nodes have the same sizes need not be isomorphic.",
    "node-count": "The closed form divides by each s_i once; it counts in every level above.",
    "whole-base": "Where SN^1 is the whole base a hop inside the super-node is saved, which "
    "Theorem "
    "1 does not see.",
    "quotient": "Distances between super-nodes shrink by more than a super-node's diameter.",
    "brackets": "The bracket in Table 2's formula closes behind the sum instead of before it.",
    "bisection": "A cut through the clusters can be narrower than one between them.",
    "torus-degree": "The 2x3x5 torus is counted with degree 6, though its sides of two nodes are "
    "single links: it is 5.",
    "torus-halves": "Halves of odd sides have to be rounded down, and sides of two nodes are "
    "single "
    "links.",
    "ccc-diameter": "The diameter of the CCC is 2n + floor(n/2) - 2 for n > 3, not 2n.",
    "dualcube-base": "The dual-cube(n) is built over an (n-1)-cube, not an n-cube.",
    "size-range": "The smallest network of Table 1 has 60 nodes.",
    "better-degree": "With one level the degree is no smaller than the 3D torus's.",
    "reindexing": "Re-indexing does not keep serial numbers and ids as the example and Table 4 "
    "print "
    "them.",
    "landing": "Algorithm 1's choice of the landing node may lead through a node twice.",
    "example-path": "The printed example path is not a route of Algorithm 1, nor a path of links.",
    "times-multiplied": "The times of the factors' broadcasts add up; they do not multiply.",
    "broadcast-order": "Algorithm 2 broadcasts in SN^k before the cluster is informed, and "
    "recurses "
    "without the nodes of SN^(k-1) that SN^k lacks.",
}
"""The errors by their names."""

REFUTED: dict[str, str] = {
    "asymmetry": "HDN-S1-symmetric",
    "sizes-only": "HDN-Fig5-unique",
    "node-count": "HDN-Th1-nodes",
    "whole-base": "HDN-Th1-diameter HDN-S3-diameter-recurrence HDN-S3-cr-monotone",
    "quotient": "HDN-S3-quotient-diameter",
    "brackets": "HDN-Tab2-hdn-diameter",
    "bisection": "HDN-S3-bisection",
    "torus-degree": "HDN-S3-degree-235 HDN-Tab3-d",
    "torus-halves": "HDN-Tab2-torus3d",
    "ccc-diameter": "HDN-Tab2-ccc",
    "dualcube-base": "HDN-S3-dualcube-base",
    "size-range": "HDN-S3-range",
    "better-degree": "HDN-S1-better",
    "reindexing": "HDN-S4-snid-range HDN-Tab4-r2 HDN-Tab4-r3 HDN-Tab4-serial-equal HDN-EX-reindex",
    "landing": "HDN-Th2-bound HDN-Th2-recursive-call",
    "example-path": "HDN-EX-path-links HDN-EX-length",
    "times-multiplied": "HDN-S5-T-product",
    "broadcast-order": "HDN-A2-complete HDN-A2-steps HDN-Th3-recurrence",
}
"""The claims that each refutes."""
