"""Claims of the paper on the lens, each measured on the emulator.

The modules follow the paper's sections, then the additions of docs/papers/lens. The number of
levels is n; R = p-1 and S = q-1 are the radices left and right of an address's dot. Pattern A is
the network of the hops that move the dot. The whole network also has pattern B.
"""

from mpinet.claims import Paper, PaperTable
from mpinet.papers.lens.plots import PLOTS

PAPER = Paper(
    "lens",
    "The lens interconnection strategy",
    modules=(
        "background",
        "definition",
        "routing",
        "example",
        "circle",
        "figure",
        "symmetry",
        "loads",
        "multistage",
        "conclusions",
        "own",
    ),
    ours=("collectives", "optimum"),
    tables=(
        PaperTable(
            "Figure 2. Routing in the completed lens (p = 4, n = 10)",
            (
                ("arc A, runs B and C", ("LENS-F2-regions",)),
                ("hops of the classes", ("LENS-F2-lengths",)),
            ),
        ),
    ),
    plots=PLOTS,
    citation="Raphael A. Finkel, Marvin H. Solomon: The lens interconnection strategy. Computer "
    "Sciences Technical Report 387, University of Wisconsin-Madison, April 1980. A version "
    "appeared in IEEE Transactions on Computers C-30(12), 1981, 960-965.",
)
