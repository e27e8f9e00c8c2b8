"""The ledger as a page for a browser: one file that needs no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import mpinet
from mpinet.claims.ledger import PAPERS, Paper, PaperTable, paper
from mpinet.claims.verdict import VERDICTS, Verdict
from mpinet.report.files import whole_file
from mpinet.report.ledger.terminal import tally
from mpinet.report.tables import cell_text


def write_page(path: Path, verdicts: Sequence[Verdict], budget: str) -> None:
    """Write the page to a file.

    Parameters
    ----------
    path : Path
        The file.
    verdicts : sequence of Verdict
        The ledger's rows.
    budget : str
        ``"quick"`` or ``"full"``: how much of the grids was tested.
    """
    with whole_file(path) as file:
        file.write(page(verdicts, budget).encode())


def page(verdicts: Sequence[Verdict], budget: str) -> str:
    """Return the ledger as one HTML page."""
    groups = [(name, list(group)) for name, group in groupby(verdicts, lambda row: row.paper)]
    sections = "\n".join(_section(name, rows) for name, rows in groups)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mpinet: the ledger</title>
<style>
{_part("page.css")}</style>
</head>
<body>
<h1>The ledger</h1>
<p>{escape(tally(v.verdict for v in verdicts))}.
Measured by mpinet {escape(mpinet.__version__)}, {escape(budget)} grids.</p>
<p class="quiet">A claim that <b>holds</b> does so on the range that is given; a <b>refuted</b> one
fails at the witness, which the command beside it measures again; an <b>open</b> one could not be
tested.</p>
<form>
{_choice("paper", [name for name, _ in groups])}
{_choice("verdict", [word for word in VERDICTS if any(v.verdict == word for v in verdicts)])}
<input type="search" name="words" placeholder="search" aria-label="search"> <output></output>
</form>
{sections}
<script>
{_part("page.js")}</script>
</body>
</html>
"""


def _part(name: str) -> str:
    return files("mpinet.report.ledger").joinpath(name).read_text()


def _choice(name: str, values: Iterable[str]) -> str:
    """Boxes to tick, all of them ticked."""
    boxes = "\n".join(
        f'<label><input type="checkbox" name="{name}" value="{escape(value)}" checked>'
        f" {escape(value)}</label>"
        for value in values
    )
    return f"<fieldset><legend>{name}</legend>\n{boxes}\n</fieldset>"


def _section(name: str, verdicts: Sequence[Verdict]) -> str:
    """A paper: its claims, and its tables made again."""
    found = paper(name) if name in PAPERS else Paper(name, "claims of one's own", ())
    by_id = {verdict.id: verdict for verdict in verdicts}
    tables = "\n".join(
        _table(table, by_id)
        for table in found.tables
        if any(claim in by_id for _, claims in table.rows for claim in claims)
    )
    rows = "\n".join(map(_row, verdicts))
    return f"""<section data-paper="{escape(name)}">
<h2>{escape(name)}: {escape(found.title)}</h2>
<p class="quiet">{escape(tally(v.verdict for v in verdicts))}</p>
<div class="wide"><table>
<thead><tr><th>verdict</th><th>claim</th><th>statement</th><th>measured</th><th>claimed</th>\
<th>where</th></tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
{tables}
</section>"""


def _row(verdict: Verdict) -> str:
    """A claim: the statement beside the measurement."""
    measured, claimed = "", ""
    if verdict.points:
        measured, claimed = _value(verdict.measured), _value(verdict.claimed)
        claimed = f"{escape(verdict.relation)} {claimed}"
    return f"""<tr class="{verdict.verdict}" data-paper="{escape(verdict.paper)}" \
data-verdict="{verdict.verdict}" id="{escape(verdict.id)}">
<td class="verdict">{verdict.verdict}</td>
<td class="claim"><code>{escape(verdict.id)}</code><br>\
<span class="quiet">{escape(verdict.place)}</span></td>
<td>{escape(verdict.statement)}</td>
<td>{measured}</td><td>{claimed}</td>
<td>{_where(verdict)}</td></tr>"""


def _value(value: Any) -> str:
    """A value, field by field."""
    if isinstance(value, Mapping):
        return "<br>".join(f"{escape(str(key))}: {_value(part)}" for key, part in value.items())
    return escape(cell_text(value))


def _where(verdict: Verdict) -> str:
    """The range, or the witness and its command, or the reason."""
    if verdict.witness is not None:
        at = {**verdict.witness["point"], **verdict.witness["where"]}
        witness = _value(at)
        return f"{witness}{'<br>' * bool(witness)}<code>{escape(verdict.replay or '')}</code>"
    told = [verdict.range] if verdict.points else []
    return "<br>".join(escape(text) for text in [*told, verdict.reason] if text)


def _table(table: PaperTable, by_id: Mapping[str, Verdict]) -> str:
    """A table of the paper, measured: what differs stands beside what is printed."""
    rows = [
        (label, _cells([by_id[claim] for claim in claims if claim in by_id]))
        for label, claims in table.rows
    ]
    columns = list(dict.fromkeys(column for _, cells in rows for column in cells))
    head = "".join(f"<th>{escape(column)}</th>" for column in ["", *columns])
    body = "\n".join(
        f"<tr><th>{escape(label)}</th>"
        + "".join(cells.get(column, "<td></td>") for column in columns)
        + "</tr>"
        for label, cells in rows
    )
    return f"""<h3>{escape(table.title)}</h3>
<div class="wide"><table class="cells">
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>"""


def _cells(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """A row's cells by column: what was measured, beside what is printed where that is wrong."""
    cells: dict[str, str] = {}
    for verdict in verdicts:
        if not isinstance(verdict.claimed, Mapping) or not isinstance(verdict.measured, Mapping):
            continue
        wrong = verdict.witness["where"].get("fields", ()) if verdict.witness else ()
        for column, printed in verdict.claimed.items():
            measured = _value(verdict.measured.get(column))
            cells[column] = (
                f'<td class="refuted"><del>{_value(printed)}</del>{measured}</td>'
                if column in wrong
                else f'<td class="holds">{measured}</td>'
            )
    return cells
