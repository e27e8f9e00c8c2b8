"""XML from others: document types and entities, which may read files or never end, are refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from mpinet.errors import UsageError

MOST_ELEMENTS = 2**21
DEEPEST = 16
"""Most elements, and most within one another, of a document that is read as a whole."""

DOCTYPE = 4
"""Number of values that tell of a document type; the last one is whether it declares anything."""


@dataclass
class Element:
    """An element: its tag, attributes, the elements in it, and the line that it begins in."""

    tag: str
    attributes: dict[str, str]
    line: int
    inside: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Those in it of this tag; there are no others.

        Raises
        ------
        UsageError
            There are.
        """
        for child in self.inside:
            if child.tag != tag:
                raise UsageError(f"line {child.line}: <{child.tag}> where <{tag}> is expected.")
        return self.inside


def careful_parser(named: bool = False) -> Any:
    """Return a parser (`xml.parsers.expat`) that refuses document types and entities.

    Parameters
    ----------
    named : bool
        Whether a document type may name a file elsewhere, which is not fetched, and nothing more.
    """
    parser = expat.ParserCreate()

    def refuse(*declared: Any) -> None:
        if named and len(declared) == DOCTYPE and not declared[-1]:
            return
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


def parse_xml(data: bytes, named: bool = False) -> Element:
    """Read a document; `named` as in `careful_parser`.

    Raises
    ------
    UsageError
        It is none, declares a document type or an entity, or is too deep or too large.
    """
    top, opened, parser, count = Element("", {}, 0), [], careful_parser(named), 0
    opened.append(top)

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(opened) > DEEPEST:
            raise UsageError(
                f"line {parser.CurrentLineNumber}: it has more than {MOST_ELEMENTS} elements, or "
                f"more than {DEEPEST} within one another."
            )
        element = Element(tag, attributes, parser.CurrentLineNumber)
        opened[-1].inside.append(element)
        opened.append(element)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda tag: opened.pop()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, "it is not well formed")
        raise UsageError(f"line {error.lineno}: this is no XML: {reason}.") from None
    except (UnicodeError, LookupError):
        raise UsageError("line 1: its encoding cannot be read.") from None
    return top.inside[0]
