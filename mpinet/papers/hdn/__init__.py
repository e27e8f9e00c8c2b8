"""Claims of the paper on the hierarchical dual-net, each measured on the emulator.

The modules follow the paper's sections. The last one has the additions of docs/papers/hdn, 8.
"""

from mpinet.claims import Paper, PaperTable
from mpinet.papers.hdn.plots import PLOTS

SIZES = (1, 2, 3, 5, 6, 10, 15, 30)
"""Sizes of super-nodes over the 2x3x5 torus."""

PAPER = Paper(
    "hdn",
    "Hierarchical dual-net: a flexible interconnection network and its routing algorithm",
    modules=(
        "construction",
        "figures",
        "sizes",
        "diameter",
        "bisection",
        "ratio",
        "comparison",
        "reindexing",
        "routing",
        "example",
        "broadcasts",
        "beyond",
    ),
    ours=("optimum",),
    tables=(
        PaperTable(
            "Table 1: nodes of HDN(B,k,S) over the 2x3x5 torus, by the size of the last super-node",
            (
                ("k = 1", ("HDN-Tab1-k1",)),
                *((f"k = 2, s1 = {size}", (f"HDN-Tab1-k2-s{size}",)) for size in SIZES),
            ),
        ),
        PaperTable(
            "Table 2: topological properties",
            (
                ("3D torus", ("HDN-Tab2-torus3d",)),
                ("n-cube", ("HDN-Tab2-cube",)),
                ("CCC(n)", ("HDN-Tab2-ccc",)),
                ("Dual-Cube(n)", ("HDN-Tab2-dualcube",)),
                ("RDN(m,k)", ("HDN-Tab2-rdn",)),
                ("HDN(B,k,S)", ("HDN-Tab2-hdn-size", "HDN-Tab2-hdn-diameter")),
            ),
        ),
        PaperTable(
            "Table 3: cost ratios with equal weights and the paper's degrees",
            (
                ("10-cube", ("HDN-Tab3-cube10",)),
                ("3D-Tori(10)", ("HDN-Tab3-tori10",)),
                ("HDN(B,1,(1))", ("HDN-Tab3-1-1",)),
                ("HDN(B,1,(2))", ("HDN-Tab3-1-2",)),
                ("HDN(B,1,(3))", ("HDN-Tab3-1-3",)),
                ("19-cube", ("HDN-Tab3-cube19",)),
                ("3D-Tori(80)", ("HDN-Tab3-tori80",)),
                ("HDN(B,2,(2,2))", ("HDN-Tab3-2-2-2",)),
                ("HDN(B,2,(2,5))", ("HDN-Tab3-2-2-5",)),
                ("HDN(B,2,(5,2))", ("HDN-Tab3-2-5-2",)),
            ),
        ),
        PaperTable(
            "Table 3, column d: degrees of HDN(B,k,S), by S",
            (("neighbours", ("HDN-Tab3-d",)), ("links", ("HDN-Tab3-d-links",))),
        ),
        PaperTable(
            "Table 4: re-indexing examples",
            tuple(
                (index, (f"HDN-Tab4-r{row}",))
                for row, index in enumerate(
                    ("(0,0,0,0)", "(1,4,2,3)", "(0,0,2,2)", "(1,4,4,5)"), start=1
                )
            ),
        ),
    ),
    plots=PLOTS,
    citation="Yamin Li, Shietung Peng, Wanming Chu: Hierarchical dual-net: a flexible "
    "interconnection network and its routing algorithm. International Journal of Networking"
    " and Computing 2(2), 2012, 234-250.",
    doi="10.15803/ijnc.2.2_234",
)
