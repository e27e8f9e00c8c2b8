"""The claims of a textbook's section on processor organizations, each measured."""

from mpinet.claims import Paper
from mpinet.papers.quinn.causes import CAUSES

PAPER = Paper(
    "quinn",
    "Processor organizations (section 3.1 of Parallel Computing: Theory and Practice)",
    modules=("lattices", "cubes", "shuffles"),
    causes=CAUSES,
    citation="Michael J. Quinn: Parallel Computing: Theory and Practice, second edition. "
    "McGraw-Hill, 1994, pages 53 to 63.",
)
