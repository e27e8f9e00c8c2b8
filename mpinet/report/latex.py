"""LaTeX tables for papers, in the style of booktabs."""

from __future__ import annotations

from collections.abc import Sequence

SPECIAL = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "*": r"$\times$",
    "<": r"$<$",
    ">": r"$>$",
}
"""LaTeX forms of special characters."""


def latex_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a LaTeX tabular whose first column is left-aligned and whose others are right-aligned.

    Parameters
    ----------
    heading : sequence of str
        Names of the columns.
    rows : sequence of sequences of str
        The cells.
    """
    lines = [" & ".join(map(escaped, row)) + r" \\" for row in rows]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            rf"\begin{{tabular}}{{l{'r' * (len(heading) - 1)}}}",
            r"\toprule",
            " & ".join(map(escaped, heading)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def escaped(text: str) -> str:
    """Escape a text for LaTeX; the two dots of a range become a dash."""
    return "".join(SPECIAL.get(char, char) for char in text.replace("..", "--"))
