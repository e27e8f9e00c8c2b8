"""Class docstrings for `help`, including the sentences below the fields."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def described(cls: Class) -> Class:
    """Add a list of the fields to a class's docstring. The source is read on access to ``__doc__``.

    Fields of base classes come first. Names with a leading underscore are left out.

    Examples
    --------
    >>> from mpinet.networks import Routing
    >>> "name : str" in Routing.__doc__.split("Fields")[1]
    True
    """
    cls.__doc__ = _WithFields(cls.__doc__ or "")  # type: ignore[assignment]
    return cls


class _WithFields:
    """Class docstring that adds the list of fields on access."""

    def __init__(self, doc: str) -> None:
        self.doc = doc

    def __get__(self, _instance: object, cls: type) -> str:
        import inspect

        entries: dict[str, str] = {}
        for each in reversed(cls.__mro__):
            entries |= _entries(each)
        if not entries:
            return self.doc
        return "\n".join([inspect.cleandoc(self.doc), "", "Fields", "------", *entries.values()])


def _entries(cls: type) -> dict[str, str]:
    """Return the entries of a class's own fields, in its body and in ``__init__``, by name."""
    import ast
    import inspect
    from textwrap import dedent, indent

    try:
        source = dedent(inspect.getsource(cls))
    except (OSError, TypeError):  # a built-in class, or a frozen or interactive session
        return {}
    [definition] = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    functions = (part for part in definition.body if isinstance(part, ast.FunctionDef))
    inside = (line for part in functions if part.name == "__init__" for line in part.body)
    lines = [*definition.body, *inside]
    return {
        name: f"{name} : {ast.unparse(field.annotation)}\n"
        + indent(inspect.cleandoc(ast.literal_eval(below.value)), "    ")
        for field, below in pairwise(lines)
        if isinstance(field, ast.AnnAssign)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and not (name := ast.unparse(field.target).removeprefix("self.")).startswith("_")
    }
