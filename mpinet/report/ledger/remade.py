"""The papers' tables, computed again cell by cell: every cell leads to its claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from mpinet.claims.paper import Column, MeasuredTable, Paper, PaperTable
from mpinet.claims.relation import FACTS
from mpinet.report.tables import cell_text

LedgerRows = Mapping[str, Mapping[str, Any]]
"""Verdicts as JSON knows them, by their ids."""

SIGNS = {"<=": "≤ ", ">=": "≥ ", "<": "< ", ">": "> ", "~": "~ "}
"""Signs of relations in front of printed values."""


UNBROKEN = 36
"""Most characters of a word that stays on one line; a phone shows 44."""


@dataclass(frozen=True)
class Place:
    """Place on the page at which a claim is shown again.

    Attributes
    ----------
    anchor, name : str
        The table's anchor, and what the link is called.
    """

    anchor: str
    name: str


def link(claim: str) -> str:
    """Return a link to a claim's row."""
    return f'<a href="#{escape(claim)}"><code>{escape(claim)}</code></a>'


def command_html(command: str) -> str:
    """Return a command as HTML."""
    return f'<code class="command">{unbroken(command)}</code>'


def unbroken(commands: str) -> str:
    """Set commands so that no line breaks at their hyphens, except in long words."""
    return "\n".join(
        " ".join(
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


def places(paper: Paper, rows: LedgerRows) -> dict[str, list[Place]]:
    """Tables in which a paper's claims stand."""
    found: dict[str, list[Place]] = {}
    for number, table in enumerate(paper.tables):
        place = Place(_anchor(paper, number), _short(table.title))
        for claim in dict.fromkeys(table.claims()):
            if claim in rows:
                found.setdefault(claim, []).append(place)
    return found


def _anchor(paper: Paper, number: int) -> str:
    return f"table-{paper.room}-{number + 1}"


def _short(title: str) -> str:
    """Number of a table in the paper."""
    return title.partition(":")[0].partition(".")[0].partition(",")[0]


def remade(paper: Paper, rows: LedgerRows) -> str:
    """Return all tables of a paper that have judged claims."""
    return "\n".join(
        _table(table, rows, _anchor(paper, number))
        for number, table in enumerate(paper.tables)
        if any(claim in rows for claim in table.claims())
    )


def _table(table: PaperTable | MeasuredTable, rows: LedgerRows, anchor: str) -> str:
    """Return a table of measured values; where they differ, the printed ones stand beside them."""
    if isinstance(table, MeasuredTable):
        lines = _measured(table, rows)
    else:
        lines = [
            (label, _cells([rows[claim] for claim in claims if claim in rows]))
            for label, claims in table.rows
        ]
    columns = list(dict.fromkeys(column for _, cells in lines for column in cells))
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in ["", *columns])
    body = "\n".join(
        f'<tr><th scope="row">{escape(label)}</th>'
        + "".join(cells.get(column, "<td></td>") for column in columns)
        + "</tr>"
        for label, cells in lines
        if cells
    )
    return f"""<div class="wide"><table class="cells" id="{anchor}">
<caption>{escape(table.title)}</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>"""


def _cells(verdicts: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return a row's cells by column: the measured value, and the printed one where it is wrong."""
    cells: dict[str, str] = {}
    for row in verdicts:
        if not isinstance(row["claimed"], Mapping) or not isinstance(row["measured"], Mapping):
            continue
        wrong = row["witness"]["where"].get("fields", ()) if row["witness"] else ()
        for column, printed in row["claimed"].items():
            cells[column] = _cell(row, printed, row["measured"].get(column), column in wrong)
    return cells


def _measured(table: MeasuredTable, rows: LedgerRows) -> list[tuple[str, dict[str, str]]]:
    """Return the cells of each row of a table whose columns are claims."""
    lines: dict[str, dict[str, str]] = {}
    for column in table.columns:
        for label, cells in _column(column, rows.get(column.claim)):
            lines.setdefault(label, {}).update(cells)
    return list(lines.items())


def _column(column: Column, row: Mapping[str, Any] | None) -> Iterable[tuple[str, dict[str, str]]]:
    """Return the cells of a column, by the labels of their rows."""
    values = {value["point"]: value for value in row["values"] or ()} if row else {}
    for label, point in column.points.items():
        if row is None or point not in values:
            yield label, {}
            continue
        found = values[point]
        claimed, measured = found["claimed"], found["measured"]
        if not isinstance(claimed, Mapping):
            yield label, {column.name: _cell(row, claimed, measured, not found["holds"])}
            continue
        yield (
            label,
            {
                f"{column.name} {name}": _cell(
                    row, printed, measured.get(name), name in found["fields"]
                )
                for name, printed in claimed.items()
            },
        )


def _cell(row: Mapping[str, Any], printed: Any, measured: Any, wrong: bool) -> str:
    """Return a cell that leads to its claim."""
    relation = SIGNS.get(row["relation"], "") if row["relation"] not in FACTS else ""
    shown = _as_precise(measured, printed)
    kind = "refuted" if wrong else "holds"
    was = f"<del>{relation}{_as_precise(printed, printed)}</del>" if wrong else ""
    bound = f' <span class="quiet">({escape(relation)}{value_html(printed)})</span>'
    return (
        f'<td class="{kind}">{was}<a href="#{escape(row["id"])}">{shown}</a>'
        f"{bound if relation and not wrong else ''}</td>"
    )


def _as_precise(value: Any, printed: Any) -> str:
    """Round a value to as many decimals as the paper prints."""
    if isinstance(value, float) and isinstance(printed, float):
        return f"{value:.{_decimals(printed)}f}"
    return value_html(value)


def _decimals(printed: float) -> int:
    return len(f"{printed:f}".rstrip("0").partition(".")[2])
