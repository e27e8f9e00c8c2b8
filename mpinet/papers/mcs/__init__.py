"""Claims of a chapter on switching networks, each measured."""

from mpinet.claims import Paper, PaperTable

PAPER = Paper(
    "mcs",
    "Communication networks (chapter 10 of Mathematics for Computer Science)",
    modules=("tree", "arrays", "columns"),
    tables=(
        PaperTable(
            "Table 10: diameter, switches and congestion, for N = 4 (the table of section 10.9)",
            (
                ("complete binary tree", ("MCS-table-tree",)),
                ("2-D array", ("MCS-table-array",)),
                ("butterfly", ("MCS-table-butterfly",)),
                ("Benes", ("MCS-table-benes",)),
            ),
        ),
    ),
    citation="Eric Lehman, F. Thomson Leighton, Albert R. Meyer: Mathematics for Computer "
    "Science, chapter 10, pages 279 to 297 of the revision that was read. Open courseware "
    "(Creative Commons).",
)
