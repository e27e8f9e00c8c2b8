"""The main findings on the paper for the field, each with a command that shows it."""

from __future__ import annotations

from mpinet.claims.paper import MainFinding

FINDINGS = (
    MainFinding(
        number=1,
        title="The hierarchical dual-net is not node-symmetric, as abstract and section 2 say.",
        text="Counted by distance, node 1 has 1 3 5 8 12 13 11 7 3 1 nodes, node 0 has "
        "1 3 5 8 11 12 11 8 4 1.",
        command="mpinet verify HDN-S1-symmetric --at topology=hdn:2,super=-/0",
        prints=("1 3 5 8 12 13 11 7 3 1", "1 3 5 8 11 12 11 8 4 1"),
        claims=("HDN-S1-symmetric",),
    ),
    MainFinding(
        number=2,
        title="A route of Algorithm 1 can be longer than Theorem 2 allows, and visit a node twice.",
        text="From 15 to 156 it takes 14 hops and passes 143 twice; the bound is 12.",
        command="mpinet verify HDN-Th2-bound --at topology=hdn:2x2,super=-/0.1 && "
        "mpinet path hdn:2x2,super=-/0.1 15 156 --routing algorithm1",
        prints=("measured 14, claimed <= 12", "source=15", "target=156", "143", "143"),
        claims=("HDN-Th2-bound", "HDN-Th2-recursive-call"),
    ),
    MainFinding(
        number=3,
        title="The broadcast as printed (Algorithm 2) leaves half of the paper's own Fig. 11 "
        "network uninformed.",
        text="It informs 6000 of 12000 processors.",
        command="mpinet broadcast hdn:2x3x5,super=0.1/1.2 --algorithm printed --ports all",
        prints=("6000 of 12000 processors",),
        claims=("HDN-A2-complete",),
    ),
    MainFinding(
        number=4,
        title="The bisection width is not N/4 where n_k is even.",
        text="It is 8, not 16, in hdn:2,super=-/0.",
        command="mpinet verify HDN-S3-bisection --at topology=hdn:2,super=-/0",
        prints=("measured 8, claimed = 16",),
        claims=("HDN-S3-bisection",),
    ),
)
