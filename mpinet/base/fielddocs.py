"""Class docstrings for `help`, with the sentences that stand below the fields."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)


def described(cls: Class) -> Class:
    """Let a class's docstring list its fields. The source is read when the docstring is.

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
        import ast
        import inspect
        from textwrap import dedent, indent

        try:
            source = dedent(inspect.getsource(cls))
        except (OSError, TypeError):  # a frozen or interactive session
            return self.doc
        [definition] = ast.parse(source).body
        assert isinstance(definition, ast.ClassDef)
        entries = [
            f"{ast.unparse(field.target)} : {ast.unparse(field.annotation)}\n"
            + indent(inspect.cleandoc(ast.literal_eval(below.value)), "    ")
            for field, below in zip(definition.body, definition.body[1:], strict=False)
            if isinstance(field, ast.AnnAssign)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ]
        return "\n".join([inspect.cleandoc(self.doc), "", "Fields", "------", *entries])
