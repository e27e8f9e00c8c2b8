"""The package's files, each parsed once in a process, for tests that read code."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "mpinet"


@cache
def tree_of(text: str) -> ast.Module:
    """The tree of a file's text, which no test changes."""
    return ast.parse(text)


@cache
def nodes_of(text: str) -> list[ast.AST]:
    """All nodes of a text's tree: to walk a tree takes as long as to parse the text."""
    return [*ast.walk(tree_of(text))]


def files_of(*rooms: str) -> Iterator[Path]:
    """The files of rooms of the package, or of all, in the order of their names."""
    for folder in [PACKAGE / room for room in rooms] or [PACKAGE]:
        yield from sorted(folder.rglob("*.py"))
