"""HTML for notebooks: the printed text of a result, with tables in the colours of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from mpinet.report.tables import Table, fields, laid_out

MOST_ROWS = 50
"""Largest number of rows of a table."""

CELL = "padding:0.1em 0.8em;vertical-align:top;text-align:"
"""Style of a cell, to be followed by left or right."""

HEAD = "border-bottom:1px solid currentColor;"


def page(title: str, style: str, body: str) -> str:
    """Return a self-contained HTML page.

    Parameters
    ----------
    title : str
        Title as plain text.
    style : str
        Style sheet.
    body : str
        HTML of the body.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def part(package: str, name: str) -> str:
    """Return the text of a style sheet or script stored in a package."""
    return files(f"mpinet.report.{package}").joinpath(name).read_text()


def card(heading: Mapping[str, Any], *tables: Mapping[str, Any]) -> str:
    """Return a heading with tables below it.

    Parameters
    ----------
    heading : mapping
        Names and values of the heading.
    tables : mapping
        Names and values of each table.
    """
    top = "".join(
        f"<div><b>{escape(k)}</b> <code>{escape(str(v))}</code></div>" for k, v in heading.items()
    )
    below = "".join(printed(lambda one=one: fields(one)) for one in tables)  # type: ignore[misc]
    return f"<div>{top}{below}</div>"


def fitting(svg: str) -> str:
    """Return an SVG picture that is at most as wide as its page."""
    return svg.replace("<svg", '<svg style="max-width:100%;height:auto"', 1)


def printed(show: Callable[[], str]) -> str:
    """Return the text that a function composes as HTML, with its tables as HTML tables.

    Parameters
    ----------
    show : callable
        Returns a text whose tables are made by `mpinet.report.tables`.
    """
    parts = laid_out(show)
    return "".join(_table(part) if isinstance(part, Table) else _text(part) for part in parts)


def _text(text: str) -> str:
    text = text.strip("\n")
    return f'<div style="white-space:pre-wrap">{escape(text)}</div>' if text else ""


def _table(made: Table) -> str:
    rows = made.rows[:MOST_ROWS]
    more = f"<p>.. and {len(made.rows) - MOST_ROWS} more</p>" if len(made.rows) > MOST_ROWS else ""
    head = _row("th", made.heading, made.right) if made.heading else ""
    body = "".join(_row("td", row, made.right) for row in rows)
    return f"<table>{f'<thead>{head}</thead>' if head else ''}<tbody>{body}</tbody></table>{more}"


def _row(kind: str, cells: Sequence[str], right: Sequence[bool]) -> str:
    line = "".join(
        f'<{kind} style="{HEAD if kind == "th" else ""}{CELL}{"right" if to_right else "left"}">'
        f"{escape(cell)}</{kind}>"
        for cell, to_right in zip(cells, right or [False] * len(cells), strict=True)
    )
    return f"<tr>{line}</tr>"
