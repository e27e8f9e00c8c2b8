"""Options of commands, read from their option records, the only place where options are declared.

The options of a command are the fields of a frozen dataclass (`mpinet.commands.optionrecords`). The
class gives names, types, choices and defaults; the sentences below the fields give the help.
`mpinet.commands.functions.function_with` makes the Python function. The parser, the checks of
Python values, a result's command line and the contract's rows also derive from the class.

This module imports no heavy library, because ``mpinet doctor`` and ``mpinet launch`` need options.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from inspect import get_annotations
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mpinet.base.meant import hint
from mpinet.base.numerals import quoted
from mpinet.commands.catalogue import ALIASES, FUNCTIONS
from mpinet.commands.optionrecords import (
    EMPTY,
    MOST_SEED,
    UNIONS,
    UNTYPED,
    Option,
    Options,
    Typed,
    ordered,
)
from mpinet.errors import UsageError


@dataclass(frozen=True)
class Signature:
    """Signature of a command: its options, its result class, and its usage line."""

    record: type[Options]
    """Class of the options."""
    options: list[Option]
    """Options of the Python function, in order."""
    alone: list[Option]
    """Options of the command line only."""
    result: type[Any]
    """Class of the result; int if the command runs on this host only and returns an exit status."""
    usage: str = ""
    """Usage line of the command; empty: made from the options."""

    @property
    def is_here(self) -> bool:
        """True if the command runs on this host only, without ranks."""
        return self.result is int

    @property
    def is_onward(self) -> bool:
        """True if the command also takes the options of the command named by its first option."""
        return any(one.name == "played" for one in fields(self.record))


def options_in(kind: type[Options]) -> list[Option]:
    """Return the options in the record of a command."""
    return [*_options_in(kind, ordered(kind))]


def _options_in(kind: type, declared: Sequence[Field[Any]]) -> Iterator[Option]:
    """Yield the options in a dataclass."""
    # The most derived class wins, so a command can describe an option in more detail than its
    # group.
    owners = {name: owner for owner in reversed(kind.__mro__) for name in _declared(owner)}
    for one in declared:
        option = _declared(owners[one.name])[one.name]
        inherited = one.kw_only and owners[one.name] is not kind
        yield replace(option, heading=_title(option, owners[one.name] if inherited else None))


@cache
def _declared(owner: type) -> dict[str, Option]:
    """Return the options that a class itself declares, by name."""
    if not is_dataclass(owner):
        return {}
    hints, texts = get_annotations(owner, eval_str=True), sentences(owner)
    return {
        one.name: _option(
            one.name,
            hints[one.name],
            EMPTY if one.default is MISSING else one.default,
            texts,
            not one.kw_only,
        )
        for one in fields(owner)
        if one.name in hints and one.name not in UNTYPED
    }


def _title(option: Option, owner: type | None) -> str:
    """Return the title of an option's group: declared, or first words of the class docstring."""
    if option.typed.group or owner is None or vars(owner).get("is_own"):
        return option.typed.group
    return re.split("[:.]", owner.__doc__ or "")[0].lower()


@cache
def sentences(owner: type) -> dict[str, str]:
    """Return the sentences below the fields of a class, by field name."""
    source = Path(sys.modules[owner.__module__].__file__ or "").read_text(encoding="utf-8")
    # Only the class is parsed; the whole file would take ten times as long.
    found = re.search(rf"^class {owner.__name__}\b.*?(?=^[^\s)]|\Z)", source, re.M | re.S)
    if found is None:
        return {}
    (stated,) = ast.parse(found[0]).body
    assert isinstance(stated, ast.ClassDef)
    return dict(_below(stated.body))


def _below(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the name and the sentence of each field with a sentence below it."""
    for line, after in pairwise(body):
        match line, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())


def signature_of(function: Callable[..., Any]) -> Signature:
    """Return the signature of a command's function."""
    said: Signature = vars(function)["said"]
    return said


def options_of(function: Callable[..., Any]) -> list[Option]:
    """Return the Python options of a command's function."""
    return signature_of(function).options


def fields_of(group: type) -> list[Option]:
    """Return the options in a group, a dataclass shared by several commands."""
    declared = [one for one in fields(group) if one.name not in UNTYPED]
    return [
        replace(one, heading=one.heading or _title(one, group))
        for one in _options_in(group, declared)
    ]


def _option(name: str, hint: Any, default: Any, texts: Mapping[str, str], by_place: bool) -> Option:
    """Make an option from an annotation."""
    typed = _merged([one for one in _metadata(hint) if isinstance(one, Typed)])
    if typed.words is not None:
        by_place = not typed.words
    return Option(name, _plain(hint), default, texts.get(name, typed.help), by_place, typed)


def _metadata(hint: Any) -> Iterator[Any]:
    """Yield the ``Annotated`` metadata of a type, outermost first."""
    if get_origin(hint) is Annotated:
        yield from reversed(hint.__metadata__)
    for part in get_args(hint):
        yield from _metadata(part)


UNSAID = Typed()
"""Annotation without any property."""


def _merged(said: Sequence[Typed]) -> Typed:
    """Merge several annotations; earlier ones take precedence."""
    if len(said) <= 1:
        return said[0] if said else UNSAID
    unsaid = vars(UNSAID)
    said_by_all = [{k: v for k, v in vars(one).items() if v != unsaid[k]} for one in said]
    return Typed(**{k: v for each in reversed(said_by_all) for k, v in each.items()})


def _plain(hint: Any) -> Any:
    """Strip ``Annotated`` from a type and from its parts."""
    if get_origin(hint) is Annotated:
        return _plain(get_args(hint)[0])
    if get_origin(hint) in UNIONS:
        return Union[tuple(map(_plain, get_args(hint)))]  # noqa: UP007 (made, not written)
    return hint


def listed_in_help(option: Option) -> str:
    """Return the list that an option's help shows, such as the names of traffic patterns."""
    if not option.typed.listed:
        return ""
    # The lists lie in modules that load NumPy, and are needed only for --help.
    module, _, name = option.typed.listed.partition(":")
    found = getattr(import_module(module), name)
    found = found() if callable(found) else found
    return found if isinstance(found, str) else ", ".join(found)


def given(function: Callable[..., Any], values: Mapping[str, Any]) -> Options:
    """Return a command's options with the given values, and defaults for all other options.

    Parameters
    ----------
    function : callable
        The command's function, whose signature declares options and types.
    values : mapping
        Values by option name, or by column name.

    Raises
    ------
    UsageError
        An option is missing or has a wrong value, or no option has this name.
    """
    said = signature_of(function)
    known = {option.name: option for option in said.options}
    former = {column: name for name, column in said.record.columns.items()}
    former |= {
        word[2:].replace("-", "_"): option.name
        for option in said.options
        for word in option.words[1:]
        if word.startswith("--")
    }
    flat = {former.get(key, key) if key not in known else key: one for key, one in values.items()}
    # Two names of the same option lead to one entry, so a value would be lost.
    if len(flat) < len(values):
        raise UsageError(f"{function.__name__}: an option is given twice, under two names.")
    found: dict[str, Any] = {}
    if said.is_onward:
        from mpinet.commands import function_of

        rest = {key: flat.pop(key) for key in [*flat] if key not in known}
        found["played"] = given(function_of(flat[next(iter(known))]), rest)
    name = function.__name__
    for key in flat:
        if key not in known:
            other = next((one.typed.function for one in said.alone if one.name == key), "")
            meant = f"call mpinet.{other}." if other else hint(key, known, 1, 0.7)
            meant = meant or f"{_elsewhere(key)}it has {', '.join(known)}."
            raise UsageError(f"{name} has no option {quoted(key)}: {meant}")
    for key, option in known.items():
        found[key] = _checked(name, option, flat.get(key, option.default))
    return said.record(**found)


def _checked(name: str, option: Option, value: Any) -> Any:
    """Return an option's value from Python, checked against the option's type."""
    if value is EMPTY:
        raise UsageError(f"{name} needs the option {option.name}.")
    # A mapping holds arguments of a user's function, which stay unchanged.
    if not any(get_origin(kind) is Mapping for kind in option.kinds):
        value = _without_arrays(value)
    value = named_as(value, option.choices) if option.choices else value
    if not _is_of(value, option.hint):
        raise UsageError(f"{name}: {option.name} is {_described(option.hint)}, not {value!r}.")
    if option.typed.normal is not None:
        value = option.typed.normal(value)
    if option.name == "seed" and not 0 <= value <= MOST_SEED:
        raise UsageError(f"{name}: a seed is a whole number 0..2^63-1, not {value}.")
    return value


def _without_arrays(value: Any) -> Any:
    """Return a value with NumPy arrays as lists, and NumPy numbers as Python numbers."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    return type(value)(map(_without_arrays, value)) if type(value) in (list, tuple) else value


def _elsewhere(key: str) -> str:
    """Return a hint at a command with an option of this or a similar name; else empty."""
    from mpinet.commands import function_of

    for command in FUNCTIONS:
        names = [option.name for option in options_of(function_of(command))]
        for name in difflib.get_close_matches(key, names, 1, 0.8):
            return f"{name} belongs to {command}; "
    return ""


def named_as(word: Any, choices: Sequence[Any]) -> Any:
    """Return the choice that a word means, also by another name: ``gossip`` for ``allgather``."""
    meant = ALIASES.get(word, word) if isinstance(word, str) else word
    return meant if meant in choices else word


def _is_of(value: Any, hint: Any) -> bool:
    """Return True if a value has the type of a parameter."""
    kind = get_origin(hint)
    if kind is Literal:
        # In Python 1 equals True, but the command line has different words for the two.
        return any(value == choice and type(value) is type(choice) for choice in get_args(hint))
    if kind in UNIONS:
        return any(_is_of(value, choice) for choice in get_args(hint))
    if hint is Any:
        return True
    # In Python a bool is an int: items=True would mean one item.
    if hint in (int, float) and isinstance(value, bool):
        return False
    if hint is float:
        return isinstance(value, int | float)
    if kind is Sequence and (items := _checked_items(hint)) is not None:
        return not isinstance(value, str) and (
            isinstance(value, Sequence) and all(_is_of(item, items) for item in value)
        )
    return isinstance(value, kind or hint)


def _checked_items(hint: Any) -> Any:
    """Return the item type of a list type; None if the items may be texts."""
    (items,) = get_args(hint)
    items = _plain(items)
    kinds = get_args(items) if get_origin(items) in UNIONS else (items,)
    return None if {str, Any} & {*kinds} else items


WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    tuple: "a tuple",
}


def _described(hint: Any) -> str:
    """Return a parameter's type in words."""
    kind = get_origin(hint)
    if kind is Literal:
        return " or ".join(map(str, get_args(hint)))
    if kind in UNIONS:
        return " or ".join(
            _described(choice) for choice in get_args(hint) if choice is not type(None)
        )
    if kind is Sequence:
        items = _checked_items(hint)
        return "a list" if items is None else f"a list ({_described(items)} each)"
    hint = kind or hint
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", getattr(hint, "__name__", str(hint)))
    return WORDS.get(hint, f"a {name.lower()}")
