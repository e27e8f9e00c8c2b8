"""Parser for foreign XML; it refuses document types and entities, which may be harmful.

Document types and entities may read files or never end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from mpinet.errors import UsageError

MOST_ELEMENTS = 2**21
DEEPEST = 16
"""Limits for a document that is read as a whole: number of elements, and nesting depth."""

DOCTYPE = 4
"""Number of arguments of the handler for document types; the last argument is true if the document
type declares anything.
"""


@dataclass
class Element:
    """An XML element: tag, attributes, child elements, and the line of the start tag."""

    tag: str
    attributes: dict[str, str]
    line: int
    inside: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return the child elements, all of which must have this tag.

        Raises
        ------
        UsageError
            A child element has a different tag.
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
        True if a document type may name an external file, without further declarations; the file is
        not fetched.
    """
    parser = expat.ParserCreate()

    def refuse(*declared: Any) -> None:
        if named and len(declared) == DOCTYPE and not declared[-1]:
            return
        raise UsageError(
            f"line {parser.CurrentLineNumber}: document types and entities are not read: remove "
            "the declaration."
        )

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    return parser


def require_plain(data: bytes) -> None:
    """Raise `UsageError` at a document type or an entity; accept text that is not XML."""
    try:
        careful_parser().Parse(data, True)
    except (expat.ExpatError, UnicodeError, LookupError):
        return


def parse_xml(data: bytes, named: bool = False) -> Element:
    """Parse an XML document and return its root element; `named` as in `careful_parser`.

    Raises
    ------
    UsageError
        The text is not XML, declares a document type or an entity, or is too deep or too large.
    """
    top, opened, parser, count = Element("", {}, 0), [], careful_parser(named), 0
    opened.append(top)

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(opened) > DEEPEST:
            raise UsageError(
                f"line {parser.CurrentLineNumber}: it has more than {MOST_ELEMENTS} elements, or "
                f"a nesting depth of more than {DEEPEST}."
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
        raise UsageError(f"line {error.lineno}: this is not XML: {reason}.") from None
    except (UnicodeError, LookupError):
        raise UsageError("line 1: its encoding cannot be read.") from None
    return top.inside[0]
