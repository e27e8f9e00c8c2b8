"""The claims of the paper on block shift networks, each measured on the emulator."""

from mpinet.claims import Paper, PaperTable
from mpinet.papers.gbsn.causes import CAUSES

PAPER = Paper(
    "gbsn",
    "A generalized topology of block shift networks for clusters (the scan names no authors)",
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
    tables=(
        PaperTable(
            "Table I: numbers of nodes and node degrees (only the hypercube's row is known)",
            (("hypercube, n bits", ("GBSN-T1-hypercube",)),),
        ),
    ),
    causes=CAUSES,
)
