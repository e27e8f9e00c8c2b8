"""Tables of the papers, recomputed cell by cell; each cell links to its claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from mpinet.claims.paper import MeasuredTable, Paper, PaperTable
from mpinet.report.ledger.cells import LedgerRows, PublishedCell, cells_of, digits_of
from mpinet.report.tables import cell_text

UNBROKEN = 36
"""Largest number of characters of a word kept on one line; a phone shows 44."""


@dataclass(frozen=True)
class PagePlace:
    """Position on the page at which a table repeats a claim."""

    anchor: str
    """Anchor of the table on the page."""
    name: str
    """Text of the link to the table."""


def link(claim: str) -> str:
    """Return a link to a claim's row."""
    return f'<a href="#{escape(claim)}"><code>{escape(claim)}</code></a>'


def command_html(command: str) -> str:
    """Return a command as HTML."""
    return f'<code class="command">{unbroken(command)}</code>'


def unbroken(commands: str) -> str:
    """Return commands as HTML without line breaks at hyphens, except in long words."""
    return "\n".join(
        " ".join(
            # Browsers break lines at hyphens. On a phone, a break would split an option such as
            # --at.
            f"<span>{escape(word)}</span>" if len(word) <= UNBROKEN else escape(word)
            for word in line.split(" ")
        )
        for line in commands.split("\n")
    )


def value_html(value: Any) -> str:
    """Return a value as HTML, field by field."""
    if isinstance(value, Mapping):
        return "<br>".join(f"{escape(str(key))}: {value_html(part)}" for key, part in value.items())
    return escape(cell_text(value))


def places(paper: Paper, rows: LedgerRows) -> dict[str, list[PagePlace]]:
    """Return the tables that contain each claim of a paper."""
    found: dict[str, list[PagePlace]] = {}
    for number, table in enumerate(paper.tables):
        place = PagePlace(_anchor(paper, number), _short(table.title))
        for claim in dict.fromkeys(table.claims()):
            if claim in rows:
                found.setdefault(claim, []).append(place)
    return found


def _anchor(paper: Paper, number: int) -> str:
    return f"table-{paper.room}-{number + 1}"


def _short(title: str) -> str:
    """Return the number of a table in the paper."""
    return title.partition(":")[0].partition(".")[0].partition(",")[0]


def remade(
    paper: Paper, rows: LedgerRows, only: Sequence[PaperTable | MeasuredTable] | None = None
) -> str:
    """Return the tables of a paper that have claims with verdicts: all, or only those in `only`."""
    return "\n".join(
        _table(table, rows, _anchor(paper, number))
        for number, table in enumerate(paper.tables)
        if any(claim in rows for claim in table.claims()) and (only is None or table in only)
    )


def _table(table: PaperTable | MeasuredTable, rows: LedgerRows, anchor: str) -> str:
    """Return a table of measured values, with the printed value next to each value that differs."""
    cells = cells_of(table, rows)
    columns, digits = list(dict.fromkeys(cell.column for cell in cells)), digits_of(cells)
    lines: dict[str | float, dict[str, PublishedCell]] = {}
    for cell in cells:
        lines.setdefault(cell.row, {})[cell.column] = cell
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in ["", *columns])
    body = "\n".join(
        f'<tr><th scope="row">{escape(str(label))}</th>'
        + "".join(
            _cell(found[column], digits.get(column, 0)) if column in found else "<td></td>"
            for column in columns
        )
        + "</tr>"
        for label, found in lines.items()
    )
    return f"""<div class="wide"><table class="cells" id="{anchor}">
<caption>{escape(table.title)}</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>"""


def _cell(cell: PublishedCell, digits: int) -> str:
    """Return a cell that links to its claim."""
    kind = "holds" if cell.agrees else "refuted"
    shown, printed = (_value(cell, value, digits) for value in (cell.measured, cell.printed))
    was = "" if cell.agrees else f"<del>{escape(cell.sign)}{printed}</del>"
    truncated = cell.agrees and cell.form == "truncated"
    cut = f' <span class="quiet">({printed} truncated)</span>' if truncated else ""
    bound = f' <span class="quiet">({escape(cell.sign)}{printed})</span>'
    return (
        f'<td class="{kind}" title="{escape(cell.network)}">{was}<a href="#{escape(cell.claim)}">'
        f"{shown}</a>{bound if cell.sign and cell.agrees else ''}{cut}</td>"
    )


def _value(cell: PublishedCell, value: Any, digits: int) -> str:
    """Return a value of a cell, with as many decimals as the paper's column."""
    return value_html(value) if isinstance(value, Mapping) else escape(cell.rounded(value, digits))
