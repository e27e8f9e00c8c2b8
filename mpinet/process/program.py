"""Loading of a user's program by name, and parsing of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mpinet.errors import UsageError
from mpinet.networks.own import import_from


def named_program(words: str) -> Callable[..., Any]:
    """Load the function ``FILE.py:NAME`` or ``module.path:NAME``.

    Raises
    ------
    UsageError
        The file, the module or the function does not exist.
    """
    place, colon, name = words.rpartition(":")
    if not (colon and place and name):
        raise UsageError(
            f"{words!r} is not the name of a program: give FILE.py:NAME or module.path:NAME."
        )
    program: Callable[..., Any] | None = getattr(import_from(place), name, None)
    if not callable(program):
        raise UsageError(f"{place} has no function {name!r}.")
    return program


def argument(words: str) -> tuple[str, Any]:
    """Parse ``NAME=VALUE`` or ``VALUE``; return the name ('' if there is none) and the value.

    A Python literal (a number, a list, ...) is evaluated. Any other value is a string.
    """
    name, equals, text = words.partition("=")
    if not (equals and name.isidentifier()):
        name, text = "", words
    try:
        return name, ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return name, text
