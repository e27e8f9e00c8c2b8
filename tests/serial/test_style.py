"""Style is checked by ruff (its settings are in pyproject.toml)."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from trees import PACKAGE, files_of, nodes_of

CHECKOUT = Path(__file__).resolve().parents[2]


CHECKERS = ("ruff check", "ruff format --check")

ELSEWHERE = ("mypy", "lint-imports")
"""The checks that test_types.py and test_imports.py run."""


@pytest.mark.parametrize("words", CHECKERS)
def test_checker_is_content(words: str) -> None:
    command = [sys.executable, "-m", *words.split()]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_hooks_before_a_commit_are_the_checks_made_here() -> None:
    hooks = (CHECKOUT / ".pre-commit-config.yaml").read_text()
    entries = re.findall(r"entry: \.venv/bin/(?:python -m )?(.*)", hooks)
    assert sorted(entries) == sorted([*CHECKERS, *ELSEWHERE])


COMPILED = {"rule", "inlined", "idiom", "phase", "sweep", "routine", "part", "kernel", "Hint"}
"""Decorators of functions that Numba gives their types."""


def test_every_function_has_types_unless_it_is_compiled_or_a_users_example() -> None:
    found = {
        f"{file.relative_to(CHECKOUT)}:{function.name}"
        for file in files_of()
        if PACKAGE / "examples" not in file.parents
        for function in untyped(file.read_text())
    }
    assert found == set()


def untyped(source: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Plain functions that say the types neither of what they take nor of what they return.

    mypy refuses those that say but some of them.
    """
    for part in nodes_of(source):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            every = [node for node in ast.walk(part.args) if isinstance(node, ast.arg)]
            said = [part.returns, *(argument.annotation for argument in every)]
            if not any(said) and not any(map(compiles, part.decorator_list)):
                yield part


def compiles(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Name) and called.id in COMPILED


HEADLESS = {"What", "Whether", "Where", "Who", "Whose", "How", "Of", "As", "Which", "Why"}
"""First words of docstrings that name neither what is done nor what is there."""


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    found = {
        f"{file.relative_to(CHECKOUT)}:{line}: {said}"
        for file in files_of()
        for line, said in headless(file.read_text())
    }
    assert not found


def test_a_docstring_without_a_subject_is_found() -> None:
    assert [line for line, _ in headless('"""What it does."""\nX = 1\n"""Of these."""\n')] == [1, 3]
    assert not [*headless('"""Count it."""\nX = 1\n"""Number of these, as they come."""\n')]


def headless(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, also of a constant, with such a first word."""
    for node in nodes_of(source):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said = node.value.value
            if isinstance(said, str) and re.match(r"\w*", said.strip())[0] in HEADLESS:  # type: ignore[index]
                yield node.lineno, said.strip()


def test_fields_are_described_below_them_and_not_in_the_class_docstring() -> None:
    found = {
        f"{file.relative_to(CHECKOUT)}: {name}"
        for file in files_of()
        for name in with_attributes(file.read_text())
    }
    assert not found


def test_a_section_on_attributes_is_found() -> None:
    head = (
        'class A:\n    """A.\n\n    Attributes\n    ----------\n    x : int\n        X.\n    """\n'
    )
    assert [*with_attributes(f"{head}    x: int")] == ["A"]
    assert not [*with_attributes('class A:\n    """A."""\n    x: int\n    """X."""\n')]


def with_attributes(source: str) -> Iterator[str]:
    """Yield the classes whose docstrings have a section Attributes."""
    for node in nodes_of(source):
        if isinstance(node, ast.ClassDef) and "Attributes\n---" in (ast.get_docstring(node) or ""):
            yield node.name


def test_every_field_has_a_sentence_of_its_own() -> None:
    found = {
        f"{file.relative_to(CHECKOUT)}:{line}"
        for file in files_of()
        for line in references(file.read_text())
    }
    assert not found


def test_a_sentence_that_only_refers_to_another_is_found() -> None:
    assert [*references('X = 1\n"""Count."""\nY = 2\n"""See `X`."""\n')] == [4]
    assert not [*references('X = 1\n"""Count of hops, see `Y`."""\n')]


def references(source: str) -> Iterator[int]:
    """Yield the lines of strings such as "See `x`.", also those with a shape behind it."""
    for node in nodes_of(source):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said = node.value.value
            if isinstance(said, str) and re.match(r"See `\w+`\.", said.strip()):
                yield node.lineno
