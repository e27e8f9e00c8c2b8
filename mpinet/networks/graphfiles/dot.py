"""DOT of Graphviz: undirected graphs with attributes, chains of links and groups of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from mpinet.base.numerals import quoted
from mpinet.networks.graphfiles.wiring import MOST_LINKS

if TYPE_CHECKING:
    import networkx

TOKEN = re.compile(
    r"""(?P<gap>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |(?P<mark>--|->|[{}\[\]=;,:+])
    |(?P<text>"(?:[^"\\]|\\.)*"|[A-Za-z_\u0080-\U0010ffff][\w\u0080-\U0010ffff]*
    |-?(?:\.\d+|\d+(?:\.\d*)?))""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""Pattern of the next token: a gap, a punctuation mark or a text."""

KINDS = ("graph", "node", "edge")
"""Keywords before default attributes for later elements of that kind."""

Attributes = dict[str, str]


class Reader:
    """Parser of a DOT file; `graph` is the result."""

    def __init__(self, text: str):
        import networkx

        self._tokens = tokens(text)
        self._take()
        strict = self._word("strict")
        if self._word("digraph"):
            raise ValueError("the graph is directed; a network's links go both ways")
        if not self._word("graph"):
            raise ValueError(f"line {self._line}: the word graph is missing")
        self.graph: networkx.Graph = networkx.Graph() if strict else networkx.MultiGraph()
        if self._mark != "{":
            self._text()
        self._group({"node": {}, "edge": {}})
        if self._mark or self._next:
            raise ValueError(f"line {self._line}: a second graph begins")

    def _take(self) -> None:
        """Advance to the next token."""
        self._mark, self._next, self._line = next(self._tokens)

    def _word(self, word: str) -> bool:
        """Skip an unquoted word, in any case, if it is the next token; return whether it was."""
        found = self._next.lower() == word
        if found:
            self._take()
        return found

    def _pass(self, mark: str) -> bool:
        """Skip a mark if it is the next token; return whether it was."""
        found = self._mark == mark
        if found:
            self._take()
        return found

    def _need(self, mark: str) -> None:
        """Skip a mark; raise `ValueError` if it is not the next token."""
        if not self._pass(mark):
            found = self._mark or self._next or "the end"
            raise ValueError(f"line {self._line}: {mark} is missing before {quoted(found)}")

    def _text(self) -> str:
        """Read a text, which may have quoted parts joined by +, and return it."""
        text = self._next
        if not text:
            raise ValueError(f"line {self._line}: a name or value is missing")
        self._take()
        if not text.startswith('"'):
            return text
        parts = [text]
        while self._pass("+"):
            parts.append(self._next)
            self._take()
        return "".join(part[1:-1].replace('\\"', '"') for part in parts)

    def _group(self, inherited: dict[str, Attributes]) -> list[str]:
        """Read statements in braces; return their nodes."""
        self._need("{")
        defaults = {kind: dict(said) for kind, said in inherited.items()}
        nodes = dict[str, None]()
        while not self._pass("}"):
            kind = self._next.lower()
            if kind in KINDS:
                self._take()
                defaults.setdefault(kind, {}).update(self._attributes())
            elif not (self._pass(";") or self._pass(",")):
                nodes |= dict.fromkeys(self._statement(defaults))
        return [*nodes]

    def _statement(self, defaults: dict[str, Attributes]) -> list[str]:
        """Read a node, a chain of links or an attribute of the graph; return the nodes."""
        ends = [self._end(defaults)]
        if self._pass("="):
            self._text()
            return []
        alone = self._mark != "--"
        while self._pass("--"):
            ends.append(self._end(defaults))
        if self._mark == "->":
            raise ValueError(f"line {self._line}: -> is for directed graphs")
        nodes = [node for end in ends for node in end]
        self.graph.add_nodes_from(
            (node, dict(defaults["node"])) for node in nodes if node not in self.graph
        )
        said = self._attributes()
        if alone:
            self.graph.add_nodes_from(nodes, **said)
        for one, other in pairwise(ends):
            if len(one) * len(other) > MOST_LINKS:
                raise ValueError(f"line {self._line}: there are more than {MOST_LINKS} links")
            links = ((u, v) for u in one for v in other)
            self.graph.add_edges_from(links, **defaults["edge"] | said)
        return nodes

    def _end(self, defaults: dict[str, Attributes]) -> list[str]:
        """Read a node or a group of nodes; a node's port is ignored."""
        if self._word("subgraph"):
            if self._mark != "{":
                self._text()
            return self._group(defaults)
        if self._mark == "{":
            return self._group(defaults)
        node = self._text()
        while self._pass(":"):
            self._text()
        return [node]

    def _attributes(self) -> Attributes:
        """Read lists of attributes, if any."""
        found: Attributes = {}
        while self._pass("["):
            while not self._pass("]"):
                name = self._text()
                found[name] = self._text() if self._pass("=") else "true"
                if not self._pass(";"):
                    self._pass(",")
        return found


def tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield tokens as (mark, text, line): one of mark and text is empty, at the end both are."""
    place, line = 0, 1
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise ValueError(f"line {line}: {quoted(text[place])} is not expected here")
        if found["gap"] is None:
            yield found["mark"] or "", found["text"] or "", line
        line += text.count("\n", place, found.end())
        place = found.end()
    while True:
        yield "", "", line


def read_dot(data: bytes) -> networkx.Graph:
    """Read an undirected graph; in a strict one parallel links are one.

    Nodes with ``switch=true`` are switches. Links have the attributes of any graph file, such as
    ``capacity``. Attributes for drawing are ignored.

    Raises
    ------
    ValueError
        The file is not an undirected DOT graph; the message begins with the line.
    """
    return Reader(data.decode("utf-8-sig")).graph
