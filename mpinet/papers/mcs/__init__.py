"""The claims of a chapter on switching networks, each measured."""

from mpinet.claims import Paper, PaperTable
from mpinet.papers.mcs.causes import CAUSES

PAPER = Paper(
    "mcs",
    "Communication networks (chapter 10 of Mathematics for Computer Science)",
    modules=("tree", "arrays", "columns"),
    tables=(
        PaperTable(
            "Table of section 10.9: diameter, switch size, switches and congestion",
            tuple(
                (
                    label,
                    tuple(f"MCS-{name}-{what}" for what in ("diameter", "switches", "congestion")),
                )
                for label, name in (
                    ("complete binary tree", "tree"),
                    ("2-D array", "array"),
                    ("butterfly", "butterfly"),
                    ("Benes", "benes"),
                )
            ),
        ),
    ),
    causes=CAUSES,
    citation="Eric Lehman, F. Thomson Leighton, Albert R. Meyer: Mathematics for Computer "
    "Science, chapter 10, pages 279 to 297 of the revision that was read. Open courseware "
    "(Creative Commons).",
)
