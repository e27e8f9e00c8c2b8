"""Make the Python function of a command from the class of its options.

A function imports `mpinet.jobs` only when called, so parser and help load no network.
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
    """Type of a function of several networks, with overloads for up to four networks or a list."""

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
    """Type of a function with an optional word before the network, as on the command line."""

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

    The function has the parameters of the class's constructor, also for type checkers.

    Parameters
    ----------
    record : type
        A frozen dataclass derived from `Options`.
    result : type
        Class of the function's result; int for a command that runs on this host only.
    *groups : type
        Dataclasses whose fields are options of the command line only.
    usage : str
        Usage line of the command; empty: made from the options.
    """
    made: Callable[Parameters, Result] = _made(cast(type[Options], record), result, groups, usage)
    return made


def function_of_several(
    record: Callable[Concatenate[Any, Parameters], Options], result: type[Result], *groups: type
) -> OfSeveral[Parameters, Result]:
    """Make the function of a command with several networks as positional arguments.

    The networks are the first field of the class. All else is as in `function_with`.
    """
    made: OfSeveral[Parameters, Result] = _made(
        cast(type[Options], record), result, groups, "", several=True
    )
    return made


def function_after_word(
    record: Callable[Parameters, Options], result: type[Result], word: str, *groups: type
) -> AfterWord[Parameters, Result]:
    """Make the function of a command that may begin with a word.

    Parameters
    ----------
    record, result, *groups
        As in `function_with`.
    word : str
        Name of the option that an additional first positional argument sets.
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
    """Make the function of a command, with its docstring, signature and options."""
    options = options_in(of)
    by_place = [one.name for one in fields(of) if not one.kw_only]
    name = of.command.split()[-1]

    def function(*places: Any, **names: Any) -> Any:
        if several and len(places) > 1:
            first = places[0] if isinstance(places[0], list | tuple) else [places[0]]
            places = ([*first, *places[1:]],)
        # One value more than there are places: the first value belongs to the option `word`.
        order = [word, *by_place] if word and len(places) > len(by_place) else by_place
        if len(places) > len(order):
            raise TypeError(f"{name}() takes {len(by_place) + bool(word)} positional arguments.")
        values = dict(zip(order, places, strict=False))
        # A merge of the two would silently drop one of the values.
        if twice := sorted(values.keys() & names.keys()):
            raise TypeError(f"{name}() got multiple values for {twice[0]}.")
        values |= names
        # Jobs import commands, so a top-level import of jobs would be circular, and would load
        # NumPy for the parser.
        return import_module("mpinet.jobs.perform").perform(function, values)

    known = {option.name for option in options}
    # An option of the record replaces a group's option of the same name, because its description is
    # specific to the command.
    alone = [one for group in groups for one in fields_of(group) if one.name not in known]
    # Pickles, help() and the documentation must find the function in its module, as if declared
    # there.
    function.__module__, function.__name__, function.__qualname__ = of.__module__, name, name
    function.__doc__ = returning(documented(of.__doc__ or "", options), result, of.command)
    parameters = [_parameter(option, option.name in by_place) for option in options]
    if several:
        more = inspect.Parameter("more", inspect.Parameter.VAR_POSITIONAL, annotation=Network)
        # This parameter makes help() show that more networks may follow.
        parameters.insert(1, more)
    vars(function)["said"] = Signature(of, options, alone, result, usage)
    vars(function)["__signature__"] = inspect.Signature(parameters, return_annotation=result)
    return function


def _parameter(option: Option, by_place: bool) -> inspect.Parameter:
    """Return the parameter of the command's function for an option."""
    how = inspect.Parameter.POSITIONAL_OR_KEYWORD if by_place else inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(option.name, how, default=option.default, annotation=option.hint)
