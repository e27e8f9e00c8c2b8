"""Claims of a textbook's section on processor organizations, each measured."""

from mpinet.claims import Paper

PAPER = Paper(
    "quinn",
    "Processor organizations (section 3.1 of Parallel Computing: Theory and Practice)",
    modules=("lattices", "cubes", "shuffles"),
    citation="Michael J. Quinn: Parallel Computing: Theory and Practice, second edition. "
    "McGraw-Hill, 1994, pages 53 to 63.",
)
