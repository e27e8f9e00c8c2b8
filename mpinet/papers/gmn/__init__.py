"""Claims of the paper on G(m,N), each measured on the emulator."""

from mpinet.claims import Paper, PaperTable
from mpinet.papers.gmn.plots import PLOTS

SIZES = (96, 256, 640, 1536, 3584)
"""Sizes N of the networks of Table 1."""

CELLS = ("ch-links", "ch-diam", "dl-links", "dl-diam", "links", "diam")
"""Endings of the claim ids of a row of Table 1."""

PAPER = Paper(
    "gmn",
    "A family of network topologies with multiple loops and logarithmic diameter",
    modules=(
        "structure",
        "sectors",
        "digits",
        "diameter",
        "routing",
        "bypasses",
        "faults",
        "floods",
        "cycles",
        "ascend",
        "printed",
        "comparison",
    ),
    ours=("arbitrary",),
    tables=(
        PaperTable(
            "Table 1: chordal rings, distributed loop networks and G(m,N)",
            tuple((f"N = {N}", tuple(f"GMN-TB1-{N}-{cell}" for cell in CELLS)) for N in SIZES),
        ),
    ),
    plots=PLOTS,
    citation="Srabani Sen Gupta, Rajib K. Das, Krishnendu Mukhopadhyaya, Bhabani P. Sinha: A "
    "family of network topologies with multiple loops and logarithmic diameter. Indian Statistical"
    " Institute, Calcutta, and Jadavpur University; received 6 April 1995, revised 20 April"
    " 1996.",
)
