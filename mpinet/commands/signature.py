"""Options of commands, read from their records or functions: the one place where one is spelt.

A command's options are the fields of a frozen dataclass (`mpinet.commands.optionrecords`). The
class gives names, types, choices and defaults; the sentences below the fields give the help.
`mpinet.commands.perform.function_with` makes the function of Python from the class. Type checkers
read the parameters of that function from the constructor of the class.

Commands without a record declare options in the signature of their function; there, shared options
are fields of a `TypedDict`, which a function takes by ``**options: Unpack[OnMachine]``.
What people type, the checks of what Python gives, the command line of a result and the rows of the
contract are all made from it.

Nothing heavy is imported here: ``mpinet doctor`` and ``mpinet launch`` need options, too.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from mpinet.base.meant import hint
from mpinet.base.numerals import quoted
from mpinet.commands.catalogue import ALIASES, FUNCTIONS, MODULES
from mpinet.commands.docstrings import described, documented, returning
from mpinet.commands.optionrecords import EMPTY as EMPTY
from mpinet.commands.optionrecords import MOST_SEED as MOST_SEED
from mpinet.commands.optionrecords import REST as REST
from mpinet.commands.optionrecords import UNIONS, Given, Options, ordered, record_of, values_of
from mpinet.commands.optionrecords import Option as Option
from mpinet.commands.optionrecords import Typed as Typed
from mpinet.errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
else:  # Python 3.10 has none, and at run time the fields are all that is asked for

    class Unpack:
        """``Unpack[Fields]``: the fields of a `TypedDict` as keyword arguments."""

        def __class_getitem__(cls, fields: type) -> type:
            return fields


Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Signature:
    """Signature of a command: its options, and how it is typed."""

    options: list[Option]
    """Those of Python, in their order."""
    alone: list[Option]
    """Those of the command line alone."""
    usage: str
    """How it is typed, where that is not made from the options."""
    here: bool
    """Whether it is for this host alone: the function does it, and gives the exit status."""
    onward: bool
    """Whether it takes the options of the command that its first option names, too."""
    result: type[Any]
    """What it returns: the class of its result."""
    record: type[Options] | None = None
    """The class of its options; None: they reach `prepare` as a namespace."""


def command(*groups: type, usage: str = "", here: bool = False) -> Callable[[Function], Function]:
    """Make a function a command.

    Its ``help`` and signature get the options that it takes by ``**options: Unpack[OnMachine]``.

    Parameters
    ----------
    *groups : type
        `TypedDict` classes, whose fields are options of the command line alone.
    usage : str
        How it is typed, where that is not made from the options.
    here : bool
        Whether it is for this host alone: the function does it, and gives the exit status.
    """

    def made(function: Function) -> Function:
        raw = inspect.signature(function)
        hints = get_type_hints(function, include_extras=True)
        texts = described(function.__doc__ or "")
        options, shared, onward = [], list[Option](), False
        for name, parameter in raw.parameters.items():
            hint = hints[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                continue  # more of the option before it, which takes several
            if parameter.kind is not parameter.VAR_KEYWORD:
                by_place = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
                options.append(_option(name, hint, parameter.default, texts, by_place))
            elif is_typeddict(hint):
                shared = fields_of(hint, texts)
            else:
                onward = True
        known = {option.name for option in (*options, *shared)}
        alone = [one for group in groups for one in fields_of(group) if one.name not in known]
        vars(function)["said"] = Signature(
            [*options, *shared], alone, usage, here, onward, hints["return"]
        )
        vars(function)["__signature__"] = _whole(raw, hints, shared)
        told = documented(function.__doc__ or "", [*options, *shared], texts)
        function.__doc__ = returning(told, hints["return"])
        return function

    return made


def options_in(kind: type[Options]) -> list[Option]:
    """Return the options that are fields of a command's record."""
    return [*_options_in(kind, ordered(kind))]


def _options_in(kind: type, declared: Sequence[Field[Any]]) -> Iterator[Option]:
    """Yield the options that are fields of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    owners = {name: owner for owner in reversed(kind.__mro__) for name in _declared(owner)}
    for one in declared:
        owner = owners[one.name]
        default = EMPTY if one.default is MISSING else one.default
        option = _option(one.name, hints[one.name], default, sentences(owner), not one.kw_only)
        heading = "" if owner is kind or not one.kw_only else _heading(owner)
        yield replace(option, heading=heading)


def _declared(owner: type) -> Mapping[str, Any]:
    """Return the annotations that a class has itself."""
    annotations: Mapping[str, Any] = vars(owner).get("__annotations__", {})
    return annotations


def _heading(group: type) -> str:
    """Return what the help puts the options of a group under."""
    return (group.__doc__ or "").rstrip(".").lower()


@cache
def sentences(owner: type) -> dict[str, str]:
    """Return the sentences below the fields of a class, by the names of the fields."""
    source = Path(sys.modules[owner.__module__].__file__ or "").read_text(encoding="utf-8")
    # The class alone: to parse the whole file takes ten times as long.
    found = re.search(rf"^class {owner.__name__}\b.*?(?=^[^\s)]|\Z)", source, re.M | re.S)
    if found is None:
        return {}
    (stated,) = ast.parse(found[0]).body
    assert isinstance(stated, ast.ClassDef)
    return dict(_below(stated.body))


def _below(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield each field that has a sentence below it, and the sentence."""
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
    """Return the options of a command's function, as Python gives them."""
    return signature_of(function).options


def fields_of(group: type, texts: Mapping[str, str] | None = None) -> list[Option]:
    """Return the options that are fields of a `TypedDict` or of a dataclass."""
    if is_dataclass(group):
        return [
            replace(option, heading=_heading(group)) for option in _options_in(group, fields(group))
        ]
    hints, heading = get_type_hints(group, include_extras=True), _heading(group)
    found = [_option(name, hint, EMPTY, texts or {}, False) for name, hint in hints.items()]
    return [replace(option, heading=heading, default=_of_field(option)) for option in found]


def _of_field(option: Option) -> Any:
    """Return the default of a field: what is said, else None where it may be, and false."""
    if option.default is not EMPTY:
        return option.default
    if type(None) in get_args(option.hint):
        return None
    return False if option.is_flag else EMPTY


def _option(name: str, hint: Any, default: Any, texts: Mapping[str, str], by_place: bool) -> Option:
    """Make an option of an annotation."""
    typed = _merged([one for one in _metadata(hint) if isinstance(one, Typed)])
    if typed.words is not None:
        by_place = not typed.words
    default = typed.default if default is EMPTY else default
    return Option(name, _plain(hint), default, texts.get(name, typed.help), by_place, typed)


def _metadata(hint: Any) -> Iterator[Any]:
    """Yield what ``Annotated`` adds to a type, the outermost first."""
    if get_origin(hint) is Annotated:
        yield from reversed(hint.__metadata__)
    for part in get_args(hint):
        yield from _metadata(part)


def _merged(said: Sequence[Typed]) -> Typed:
    """Merge several annotations; the first of them goes before the others."""
    one = Typed()
    for other in reversed(said):
        named = {each.name: getattr(other, each.name) for each in fields(other)}
        one = replace(one, **{k: v for k, v in named.items() if v != getattr(Typed(), k)})
    return one


def _plain(hint: Any) -> Any:
    """Strip from a type what ``Annotated`` adds to it or to its parts."""
    if get_origin(hint) is Annotated:
        return _plain(get_args(hint)[0])
    if get_origin(hint) in UNIONS:
        return Union[tuple(map(_plain, get_args(hint)))]  # noqa: UP007 (made, not written)
    return hint


def _whole(
    raw: inspect.Signature, hints: Mapping[str, Any], shared: Sequence[Option]
) -> inspect.Signature:
    """Return a signature with the shared options one by one."""
    own = [
        parameter.replace(annotation=_plain(hints[parameter.name]))
        for parameter in raw.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD or not shared
    ]
    by_name = inspect.Parameter.KEYWORD_ONLY
    more = [
        inspect.Parameter(each.name, by_name, default=each.default, annotation=each.hint)
        for each in shared
    ]
    return raw.replace(parameters=[*own, *more])


def listed_in_help(option: Option) -> str:
    """Return the text that an option's help lists, loaded where it lies."""
    if not option.typed.listed:
        return ""
    module, _, name = option.typed.listed.partition(":")
    found = getattr(import_module(module), name)
    found = found() if callable(found) else found
    return found if isinstance(found, str) else ", ".join(found)


def given(function: Callable[..., Any], values: Mapping[str, Any]) -> Given:
    """Return a command's options as its function takes them, those not given at their defaults.

    Parameters
    ----------
    function : callable
        The command's function: its options and their types say what is allowed.
    values : mapping
        What was given by name; what the function took by ``**options`` may be a mapping in it.

    Raises
    ------
    UsageError
        An option is missing or of no such value, or nothing has this name.
    """
    name, known = function.__name__, {option.name: option for option in options_of(function)}
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= {key: value} if key in known or not isinstance(value, dict) else value
    former = {option.typed.dest: option.name for option in known.values() if option.typed.dest}
    flat |= {former[key]: flat.pop(key) for key in [*flat] if key in former and key not in known}
    options = argparse.Namespace()
    if signature_of(function).onward:
        from mpinet.commands import function_of

        rest = {key: flat.pop(key) for key in [*flat] if key not in known}
        options = argparse.Namespace(**values_of(given(function_of(flat[next(iter(known))]), rest)))
    options.command = command_of(function)
    for key in flat:
        if key not in known:
            meant = hint(key, known, 1, 0.7) or f"{_elsewhere(key)}it has {', '.join(known)}."
            raise UsageError(f"{name} has no option {quoted(key)}: {meant}")
    for key, option in known.items():
        value = flat.get(key, option.default)
        if value is EMPTY:
            raise UsageError(f"{name} needs its option {key}.")
        value = named_as(value, option.choices) if option.choices else value
        value = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
        if not _is_of(value, option.hint):
            raise UsageError(f"{name}: {key} is {_described(option.hint)}, not {value!r}.")
        if key == "seed" and not 0 <= value <= MOST_SEED:
            raise UsageError(f"{name}: a seed is a whole number 0..2^63-1, not {value}.")
        setattr(options, option.dest, value)
    return taken(function, options)


def taken(function: Callable[..., Any], options: argparse.Namespace) -> Given:
    """Return options as the command's `prepare` takes them: as its record, if it has one."""
    kind = signature_of(function).record
    return options if kind is None else record_of(kind, vars(options))


def _elsewhere(key: str) -> str:
    """Return a hint at the first command that has an option of this name, or nearly."""
    from mpinet.commands import function_of

    for command in FUNCTIONS:
        names = [option.name for option in options_of(function_of(command))]
        for name in difflib.get_close_matches(key, names, 1, 0.8):
            return f"{name} belongs to {command}; "
    return ""


def named_as(word: Any, choices: Sequence[Any]) -> Any:
    """Return the choice that a word is another name of, such as ``gossip`` for ``allgather``."""
    meant = ALIASES.get(word, word) if isinstance(word, str) else word
    return meant if meant in choices else word


def is_typed(options: argparse.Namespace) -> bool:
    """Return whether options were typed: these have those of the command line alone, too."""
    return hasattr(options, "json")


def command_of(function: Callable[..., Any]) -> str:
    """Return the command that a function does: ``schedule run`` is a verb of its module's name."""
    room = function.__module__.rpartition(".")[2]
    verb = f"schedule {function.__name__}"
    return verb if MODULES.get(verb) == room else function.__name__


def _is_of(value: Any, hint: Any) -> bool:
    """Return whether a value is of a parameter's type."""
    kind = get_origin(hint)
    if kind is Literal:
        return any(value == choice and type(value) is type(choice) for choice in get_args(hint))
    if kind in UNIONS:
        return any(_is_of(value, choice) for choice in get_args(hint))
    if hint is Any:
        return True
    if hint in (int, float) and isinstance(value, bool):
        return False
    if hint is float:
        return isinstance(value, int | float)
    return isinstance(value, kind or hint)


WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    tuple: "a tuple",
}


def _described(hint: Any) -> str:
    """Return a parameter's type as a person reads it."""
    kind = get_origin(hint)
    if kind is Literal:
        return " or ".join(map(str, get_args(hint)))
    if kind in UNIONS:
        return " or ".join(
            _described(choice) for choice in get_args(hint) if choice is not type(None)
        )
    hint = kind or hint
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", getattr(hint, "__name__", str(hint)))
    return WORDS.get(hint, f"a {name.lower()}")
