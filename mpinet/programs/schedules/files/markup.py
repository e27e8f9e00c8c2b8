"""XML, read safely: no document types and entities, limited depth and number of elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from mpinet.base.markup import careful_parser
from mpinet.errors import UsageError

MOST_ELEMENTS = 2**21
DEEPEST = 16


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


def parse_xml(data: bytes) -> Element:
    """Read a document.

    Raises
    ------
    UsageError
        It is none, declares a document type or an entity, or is too deep or too large.
    """
    top, opened, parser, count = Element("", {}, 0), [], careful_parser(), 0
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
