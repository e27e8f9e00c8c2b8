"""The ledger as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from mpinet.base.files import whole_file
from mpinet.claims.ledger import ROOMS, paper
from mpinet.claims.paper import Paper
from mpinet.claims.summary import tally
from mpinet.claims.verdict import VERDICTS
from mpinet.report import html
from mpinet.report.html import part
from mpinet.report.ledger.cells import LedgerRows
from mpinet.report.ledger.formulas import typeset
from mpinet.report.ledger.head import counts, findings, head, reading
from mpinet.report.ledger.plot import drawn
from mpinet.report.ledger.remade import PagePlace, command_html, link, places, remade, value_html
from mpinet.report.ledger.terminal import extent_text, quotation_text

LedgerRow = Mapping[str, Any]
"""A verdict as a JSON object."""

LABELS = ("verdict", "claim", "statement", "measured", "claimed", "where")
"""Columns of the table of a paper's claims."""


def write_page(path: Path, document: Mapping[str, Any]) -> None:
    """Write the page to a file.

    Parameters
    ----------
    path : Path
        The file.
    document : mapping
        Document of ``mpinet verify``.
    """
    with whole_file(path) as file:
        file.write(page(document).encode())


def page(document: Mapping[str, Any]) -> str:
    """Return the ledger as one HTML page."""
    rows: Sequence[LedgerRow] = document["result"]
    groups = [(name, list(group)) for name, group in groupby(rows, lambda row: str(row["paper"]))]
    papers = [_paper(name) for name, _ in groups]
    parts = "\n".join(_section(found, own) for found, (_, own) in zip(papers, groups, strict=True))
    body = f"""{head(document)}
{counts(document["summary"], papers)}
{findings(papers, rows)}
{reading()}
<form>
{_choice("paper", [name for name, _ in groups])}
{_choice("verdict", [word for word in VERDICTS if any(r["verdict"] == word for r in rows)])}
<input type="search" name="words" placeholder="search" aria-label="search"> <output></output>
</form>
{parts}
<script>
{part("ledger", "page.js")}</script>"""
    return html_page("The ledger: claims of papers on interconnection networks, measured", body)


def html_page(title: str, body: str) -> str:
    """Return a self-contained page in the ledger's style."""
    return html.page(title, part("ledger", "page.css"), body)


def _paper(name: str) -> Paper:
    return paper(name) if name in ROOMS else Paper(name, "user-defined claims", ())


def _choice(name: str, values: Iterable[str]) -> str:
    """Return checkboxes for some values, all of them ticked."""
    boxes = "\n".join(
        f'<label><input type="checkbox" name="{name}" value="{escape(value)}" checked>'
        f" {escape(value)}</label>"
        for value in values
    )
    return f"<fieldset><legend>{name}</legend>\n{boxes}\n</fieldset>"


def _section(found: Paper, rows: Sequence[LedgerRow]) -> str:
    """Return the section of a paper: errors, claims, reproduced tables, and plots."""
    by_id = {str(row["id"]): row for row in rows}
    plots = "\n".join(drawn(plot, by_id) for plot in found.plots)
    cited = f'<p class="citation">{escape(found.citation)} {doi_link(found)}</p>'
    return f"""<section data-paper="{escape(found.room)}" id="paper-{escape(found.room)}">
<h2>{escape(found.room)}: {escape(found.title)}</h2>
{cited if found.citation else ""}
<p class="quiet">{escape(tally(rows))}</p>
{errors_list(found, rows)}
{claims_table(found, rows, by_id)}
{remade(found, by_id)}
{plots}
</section>"""


def claims_table(found: Paper, rows: Sequence[LedgerRow], by_id: LedgerRows) -> str:
    """Return the table of a paper's claims; `by_id` has the claims that its tables link to."""
    heading = "".join(f'<th scope="col">{label}</th>' for label in LABELS)
    at = places(found, by_id)
    entries = "\n".join(_row(found, row, at.get(row["id"], [])) for row in rows)
    return f"""<table class="claims">
<caption>Claims of {escape(found.room)}, in the order of the paper</caption>
<thead><tr>{heading}</tr></thead>
<tbody>
{entries}
</tbody>
</table>"""


def doi_link(found: Paper) -> str:
    """Return a link to the paper's DOI; empty if the DOI is unknown."""
    if not found.doi:
        return ""
    return f'<a href="https://doi.org/{escape(found.doi)}">doi:{escape(found.doi)}</a>'


def errors_list(found: Paper, rows: Sequence[LedgerRow]) -> str:
    """Return the list of a paper's distinct errors, each with the claims that it refutes."""
    refuted = [row for row in rows if row["verdict"] == "refuted"]
    known = {row["cause"] for row in refuted}
    shown = {name: cause for name, cause in found.causes.items() if name in known}
    if not shown:
        return ""
    items = "\n".join(
        f'<li id="{_anchor(found, name)}"><b>{cause.grade}</b>: {typeset(cause.sentence)} '
        f'<span class="quiet">{_links(refuted, name)}</span></li>'
        for name, cause in shown.items()
    )
    return f"<h3>Distinct errors</h3>\n<ol>\n{items}\n</ol>"


def _anchor(found: Paper, cause: str) -> str:
    return escape(f"error-{found.room}-{cause}")


def _links(refuted: Sequence[LedgerRow], cause: str) -> str:
    return " ".join(link(str(row["id"])) for row in refuted if row["cause"] == cause)


def _row(found: Paper, row: LedgerRow, at: Sequence[PagePlace]) -> str:
    """Return the table row of a claim: statement, verdict and measurement."""
    measured, claimed = "", ""
    if row["points"]:
        measured, claimed = value_html(row["measured"]), value_html(row["claimed"])
        claimed = f"{escape(row['relation'])}&nbsp;{claimed}"
    id, verdict = escape(row["id"]), row["verdict"]
    words = f"{row['statement']} {row['range']}"
    shown = " ".join(f'<a href="#{place.anchor}">{escape(place.name)}</a>' for place in at)
    cells = (
        f'<td class="verdict">{verdict}</td>',
        f'<th scope="row"><a href="#{id}"><code>{id}</code></a><br>'
        f'<span class="quiet">{escape(row["place"])} {shown}</span></th>',
        _cell("statement", typeset(row["statement"]) + _remarks(found, row)),
        _cell("measured", measured),
        _cell("claimed", claimed),
        _cell("where", _where(row)),
    )
    return (
        f'<tr class="{verdict}" data-paper="{escape(row["paper"])}" data-verdict="{verdict}" '
        f'data-words="{escape(words)}" id="{id}">\n' + "\n".join(cells) + "</tr>"
    )


def _cell(label: str, content: str) -> str:
    """Return a cell with its column's name, which narrow screens show in place of a heading."""
    return f'<td data-label="{label}">' + (f"<div>{content}</div>" if content else "") + "</td>"


def _remarks(found: Paper, row: LedgerRow) -> str:
    """Return the remarks below a claim's statement."""
    remarks = []
    if row["quotation"]:
        remarks.append(f'<span class="note">{escape(quotation_text(row))}</span>')
    if row["reading"]:
        remarks.append(f'<span class="note">Reading: {typeset(row["reading"])}</span>')
    if row["note"]:
        remarks.append(f'<span class="note">Note: {typeset(row["note"])}</span>')
    if row["corrects"]:
        remarks.append(f"Our corrected statement, in place of {link(row['corrects'])}.")
    if not row["measures"]:
        remarks.append("By formula: no network is measured.")
    if row["verdict"] == "refuted" and row["cause"] in found.causes:
        cause, anchor = found.causes[row["cause"]], _anchor(found, row["cause"])
        remarks.append(
            f'<a href="#{anchor}">The error</a> ({cause.grade}): {typeset(cause.sentence)}'
        )
    return "".join(f'<p class="remark">{text}</p>' for text in remarks)


def _where(row: LedgerRow) -> str:
    """Return the tested range of a claim, or its witness and command, or the reason."""
    if row["witness"] is not None:
        return _witness(row, row["replay"] or "") + _extent(row)
    remarks = [f"tested: {row['tested']}"] if row["points"] else []
    return "<br>".join(escape(text) for text in [*remarks, row["reason"]] if text)


def _witness(row: LedgerRow, replay: str) -> str:
    """Return the smallest witness with the command that repeats its measurement."""
    witness = value_html({**row["witness"]["point"], **row["witness"]["where"]})
    return f"{witness}{'<br>' * bool(witness)}{command_html(replay)}"


def _extent(row: LedgerRow) -> str:
    """Return the number of failing points, and a non-degenerate witness if it differs."""
    remarks = []
    if text := extent_text(row):
        remarks.append(typeset(text))
    fair = row["nondegenerate"]
    if fair is not None and fair["replay"] != row["replay"]:
        found = f"{value_html(fair['measured'])}, claimed {value_html(fair['claimed'])}"
        remarks.append(f"not degenerate: {found}<br>{command_html(fair['replay'])}")
    return "".join(f'<p class="remark">{text}</p>' for text in remarks)
