"""Objects of documents, whose fields are attributes with types.

The class of a command's result stands beside the command. It is the one place where fields are
spelt: a type checker reads them there, completion offers them, and the sections Returns, the
contract's lists and the JSON schema of documents (docs/reference/document.schema.json) are made
of them.
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
    """Condition under which a field is in a result: ``Annotated[Count, When("with switches")]``.

    Any other text in an annotation is a note on the field.
    """


Count: TypeAlias = Annotated[int, ("minimum", 0)]
Lasting: TypeAlias = Annotated[float, ("minimum", 0)]
"""Time in the unit of the run: an integer where the time is whole, else the nearest float."""
Positive: TypeAlias = Annotated[int, ("minimum", 1)]
Hash: TypeAlias = Annotated[str, ("pattern", "^[0-9a-f]{64}$")]


Skipped: TypeAlias = Annotated[
    list[str],
    When("where candidates would take too much work"),
    "algorithms that were not compared; not in the digest",
]


class Fields(dict[str, Any]):
    """Object of a document, whose fields are attributes, too; a class may say which."""

    if not TYPE_CHECKING:  # a checker would take every name, also a misspelt one, for Any

        def __getattr__(self, name: str) -> Any:
            if name not in self:
                raise AttributeError(missing(name, self))
            return opened(self[name], hints_of(type(self)).get(name))

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


class Range(Fields):
    """Range in which a number is known to lie: not below `lower`, and not above `upper`."""

    lower: Count
    upper: Count


class Phase(Fields):
    """A part of a collective."""

    name: str
    steps: Count


class GroupFound(Fields):
    """A group beside others: what its collective takes alone."""

    group: str
    processors: Positive
    algorithm: str
    steps: Count
    lower_bound: Count


class Unreceived(Fields):
    """Messages that a processor has not received."""

    processor: Count
    messages: Count


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Return the types of the fields that a class names, with what ``Annotated`` adds."""
    hints = get_type_hints(cls, include_extras=True)
    beside: dict[str, Any] = getattr(cls, "beside_", {})
    own = {name: hint for name, hint in hints.items() if name[0] != "_" and name[-1] != "_"}
    return own | beside


def hints_for(cls: type, command: str) -> dict[str, Any]:
    """Return the types of the fields in the results of a command; a class may be of several."""
    chosen: dict[str, Any] = getattr(cls, "hints_for", lambda _: hints_of(cls))(command)
    return chosen


def picked(cls: type, *found: object) -> dict[str, Any]:
    """Return the fields that a class names, each of the first object that has it as attribute."""
    return {
        name: next(getattr(one, name) for one in found if hasattr(one, name))
        for name in hints_of(cls)
        if any(hasattr(one, name) for one in found)
    }


def plain_of(hint: Any) -> Any:
    """Strip what ``Annotated`` adds to a type."""
    return plain_of(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


def said_of(hint: Any, kind: type[T]) -> list[T]:
    """Return what ``Annotated`` adds to a type: its conditions, notes or limits, by their class."""
    added = hint.__metadata__ if get_origin(hint) is Annotated else ()
    # A condition is a text, too: isinstance would take it for a note.
    return [one for one in added if type(one) is kind]


def row_of(cls: type) -> type[Any] | None:
    """Return the class of the objects in a result that is a list; None if it is none."""
    parts = [part for base in getattr(cls, "__orig_bases__", ()) for part in get_args(base)]
    rows = [part for part in parts if isinstance(part, type) and issubclass(part, Fields)]
    return rows[0] if rows else None


def listed(cls: type, command: str = "") -> str:
    """List the fields of a class as the contract does, each with what is in it and its note.

    Fields that are not in every result stand behind the others, after their condition. Of the class
    of several commands the fields of `command` are listed.
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
    """List the fields of the objects that a field holds, in brackets; empty if it holds none."""
    if (kind := _class_in(hint)) is not Fields:
        return f" {{{listed(kind)}}}"
    parts = [get_args(kind)[0] for kind in _kinds(hint) if get_origin(kind) is list]
    within = _within(parts[0]).strip() if parts else ""
    return f" [{within}]" if within else ""


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
        # A list may be of objects whose class no hint names, as in results of measures.
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
