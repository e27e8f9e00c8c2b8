"""Typed objects of result documents: the fields of an object are attributes.

The result class of a command lies in the command's module, and is the only place where result
fields are declared. Type checkers and completion read the class. The sections Returns, the lists of
the contract and the JSON schema (docs/reference/document.schema.json) are made from the class.
"""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")


class When(str):
    """Condition under which a result has a field: ``Annotated[Count, When("with switches")]``.

    A plain text in an annotation is a note on the field instead.
    """


Count: TypeAlias = Annotated[int, ("minimum", 0)]
Lasting: TypeAlias = Annotated[float, ("minimum", 0)]
"""Time in the run's unit: an integer if the time is whole, otherwise the nearest float."""
Positive: TypeAlias = Annotated[int, ("minimum", 1)]
Hash: TypeAlias = Annotated[str, ("pattern", "^[0-9a-f]{64}$")]


Skipped: TypeAlias = Annotated[
    list[str],
    When("if candidates would take too much work"),
    "algorithms that were not compared; not in the digest",
]


class Fields(dict[str, Any]):
    """Object of a document: fields are items and attributes, and subclasses declare them."""

    if not TYPE_CHECKING:  # checkers would accept misspelt names as Any

        def __getattr__(self, name: str) -> Any:
            if name not in self:
                raise AttributeError(missing(name, self))
            return opened(self[name], hints_of(type(self)).get(name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


class Range(Fields):
    """Inclusive range of an unknown number, from `lower` to `upper`."""

    lower: Count
    upper: Count


class Phase(Fields):
    """Phase of a collective."""

    name: str
    steps: Count


class GroupFound(Fields):
    """One of several groups, with the steps that its collective takes alone."""

    group: str
    processors: Positive
    algorithm: str
    steps: Count
    lower_bound: Count


class Unreceived(Fields):
    """Number of messages that a processor has not received."""

    processor: Count
    messages: Count


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Return the types of the fields that a class declares, with their ``Annotated`` metadata."""
    hints = get_type_hints(cls, include_extras=True)
    beside: dict[str, Any] = getattr(cls, "beside_", {})
    own = {name: hint for name, hint in hints.items() if name[0] != "_" and name[-1] != "_"}
    return own | beside


def hints_for(cls: type, command: str) -> dict[str, Any]:
    """Return the types of the result fields of a command; one class may serve several commands."""
    chosen: dict[str, Any] = getattr(cls, "hints_for", lambda _: hints_of(cls))(command)
    return chosen


def picked(cls: type, *found: object) -> dict[str, Any]:
    """Return the values of a class's fields, each from the first object with the attribute."""
    return {
        name: next(getattr(one, name) for one in found if hasattr(one, name))
        for name in hints_of(cls)
        if any(hasattr(one, name) for one in found)
    }


def plain_of(hint: Any) -> Any:
    """Strip ``Annotated`` from a type."""
    return plain_of(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def said_of(hint: Any, kind: type[T]) -> list[T]:
    """Return the ``Annotated`` metadata of one class: the conditions, notes or limits of a type."""
    added = hint.__metadata__ if get_origin(hint) is Annotated else ()
    # A condition is also a text, so isinstance would count it as a note.
    return [one for one in added if type(one) is kind]


def row_of(cls: type) -> type[Any] | None:
    """Return the row class of a result that is a list; None for other results."""
    parts = [part for base in getattr(cls, "__orig_bases__", ()) for part in get_args(base)]
    rows = [part for part in parts if isinstance(part, type) and issubclass(part, Fields)]
    return rows[0] if rows else None


def listed(cls: type, command: str = "") -> str:
    """List the fields of a class as the contract does, each with its parts and its note.

    Conditional fields come last, each group after its condition. If the class serves several
    commands, the fields of `command` are listed.
    """
    if row := row_of(cls):
        return f"list of {listed(row)}"
    groups: dict[str, list[str]] = {"": []}
    for name, hint in hints_for(cls, command).items():
        condition = "".join(said_of(hint, When)[:1])
        notes = "".join(f" ({note})" for note in said_of(hint, str))
        groups.setdefault(condition, []).append(f"{name}{_within(hint)}{notes}")
    return "; ".join(
        f"{condition} also {', '.join(names)}" if condition else ", ".join(names)
        for condition, names in groups.items()
    )


def _within(hint: Any) -> str:
    """List the fields of the objects in a field, in brackets; empty for plain values."""
    if (kind := _class_in(hint)) is not Fields:
        return f" {{{listed(kind)}}}"
    parts = [get_args(kind)[0] for kind in _kinds(hint) if get_origin(kind) is list]
    within = _within(parts[0]).strip() if parts else ""
    return f" [{within}]" if within else ""


def opened(value: Any, hint: Any = None) -> Any:
    """Return a field's value with attribute access to its own fields.

    Parameters
    ----------
    value : object
        A JSON value.
    hint : type, optional
        The type that the class declares for the field.
    """
    if isinstance(value, dict):
        return _class_in(hint)(value)
    if isinstance(value, list):
        items = [get_args(kind)[0] for kind in _kinds(hint) if get_origin(kind) is list]
        # The objects in a list may have no declared class, as in results of measures.
        return [opened(item, items[0] if items else None) for item in value]
    return value


def missing(name: str, fields: dict[str, Any]) -> str:
    """Return the error sentence for a missing field."""
    there = f"the fields are {', '.join(fields)}" if fields else "the object is empty"
    return f"there is no field {name!r}; {there}"


def _kinds(hint: Any) -> list[Any]:
    """Return the members of a union type, or the type itself."""
    hint = plain_of(hint)
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return [plain_of(part) for part in parts]


def _class_in(hint: Any) -> type[Fields]:
    """Return the object class that a type allows; `Fields` if the type names none."""
    named = [kind for kind in _kinds(hint) if isinstance(kind, type) and issubclass(kind, Fields)]
    return named[0] if named else Fields
