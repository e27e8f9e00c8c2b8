"""Search for a user's program by the words that name it."""

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
        There is no such file, module or function.
    """
    place, colon, name = words.rpartition(":")
    if not (colon and place and name):
        raise UsageError(f"{words!r} names no program: give FILE.py:NAME or module.path:NAME.")
    program: Callable[..., Any] | None = getattr(import_from(place), name, None)
    if not callable(program):
        raise UsageError(f"{place} has no function {name!r}.")
    return program


def argument(words: str) -> tuple[str, Any]:
    """Parse ``NAME=VALUE`` or ``VALUE``; return the name ('' without one) and the value.

    A value is a Python literal (a number, a list, ..); anything else stands for itself, as text.
    """
    name, equals, text = words.partition("=")
    if not (equals and name.isidentifier()):
        name, text = "", words
    try:
        return name, ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):  # however strange
        return name, text
