"""Class docstrings for `help`, with the sentences that stand below the fields."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def described(cls: Class) -> Class:
    """Let a class's docstring list its fields. The source is read when the docstring is.

    Fields of base classes come first. Names with an underscore are left out.

    Examples
    --------
    >>> from mpinet.networks import Routing
    >>> "name : str" in Routing.__doc__.split("Fields")[1]
    True
    """
    cls.__doc__ = _WithFields(cls.__doc__ or "")  # type: ignore[assignment]
    return cls


class _WithFields:
    """Docstring of a class; its fields are added when it is read."""

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
