"""Reproduced tables and figures of the papers as rows, text, pictures and a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any

from mpinet.base.version import __version__
from mpinet.claims.paper import ClaimCurve, MeasuredTable, Paper, PaperTable, Plot, item_name
from mpinet.claims.summary import tally
from mpinet.report.ledger.cells import LedgerRows, PublishedCell, cells_of, digits_of
from mpinet.report.ledger.page import claims_table, doi_link, errors_list, html_page
from mpinet.report.ledger.plot import (
    along,
    drawn,
    is_number,
    is_wide,
    places_of,
    points_of,
    value_of,
)
from mpinet.report.ledger.remade import command_html, remade
from mpinet.report.rows import Row
from mpinet.report.tables import cell_text, table


@dataclass(frozen=True)
class Item:
    """Table or figure of a paper."""

    paper: Paper
    """The paper."""
    name: str
    """Name of the item on the command line: ``table-5``, ``figure-3``."""
    tables: tuple[PaperTable | MeasuredTable, ...]
    """Tables of the item, with formulas and with measurements."""
    plots: tuple[Plot, ...]
    """Plots of the item."""

    @property
    def title(self) -> str:
        """Title of the item's first table or plot."""
        return (*self.tables, *self.plots)[0].title

    def claims(self) -> Iterator[str]:
        """Return the ids of the claims in the item."""
        for part in self.tables:
            yield from part.claims()
        for plot in self.plots:
            for curve in plot.curves:
                yield from curve.claims()

    def parts(self, rows: LedgerRows) -> Iterator[tuple[str, list[PublishedCell]]]:
        """Yield the title and cells of each table and plot, for claims with a verdict."""
        for part in self.tables:
            yield part.title, cells_of(part, rows)
        for plot in self.plots:
            yield plot.title, _points(plot, rows)


def items_of(paper: Paper) -> list[Item]:
    """Return a paper's tables and figures, in the paper's order."""
    names = dict.fromkeys(item_name(part.title) for part in (*paper.tables, *paper.plots))
    return [
        Item(
            paper,
            name,
            tuple(part for part in paper.tables if item_name(part.title) == name),
            tuple(part for part in paper.plots if item_name(part.title) == name),
        )
        for name in names
    ]


def _points(plot: Plot, rows: LedgerRows) -> list[PublishedCell]:
    """Return the points of a plot: first the measured series, then series that are only printed."""
    series: dict[tuple[Any, ...], ClaimCurve] = {}
    # Measured series come first, because a printed series is shown only if no measured series
    # exists.
    for curve in sorted(plot.curves, key=lambda curve: curve.value == "claimed"):
        series.setdefault((curve.claims(), curve.key, curve.of and curve.name), curve)
    measured = {key[:2] for key, curve in series.items() if curve.value == "measured"}
    return [
        cell
        for key, curve in series.items()
        if curve.value == "measured" or key[:2] not in measured
        for claim, x, value in places_of(curve, plot.against, rows)
        for cell in [_point(curve, rows[claim], x, value)]
    ]


def _point(
    curve: ClaimCurve, row: Mapping[str, Any], x: Any, value: Mapping[str, Any]
) -> PublishedCell:
    """Return a point of a series."""
    agrees = value["holds"] if not curve.key else curve.key not in value["fields"]
    printed, found = (value_of(curve, value, which) for which in ("claimed", "measured"))
    kind = row["id"], row["relation"]
    return PublishedCell(x, curve.name, *kind, printed, found, agrees, value["point"])


def rows_of(item: Item, rows: LedgerRows) -> list[Row]:
    """Return the cells and points of an item as rows of a result."""
    front = {"paper": item.paper.room, "item": item.name}
    return [
        {**front, "title": title, **asdict(cell), "form": cell.form}
        for title, cells in item.parts(rows)
        for cell in cells
    ]


def text_of(rows: Sequence[Row]) -> str:
    """Format the rows of an item as tables, with a differing printed value in brackets."""
    parts = []
    for title in dict.fromkeys(row["title"] for row in rows):
        cells = [_cell(row) for row in rows if row["title"] == title]
        columns, digits = list(dict.fromkeys(cell.column for cell in cells)), digits_of(cells)
        lines: dict[str | float, dict[str, str]] = {}
        for cell in cells:
            lines.setdefault(cell.row, {})[cell.column] = _both(cell, digits.get(cell.column, 0))
        # Points of several claims are grouped by claim. Only numeric labels can be sorted along the
        # axis.
        numbers = all(is_number(label) for label in lines)
        shown = [
            [cell_text(label), *(lines[label].get(column, "") for column in columns)]
            for label in (sorted(lines) if numbers else lines)
        ]
        parts.append(f"{title}\n\n{table(shown, ['', *columns])}{_measured_on(cells)}")
    return "\n\n".join(parts)


def _measured_on(cells: Sequence[PublishedCell]) -> str:
    """List the networks of a table's cells: for each row, with its columns if there are several."""
    rows: dict[str | float, dict[str, list[str]]] = {}
    for cell in cells:
        if cell.network and isinstance(cell.row, str):
            on = rows.setdefault(cell.row, {})
            on.setdefault(cell.network.removeprefix("topology="), []).append(cell.column)
    lines = [
        f"  {label}: {network}" + (f" ({', '.join(columns)})" if len(on) > 1 else "")
        for label, on in rows.items()
        for network, columns in on.items()
    ]
    return "".join(["\n\nmeasured on", *(f"\n{line}" for line in lines)]) if lines else ""


def _cell(row: Row) -> PublishedCell:
    return PublishedCell(**{name: row[name] for name in PublishedCell.__dataclass_fields__})


def _both(cell: PublishedCell, digits: int) -> str:
    """Return the measured value, with a different or inexact printed value in brackets."""
    found = cell.rounded(cell.measured, digits)
    cut = " truncated" if cell.form == "truncated" and cell.agrees else ""
    if cell.agrees and not cell.sign and not cut:
        return found
    return f"{found} [{cell.sign}{cell.rounded(cell.printed, digits)}{cut}]"


def counted(rows: Sequence[Row]) -> str:
    """Count the cells and points of each item, and the number of differences from the paper."""
    items: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        items.setdefault((row["paper"], row["item"]), []).append(row)
    lines = [
        [paper, item, len(own), sum(row["agrees"] for row in own), own[0]["title"]]
        for (paper, item), own in items.items()
    ]
    return table(lines, ("paper", "item", "values", "agree", "title"))


def picture_of(plot: Plot, rows: LedgerRows, kind: str, width: float = 5.0) -> bytes | None:
    """Draw a plot in the style of papers; None if fewer than two points were measured.

    Parameters
    ----------
    plot : Plot
        The plot.
    rows : mapping
        Verdicts by claim id.
    kind : str
        svg, pdf or png.
    width : float
        Width in inches, without the legend.
    """
    from mpinet.report.curves import Curve as Line
    from mpinet.report.curves import Dot
    from mpinet.report.drawing.axes import plotted

    curves = []
    for curve in plot.curves:
        dots = [Dot(x, y, y, y, 1) for x, y in points_of(curve, plot.against, rows)]
        if dots:
            curves.append(Line("", curve.name.replace(", ", " – "), dots))
    if max((len(curve.dots) for curve in curves), default=0) < 2:
        return None
    xs, ys = ([getattr(dot, a) for curve in curves for dot in curve.dots] for a in "xy")
    log = [axis for axis, values in (("x", xs), ("y", ys)) if is_wide(values)]
    return plotted(curves, kind, width, (along(plot), plot.y), log)


def report(paper: Paper, items: Sequence[Item], rows: LedgerRows, command: str) -> str:
    """Return a self-contained page of a paper's tables and figures, with their claims.

    Parameters
    ----------
    paper : Paper
        The paper.
    items : sequence of Item
        Tables and figures of the paper.
    rows : mapping
        Verdicts by claim id.
    command : str
        Command that makes the page again.
    """
    used = [rows[claim] for claim in dict.fromkeys(c for i in items for c in i.claims())]
    tables = tuple(part for item in items for part in item.tables)
    shown = replace(paper, tables=tables, plots=())
    parts = "\n".join(
        f'<section id="{escape(item.name)}">\n<h2>{escape(item.name.replace("-", " "))}</h2>\n'
        + remade(shown, rows, item.tables)
        + "\n".join(drawn(plot, rows) for plot in item.plots)
        + "\n</section>"
        for item in items
    )
    listed = " · ".join(
        f'<a href="#{escape(item.name)}">{escape(item.name.replace("-", " "))}</a>'
        for item in items
    )
    body = f"""<header>
<h1>{escape(paper.title)}: its tables and figures, measured</h1>
<p class="lead">Every cell shows what mpinet {escape(__version__)} measured on the networks, behind
the printed value where that is another one, and leads to the claim that it belongs to.</p>
<p class="citation">{escape(paper.citation)} {doi_link(paper)}</p>
<p>{command_html(command)}</p>
<p>{listed}</p>
</header>
{parts}
<h2 id="claims">The claims behind them</h2>
<p class="quiet">{escape(tally(used))}</p>
{errors_list(paper, used)}
{claims_table(shown, used, rows)}"""
    return html_page(f"{paper.room}: tables and figures, measured", body)
