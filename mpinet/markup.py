"""XML from others: document types and entities are refused, which may read files or never end."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from mpinet.errors import UsageError


def careful_parser() -> Any:
    """A parser (`xml.parsers.expat`) that raises `UsageError` at a document type or an entity."""
    parser = expat.ParserCreate()

    def refuse(*declared: Any) -> None:
        raise UsageError(
            f"line {parser.CurrentLineNumber}: document types and entities are not read: take the "
            "declaration out."
        )

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    return parser


def require_plain(data: bytes) -> None:
    """Raise `UsageError` at a document type or an entity; what is no XML is left to others."""
    try:
        careful_parser().Parse(data, True)
    except (expat.ExpatError, UnicodeError, LookupError):
        return
