"""HTML for notebooks: plain tables that take the colours of the page around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mpinet.report.tables import cell_text

MOST_ROWS = 50
"""Most rows of a table."""


def card(heading: Mapping[str, Any], *tables: Sequence[Mapping[str, Any]]) -> str:
    """Return a heading with tables below it.

    Parameters
    ----------
    heading : mapping
        What stands above, by name.
    tables : sequence of mappings
        Rows of one kind each; a table of one row is turned, with a line a field.
    """
    top = "".join(
        f"<div><b>{escape(k)}</b> <code>{escape(str(v))}</code></div>" for k, v in heading.items()
    )
    return f"<div>{top}{''.join(map(_table, tables))}</div>"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    if len(rows) == 1:
        return _body([(name.replace("_", " "), value) for name, value in rows[0].items()], ())
    columns = list(dict.fromkeys(name for row in rows for name in row))
    more = f"<p>.. and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
    cells = [[row.get(name) for name in columns] for row in rows[:MOST_ROWS]]
    return _body(cells, columns) + more


def _body(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = ("".join(f"<td>{escape(cell_text(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    )
