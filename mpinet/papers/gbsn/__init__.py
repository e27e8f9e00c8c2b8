"""Claims of the paper on block shift networks, each measured on the emulator."""

from mpinet.claims import Paper
from mpinet.papers.gbsn.construction import is_excluded
from mpinet.papers.gbsn.plots import PLOTS

PAPER = Paper(
    "gbsn",
    "Generalized block shift network for clusters",
    modules=(
        "instances",
        "regular",
        "figure1",
        "construction",
        "degree",
        "diameter",
        "average",
        "slowdown",
        "embedding",
        "routing",
        "collectives",
        "untested",
    ),
    ours=("optimum",),
    degenerate=is_excluded,
    plots=PLOTS,
    citation="Yuzhong Sun, Xiaola Lin, Yi Pan, Rynson W. H. Lau, David A. Bader, Paul Y. S. "
    "Cheung: Generalized block shift network for clusters. IEEE Transactions on Circuits and "
    "Systems I: Fundamental Theory and Applications 49(4), April 2002 (a brief). The copy "
    "that was read has neither title nor authors.",
)
