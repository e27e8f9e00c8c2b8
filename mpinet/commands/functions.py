"""Functions of Python for commands, made from the classes of their options.

A function loads `mpinet.jobs` when it is called, so that parser and help need no network.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from mpinet.commands.docstrings import documented, returning
from mpinet.commands.network import AnyNetwork, Network
from mpinet.commands.optionrecords import Option, Options, Several
from mpinet.commands.signature import Signature, fields_of, options_in

Result = TypeVar("Result")

Result_co = TypeVar("Result_co", covariant=True)

Parameters = ParamSpec("Parameters")


class OfSeveral(Protocol[Parameters, Result_co]):
    """Function of several networks: type checkers know up to four; a list may have any number."""

    @overload
    def __call__(
        self,
        networks: AnyNetwork | Several[AnyNetwork],
        /,
        *places: Parameters.args,
        **names: Parameters.kwargs,
    ) -> Result_co: ...

    @overload
    def __call__(
        self,
        one: AnyNetwork,
        two: AnyNetwork,
        /,
        *places: Parameters.args,
        **names: Parameters.kwargs,
    ) -> Result_co: ...

    @overload
    def __call__(
        self,
        one: AnyNetwork,
        two: AnyNetwork,
        three: AnyNetwork,
        /,
        *places: Parameters.args,
        **names: Parameters.kwargs,
    ) -> Result_co: ...

    @overload
    def __call__(
        self,
        one: AnyNetwork,
        two: AnyNetwork,
        three: AnyNetwork,
        four: AnyNetwork,
        /,
        *places: Parameters.args,
        **names: Parameters.kwargs,
    ) -> Result_co: ...


class AfterWord(Protocol[Parameters, Result_co]):
    """Function of which a word may come before the network, as on the command line."""

    @overload
    def __call__(self, *places: Parameters.args, **names: Parameters.kwargs) -> Result_co: ...

    @overload
    def __call__(
        self, word: str, /, *places: Parameters.args, **names: Parameters.kwargs
    ) -> Result_co: ...


def function_with(
    record: Callable[Parameters, Options], result: type[Result], *groups: type, usage: str = ""
) -> Callable[Parameters, Result]:
    """Make the function of a command from the class of its options.

    The function takes what the constructor of the class takes, also for type checkers.

    Parameters
    ----------
    record : type
        A frozen dataclass derived from `Options`.
    result : type
        What the function returns; int of a command for this host alone.
    *groups : type
        Dataclasses whose fields are options of the command line alone.
    usage : str
        How the command is typed, where that is not made from the options.
    """
    made: Callable[Parameters, Result] = _made(cast(type[Options], record), result, groups, usage)
    return made


def function_of_several(
    record: Callable[Concatenate[Any, Parameters], Options], result: type[Result], *groups: type
) -> OfSeveral[Parameters, Result]:
    """Make the function of a command that takes several networks by place, as `function_with` does.

    The networks are the first field of the class.
    """
    made: OfSeveral[Parameters, Result] = _made(
        cast(type[Options], record), result, groups, "", several=True
    )
    return made


def function_after_word(
    record: Callable[Parameters, Options], result: type[Result], word: str, *groups: type
) -> AfterWord[Parameters, Result]:
    """Make the function of a command, as `function_with` does, that a word may begin.

    Parameters
    ----------
    record, result, *groups
        As in `function_with`.
    word : str
        Name of the option that one more argument by place gives, before all others.
    """
    made: AfterWord[Parameters, Result] = _made(
        cast(type[Options], record), result, groups, "", word=word
    )
    return made


def _made(
    of: type[Options],
    result: type[Any],
    groups: Sequence[type],
    usage: str,
    several: bool = False,
    word: str = "",
) -> Any:
    """Make the function of a command."""
    options = options_in(of)
    by_place = [one.name for one in fields(of) if not one.kw_only]
    name = of.command.split()[-1]

    def function(*places: Any, **names: Any) -> Any:
        if several and len(places) > 1:
            first = places[0] if isinstance(places[0], list | tuple) else [places[0]]
            places = ([*first, *places[1:]],)
        # The word in front is an option of its own where there is one value more than places.
        order = [word, *by_place] if word and len(places) > len(by_place) else by_place
        if len(places) > len(order):
            raise TypeError(f"{name}() takes {len(by_place) + bool(word)} arguments by place.")
        values = dict(zip(order, places, strict=False))
        # Merging the two would let one of the values win without a word.
        if twice := sorted(values.keys() & names.keys()):
            raise TypeError(f"{name}() got multiple values for {twice[0]}.")
        values |= names
        # Jobs import commands. An import of jobs at the top would close a circle, and load NumPy
        # for a parser.
        return import_module("mpinet.jobs.perform").perform(function, values)

    known = {option.name for option in options}
    # An option of the record goes before one of a group: its sentence says what it means for this
    # command.
    alone = [one for group in groups for one in fields_of(group) if one.name not in known]
    # Pickles, help() and the documentation find the function where it is declared, as if it were
    # written there.
    function.__module__, function.__name__, function.__qualname__ = of.__module__, name, name
    function.__doc__ = returning(documented(of.__doc__ or "", options), result, of.command)
    parameters = [_parameter(option, option.name in by_place) for option in options]
    if several:
        more = inspect.Parameter("more", inspect.Parameter.VAR_POSITIONAL, annotation=Network)
        # help() shows in this way that more networks may follow by place.
        parameters.insert(1, more)
    vars(function)["said"] = Signature(of, options, alone, result, usage)
    vars(function)["__signature__"] = inspect.Signature(parameters, return_annotation=result)
    return function


def _parameter(option: Option, by_place: bool) -> inspect.Parameter:
    """Return an option as a parameter of its command's function."""
    how = inspect.Parameter.POSITIONAL_OR_KEYWORD if by_place else inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(option.name, how, default=option.default, annotation=option.hint)
