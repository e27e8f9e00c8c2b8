"""The package stays small and explained: its code lines, its class names and its comments."""

import ast
from collections import Counter, defaultdict
from pathlib import Path

from trees import PACKAGE, files_of, nodes_of

SOURCES = {file: file.read_text() for file in files_of()}

MOST_LINES = 98_000
"""Code lines of the package."""

MOST_SHARED_NAMES = 20
"""Class names that several modules may use."""

LEAST_COMMENTS = 0.025
"""Comment lines per code line."""

DIRECTIVES = ("# type:", "# noqa", "# fmt", "# pragma", "#!")
"""Comments for tools."""


def lines_of(source: str) -> tuple[int, int]:
    """Lines with code, and lines that hold only a comment for people.

    Docstrings, strings below fields and blank lines are neither. A line that begins with ``#``
    inside a string of several lines is code.
    """
    prose: set[int] = set()
    quoted: set[int] = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            quoted.update(range(node.lineno, (node.end_lineno or 0) + 1))
        for statement in statements(node):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                prose.update(range(statement.lineno, (statement.end_lineno or 0) + 1))
    code = comments = 0
    for number, line in enumerate(source.splitlines(), 1):
        text = line.strip()
        if text == "" or number in prose:
            continue
        if number not in quoted and text.startswith("#"):
            comments += not text.startswith(DIRECTIVES)
        else:
            code += 1
    return code, comments


def statements(node: ast.AST) -> list[ast.stmt]:
    """Statements of a module, class, function or block; none of an expression such as a lambda."""
    body = getattr(node, "body", [])
    return body if isinstance(body, list) else []


def shared_names(sources: dict[str, str]) -> dict[str, list[str]]:
    """Class names that several modules declare, with the modules."""
    modules = defaultdict(set)
    for module, source in sources.items():
        for node in nodes_of(source):
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(module)
    return {name: sorted(found) for name, found in modules.items() if len(found) > 1}


def per_room(count: dict[Path, int]) -> str:
    """Counts by folder, for the message of a failure."""
    rooms: Counter[str] = Counter()
    for file, number in count.items():
        rooms[file.relative_to(PACKAGE).parts[0]] += number
    return ", ".join(f"{room} {number}" for room, number in rooms.most_common())


def test_the_package_has_few_code_lines_and_many_comments() -> None:
    count = {file: lines_of(source) for file, source in SOURCES.items()}
    code, comments = (sum(each) for each in zip(*count.values(), strict=True))
    assert code <= MOST_LINES, per_room({file: number for file, (number, _) in count.items()})
    assert comments >= LEAST_COMMENTS * code, per_room({f: n for f, (_, n) in count.items()})


def test_few_class_names_stand_in_several_modules() -> None:
    found = shared_names({str(file.relative_to(PACKAGE)): SOURCES[file] for file in SOURCES})
    assert len(found) <= MOST_SHARED_NAMES, found


SAMPLE = '''"""A module."""

import os  # a comment behind code

# A comment.


class Kept:
    """A class."""

    size: int = 0
    """A field."""

    def name(
        self,
    ) -> str:
        """A method."""
        # Another comment,
        # of two lines.
        return """text
        of two lines"""


kept = Kept()  # type: ignore
# noqa: D100
'''


def test_the_counters_count_a_sample_as_a_person_does() -> None:
    code = ["import", "class", "size", "def", "self", ")", "return", "of two lines", "kept"]
    assert lines_of(SAMPLE) == (len(code), 3)
    texts = {"a": SAMPLE, "b": "class Kept: ...\nclass Other: ...\n", "c": "Other = 1\n"}
    assert shared_names(texts) == {"Kept": ["a", "b"]}
