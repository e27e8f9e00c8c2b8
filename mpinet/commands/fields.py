"""Objects of documents, whose fields are attributes with types."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")

MAYBE = "not in every result"

Maybe = Annotated[T, MAYBE]
"""A field that is not in every result."""


class Fields(dict[str, Any]):
    """Object of a document, whose fields are attributes, too; a class may say which."""

    if not TYPE_CHECKING:  # a checker would take every name, also a misspelt one, for Any

        def __getattr__(self, name: str) -> Any:
            if name not in self:
                raise AttributeError(missing(name, self))
            return opened(self[name], hints_of(type(self)).get(name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Return the types of the fields that a class names, with what ``Annotated`` adds."""
    hints = get_type_hints(cls, include_extras=True)
    beside: dict[str, Any] = getattr(cls, "beside_", {})
    own = {name: hint for name, hint in hints.items() if name[0] != "_" and name[-1] != "_"}
    return own | beside


def plain_of(hint: Any) -> Any:
    """Strip what ``Annotated`` adds to a type."""
    return plain_of(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def opened(value: Any, hint: Any = None) -> Any:
    """Return a field's value, whose own fields are attributes.

    Parameters
    ----------
    value : object
        As JSON has it.
    hint : type, optional
        What its class says of it.
    """
    if isinstance(value, dict):
        return _class_in(hint)(value)
    if isinstance(value, list):
        items = [get_args(kind)[0] for kind in _kinds(hint) if get_origin(kind) is list]
        return [opened(item, items[0] if items else None) for item in value]
    return value


def missing(name: str, fields: dict[str, Any]) -> str:
    """Return the sentence on a field that is not there."""
    there = f"there are {', '.join(fields)}" if fields else "it is empty"
    return f"there is no field {name!r}; {there}"


def _kinds(hint: Any) -> list[Any]:
    """Return the types that a hint is a union of."""
    hint = plain_of(hint)
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return [plain_of(part) for part in parts]


def _class_in(hint: Any) -> type[Fields]:
    """Return the class of an object that a hint allows; `Fields` if it names none."""
    named = [kind for kind in _kinds(hint) if isinstance(kind, type) and issubclass(kind, Fields)]
    return named[0] if named else Fields
