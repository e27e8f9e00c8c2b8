"""XML from others: document types and entities, which may read files or never end, are refused."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from mpinet.errors import UsageError


def careful_parser() -> Any:
    """Return a parser (`xml.parsers.expat`) that refuses document types and entities."""
    parser = expat.ParserCreate()

    def refuse(*declared: Any) -> None:
        raise UsageError(
            f"line {parser.CurrentLineNumber}: document types and entities are not read: take the "
            "declaration out."
        )

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    return parser


def require_plain(data: bytes) -> None:
    """Raise `UsageError` at a document type or an entity; leave text that is no XML to others."""
    try:
        careful_parser().Parse(data, True)
    except (expat.ExpatError, UnicodeError, LookupError):
        return
